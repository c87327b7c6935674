package pipeline

import (
	"cmp"
	"context"
	"fmt"

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

// Extend adds the top results to the pool of each case, grades what is new and
// commits the next version.
func (p *Project) Extend(ctx context.Context, o ExtendOptions) (*Committed, error) {
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, err
	}
	s, err := p.pinnedSnapshot("", set.Manifest.Pins.Corpus, "golden set "+set.Ref().String())
	if err != nil {
		return nil, err
	}
	rankings, err := p.resultRankings(set, o.From)
	if err != nil {
		return nil, err
	}
	b, err := p.openBench(ctx, s, true)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	extended, trust, pin, err := p.extendOn(ctx, b, set, judge.Tops{Rankings: rankings, Depth: cmp.Or(o.Depth, p.maxK())})
	if err != nil || p.DryRun {
		return nil, err
	}
	m := set.Manifest
	m.Pins.Judge, m.Missed, m.Costs, m.Trust = pin, extended.Missed, p.costs(), trust
	return p.write(ctx, m.Name, datasets.Draft{Cases: extended.Cases, Rejects: set.Rejects, Manifest: m})
}

func (p *Project) extendOn(ctx context.Context, b *bench, set *datasets.Set, tops judge.Tops) (judge.Extension, datasets.Trust, *datasets.ModelPin, error) {
	trust := set.Manifest.Trust
	deps, pin, done, err := p.openJudge(ctx, b, set.Manifest.Pins.Seed)
	if err != nil {
		return judge.Extension{}, trust, nil, err
	}
	defer done()
	if deps.Judge.Grader == nil {
		return judge.Extension{}, trust, nil, fmt.Errorf("%w: judge: none grades nothing: name a judge with --provider and --model", ErrConfig)
	}
	p.Progress.Begin("judge", len(set.Cases))
	defer p.Progress.End()
	options := p.judgeOptions(set.Manifest.Pins.Seed, deps.depth)
	extension, err := judge.Extend(ctx, set.Cases, tops, deps.Deps, options)
	if err == nil {
		extension.Cases, trust, err = p.label(ctx, deps, options, extension.Cases, trust)
	}
	return extension, trust, pin, err
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
