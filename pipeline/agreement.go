package pipeline

import (
	"context"
	"fmt"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

// DefaultAgreementMeasure is what retrievers are ordered by unless others are
// named.
const DefaultAgreementMeasure = "ndcg@10"

// AgreementOptions name two golden sets and the retrievers that both rank.
type AgreementOptions struct {
	Reference  string   // the set that is believed: people's, where there is one
	Tested     string   // the set that is held against it
	Retrievers []string // SPECs, or builtin:N for the first N ready-made ones
	Runs       string   // instead: a folder of run files
	Measures   string   // comma-separated; default DefaultAgreementMeasure
	Source     string   // default: eval.source
	Include    []string // statuses besides active
	AllowExec  bool
	Seed       int64 // of resampling
}

// Agreement says whether one golden set orders retrievers as another does. Each
// set is asked over the snapshot that it was made for.
func (p *Project) Agreement(ctx context.Context, o AgreementOptions) (*eval.Agreement, error) {
	job := agreementJob{p: p, o: o, benches: map[string]*agreementBench{}}
	defer job.close()
	if err := job.prepare(); err != nil {
		return nil, err
	}
	sides, err := job.open(ctx)
	if err != nil {
		return nil, err
	}
	in := eval.AgreementInput{Measures: job.measures, Seed: o.Seed}
	p.Progress.Begin("agreement", job.queries(sides))
	in.Reference, err = job.ask(ctx, sides[0])
	if err == nil {
		in.Tested, err = job.ask(ctx, sides[1])
	}
	p.Progress.End()
	if err != nil {
		return nil, err
	}
	a, err := eval.Agree(in)
	if err != nil {
		return nil, refused(err)
	}
	a.Notes = append(a.Notes, job.notes...)
	return a, nil
}

// agreementJob is what both sets are asked by.
type agreementJob struct {
	p        *Project
	o        AgreementOptions
	measures []eval.Measure
	benches  map[string]*agreementBench // by the digest of the snapshot
	notes    []string
}

// agreementBench is an opened snapshot. Both sets may be over the same one.
type agreementBench struct {
	*bench
	snapshot *corpus.Snapshot
	variants map[int][]retrieve.Variant // that were built, by their number
}

// agreementSide is one set, ready to be asked.
type agreementSide struct {
	role  string // reference or tested; also names the folder of its run files
	set   *datasets.Set
	mode  datasets.SourceMode
	cases []datasets.Case
	bench *agreementBench
	asked []askedRetriever
}

// askedRetriever answers under the name that both sides know it by.
type askedRetriever struct {
	ref       eval.RetrieverRef
	retriever retrieve.Retriever
}

func (j *agreementJob) prepare() (err error) {
	switch {
	case len(j.o.Retrievers) == 0 && j.o.Runs == "":
		return hinted("--retrievers builtin:24 gives ready-made ones, good and bad", "%w: no retrievers were named", ErrConfig)
	case len(j.o.Retrievers) > 0 && j.o.Runs != "":
		return fmt.Errorf("%w: retrievers and a folder of runs: one of the two", ErrConfig)
	}
	if j.o.Measures == "" {
		j.o.Measures = DefaultAgreementMeasure
	}
	if j.measures, err = measuresOf(j.o.Measures, nil); err != nil {
		return err
	}
	if j.o.Source == "" {
		j.o.Source = j.p.Config.Eval.Source
	}
	return nil
}

func (j *agreementJob) close() {
	for _, b := range j.benches {
		if err := b.Close(); err != nil {
			j.p.Log.Warn("retrievers: " + err.Error())
		}
	}
}

// open loads both sets, opens their snapshots and builds the retrievers.
func (j *agreementJob) open(ctx context.Context) ([2]agreementSide, error) {
	sides := [2]agreementSide{{role: "reference"}, {role: "tested"}}
	for i, name := range []string{j.o.Reference, j.o.Tested} {
		if err := j.load(ctx, &sides[i], name); err != nil {
			return sides, err
		}
	}
	dense := sides[0].bench.hasVectors && sides[1].bench.hasVectors
	for i := range sides {
		if err := j.build(ctx, &sides[i], dense); err != nil {
			return sides, err
		}
	}
	if err := sameRetrievers(sides); err != nil {
		return sides, err
	}
	if n := len(sides[0].asked); n < 2 {
		return sides, hinted("--retrievers builtin:24 gives ready-made ones, good and bad", "%w: %s: a pair needs two", ErrConfig, wording.Count(n, "retriever"))
	}
	return sides, nil
}

// sameRetrievers refuses run files that only one of the sides has.
func sameRetrievers(sides [2]agreementSide) error {
	for i, s := range sides {
		other := &sides[1-i]
		for _, a := range s.asked {
			if !other.has(a.ref.Name) {
				return fmt.Errorf("%w: retriever %s has a run in %s and none in %s", ErrConfig, a.ref.Name, s.role, other.role)
			}
		}
	}
	return nil
}

func (j *agreementJob) load(ctx context.Context, s *agreementSide, name string) (err error) {
	if s.set, err = j.p.Store().Load(name); err != nil {
		return err
	}
	if s.mode, err = s.set.Manifest.Trust.SourceMode(j.o.Source); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if s.cases = activeCases(s.set, j.o.Include); len(s.cases) == 0 {
		return fmt.Errorf("golden set %s has no active case", s.set.Ref())
	}
	pin := s.set.Manifest.Pins.Corpus
	if s.bench = j.benches[pin.Digest]; s.bench != nil {
		return nil
	}
	snapshot, err := j.p.pinnedSnapshot("", pin, "golden set "+s.set.Ref().String())
	if err != nil {
		return err
	}
	b, err := j.p.openBench(ctx, snapshot, j.o.AllowExec)
	if err != nil {
		return err
	}
	s.bench = &agreementBench{bench: b, snapshot: snapshot, variants: map[int][]retrieve.Variant{}}
	j.benches[pin.Digest] = s.bench
	return nil
}

// queries is how many are asked in all.
func (j *agreementJob) queries(sides [2]agreementSide) int {
	n := 0
	for _, s := range sides {
		n += len(s.cases) * len(s.asked)
	}
	return n
}

// ask has every retriever rank the set's cases.
func (j *agreementJob) ask(ctx context.Context, s agreementSide) (eval.AgreementSide, error) {
	var out eval.AgreementSide
	dimensions, err := dimensionsOf(s.cases, eval.SliceNames())
	if err != nil {
		return out, err
	}
	if err := eval.CheckConditions(j.measures, dimensions); err != nil {
		return out, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	for _, asked := range s.asked {
		cases, sourceOnly, err := j.rank(ctx, s, asked)
		if err != nil {
			return out, fmt.Errorf("retriever %s over %s: %w", asked.ref.Name, s.set.Ref(), err)
		}
		if len(out.Retrievers) > 0 {
			shareLabels(out.Retrievers[0].Cases, cases)
		}
		in := j.input(s, asked.ref, cases, sourceOnly)
		in.Slicing = dimensions
		s.bench.complete(&in, false)
		if in.Unit == eval.UnitSpans && !eval.HasSpanMeasure(j.measures) {
			return out, fmt.Errorf("%w: retriever %s answers with spans of documents: order it by a measure of spans, such as -m span_recall@10", ErrConfig, asked.ref.Name)
		}
		out.Retrievers = append(out.Retrievers, in)
	}
	j.remark(s, out.Retrievers)
	shifts := judge.ShiftsIn(s.set.Manifest.Trust.Figures, s.mode)
	out.Shift = func(m eval.Measure, level float64) float64 { return judge.ShiftOf(shifts, m.Canonical(), level) }
	return out, nil
}

// rank asks one retriever, without a stage of its own.
func (j *agreementJob) rank(ctx context.Context, s agreementSide, asked askedRetriever) ([]eval.Case, int, error) {
	progress := j.p.Progress
	defer func() { j.p.Progress = progress }()
	j.p.Progress = stepsOnly{progress}
	r := ranker{bench: s.bench.bench, retriever: asked.retriever, mode: s.mode, depth: depthOf(j.measures, []int{1}), atOnce: inFlight(asked.retriever)}
	return j.p.rankCases(ctx, r, s.cases)
}

// stepsOnly is progress within a stage that somebody else began.
type stepsOnly struct{ Progress }

// Begin implements Progress.
func (stepsOnly) Begin(string, int) {}

// End implements Progress.
func (stepsOnly) End() {}

// shareLabels lets cases that were ranked again hold the labels of the first
// ranking, which are equal.
func shareLabels(from, to []eval.Case) {
	for i := range to {
		to[i].Labels, to[i].Background = from[i].Labels, from[i].Background
	}
}

func (j *agreementJob) input(s agreementSide, ref eval.RetrieverRef, cases []eval.Case, sourceOnly int) eval.Input {
	m, name := s.set.Manifest, s.set.Ref()
	return eval.Input{
		Cases: cases, Measures: j.measures, MinGrade: m.RelevantGrade, Seed: m.Pins.Seed,
		Header: eval.Header{
			Golden: &eval.GoldenRef{Name: name.Name, Version: name.Version, Ref: name.String(), Path: s.set.Dir, Digest: name.Digest},
			Trust:  m.Trust.Level, TrustDetail: m.Trust.Why, Corpus: m.Pins.Corpus.Digest, Retriever: ref,
			Source: string(s.mode), SourceOnly: sourceOnly,
		},
	}
}

// remark notes what a reader must know and scoring cannot.
func (j *agreementJob) remark(s agreementSide, asked []eval.Input) {
	note := func(format string, args ...any) {
		j.notes = append(j.notes, s.set.Ref().String()+": "+fmt.Sprintf(format, args...))
	}
	if n := unplaced(asked); n > 0 {
		note("%s that its snapshot does not have: they count as unjudged", wording.Count(n, "result"))
	}
	if n := asked[0].SourceOnly; n > 0 {
		note("%s read as --source in: nobody else judged their source", wording.Count(n, "case"))
	}
	if n := withoutResult(asked); n > 0 {
		note("%d of %s got no result and score 0", n, wording.Count(len(asked)*len(s.cases), "query"))
	}
}

// unplaced counts the results that stand nowhere in the snapshot.
func unplaced(asked []eval.Input) int {
	n := 0
	for i := range asked {
		n += eval.Unplaced(asked[i].Cases)
	}
	return n
}

// withoutResult counts the queries that were answered with nothing.
func withoutResult(asked []eval.Input) int {
	n := 0
	for _, in := range asked {
		for i := range in.Cases {
			if c := &in.Cases[i]; len(c.Ranking) == 0 && c.Failed == "" && !c.Abstain {
				n++
			}
		}
	}
	return n
}

// builtinPrefix begins the SPEC of ready-made retrievers.
const builtinPrefix = "builtin:"

// isBuiltin tells the SPEC of ready-made retrievers from others.
func isBuiltin(spec string) bool { return strings.HasPrefix(spec, builtinPrefix) }
