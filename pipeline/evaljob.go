package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

// evalJob is one retriever to be scored over cases of a set.
type evalJob struct {
	p     *Project
	bench *bench
	set   *datasets.Set
	o     EvalOptions

	cases       []datasets.Case
	restriction string // which cases these are, "" for all
	measures    []eval.Measure
	mode        datasets.SourceMode
	depth       int
	dimensions  []eval.Dimension // by every slice that a set has
	sliceBy     []eval.Dimension // by those asked for

	retriever   retrieve.Retriever // itself
	asked       retrieve.Retriever // with what answers in its place: an earlier result, the cache
	description retrieve.Description
	noticed     noticed
	earlier     *Kept         // whose failed queries are asked again, or nil
	answers     *answerCache  // nil without --cache
	named       *namedAnswers // to look at beside the rankings, or nil
	notes       []string      // that scoring cannot know
}

// newEvalJob reads the options; earlier is the result of --retry-failed.
func (p *Project) newEvalJob(b *bench, set *datasets.Set, o EvalOptions, earlier *Kept) (*evalJob, error) {
	j := &evalJob{p: p, bench: b, set: set, o: o, earlier: earlier}
	var err error
	if j.measures, err = measuresOf(o.Measures, o.K); err != nil {
		return nil, err
	}
	if j.mode, err = set.Manifest.Trust.SourceMode(o.Source); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	j.depth = depthOf(j.measures, o.K)
	if err := j.chooseCases(); err != nil {
		return nil, err
	}
	if j.dimensions, err = dimensionsOf(j.cases, eval.SliceNames()); err != nil {
		return nil, err
	}
	if err := eval.CheckConditions(j.measures, j.dimensions); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if err := eval.CheckReach(o.gates, j.measures, o.K, j.dimensions); err != nil {
		return nil, gateTrouble(err)
	}
	j.sliceBy, err = dimensionsOf(j.cases, o.SliceBy)
	return j, err
}

// evalOn scores over all active cases.
func (p *Project) evalOn(ctx context.Context, b *bench, set *datasets.Set, o EvalOptions) (*Evaluation, error) {
	job, err := p.newEvalJob(b, set, o, nil)
	if err != nil {
		return nil, err
	}
	return job.run(ctx)
}

func (j *evalJob) run(ctx context.Context) (*Evaluation, error) {
	var err error
	if j.named, err = j.readNamed(); err != nil {
		return nil, err
	}
	closeRetriever, err := j.openRetriever(ctx)
	if err != nil {
		return nil, err
	}
	defer closeRetriever()
	if err := j.checkRun(); err != nil {
		return nil, err
	}
	if err := j.checkOut(); err != nil {
		return nil, err
	}
	in, err := j.input(ctx)
	if err != nil {
		return nil, err
	}
	result, err := eval.Evaluate(in)
	if err != nil {
		return nil, refused(err)
	}
	if err := result.AddSources(in, j.cases); err != nil {
		return nil, err
	}
	j.remark(in)
	result.Notes = append(result.Notes, j.notes...)
	if j.o.PerCase {
		result.AddCases()
	}
	if j.o.Diagnose {
		return j.keepDiagnosed(ctx, in, result)
	}
	return j.keep(in, result)
}

