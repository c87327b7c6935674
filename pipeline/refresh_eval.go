package pipeline

import (
	"context"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
)

// RefreshEval is what a configured retriever scores over a refreshed set: on the
// cases that are in both versions, before and now, and apart from them on those that
// are new.
type RefreshEval struct {
	Retriever  string  `json:"retriever"`
	Path       string  `json:"path"`        // of the result over the whole version
	BeforePath string  `json:"before_path"` // of the version before, "" where none was kept
	Before     *Scored `json:"before"`      // common cases in that result, null without one
	Common     Scored  `json:"common"`
	New        Scored  `json:"new"`
	Leaks      int     `json:"leaks"`
}

// Scored are means over some cases of a result.
type Scored struct {
	Cases   int          `json:"cases"`
	Metrics eval.Metrics `json:"metrics"`
}

// score scores the configured retrievers over the version that was made of before.
func (r *refresher) score(ctx context.Context, c *Committed, before *datasets.Set) ([]RefreshEval, []*Evaluation, error) {
	evaluations, err := r.evalAll(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	common := map[string]bool{}
	for _, old := range activeCases(before, nil) {
		common[old.ID] = true
	}
	history, err := r.History(before.Ref().String())
	if err != nil {
		return nil, nil, err
	}
	out := make([]RefreshEval, 0, len(evaluations))
	for _, e := range evaluations {
		one, err := r.parted(e, common, history.Entries, before.Manifest.Digest)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, one)
	}
	return out, evaluations, nil
}

// parted takes a result apart by the cases that both versions have, and finds the
// newest result of the same retriever over the version before.
func (r *refresher) parted(e *Evaluation, common map[string]bool, history []HistoryEntry, digest string) (RefreshEval, error) {
	out := RefreshEval{Retriever: e.Result.Retriever.Name, Path: e.Path, Leaks: len(e.Result.Leaks)}
	now, err := readKept(e.Path)
	if err != nil {
		return out, err
	}
	both := map[string]bool{} // retired ones are not asked any more
	for i := range now.Input.Cases {
		if id := now.Input.Cases[i].ID; common[id] {
			both[id] = true
		}
	}
	if out.Common, err = now.scoredOn(func(id string) bool { return both[id] }); err != nil {
		return out, err
	}
	if out.New, err = now.scoredOn(func(id string) bool { return !both[id] }); err != nil {
		return out, err
	}
	for _, h := range slices.Backward(history) {
		if h.Golden.Digest != digest || h.Restriction != "" || h.Retriever.Digest() != now.Retriever.Digest() {
			continue
		}
		old, err := readKept(r.Path(h.Path))
		if err != nil {
			continue // it was cleared away
		}
		scored, err := old.scoredOn(func(id string) bool { return both[id] })
		out.Before, out.BeforePath = &scored, r.Path(h.Path)
		return out, err
	}
	return out, nil
}

// scoredOn scores some cases of a result again, by what it keeps.
func (k *Kept) scoredOn(takes func(caseID string) bool) (Scored, error) {
	in := k.Input
	in.Dimensions, in.Slicing = nil, nil // these are over all cases
	in.Cases = slices.DeleteFunc(slices.Clone(in.Cases), func(c eval.Case) bool { return !takes(c.ID) })
	if len(in.Cases) == 0 {
		return Scored{Metrics: eval.Metrics{}}, nil
	}
	result, err := eval.Evaluate(in)
	if err != nil {
		return Scored{}, err
	}
	return Scored{Cases: len(in.Cases), Metrics: result.Metrics}, nil
}

// unscored reports whether a version that a refresh made lacks a result of a
// configured retriever: the refresh was ended before it came to that.
func (r *refresher) unscored() (bool, error) {
	m := &r.set.Manifest
	if m.Drift == nil || m.Counts.Active == 0 || r.DryRun {
		return false, nil
	}
	history, err := r.History(r.set.Ref().String())
	if err != nil {
		return false, err
	}
	scored := map[string]bool{}
	for _, h := range history.Entries {
		if h.Golden.Digest == m.Digest && h.Restriction == "" {
			scored[h.Retriever.Name] = true
		}
	}
	return slices.ContainsFunc(r.Config.Eval.Retrievers, func(name string) bool { return !scored[name] }), nil
}
