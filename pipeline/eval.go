package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// EvalOptions say what to score and how; empty fields take the configuration's.
type EvalOptions struct {
	Golden    string // reference or folder of a golden set
	Retriever string
	K         []int
	Measures  string // comma-separated names
	MinGrade  int    // 0: the set's
	Source    string
	SliceBy   []string
	Out       string // result folder; "" makes one under results/
	PerCase   bool
	Snapshot  string   // score against this snapshot folder
	Include   []string // statuses besides active
	AllowExec bool
}

// Evaluation is a scored retriever and the folder that holds the result.
type Evaluation struct {
	Result *eval.Result
	Path   string
}

// Eval scores one retriever over a golden set and keeps the result.
func (p *Project) Eval(ctx context.Context, o EvalOptions) (*Evaluation, error) {
	p.fillEval(&o)
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, err
	}
	b, err := p.openEvalBench(ctx, set, o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return p.evalOn(ctx, b, set, o)
}

func (p *Project) fillEval(o *EvalOptions) {
	c := p.Config.Eval
	if len(o.K) == 0 {
		o.K = c.K
	}
	if o.Measures == "" {
		o.Measures = strings.Join(c.Metrics, ",")
	}
	if o.Source == "" {
		o.Source = c.Source
	}
	if len(o.SliceBy) == 0 {
		o.SliceBy = c.SliceBy
	}
	if o.Retriever == "" && len(c.Retrievers) > 0 {
		o.Retriever = c.Retrievers[0]
	}
	if o.Golden == "" {
		o.Golden = p.Config.Name
	}
}

// measuresOf reads the names that were asked for; none means recall, precision
// and nDCG at each k, and mrr and judged at the deepest.
func measuresOf(names string, ks []int) ([]eval.Measure, error) {
	if names == "" {
		return eval.DefaultMeasures(slices.Compact(slices.Sorted(slices.Values(ks)))), nil
	}
	measures, err := eval.ParseMeasures(names)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return measures, nil
}

// openEvalBench opens the snapshot that the set is pinned to. Unless a
// snapshot was named, today's corpus must still be that one.
func (p *Project) openEvalBench(ctx context.Context, set *datasets.Set, o EvalOptions) (*bench, error) {
	what := "golden set " + set.Ref().String()
	if o.Snapshot == "" {
		if err := p.checkCurrent(ctx, set, what); err != nil {
			return nil, err
		}
	}
	s, err := p.pinnedSnapshot(o.Snapshot, set.Manifest.Pins.Corpus, what)
	if err != nil {
		return nil, err
	}
	return p.openBench(ctx, s, o.AllowExec)
}

// checkCurrent refuses to score against chunks that the set was not made for.
func (p *Project) checkCurrent(ctx context.Context, set *datasets.Set, what string) error {
	latest, err := p.latestSnapshot("")
	if err != nil {
		return err
	}
	pin := set.Manifest.Pins.Corpus
	if latest.Manifest().Digest != pin.Digest {
		return p.staleSet(checkPin(latest, pin, what), pin)
	}
	drift, err := p.sourceDrift(ctx, latest)
	if err != nil || drift == "" {
		return err
	}
	return p.staleSet(fmt.Errorf("%w: the corpus is not the one that %s was made for: %s", ErrNotComparable, what, drift), pin)
}

func (p *Project) staleSet(err error, pin datasets.CorpusPin) error {
	hint := "goldgen run makes a set for the corpus as it is now"
	if len(pin.Digest) >= 16 {
		pinned := filepath.Join(".goldgen", "snapshots", pin.Digest[:16])
		hint += "; --snapshot " + pinned + " scores against the corpus as it was then"
	}
	return &HintedError{Err: err, Hint: hint}
}

