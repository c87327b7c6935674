package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
)

// Diff tells how version b differs from version a.
func (p *Project) Diff(a, b string) (datasets.Diff, error) {
	before, err := p.Store().Load(a)
	if err != nil {
		return datasets.Diff{}, err
	}
	after, err := p.Store().Load(b)
	if err != nil {
		return datasets.Diff{}, err
	}
	return datasets.Compare(before, after), nil
}

// TagOptions say where a tag is to stand.
type TagOptions struct {
	Golden string // the version; of a tag that is taken away any reference to the set
	Tag    string
	If     string // where it must stand: a reference, or datasets.NoVersion; "" moves it from wherever it is
	Remove bool
	Why    string
}

// Tagged is a tag after it was set, moved or taken away.
type Tagged struct {
	datasets.Tag
	Set     string `json:"set"`
	Changed bool   `json:"changed"`
}

// Tag sets, moves or takes away a tag.
func (p *Project) Tag(ctx context.Context, o TagOptions) (*Tagged, error) {
	if err := datasets.ValidateTag(o.Tag); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	store := p.Store()
	ref, err := store.Resolve(o.Golden)
	if err != nil {
		return nil, err
	}
	how := datasets.TagOptions{Why: o.Why}
	if how.If, err = p.believed(ref.Name, o.If); err != nil {
		return nil, err
	}
	out := &Tagged{Set: ref.Name}
	if o.Remove {
		out.Tag, out.Changed, err = store.RemoveTag(ctx, ref.Name, o.Tag, how)
	} else {
		out.Tag, out.Changed, err = store.SetTag(ctx, ref, o.Tag, how)
	}
	if errors.Is(err, datasets.ErrTagMoved) {
		err = hinted(fmt.Sprintf("goldgen datasets tag %s shows who stands where, and since when", ref.Name), "%w", err)
	}
	return out, err
}

// believed is the version that --if names: v3, handbook@v3, a digest, or none.
func (p *Project) believed(name, text string) (*int, error) {
	if text == "" {
		return nil, nil
	}
	if text == datasets.NoVersion {
		return new(0), nil
	}
	if !strings.Contains(text, "@") {
		text = name + "@" + text
	}
	ref, err := p.Store().Resolve(text)
	if err == nil && ref.Name != name {
		err = fmt.Errorf("%w: --if: %s is no version of %s", ErrConfig, ref, name)
	}
	return &ref.Version, err
}

// RetireOptions say which cases a set is to be without.
type RetireOptions struct {
	Golden string
	Cases  []string // ids, or unambiguous beginnings of them
	Reason string
	Branch bool // a version that is not the newest may be changed too
}

// Retire commits a version in which the cases are retired. A case that is retired
// stays as it is.
func (p *Project) Retire(ctx context.Context, o RetireOptions) (*Committed, error) {
	if strings.TrimSpace(o.Reason) == "" {
		return nil, fmt.Errorf("%w: --reason: a case is retired for one", ErrConfig)
	}
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, err
	}
	draft := datasets.Derive(set, "")
	retired := 0
	for _, id := range o.Cases {
		found, err := findCase(set, id)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(draft.Cases, func(c datasets.Case) bool { return c.ID == found.ID })
		if c := &draft.Cases[i]; c.Status != datasets.Retired {
			c.Status, c.Reason = datasets.Retired, o.Reason
			retired++
		}
	}
	draft.Manifest.Why = fmt.Sprintf("retired %s: %s", wording.Count(retired, "case"), o.Reason)
	return p.writeDerived(ctx, draft, o.Branch)
}

// writeDerived commits what people made of a version.
func (p *Project) writeDerived(ctx context.Context, d datasets.Draft, branch bool) (*Committed, error) {
	m := &d.Manifest
	if m.Missed != nil {
		m.Missed = judge.MissedIn(d.Cases, m.RelevantGrade, m.Trust.Judge == judge.Passed)
	}
	d.Branch = branch
	committed, err := p.write(ctx, m.Name, d)
	if errors.Is(err, datasets.ErrNotNewest) {
		err = hinted(fmt.Sprintf("name %s, or say --branch: then the next version lacks what newer ones have, until goldgen datasets merge joins them", m.Name), "%w", err)
	}
	return committed, err
}
