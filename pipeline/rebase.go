package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// RebaseOptions say which set moves where.
type RebaseOptions struct {
	Golden     string // reference of the set
	Snapshot   string // folder of the new corpus; "" means the project's latest snapshot
	From       string // folder of the corpus that the set was made over; "" means the one in the project
	AcceptLoss bool   // also where the new corpus lacks half of the documents, or more
}

// Rebased is a set that was moved, and what that kept and lost. With DryRun, or
// where the set is of that corpus already, Committed names the set itself.
type Rebased struct {
	Committed *Committed
	Report    *datasets.RebaseReport
}

// Rebase moves a set to another snapshot, without a model, and commits the next
// version of it.
func (p *Project) Rebase(ctx context.Context, o RebaseOptions) (*Rebased, error) {
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, err
	}
	from, to, err := p.rebaseSnapshots(set, o)
	if err != nil {
		return nil, err
	}
	draft, report, err := p.moved(ctx, set, from, to, o.AcceptLoss)
	if err != nil {
		return nil, err
	}
	if p.DryRun || set.Manifest.Pins.Corpus.Digest == to.Manifest().Digest {
		ref := set.Ref()
		ref.Path = set.Dir
		return &Rebased{&Committed{Ref: ref, Manifest: set.Manifest}, report}, nil
	}
	p.warnNotNewest(set)
	draft.Branch = true
	draft.Manifest.Why = fmt.Sprintf("moved to corpus %.12s", to.Manifest().Digest)
	committed, err := p.write(ctx, set.Manifest.Name, draft)
	if err != nil {
		return nil, err
	}
	return &Rebased{committed, report}, nil
}

// moved is the draft of a set over another corpus.
func (p *Project) moved(ctx context.Context, set *datasets.Set, from, to *corpus.Snapshot, acceptLoss bool) (datasets.Draft, *datasets.RebaseReport, error) {
	draft, report, err := datasets.Rebase(ctx, set, from, to, acceptLoss)
	if errors.Is(err, datasets.ErrLoss) {
		return draft, nil, hinted("look whether the snapshot is of the right folder; --accept-loss moves the set all the same, and retires what is lost", "golden set %s: %w", set.Ref(), err)
	}
	if err != nil {
		return draft, nil, fmt.Errorf("golden set %s: %w", set.Ref(), err)
	}
	draft.From = new(set.Ref())
	pins := &draft.Manifest.Pins
	pins.Embedding, pins.Goldgen = embeddingOf(to, pins.Embedding), p.Version
	return draft, report, nil
}

// rebaseSnapshots opens the corpus that a set is of, and the one that it goes to.
func (p *Project) rebaseSnapshots(set *datasets.Set, o RebaseOptions) (from, to *corpus.Snapshot, err error) {
	if to, err = p.latestSnapshot(o.Snapshot); err != nil {
		return nil, nil, err
	}
	from, err = p.snapshotBefore(set, o.From)
	return from, to, err
}

// snapshotBefore opens the corpus that a set is to be moved from.
func (p *Project) snapshotBefore(set *datasets.Set, dir string) (*corpus.Snapshot, error) {
	s, err := p.snapshotOf(set, dir)
	if errors.Is(err, ErrNotComparable) {
		err = hinted("--from DIR names the snapshot that the set was made over, where it is elsewhere; the documents of that time give it again, by goldgen snapshot",
			"the corpus that golden set %s was made over is needed to move it: %w", set.Ref(), err)
	}
	return s, err
}

// warnNotNewest says that the next version will lack what newer ones have.
func (p *Project) warnNotNewest(set *datasets.Set) {
	newest, err := p.Store().Resolve(set.Manifest.Name)
	if err == nil && newest.Version > set.Manifest.Version {
		p.Log.Warn(fmt.Sprintf("%s is moved, not the newest version %s: what that has of its own is not in the next version", set.Ref(), newest))
	}
}

// embeddingOf is the embedding that a set is pinned to over a snapshot: its own,
// where the snapshot has its vectors, else the snapshot's only one.
func embeddingOf(s *corpus.Snapshot, own *corpus.Embedding) *corpus.Embedding {
	vectors := s.Manifest().Vectors
	switch {
	case own != nil && slices.ContainsFunc(vectors, func(v corpus.VectorSet) bool { return v.Embedding == *own }):
		return own
	case len(vectors) == 1:
		return &vectors[0].Embedding
	}
	return nil
}

// rebaseHint is the command that moves a set to a snapshot's folder.
func rebaseHint(set *datasets.Set, dir string) string {
	return fmt.Sprintf("goldgen rebase %s --snapshot %s moves the set to that corpus, without a model", set.Ref(), dir)
}

// shownSnapshot is a snapshot's folder as one types it in the project's folder.
func (p *Project) shownSnapshot(s *corpus.Snapshot) string {
	if inside, err := filepath.Rel(p.Dir, s.Dir()); err == nil && filepath.IsLocal(inside) {
		return inside
	}
	return s.Dir()
}

// otherChunking says how the chunks of a set and a snapshot were cut, where that
// differs.
func otherChunking(set *datasets.Set, s *corpus.Snapshot) string {
	ours, theirs := set.Manifest.Pins.Chunking, s.Manifest().Chunking
	if ours == theirs {
		return "the chunking is the same, the documents differ"
	}
	return fmt.Sprintf("its chunks were cut by %s, the snapshot's by %s", chunkingWords(ours), chunkingWords(theirs))
}

func chunkingWords(c corpus.Chunking) string {
	if c.Size == 0 {
		return c.Method
	}
	return fmt.Sprintf("%s (size %d, overlap %d, %s)", c.Method, c.Size, c.Overlap, c.Unit)
}
