package judge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/datasets"
)

// FeatureOutside counts, in a label model's judgment, the features that lie
// outside of what the model was fitted on.
const FeatureOutside = "outside_training"

// Labels is how a label model labelled a set.
type Labels struct {
	Cases   []datasets.Case
	Pairs   int
	Outside int // of them, with a feature outside of the training range
}

// Label gives each pooled pair of the cases that are not retired its chance of
// being relevant, as a judgment by the label model; what a label model said
// before is replaced, what others said stays. The members of deps must be those
// that the model's features come from.
func Label(ctx context.Context, cases []datasets.Case, deps Deps, o Options, p *Profile) (Labels, error) {
	observed, err := Observe(ctx, cases, deps, o)
	if err != nil {
		return Labels{}, err
	}
	name, err := p.Name()
	if err != nil {
		return Labels{}, err
	}
	out := Labels{Cases: slices.Clone(cases)}
	for i := range out.Cases {
		if c := &out.Cases[i]; c.Status != datasets.Retired {
			out.label(c, observed[i], p, name)
		}
	}
	return out, nil
}

func (l *Labels) label(c *datasets.Case, pool []Observed, p *Profile, name string) {
	c.Judgments = slices.DeleteFunc(slices.Clone(c.Judgments), func(j datasets.Judgment) bool {
		return j.By == datasets.ByLabelModel
	})
	for i, x := range Vectors(p.Model.Features, seenOf(pool)) {
		probability := p.Model.Probability(x)
		features := maps.Clone(pool[i].Seen)
		l.Pairs++
		if probability.Outside > 0 {
			features[FeatureOutside] = float64(probability.Outside)
			l.Outside++
		}
		c.Judgments = append(c.Judgments, datasets.Judgment{
			ChunkID: pool[i].Item.ChunkID, DocID: pool[i].Item.DocID, By: datasets.ByLabelModel, Judge: name,
			P: &probability.P, PDraws: probability.Draws, Features: features, Inclusion: datasets.RoundInclusion(pool[i].Item.Inclusion),
		})
	}
}

// Observed is a pooled pair and what is known of it.
type Observed struct {
	Item Item
	Seen map[string]float64
}

func seenOf(pool []Observed) []map[string]float64 {
	out := make([]map[string]float64, len(pool))
	for i := range pool {
		out[i] = pool[i].Seen
	}
	return out
}

// Observe pools the cases that are not retired again, with every chunk that has
// a judgment and those of o.Extra, and says what is known of each pair: what the pool knows, and the
// grades that a model gave. The answer has an element for each case.
func Observe(ctx context.Context, cases []datasets.Case, deps Deps, o Options) ([][]Observed, error) {
	if err := o.Pool.Validate(); err != nil {
		return nil, err
	}
	if err := checkVoters(deps); err != nil {
		return nil, err
	}
	pooler := NewPooler(o.Pool, deps.Members, deps.View)
	out := make([][]Observed, len(cases))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.Concurrency))
	for i := range cases {
		if cases[i].Status == datasets.Retired {
			continue
		}
		group.Go(func() (err error) {
			out[i], err = pooler.observe(gctx, cases[i], o.Extra[cases[i].ID])
			return err
		})
	}
	err := group.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return out, err
}

func checkVoters(deps Deps) error {
	for _, member := range Voters() {
		if deps.Members[member] == nil {
			return fmt.Errorf("label model: %w: the pool has no %s, which its features come from", errMember, member)
		}
	}
	return nil
}

var errMember = errors.New("a pool without its members")

func (p *Pooler) observe(ctx context.Context, c datasets.Case, extra []string) ([]Observed, error) {
	judged := slices.Clone(extra)
	graded := map[string]datasets.Judgment{}
	for _, j := range c.Judgments {
		judged = append(judged, j.ChunkID)
		if j.By == datasets.ByLLM {
			graded[j.ChunkID] = j
		}
	}
	items, err := p.PoolWith(ctx, c, judged)
	if err != nil {
		return nil, err
	}
	out := make([]Observed, len(items))
	for i, seen := range p.Observations(c, items) {
		for _, name := range []string{"grade", FeatureExpected, FeaturePYes} {
			if v, ok := graded[items[i].ChunkID].Features[name]; ok {
				seen[name] = v
			}
		}
		out[i] = Observed{Item: items[i], Seen: seen}
	}
	return out, nil
}
