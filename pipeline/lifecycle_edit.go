package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
)

// EditOptions say what is edited, and who does.
type EditOptions struct {
	Golden string
	Cases  []string // ids or unambiguous beginnings of them; none means all that are not retired
	By     string
	Keep   bool // take wordings that a gate refuses
	Branch bool
}

// Edited is what edits made of a set.
type Edited struct {
	*Committed
	Report *datasets.EditReport
}

// WriteEdits writes what may be changed of a set's cases, for Edit to read again.
func (p *Project) WriteEdits(w io.Writer, o EditOptions) error {
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return err
	}
	if len(o.Cases) == 0 {
		return datasets.WriteEdits(w, slices.DeleteFunc(set.Cases, func(c datasets.Case) bool { return c.Status == datasets.Retired }))
	}
	var cases []datasets.Case
	for _, id := range o.Cases {
		c, err := findCase(set, id)
		if err != nil {
			return err
		}
		cases = append(cases, *c)
	}
	return datasets.WriteEdits(w, cases)
}

// Edit applies an edit file and commits the next version. text is the file's, name
// is how errors call it.
func (p *Project) Edit(ctx context.Context, text, name string, o EditOptions) (*Edited, error) {
	edits, bad := datasets.ReadEdits(text, name)
	if len(edits) == 0 {
		return nil, bad
	}
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, err
	}
	s, err := p.snapshotOf(set, "")
	if err != nil {
		return nil, err
	}
	rechecked := rechecker{set: set, snapshot: s}
	editor := datasets.Editor{By: o.By, View: s, Check: rechecked.check, Keep: o.Keep}
	draft, report, err := editor.Apply(set, edits)
	if rechecked.err != nil {
		err = rechecked.err
	}
	err = errors.Join(bad, err)
	if err != nil {
		return nil, hinted("mend the lines and apply the file again: nothing was written; --keep-wording takes queries that a gate refuses", "%w", err)
	}
	if err := p.refill(set, draft, report); err != nil {
		return nil, err
	}
	committed, err := p.writeDerived(ctx, draft, o.Branch)
	return &Edited{committed, report}, err
}

// rechecker runs the gates that need no model over other wordings.
type rechecker struct {
	set      *datasets.Set
	snapshot *corpus.Snapshot
	err      error // the first
}

func (r *rechecker) check(c *datasets.Case, query string) ([]datasets.Check, bool) {
	chunks, err := r.snapshot.ChunksByID(generate.ChunksOf(c))
	for _, id := range c.Source {
		if _, there := chunks[id]; err == nil && !there {
			err = fmt.Errorf("case %s: its source %s is not in the snapshot", c.ID, id)
		}
	}
	if err != nil {
		if r.err == nil {
			r.err = err
		}
		return nil, false
	}
	return generate.Recheck(c, query, chunks, r.set.Cases)
}

// refill finds the hard negatives of the cases that edits changed: a grade may
// have made one relevant, or a chunk one.
func (p *Project) refill(set *datasets.Set, draft datasets.Draft, report *datasets.EditReport) error {
	if len(report.Cases) == 0 {
		return nil
	}
	v, err := p.reviewView(set)
	if err != nil {
		return err
	}
	hard := negatives(v.View, draft.Manifest.RelevantGrade, draft.Manifest.Trust)
	for i := range draft.Cases {
		if slices.Contains(report.Cases, draft.Cases[i].ID) {
			hard.Fill(draft.Cases[i : i+1])
		}
	}
	return nil
}
