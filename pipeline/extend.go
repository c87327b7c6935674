package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

// ExtendOptions say whose results are added to the pools of a set.
type ExtendOptions struct {
	Golden string
	From   []string // result folders of eval
	Depth  int      // results of each that count; 0 means the largest eval.k
}

var errNoJudge = errors.New("judge: none grades nothing")

// Extend adds the top results to the pool of each case, grades what is new and
// commits the next version.
func (p *Project) Extend(ctx context.Context, o ExtendOptions) (*Committed, error) {
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, err
	}
	s, err := p.snapshotOf(set, "")
	if err != nil {
		return nil, err
	}
	rankings, err := p.resultRankings(set, o.From)
	if err != nil {
		return nil, err
	}
	b, err := p.openBench(ctx, s, p.mayExec())
	if err != nil {
		return nil, err
	}
	defer b.Close()
	draft, err := p.extendOn(ctx, b, set, judge.Tops{Rankings: rankings, Depth: cmp.Or(o.Depth, p.maxK())})
	if err != nil || p.DryRun {
		return nil, err
	}
	draft.Manifest.Costs = p.costs()
	draft.Manifest.Why = "pools extended by the results of " + strings.Join(p.allRelative(o.From), ", ")
	return p.write(ctx, set.Manifest.Name, draft)
}

// allRelative are paths as seen from the project's folder.
func (p *Project) allRelative(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = p.relative(path)
	}
	return out
}

// extendOn grades what the tops add, where there is a judge, and labels it, where
// there is a label model.
func (p *Project) extendOn(ctx context.Context, b *bench, set *datasets.Set, tops judge.Tops) (datasets.Draft, error) {
	draft := datasets.Derive(set, "")
	draft.Branch = true
	m := &draft.Manifest
	deps, pin, done, err := p.openJudge(ctx, b, m.Pins.Seed, p.Config.Judge.labelModelOf(m.Trust, set.Cases))
	if err != nil {
		return draft, err
	}
	defer done()
	if deps.Judge.Grader == nil && deps.profile == nil {
		return draft, fmt.Errorf("%w: %w: name a judge with --provider and --model, or judge: {labels: prior}", ErrConfig, errNoJudge)
	}
	p.Progress.Begin("judge", len(set.Cases))
	defer p.Progress.End()
	options := p.judgeOptions(m.Pins.Seed, deps.depth)
	options.Extra = tops.Chunks(deps.View)
	if deps.Judge.Grader != nil {
		extension, err := judge.Extend(ctx, set.Cases, tops, deps.Deps, options)
		if err != nil {
			return draft, err
		}
		draft.Cases, m.Missed, m.Pins.Judge = extension.Cases, extension.Missed, pin
		m.Trust = extendedTrust(judge.WithPanel(m.Trust, extension.Cases), &extension, deps.Judge.Name)
	}
	if draft.Cases, m.Trust, err = p.label(ctx, deps, options, slices.Clone(draft.Cases), m.Trust); err != nil {
		return draft, err
	}
	p.sayOutside(deps, m.Trust)
	if deps.profile != nil {
		m.Trust = unsettledTrust(m.Trust, deps.profile, draft.Cases)
	}
	hard := negatives(deps.View, m.RelevantGrade, m.Trust)
	hard.Tops = tops
	hard.Fill(draft.Cases)
	return draft, nil
}

// extendedTrust lowers the trust of a set that people had graded whole where a judge
// has added grades of its own: to judged where it passed its canaries, else to
// source_only, as of any set with the grades of a judge that nobody has tested.
func extendedTrust(t datasets.Trust, e *judge.Extension, judgeName string) datasets.Trust {
	people, known := gradedShare(e.Cases)
	if t.Level != datasets.TrustReviewed || people == known {
		return t
	}
	t.Level, t.Judge = datasets.TrustSourceOnly, cmp.Or(e.Verdict.State, judge.Untested)
	which := "is " + t.Judge
	if t.Judge == judge.Passed {
		t.Level, which = datasets.TrustJudged, "passed its canaries"
	}
	t.Why = fmt.Sprintf("people graded %d of the %d pairs that have a grade, and the judge %s, which %s, the others", people, known, judgeName, which)
	return t
}

// unsettledTrust lowers a trust of reviewed to that of a label model where its
// chances stand for pairs that nobody graded: people's judgments alone then settle
// no figure.
func unsettledTrust(t datasets.Trust, profile *judge.Profile, cases []datasets.Case) datasets.Trust {
	people, known := gradedShare(cases)
	if t.Level == datasets.TrustReviewed && people < known {
		t.Level = profile.Level
		t.Why = fmt.Sprintf("people graded %d of the %d pairs that are known; %s", people, known, t.Why)
	}
	return t
}

// gradedShare counts the pairs of active cases whose relevance is known, and those
// of them that people graded.
func gradedShare(cases []datasets.Case) (people, known int) {
	for i := range cases {
		if cases[i].Status != datasets.Active {
			continue
		}
		for _, l := range cases[i].Labels(datasets.SourceJudged).Chunks {
			if l.Known {
				known++
			}
			if l.Human {
				people++
			}
		}
	}
	return people, known
}

// resultRankings reads what results returned for each case of the set. A result
// over another corpus is refused; one over another version of the same set is
// not, as cases keep their ids.
func (p *Project) resultRankings(set *datasets.Set, from []string) (map[string][]judge.Ranking, error) {
	out := map[string][]judge.Ranking{}
	for _, dir := range from {
		r, err := ReadResult(dir)
		if err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		if r.Pins == nil || r.Pins.Corpus.Digest != set.Manifest.Pins.Corpus.Digest {
			return nil, fmt.Errorf("%w: result %s was made over another corpus than golden set %s", ErrNotComparable, dir, set.Ref())
		}
		err = r.rankings(func(caseID string, hits []retrieve.Hit) {
			out[caseID] = append(out[caseID], judge.Ranking{Name: r.Retriever.Name, Hits: hits})
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
