package pipeline

import (
	"context"
	"errors"

	"github.com/goldgen/goldgen/datasets"
)

// MergeOptions name two versions that were made of a common ancestor.
type MergeOptions struct {
	Ours   string // a version of the project's; the merged one becomes its next
	Theirs string // a reference, or the folder of a version elsewhere
	Prefer string // datasets.PreferOurs or PreferTheirs where both changed the same
}

// Merged is what a merge made: nothing was committed where there were conflicts
// that nobody decided.
type Merged struct {
	*Committed
	Report *datasets.MergeReport
}

// Merge joins two versions and commits the result as the next one. Undecided
// conflicts come with the error datasets.ErrConflicts, and in the report.
func (p *Project) Merge(ctx context.Context, o MergeOptions) (*Merged, error) {
	store := p.Store()
	ours, err := store.Load(o.Ours)
	if err != nil {
		return nil, err
	}
	theirs, err := store.Load(o.Theirs)
	if err != nil {
		return nil, err
	}
	base, err := mergeBase(store, ours, theirs)
	if err != nil {
		return nil, err
	}
	draft, report, err := datasets.Merge(base, ours, theirs, o.Prefer)
	out := &Merged{Report: report}
	if errors.Is(err, datasets.ErrConflicts) {
		return out, hinted("--ours or --theirs decides them all; or edit one of the two first, with --branch", "%w", err)
	}
	if err != nil {
		return nil, hinted("goldgen rebase moves a set to another corpus: both must be of one", "%w: %w", ErrNotComparable, err)
	}
	out.Committed, err = p.writeDerived(ctx, draft, true)
	return out, err
}

// mergeBase loads the common ancestor.
func mergeBase(store *datasets.Store, ours, theirs *datasets.Set) (*datasets.Set, error) {
	a, b := ours.Ref(), theirs.Ref()
	a.Path, b.Path = ours.Dir, theirs.Dir
	base, err := datasets.CommonAncestor(a, b)
	if errors.Is(err, datasets.ErrUnrelated) {
		return nil, hinted("goldgen datasets log shows what each was made of; goldgen datasets diff tells what differs", "%w", err)
	}
	if err != nil {
		return nil, err
	}
	return store.Load(base.Path)
}