func (p *Project) evalOn(ctx context.Context, b *bench, set *datasets.Set, o EvalOptions) (*Evaluation, error) {
	in, description, err := p.evalInput(ctx, b, set, o)
	if err != nil {
		return nil, err
	}
	dimensions, err := dimensionsOf(activeCases(set, o.Include), eval.SliceNames())
	if err != nil {
		return nil, err
	}
	result, err := eval.Evaluate(in)
	if err != nil {
		return nil, err
	}
	var notes []string
	if n := b.unknown.Swap(0); n > 0 {
		notes = append(notes, fmt.Sprintf("%d hits name chunks that the snapshot does not have; they count as unjudged", n))
	}
	result.Notes = append(result.Notes, notes...)
	if o.PerCase {
		result.AddCases()
	}
	d := resultDraft{input: in, dimensions: dimensions, resultManifest: resultManifest{
		Format: ResultFormat, Goldgen: p.Version, CreatedAt: p.Now().UTC().Format(time.RFC3339),
		Retriever: description, Pins: &set.Manifest.Pins, Scoring: scoringOf(&in, notes), Result: result,
	}}
	if b.embedder != nil && b.hasVectors {
		d.Embedding = b.embedder.pin.Key()
	}
	d.Index = indexVersion(set.Manifest.Pins.Corpus.Digest, description, d.Embedding)
	path := o.Out
	if path == "" {
		path = p.resultPath(set, description)
	}
	if err := d.write(path); err != nil {
		return nil, err
	}
	return &Evaluation{Result: result, Path: path}, p.appendHistory(d.resultManifest, path)
}

// resultPath names a new folder: time, set, retriever.
func (p *Project) resultPath(set *datasets.Set, d retrieve.Description) string {
	name := fmt.Sprintf("%s-%s-v%d-%s", p.Now().UTC().Format("20060102T150405.000"), set.Manifest.Name, set.Manifest.Version, slug(d.Name))
	return filepath.Join(p.Dir, "results", name)
}

// slug keeps what is safe in a file name.
func slug(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, s)
	return s[:min(len(s), 40)]
}

func (p *Project) evalInput(ctx context.Context, b *bench, set *datasets.Set, o EvalOptions) (eval.Input, retrieve.Description, error) {
	measures, err := measuresOf(o.Measures, o.K)
	if err != nil {
		return eval.Input{}, retrieve.Description{}, err
	}
	mode, err := datasets.ParseSourceMode(o.Source)
	if err != nil {
		return eval.Input{}, retrieve.Description{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	r, description, err := b.retriever(ctx, o.Retriever)
	if err != nil {
		return eval.Input{}, description, err
	}
	cases := activeCases(set, o.Include)
	if len(cases) == 0 {
		return eval.Input{}, description, fmt.Errorf("golden set %s has no active case", set.Ref())
	}
	depth := depthOf(measures, o.K)
	scored, sourceOnly, err := p.rankCases(ctx, ranker{bench: b, retriever: r, mode: mode, depth: depth}, cases)
	if err != nil {
		return eval.Input{}, description, err
	}
	dimensions, err := dimensionsOf(cases, o.SliceBy)
	if err != nil {
		return eval.Input{}, description, err
	}
	minGrade := o.MinGrade
	if minGrade == 0 {
		minGrade = set.Manifest.RelevantGrade
	}
	ref := set.Ref()
	in := eval.Input{
		Cases: scored, Dimensions: dimensions, Measures: measures, MinGrade: minGrade,
		Seed: set.Manifest.Pins.Seed,
		Header: eval.Header{
			Golden: &eval.GoldenRef{Name: ref.Name, Version: ref.Version, Ref: ref.String(), Path: set.Dir, Digest: ref.Digest},
			Trust:  set.Manifest.Trust.Level, TrustDetail: set.Manifest.Trust.Why,
			Retriever: eval.RetrieverRef{Spec: o.Retriever, Name: description.Name, Config: settings(description)},
			Source:    string(mode), SourceOnly: sourceOnly, K: o.K, Pins: map[string]any{"depth": depth},
		},
	}
	b.complete(&in, o.Measures == "")
	return in, description, nil
}

func settings(d retrieve.Description) map[string]any {
	out := make(map[string]any, len(d.Settings))
	for k, v := range d.Settings {
		out[k] = v
	}
	return out
}

// wholeRanking is how many hits stand for a whole ranking, as in TREC's runs.
const wholeRanking = 1000

// depthOf is how many hits are asked of a retriever: enough for every k, and
// wholeRanking for measures without a cut, such as map.
func depthOf(measures []eval.Measure, ks []int) int {
	depth := slices.Max(ks)
	for _, m := range measures {
		k := m.K()
		if k == 0 {
			k = wholeRanking
		}
		depth = max(depth, k)
	}
	return depth
}

func activeCases(set *datasets.Set, include []string) []datasets.Case {
	return slices.DeleteFunc(slices.Clone(set.Cases), func(c datasets.Case) bool {
		return c.Status != datasets.Active && !slices.Contains(include, c.Status)
	})
}
