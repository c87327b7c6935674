package datasets

import "slices"

// Parts of a case that a format may have no place for.
const (
	partQuery      = "query"
	partGrades     = "grades"
	partScope      = "scope"
	partFilters    = "filters"
	partAsOf       = "as_of"
	partAbstention = "expected_abstention"
	partAnswer     = "reference_answer"
	partExpected   = "expected_source"
	partEvidence   = "evidence"
	partForbidden  = "forbidden"
	partNegatives  = "hard_negatives"
	partSlices     = "slices"
	partJudges     = "judges"
	partProvenance = "provenance"
)

// Lost is a part of cases that a format has no place for, and how many of the
// exported cases have it. Parts are columns of a case; besides, "grades" are labels
// of more than one grade, "slices" query type, category, style, language and tags,
// "judges" who gave the labels, and how sure they were, and "provenance" how a case
// was made, checked and found hard.
type Lost struct {
	Part  string `json:"part"`
	Cases int    `json:"cases"`
}

// part is one of them, and whether a case has it.
type part struct {
	name string
	in   func(*exporter, *Case) bool
}

func parts() []part {
	of := func(has func(c *Case) bool) func(*exporter, *Case) bool {
		return func(_ *exporter, c *Case) bool { return has(c) }
	}
	return []part{
		{partQuery, of(func(c *Case) bool { return c.Query != "" })},
		{partGrades, (*exporter).severalGrades},
		{partScope, of(func(c *Case) bool { return len(c.Scope) > 0 })},
		{partFilters, of(func(c *Case) bool { return len(c.Filters) > 0 })},
		{partAsOf, of(func(c *Case) bool { return c.AsOf != nil })},
		{partAbstention, of(func(c *Case) bool { return c.ExpectedAbstention })},
		{partAnswer, of(func(c *Case) bool { return c.ReferenceAnswer != nil })},
		{partExpected, of(func(c *Case) bool { return c.ExpectedSource != "" })},
		{partEvidence, of(func(c *Case) bool { return len(c.Evidence) > 0 })},
		{partForbidden, of(func(c *Case) bool { return len(c.Forbidden) > 0 })},
		{partNegatives, of(func(c *Case) bool { return len(c.HardNegatives) > 0 })},
		{partSlices, of((*Case).sliced)},
		{partJudges, of(func(c *Case) bool { return len(c.Judgments) > 0 })},
		{partProvenance, of(func(c *Case) bool { return len(c.Source)+len(c.Checks) > 0 || c.Provenance != Provenance{} })},
	}
}

// partNames are all parts.
func partNames() []string { return convert(parts(), func(p part) string { return p.name }) }

// partsBut are all parts but some.
func partsBut(without ...string) []string {
	return slices.DeleteFunc(partNames(), func(p string) bool { return slices.Contains(without, p) })
}

// sliced reports whether the case is in a slice.
func (c *Case) sliced() bool {
	return c.QueryType != "" || c.Category != "" || c.Style != "" || c.Language != "" || len(c.Tags) > 0
}

// severalGrades reports whether the labels of the case are of more than one grade.
func (e *exporter) severalGrades(c *Case) bool {
	labels, _ := e.labels(c)
	return slices.ContainsFunc(labels, func(l exported) bool { return l.grade != labels[0].grade })
}

// lose counts a case that has a part; parts stay in their order.
func (r *ExportReport) lose(name string) {
	names := partNames()
	i, there := slices.BinarySearchFunc(r.Lost, name, func(l Lost, name string) int {
		return slices.Index(names, l.Part) - slices.Index(names, name)
	})
	if !there {
		r.Lost = slices.Insert(r.Lost, i, Lost{Part: name})
	}
	r.Lost[i].Cases++
}

// LosesJudges reports whether the format does not say who gave the labels.
func (r *ExportReport) LosesJudges() bool {
	return slices.ContainsFunc(r.Lost, func(l Lost) bool { return l.Part == partJudges })
}
