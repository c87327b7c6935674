package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/goldgen/goldgen/datasets"
)

// Imported is a set made of people's queries and judgments.
type Imported struct {
	Committed *Committed
	Report    datasets.ImportReport
}

// Import makes the next version of the named set from files over a snapshot:
// dir, or the project's latest.
func (p *Project) Import(ctx context.Context, name, dir string, o datasets.ImportOptions) (*Imported, error) {
	if err := errors.Join(datasets.ValidateName(name), o.Validate()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	s, err := p.latestSnapshot(dir)
	if err != nil {
		return nil, err
	}
	draft, report, err := datasets.Import(ctx, o, s)
	if errors.Is(err, datasets.ErrSeveralChunks) {
		return nil, hinted("set chunking: {method: document} in goldgen.yaml, then goldgen snapshot", "%w", err)
	}
	if err != nil {
		return nil, err
	}
	draft.Manifest.Pins.Goldgen, draft.Manifest.Why = p.Version, "imported from "+p.relative(cmp.Or(o.From, o.Queries))
	committed, err := p.writeMade(ctx, name, draft)
	return &Imported{Committed: committed, Report: report}, err
}

// Verify derives again everything that a version claims, against its snapshot
// (dir, or the pinned one). A snapshot that is not there is a problem too.
func (p *Project) Verify(ctx context.Context, ref, dir string) (datasets.Ref, []datasets.Problem, error) {
	resolved, err := p.Store().Resolve(ref)
	if damaged, ok := errors.AsType[*datasets.DamagedError](err); ok {
		at := datasets.Ref{Path: damaged.Dir}
		return at, []datasets.Problem{{Kind: datasets.ProblemManifest, Where: at.Path, Detail: damaged.Err.Error()}}, nil
	}
	if err != nil {
		return datasets.Ref{}, nil, err
	}
	view, missing := p.verifyView(resolved, dir)
	problems, err := datasets.Verify(ctx, resolved.Path, view)
	if missing != nil {
		problems = append(problems, datasets.Problem{Kind: datasets.ProblemPins, Where: "snapshot", Detail: missing.Error()})
	}
	return resolved, problems, err
}

func (p *Project) verifyView(ref datasets.Ref, dir string) (datasets.CorpusView, error) {
	m, err := datasets.ReadManifest(ref.Path)
	if err != nil {
		return nil, nil // Verify says what is wrong with it
	}
	s, err := p.pinnedSnapshot(dir, m.Pins.Corpus, "golden set "+ref.String())
	if err != nil {
		return nil, err
	}
	return s, nil
}

// CaseView is a case with the text around each evidence span.
type CaseView struct {
	Case     datasets.Case `json:"case"`
	Contexts []Context     `json:"contexts"`
}

// Context is an evidence span in its document: Before and After are the text on
// its sides, a few lines each.
type Context struct {
	DocID  string `json:"doc_id"`
	Before string `json:"before"`
	Quote  string `json:"quote"`
	After  string `json:"after"`
}

// contextBytes is how much of the document is shown on each side of a span.
const contextBytes = 300

// ShowCase finds a case by its id, or an unambiguous beginning of it.
func (p *Project) ShowCase(set *datasets.Set, id, dir string) (*CaseView, error) {
	c, err := findCase(set, id)
	if err != nil {
		return nil, err
	}
	out := &CaseView{Case: *c, Contexts: []Context{}}
	s, err := p.snapshotOf(set, dir)
	if err != nil {
		p.Log.Warn("evidence is shown without its context: " + err.Error())
		return out, nil
	}
	docs, err := s.DocumentsByID(evidenceDocs(c))
	if err != nil {
		return nil, err
	}
	for _, e := range c.Evidence {
		before, after, ok := e.Context(docs[e.DocID].Text, contextBytes)
		if !ok {
			continue // verify names it
		}
		out.Contexts = append(out.Contexts, Context{DocID: e.DocID, Before: before, Quote: e.Quote, After: after})
	}
	return out, nil
}

func evidenceDocs(c *datasets.Case) []string {
	var ids []string
	for _, e := range c.Evidence {
		ids = append(ids, e.DocID)
	}
	return ids
}

func findCase(set *datasets.Set, id string) (*datasets.Case, error) {
	var found *datasets.Case
	for i := range set.Cases {
		c := &set.Cases[i]
		switch {
		case c.ID == id:
			return c, nil
		case id != "" && len(c.ID) > len(id) && c.ID[:len(id)] == id && found != nil:
			return nil, fmt.Errorf("case %s: several begin so, %s and %s among them", id, found.ID, c.ID)
		case id != "" && len(c.ID) > len(id) && c.ID[:len(id)] == id:
			found = c
		}
	}
	if found == nil {
		return nil, fmt.Errorf("case %s: not in %s", id, set.Ref())
	}
	return found, nil
}
