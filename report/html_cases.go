package report

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/goldgen/goldgen/eval"
)

// HitsShown is how many results of a case the page shows; relevant and leaked
// ones below are kept as well.
const HitsShown = 20

// caseTable is the cases of one result as the page's script reads them: what
// repeats is named once and referred to by its place. All text is escaped.
type caseTable struct {
	Name     string           `json:"name"`
	MinGrade int              `json:"minGrade"`
	K        int              `json:"k"`
	Measures []string         `json:"measures"`
	Sort     int              `json:"sort"` // the measure that cases are sorted by, -1 none
	Outcomes []string         `json:"outcomes"`
	Slices   []caseDimension  `json:"slices"`
	Chunks   []string         `json:"chunks"`
	Texts    map[int]string   `json:"texts,omitempty"` // chunk -> how its text begins
	Cases    []caseEntry      `json:"cases"`
	chunkAt  map[string]int   // in Chunks
	valueAt  []map[string]int // in each dimension's Values
}

type caseDimension struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// caseEntry is one case; what it lacks is left out.
type caseEntry struct {
	ID       string      `json:"id"`
	Query    string      `json:"q,omitempty"`
	Outcome  int         `json:"o"`
	Slices   [][2]int    `json:"s,omitempty"` // dimension, value
	Values   []*float    `json:"v,omitempty"` // by measure
	Base     []*float    `json:"b,omitempty"` // the baseline's
	Hits     []caseHit   `json:"h,omitempty"`
	Hidden   int         `json:"hidden,omitempty"` // results that are not in Hits
	Absent   []caseLabel `json:"absent,omitempty"` // relevant and not returned
	Evidence []caseSpan  `json:"e,omitempty"`
	Leaks    []caseLeak  `json:"leaks,omitempty"`
	Facts    [][2]string `json:"f,omitempty"` // named values: scope, filters ...
	Took     float64     `json:"t,omitempty"`
	Error    string      `json:"error,omitempty"`
	Cause    string      `json:"cause,omitempty"`
	Proof    string      `json:"proof,omitempty"`
}

// caseHit is rank, chunk, grade, score and p; the last ones may be left out.
type caseHit struct {
	Rank, Chunk, Grade int
	Score, P           *float64
}

// MarshalJSON writes an array without its empty end.
func (h caseHit) MarshalJSON() ([]byte, error) {
	cells := []any{h.Rank, h.Chunk, h.Grade}
	if h.Score != nil || h.P != nil {
		cells = append(cells, rounded(h.Score))
	}
	if h.P != nil {
		cells = append(cells, rounded(h.P))
	}
	return json.Marshal(cells)
}

// caseLabel is a chunk, its grade, and its p where it has one.
type caseLabel struct {
	Chunk int      `json:"c"`
	Grade int      `json:"g"`
	P     *float64 `json:"p,omitempty"`
}

type caseSpan struct {
	Doc   string `json:"d"`
	Start int    `json:"s"`
	End   int    `json:"e"`
	Quote string `json:"t,omitempty"`
}

type caseLeak struct {
	Chunk int    `json:"c"`
	Rank  int    `json:"r"`
	Kind  string `json:"k"`
}

// float is written with six digits: the page shows three.
type float float64

// MarshalJSON implements json.Marshaler.
func (f float) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(f), 'g', 6, 64), nil
}

func rounded(v *float64) *float {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return nil
	}
	f := float(*v)
	return &f
}

// newCaseTable makes the table of a result; base holds the baseline's values of
// cases that changed.
func newCaseTable(name string, s *Scored, base map[string]eval.Values) *caseTable {
	r := s.Result
	t := &caseTable{
		Name: Escape(name), MinGrade: max(1, r.Conventions.MinGrade), K: deepest(r), Sort: -1,
		Outcomes: outcomes[:], Slices: []caseDimension{}, Chunks: []string{}, Cases: make([]caseEntry, 0, len(s.Cases)),
		Texts: map[int]string{}, chunkAt: map[string]int{},
	}
	for _, m := range r.Metrics {
		t.Measures = append(t.Measures, m.Name)
	}
	t.sortBy(r.Metrics)
	for _, by := range r.Slices {
		t.Slices = append(t.Slices, caseDimension{Name: Escape(by.Name)})
		t.valueAt = append(t.valueAt, map[string]int{})
	}
	for i := range s.Cases {
		t.add(&s.Cases[i], r, base[s.Cases[i].CaseID])
	}
	for id, at := range t.chunkAt {
		if text := s.Texts[id]; text != "" {
			t.Texts[at] = Escape(text)
		}
	}
	for i, name := range t.Measures {
		t.Measures[i] = Escape(name)
	}
	return t
}

