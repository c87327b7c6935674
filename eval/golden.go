package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
)

// FromGolden reads a case of a golden set under a source mode: labels, what it
// was written from, scope and what is forbidden. The ranking is left empty.
// The bool says that the case is read as `in` for want of another judgment of
// its source: count these in Header.SourceOnly. section names the heading
// section of a chunk and may be nil.
func FromGolden(c *datasets.Case, mode datasets.SourceMode, section func(chunkID string) string) (Case, bool) {
	view := c.Labels(mode)
	about := &Background{
		Query: c.Query, Scope: c.Scope, Filters: c.Filters, AsOf: c.AsOf, Tags: c.Tags, ExpectedSource: c.ExpectedSource,
		Forbidden: c.Forbidden, Exclude: view.Dropped, Stale: staleOf(c),
	}
	out := Case{ID: c.ID, Abstain: c.ExpectedAbstention, Labels: make([]Label, 0, len(view.Chunks)), Background: about}
	for id, l := range view.Chunks {
		out.Labels = append(out.Labels, fromLabel(id, l))
	}
	slices.SortFunc(out.Labels, func(a, b Label) int { return cmp.Compare(a.ID, b.ID) })
	about.Documents, about.Chunks = sourcesOf(c)
	if section != nil {
		for _, id := range about.Chunks {
			about.Sections = append(about.Sections, section(id))
		}
	}
	for _, e := range c.Evidence {
		about.Evidence = append(about.Evidence, Span{Doc: e.DocID, Start: e.Start, End: e.End})
	}
	return out, view.Fallback
}

// staleOf lists the chunks that are labelled stale, sorted.
func staleOf(c *datasets.Case) []string {
	var out []string
	for _, j := range c.Judgments {
		if j.Label == datasets.LabelStale {
			out = append(out, j.ChunkID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func fromLabel(id string, l datasets.Label) Label {
	out := Label{ID: id, Grade: Unknown}
	switch {
	case l.Grade != nil:
		out.Grade = *l.Grade
	case l.P != nil:
		out.Uncertain = &Probability{P: *l.P, Draws: l.PDraws}
	}
	return out
}

// sourcesOf lists the chunks that the query was written from and their
// documents, sorted.
func sourcesOf(c *datasets.Case) (documents, chunks []string) {
	chunks = slices.Clone(c.Source)
	docOf := map[string]string{}
	for i := range c.Judgments {
		j := &c.Judgments[i]
		docOf[j.ChunkID] = j.DocID
		if j.OfSource() {
			chunks = append(chunks, j.ChunkID)
		}
	}
	for _, e := range c.Evidence {
		docOf[e.ChunkID] = e.DocID
	}
	slices.Sort(chunks)
	chunks = slices.Compact(chunks)
	for _, id := range chunks {
		if doc := docOf[id]; doc != "" {
			documents = append(documents, doc)
		}
	}
	slices.Sort(documents)
	return slices.Compact(documents), chunks
}

// SliceNames are the slices that a golden set's cases can be cut by.
func SliceNames() []string {
	return []string{"query_type", "category", "language", "origin", "style", "unit", "tag", "scope", "stratum", "difficulty"}
}

// GoldenDimension cuts a golden set's cases by one of SliceNames. Tags and
// scope give a case several values or none.
func GoldenDimension(cases []datasets.Case, name string) (Dimension, error) {
	if !slices.Contains(SliceNames(), name) {
		return Dimension{}, fmt.Errorf("slice by %q: want one of %s", name, strings.Join(SliceNames(), ", "))
	}
	var single [1]string
	return NewDimension(name, len(cases), func(i int) []string {
		switch c := &cases[i]; name {
		case "tag":
			return c.Tags
		case "scope":
			return scopeKinds(c)
		default:
			single[0] = sliceValue(c, name)
			return single[:]
		}
	}), nil
}

func sliceValue(c *datasets.Case, name string) string {
	switch name {
	case "query_type":
		return c.QueryType
	case "category":
		return c.Category
	case "language":
		return c.Language
	case "origin":
		return c.Origin
	case "style":
		return c.Style
	case "unit":
		return c.Unit
	case "difficulty":
		return c.Band()
	}
	return c.Provenance.Stratum
}

// scopeKinds lists the keys of a case's scope: session, user, team ...
func scopeKinds(c *datasets.Case) []string {
	kinds := make([]string, 0, len(c.Scope))
	for k := range c.Scope {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}
