package eval

import (
	"iter"
	"time"
)

// Unlabelled is the grade of a result that has no label at all.
const Unlabelled = -2

// CaseRow is one case of a result in full, for a table of results a case.
type CaseRow struct {
	CaseID       string
	Query        string
	Status       string // scored, missing, failed, nothing_relevant, abstain
	Slices       []SliceValue
	Metrics      Values      // measures with a value for the case; means over draws where labels are uncertain
	Ranking      []RankedHit // duplicates dropped
	TookMS       float64     // 0 unknown
	Missing      bool        // no result, though one was expected
	Error        string      // the retriever's
	Duplicates   int
	Leaks        []Leak
	FilterErrors []FilterError
}

// SliceValue is one slice that a case belongs to.
type SliceValue struct {
	Name  string
	Value string
}

// RankedHit is a result with its label: Grade is Unknown for one asked for and
// not given, Unlabelled for one that nobody asked about. P is the probability
// that takes the grade's place, or nil.
type RankedHit struct {
	ID    string
	Rank  int      // in what the retriever returned, from 1
	Score *float64 // nil where the retriever gives none
	Grade int
	P     *float64
}

// Rows yields every case in the input's order. It is empty for a result that
// was read from JSON.
func (r *Result) Rows() iter.Seq[CaseRow] {
	return func(yield func(CaseRow) bool) {
		if r.scores == nil {
			return
		}
		for i := range r.scores.in.Cases {
			if !yield(r.scores.caseRow(i)) {
				return
			}
		}
	}
}

func (s *scores) caseRow(i int) CaseRow {
	c := &s.in.Cases[i]
	st := s.values.states[i]
	row := CaseRow{
		CaseID: c.ID, Query: c.about().Query, Status: stateNames[st],
		Metrics: s.caseValues(i), Ranking: s.ranked(i),
		TookMS: float64(c.Took) / float64(time.Millisecond), Missing: st == missing || st == failed,
		Error: c.Failed, Duplicates: int(s.prepared.facts[i].duplicates),
		Leaks: leaksOf(&s.in, c), FilterErrors: filterErrorsOf(&s.in, c),
	}
	for d := range s.in.Dimensions {
		dim := &s.in.Dimensions[d]
		for _, v := range dim.Values(i) {
			row.Slices = append(row.Slices, SliceValue{dim.Name, v})
		}
	}
	return row
}

// caseValues lists the measures that have a value for case i.
func (s *scores) caseValues(i int) Values {
	row := s.values.row(i)
	out := make(Values, 0, len(s.in.Measures))
	for j := range s.in.Measures {
		m := &s.in.Measures[j]
		if v := row[j]; m.perCase() && v == v {
			out = append(out, Value{m.Name, v})
		}
	}
	return out
}

func (s *scores) ranked(i int) []RankedHit {
	c, p, f := &s.in.Cases[i], s.prepared, &s.prepared.facts[i]
	out := make([]RankedHit, min(int(f.results), len(c.Ranking))) // none of topics, whose ids are not kept
	for n := range out {
		at := n
		if f.kept != nil {
			at = int(f.kept[n])
		}
		out[n] = RankedHit{ID: c.Ranking[at], Rank: at + 1, Grade: Unlabelled}
		if c.Scores != nil {
			out[n].Score = &c.Scores[at]
		}
		if label := p.hits[p.hitStart[i]+n]; label != unlabelledHit {
			out[n].Grade = int(p.grades[p.labelStart[i]+int(label)])
			if u := c.Labels[label].Uncertain; u != nil {
				out[n].P = &u.P
			}
		}
	}
	return out
}

// AddCases fills Cases, the per-case part of the JSON. Cases out of the means
// have no metrics.
func (r *Result) AddCases() {
	r.Cases = []CaseScore{}
	if r.scores == nil {
		return
	}
	for i := range r.scores.in.Cases {
		r.Cases = append(r.Cases, CaseScore{CaseID: r.scores.in.Cases[i].ID, Metrics: r.scores.caseValues(i)})
	}
}