// refused makes a measure that the labels cannot give a matter of the options.
func refused(err error) error {
	if wrong := (*eval.MeasureError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return err
}

// checkOut refuses the place of the result while nothing has been asked yet, as
// far as it is known then that it cannot be kept there.
func (j *evalJob) checkOut() error {
	if j.o.Out == "" {
		return nil
	}
	old, err := resultAt(j.o.Out)
	if old == nil || err != nil {
		return err
	}
	now := resultManifest{Retriever: j.description, Restriction: j.restriction, Result: &eval.Result{
		Golden:      j.goldenRef(),
		Conventions: eval.Conventions{MinGrade: j.minGrade(), Source: string(j.mode), K: j.o.K},
	}}
	return otherResult(j.o.Out, strings.Join(setupDiffers(*old, now), ", "))
}

func (j *evalJob) goldenRef() *eval.GoldenRef {
	ref := j.set.Ref()
	return &eval.GoldenRef{Name: ref.Name, Version: ref.Version, Ref: ref.String(), Path: j.set.Dir, Digest: ref.Digest}
}

func (j *evalJob) minGrade() int { return cmp.Or(j.o.MinGrade, j.set.Manifest.RelevantGrade) }

// openRetriever builds the retriever, then what stands before it: answers from
// the cache, and those of an earlier result.
func (j *evalJob) openRetriever(ctx context.Context) (done func(), err error) {
	done = func() {}
	if j.retriever, j.description, err = j.bench.retriever(ctx, j.o.Retriever); err != nil {
		return done, err
	}
	j.asked = &noticing{j.retriever, &j.noticed}
	if j.o.Cache {
		if j.description.Kind == retrieve.KindRun {
			return done, fmt.Errorf("%w: --cache: a run file is read, and nobody is asked", ErrConfig)
		}
		if j.answers, err = j.p.openAnswerCache(ctx, j.indexVersion(), j.description); err != nil {
			return done, err
		}
		done = func() { j.answers.Close() }
		j.asked = j.answers.before(j.asked)
	}
	if j.earlier != nil {
		if err := j.checkEarlier(); err != nil {
			return done, err
		}
		j.asked = j.earlier.before(j.asked)
	}
	return done, nil
}

func (j *evalJob) indexVersion() string {
	return indexVersion(j.set.Manifest.Pins.Corpus.Digest, j.description, j.embedding())
}

// embedding names the vectors that retrievers searched, "" without any.
func (j *evalJob) embedding() string {
	if j.bench.embedder != nil && j.bench.hasVectors {
		return j.bench.embedder.pin.Key()
	}
	return ""
}

func (j *evalJob) input(ctx context.Context) (eval.Input, error) {
	cases, sourceOnly, err := j.p.rankCases(ctx, ranker{bench: j.bench, retriever: j.asked, mode: j.mode, depth: j.depth, atOnce: inFlight(j.retriever)}, j.cases)
	if err != nil {
		return eval.Input{}, err
	}
	m := j.set.Manifest
	in := eval.Input{
		Cases: cases, Dimensions: j.sliceBy, Slicing: j.dimensions, Measures: j.measures, MinGrade: j.minGrade(),
		Seed: m.Pins.Seed, Duplicates: j.duplicates(),
		Header: eval.Header{
			Golden: j.goldenRef(),
			Trust:  m.Trust.Level, TrustDetail: m.Trust.Why, Corpus: m.Pins.Corpus.Digest,
			Retriever: eval.RetrieverRef{
				Spec: j.description.Name, Name: j.description.Name, Kind: j.description.Kind, Config: settings(j.description),
			},
			Source: string(j.mode), SourceOnly: sourceOnly, K: j.o.K, FalseAnswers: &j.p.Config.Eval.FalseAnswers, Pins: map[string]any{"depth": j.depth},
		},
	}
	j.bench.complete(&in, j.o.Measures == "")
	return in, nil
}

// remark notes what a reader must know and scoring cannot.
func (j *evalJob) remark(in eval.Input) {
	if n := eval.Unplaced(in.Cases); n > 0 {
		j.notes = append(j.notes, fmt.Sprintf("%s chunks or documents that the snapshot does not have; %s unjudged, and no leak can be seen %s",
			wording.Count(n, "hit")+wording.Pick(n, " names", " name"), wording.Pick(n, "it counts as", "they count as"), wording.Pick(n, "in it", "among them")))
	}
	if n := j.noticed.cut.Load(); n > 0 {
		j.notes = append(j.notes, fmt.Sprintf("%d results beyond the %d asked for were cut off", n, j.depth))
	}
	if j.restriction != "" {
		j.notes = append(j.notes, fmt.Sprintf("only %d cases were asked (%s): these numbers are not those of the whole set", len(j.cases), j.restriction))
	}
	if j.answers != nil {
		j.notes = append(j.notes, fmt.Sprintf("%d of %d answers came from the cache, with the times of their first asking", j.answers.hits.Load(), len(j.cases)))
	}
	if j.earlier != nil {
		j.notes = append(j.notes, fmt.Sprintf("%d failed queries of %s were asked again; the other answers are its own", j.earlier.failedCases(), j.earlier.Dir))
	}
}

// keep writes the folder and, where the result stands, its line of history.
func (j *evalJob) keep(in eval.Input, result *eval.Result) (*Evaluation, error) {
	d := resultDraft{input: in, dimensions: j.dimensions, resultManifest: resultManifest{
		Format: ResultFormat, Goldgen: j.p.Version, CreatedAt: j.p.Now().UTC().Format(time.RFC3339),
		Retriever: j.description, Pins: &j.set.Manifest.Pins, Embedding: j.embedding(), Index: j.indexVersion(),
		Restriction: j.restriction, Scoring: scoringOf(&in, j.notes), Result: result,
	}}
	d.Scoring.SetGrade = j.set.Manifest.RelevantGrade
	d.Scoring.Shift = judge.ShiftsIn(j.set.Manifest.Trust.Figures, j.mode)
	d.Scoring.Learning = judge.LearningIn(j.set.Manifest.Trust.Figures)
	if j.answers != nil {
		d.Cached = int(j.answers.hits.Load())
	}
	e := &Evaluation{Result: result, Path: j.o.Out, TooManyFailed: j.tooManyFailed(result)}
	if e.Path == "" {
		e.Path = j.p.resultPath(j.set, j.description)
	}
	digest, err := d.write(e.Path)
	if err != nil || e.TooManyFailed {
		return e, err
	}
	return e, j.p.appendHistory(d.resultManifest, e.Path, digest)
}

func (j *evalJob) tooManyFailed(r *eval.Result) bool {
	return j.o.MaxFailed != nil && float64(len(r.Failed)) > *j.o.MaxFailed*float64(len(j.cases))
}
