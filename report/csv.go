package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// CSV writes one row for each case of each result: what it is, what became of
// it, and every measure's value (empty where a measure has none). Text cells
// are escaped, and one that a spreadsheet would run as a formula begins with an
// apostrophe; numbers are as they are.
func CSV(w io.Writer, f *Findings) error {
	t := csvTable{dimensions: dimensionNames(f), measures: measureNames(f)}
	out := csv.NewWriter(w)
	if err := out.Write(t.header()); err != nil {
		return err
	}
	for i := range f.Results {
		s := &f.Results[i]
		for j := range s.Cases {
			if err := out.Write(t.row(s, &s.Cases[j])); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// csvTable holds the columns that depend on the findings.
type csvTable struct{ dimensions, measures []string }

func (t *csvTable) header() []string {
	row := []string{"retriever", "case_id", "query", "outcome", "status"}
	row = append(row, t.dimensions...)
	row = append(row, t.measures...)
	return append(row, "first_relevant_rank", "results", "took_ms", "leaks", "duplicates", "error", "cause", "scope", "filters", "evidence", "ranking")
}

func (t *csvTable) row(s *Scored, c *Case) []string {
	r := s.Result
	row := []string{
		inert(r.Retriever.Name), inert(c.CaseID), inert(c.Query),
		c.Outcome(r.Conventions.MinGrade, deepest(r)), c.Status,
	}
	for _, name := range t.dimensions {
		row = append(row, inert(strings.Join(c.slice(name), "|")))
	}
	for _, name := range t.measures {
		cell := ""
		if v, ok := c.Metrics.Get(name); ok {
			cell = strconv.FormatFloat(v, 'g', -1, 64)
		}
		row = append(row, cell)
	}
	return append(row, c.firstRelevant(r.Conventions.MinGrade), strconv.Itoa(len(c.Ranking)),
		strconv.FormatFloat(c.TookMS, 'f', -1, 64), strconv.Itoa(len(c.Leaks)), strconv.Itoa(c.Duplicates),
		inert(c.Error), inert(c.Cause), inert(scopeWords(c.Scope)), inert(filterWords(c.Filters)),
		inert(evidenceWords(c.Evidence)), inert(rankingWords(c)))
}

// inert is text that neither a terminal nor a spreadsheet acts upon.
func inert(s string) string {
	s = Escape(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

func (c *Case) slice(name string) []string {
	var values []string
	for _, s := range c.Slices {
		if s.Name == name {
			values = append(values, s.Value)
		}
	}
	return values
}

func (c *Case) firstRelevant(minGrade int) string {
	for _, h := range c.Ranking {
		if h.P == nil && h.Grade >= minGrade {
			return strconv.Itoa(h.Rank)
		}
	}
	return ""
}

func evidenceWords(spans []Evidence) string {
	words := make([]string, len(spans))
	for i, e := range spans {
		words[i] = fmt.Sprintf("%s[%d,%d)", e.Doc, e.Start, e.End)
	}
	return strings.Join(words, " ")
}

// rankingWords lists the ids of the ranking, best first.
func rankingWords(c *Case) string {
	ids := make([]string, len(c.Ranking))
	for i, h := range c.Ranking {
		ids[i] = h.ID
	}
	return strings.Join(ids, " ")
}

func dimensionNames(f *Findings) []string {
	var names []string
	for _, s := range f.Results {
		for _, by := range s.Result.Slices {
			names = add(names, by.Name)
		}
	}
	return names
}

func measureNames(f *Findings) []string {
	var names []string
	for _, s := range f.Results {
		for _, m := range s.Result.Metrics {
			names = add(names, m.Name)
		}
	}
	return names
}

func add(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
