package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

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

	Restriction
	RetryFailed string   // a result of the same retriever: only its failed queries are asked
	Cache       bool     // take answers from earlier evaluations of the same index
	MaxFailed   *float64 // share of failed queries from which on the result does not stand

	Diagnose      bool   // ask further to find out why cases failed
	Answers       string // with Diagnose: a result of the answers that a system gave from these rankings
	AnswersBefore string // one of its earlier answers, laid beside what was retrieved then

	gates []eval.Gate // that the result must be able to answer
}

// Evaluation is a scored retriever and the folder that holds the result.
type Evaluation struct {
	Result *eval.Result
	Path   string

	// TooManyFailed says that more queries failed than eval.max_failed allows:
	// the result is kept to be completed, and is not in the history.
	TooManyFailed bool

	Diagnosis *eval.Diagnosis // with every failed case; nil unless asked for
	Named     []string        // the cases that were asked for by name
}

// Eval scores one retriever over a golden set and keeps the result.
func (p *Project) Eval(ctx context.Context, o EvalOptions) (*Evaluation, error) {
	var earlier *Kept
	if o.RetryFailed != "" {
		var err error
		if earlier, err = readKept(o.RetryFailed); err != nil {
			return nil, fmt.Errorf("--retry-failed: %w", err)
		}
		fillFrom(&o, earlier)
	}
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
	job, err := p.newEvalJob(b, set, o, earlier)
	if err != nil {
		return nil, err
	}
	return job.run(ctx)
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
	if o.MaxFailed == nil {
		o.MaxFailed = &c.MaxFailed
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
	if errors.Is(err, ErrNotComparable) && o.Snapshot != "" {
		return nil, &HintedError{Err: fmt.Errorf("%w; %s", err, otherChunking(set, s)), Hint: rebaseHint(set, o.Snapshot)}
	}
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
		err := fmt.Errorf("%w; %s", checkPin(latest, pin, what), otherChunking(set, latest))
		return p.staleSet(err, pin, rebaseHint(set, p.shownSnapshot(latest)))
	}
	drift, err := p.sourceDrift(ctx, latest)
	if err != nil || drift == "" {
		return err
	}
	err = fmt.Errorf("%w: the corpus is not the one that %s was made for: %s", ErrNotComparable, what, drift)
	return p.staleSet(err, pin, fmt.Sprintf("goldgen snapshot, then goldgen rebase %s, moves the set to the corpus as it is now, without a model", set.Ref()))
}

// staleSet says what can be done about a set that is of another corpus; rebase is
// the first of it.
func (p *Project) staleSet(err error, pin datasets.CorpusPin, rebase string) error {
	hint := rebase + "; goldgen run makes a set for that corpus"
	if len(pin.Digest) >= 16 {
		pinned := filepath.Join(".goldgen", "snapshots", pin.Digest[:16])
		hint += "; --snapshot " + pinned + " scores against the corpus as it was then"
	}
	return &HintedError{Err: err, Hint: hint}
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