// sortBy picks the last of the headline measures: the deepest nDCG by default.
func (t *caseTable) sortBy(metrics eval.Metrics) {
	name := primary(metrics)
	for i, m := range t.Measures {
		if m == name {
			t.Sort = i
		}
	}
}

func (t *caseTable) add(c *Case, r *eval.Result, base eval.Values) {
	e := caseEntry{
		ID: Escape(c.CaseID), Query: Escape(c.Query), Outcome: t.outcome(c, r), Took: math.Round(c.TookMS*1000) / 1000,
		Error: Escape(c.Error), Cause: Escape(c.Cause), Proof: Escape(c.Proof), Facts: caseFacts(c),
	}
	e.Values, e.Base = t.values(c.Metrics), t.values(base)
	for _, s := range c.Slices {
		e.Slices = append(e.Slices, t.slice(s)...)
	}
	t.addHits(&e, c, r.Conventions.MinGrade)
	for _, span := range c.Evidence {
		e.Evidence = append(e.Evidence, caseSpan{Escape(span.Doc), span.Start, span.End, Escape(span.Quote)})
	}
	t.Cases = append(t.Cases, e)
}

func (t *caseTable) outcome(c *Case, r *eval.Result) int {
	name := c.Outcome(r.Conventions.MinGrade, deepest(r))
	for i, o := range outcomes {
		if o == name {
			return i
		}
	}
	return len(outcomes) - 1
}

// values are by measure, nil where a case has none.
func (t *caseTable) values(values eval.Values) []*float {
	if len(values) == 0 {
		return nil
	}
	out := make([]*float, len(t.Measures))
	for i, name := range t.Measures {
		if v, ok := values.Get(name); ok {
			out[i] = rounded(&v)
		}
	}
	return out
}

func (t *caseTable) slice(s eval.SliceValue) [][2]int {
	for d := range t.Slices {
		if t.Slices[d].Name != Escape(s.Name) {
			continue
		}
		at, ok := t.valueAt[d][s.Value]
		if !ok {
			at = len(t.Slices[d].Values)
			t.valueAt[d][s.Value] = at
			t.Slices[d].Values = append(t.Slices[d].Values, Escape(s.Value))
		}
		return [][2]int{{d, at}}
	}
	return nil
}

func (t *caseTable) chunk(id string) int {
	at, ok := t.chunkAt[id]
	if !ok {
		at = len(t.Chunks)
		t.chunkAt[id] = at
		t.Chunks = append(t.Chunks, Escape(id))
	}
	return at
}

// addHits fills in the ranking, leaks, and what was relevant and not returned.
func (t *caseTable) addHits(e *caseEntry, c *Case, minGrade int) {
	leaked := make(map[string]bool, len(c.Leaks))
	for _, l := range c.Leaks {
		leaked[l.Chunk] = true
		e.Leaks = append(e.Leaks, caseLeak{t.chunk(l.Chunk), l.Rank, Escape(l.Kind)})
	}
	returned := make(map[string]bool, len(c.Ranking))
	for i, h := range c.Ranking {
		returned[h.ID] = true
		if i >= HitsShown && h.Grade < minGrade && h.P == nil && !leaked[h.ID] {
			e.Hidden++
			continue
		}
		e.Hits = append(e.Hits, caseHit{h.Rank, t.chunk(h.ID), h.Grade, h.Score, h.P})
	}
	for _, l := range c.Labels {
		if returned[l.ID] {
			continue
		}
		label := caseLabel{Chunk: t.chunk(l.ID), Grade: l.Grade}
		if l.Uncertain != nil {
			label.P = &l.Uncertain.P
		} else if l.Grade < minGrade {
			continue
		}
		e.Absent = append(e.Absent, label)
	}
}

// caseFacts are what else is known of a case, by name.
func caseFacts(c *Case) [][2]string {
	var out [][2]string
	fact := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, Escape(value)})
		}
	}
	fact("scope", scopeWords(c.Scope))
	fact("filters", filterWords(c.Filters))
	if c.AsOf != nil {
		fact("as of", c.AsOf.UTC().Format("2006-01-02 15:04 UTC"))
	}
	fact("tags", sentenceOf(c.Tags))
	if c.Duplicates > 0 {
		fact("repeated results dropped", strconv.Itoa(c.Duplicates))
	}
	return out
}

func sentenceOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return sentence(words)
}
