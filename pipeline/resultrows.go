package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
)

// caseRow is a row of a result's cases.parquet: what scoring the case again
// needs, then what scoring it gave. Lists are empty where there is nothing.
type caseRow struct {
	CaseID         string          `parquet:"case_id"`
	Query          string          `parquet:"query"`
	Tags           []string        `parquet:"tags,list"`
	Scope          []scopeRow      `parquet:"scope,list"`
	Filters        []corpus.Filter `parquet:"filters,list"`
	AsOf           *time.Time      `parquet:"as_of,optional,timestamp(microsecond:utc)"`
	ExpectedSource string          `parquet:"expected_source"`
	Abstain        bool            `parquet:"expected_abstention"`
	Documents      []string        `parquet:"documents,list"`
	Sections       []string        `parquet:"sections,list"`
	Chunks         []string        `parquet:"chunks,list"`
	Evidence       []spanRow       `parquet:"evidence,list"`
	Forbidden      []string        `parquet:"forbidden,list"`
	Exclude        []string        `parquet:"exclude,list"`
	Stale          []string        `parquet:"stale,list"`
	Labels         []labelRow      `parquet:"labels,list"`
	Slices         []sliceRow      `parquet:"slices,list"`
	Ranking        []hitRow        `parquet:"ranking,list"`
	TookMS         float64         `parquet:"took_ms"`
	Error          string          `parquet:"error"`

	Status     string      `parquet:"status"`
	Missing    bool        `parquet:"missing"`
	Duplicates int32       `parquet:"duplicates"`
	Metrics    []metricRow `parquet:"metrics,list"`
	Leaks      []leakRow   `parquet:"leaks,list"`

	FilterErrors []filterErrorRow `parquet:"filter_errors,list"`
}

type scopeRow struct {
	Key    string   `parquet:"key"`
	Values []string `parquet:"values,list"`
}

type spanRow struct {
	DocID string `parquet:"doc_id"`
	Start int64  `parquet:"start"`
	End   int64  `parquet:"end"`

	Token    int64 `parquet:"token"` // the tokens that begin in it; 0 to 0 where they were not counted
	EndToken int64 `parquet:"end_token"`
}

func newSpanRow(s eval.Span) spanRow {
	return spanRow{s.Doc, int64(s.Start), int64(s.End), int64(s.Token), int64(s.EndToken)}
}

func (r *spanRow) span() eval.Span {
	return eval.Span{Doc: r.DocID, Start: int(r.Start), End: int(r.End), Token: int(r.Token), EndToken: int(r.EndToken)}
}

// labelRow is what is known of one chunk; grade is -1 where it was asked for
// and not given. P takes the grade's place where it is set.
type labelRow struct {
	ChunkID string    `parquet:"chunk_id"`
	Grade   int32     `parquet:"grade"`
	P       *float64  `parquet:"p,optional"`
	PDraws  []float64 `parquet:"p_draws,list"`
}

type sliceRow struct {
	Name  string `parquet:"name"`
	Value string `parquet:"value"`
}

type metricRow struct {
	Name  string  `parquet:"name"`
	Value float64 `parquet:"value"`
}

// hitRow is a result as the retriever gave it, repeated ones included.
type hitRow struct {
	Rank    int32    `parquet:"rank"`
	ChunkID string   `parquet:"chunk_id"`
	Score   *float64 `parquet:"score,optional"`
	Place   *spanRow `parquet:"place,optional"`
	Source  *string  `parquet:"source,optional"` // kind of source, where the case expects one
	Grade   int32    `parquet:"grade"`           // -1 unknown, -2 no label
}

type leakRow struct {
	ChunkID string `parquet:"chunk_id"`
	Rank    int32  `parquet:"rank"`
	Kind    string `parquet:"kind"`
}

type filterErrorRow struct {
	ChunkID string        `parquet:"chunk_id"`
	Rank    int32         `parquet:"rank"`
	Filter  corpus.Filter `parquet:"filter"`
}

// newCaseRow joins a case to what scoring it gave.
func newCaseRow(c *eval.Case, scored eval.CaseRow, dimensions []eval.Dimension, at int) caseRow {
	row := caseRow{CaseID: c.ID, Abstain: c.Abstain, TookMS: scored.TookMS, Error: c.Failed,
		Status: scored.Status, Missing: scored.Missing, Duplicates: int32(scored.Duplicates)}
	row.describe(c.Background)
	grades := make(map[string]int32, len(c.Labels))
	for _, l := range c.Labels {
		label := labelRow{ChunkID: l.ID, Grade: int32(l.Grade)}
		if l.Uncertain != nil {
			label.P, label.PDraws = &l.Uncertain.P, l.Uncertain.Draws
		}
		row.Labels = append(row.Labels, label)
		grades[l.ID] = label.Grade
	}
	row.rank(c, grades)
	for i := range dimensions {
		for _, value := range dimensions[i].Values(at) {
			row.Slices = append(row.Slices, sliceRow{dimensions[i].Name, value})
		}
	}
	for _, v := range scored.Metrics {
		row.Metrics = append(row.Metrics, metricRow(v))
	}
	for _, l := range scored.Leaks {
		row.Leaks = append(row.Leaks, leakRow{ChunkID: l.Chunk, Rank: int32(l.Rank), Kind: l.Kind})
	}
	for _, e := range scored.FilterErrors {
		row.FilterErrors = append(row.FilterErrors, filterErrorRow{e.Chunk, int32(e.Rank), e.Filter})
	}
	return row
}

func (row *caseRow) rank(c *eval.Case, grades map[string]int32) {
	for i, id := range c.Ranking {
		hit := hitRow{Rank: int32(i + 1), ChunkID: id, Grade: eval.Unlabelled}
		if grade, ok := grades[id]; ok && !slices.Contains(excluded(c), id) {
			hit.Grade = grade
		}
		if c.Scores != nil {
			hit.Score = &c.Scores[i]
		}
		if c.Spans != nil {
			place := newSpanRow(c.Spans[i])
			hit.Place = &place
		}
		if c.Sources != nil {
			hit.Source = &c.Sources[i]
		}
		row.Ranking = append(row.Ranking, hit)
	}
}

func excluded(c *eval.Case) []string {
	if c.Background == nil {
		return nil
	}
	return c.Background.Exclude
}

func (row *caseRow) describe(b *eval.Background) {
	if b == nil {
		return
	}
	row.Query, row.Tags, row.Filters, row.ExpectedSource = b.Query, b.Tags, b.Filters, b.ExpectedSource
	row.AsOf, row.Documents, row.Sections, row.Chunks = b.AsOf, b.Documents, b.Sections, b.Chunks
	row.Forbidden, row.Exclude, row.Stale = b.Forbidden, b.Exclude, b.Stale
	for _, key := range slices.Sorted(maps.Keys(b.Scope)) {
		row.Scope = append(row.Scope, scopeRow{key, b.Scope[key]})
	}
	for _, e := range b.Evidence {
		row.Evidence = append(row.Evidence, newSpanRow(e))
	}
}

// toCase gives the case back as it was scored. A topic of TREC files has no
// background.
func (row *caseRow) toCase(topic bool) (eval.Case, error) {
	c := eval.Case{ID: row.CaseID, Abstain: row.Abstain, Failed: row.Error}
	c.Took = time.Duration(math.Round(row.TookMS * float64(time.Millisecond)))
	for _, l := range row.Labels {
		label := eval.Label{ID: l.ChunkID, Grade: int(l.Grade)}
		if l.P != nil {
			label.Uncertain = &eval.Probability{P: *l.P, Draws: l.PDraws}
		}
		c.Labels = append(c.Labels, label)
	}
	if !topic {
		c.Background = row.background()
	}
	return c, row.ranked(&c)
}

// ranked puts the hits in the order of their ranks, which must be 1, 2, 3 ...
func (row *caseRow) ranked(c *eval.Case) error {
	slices.SortFunc(row.Ranking, func(a, b hitRow) int { return cmp.Compare(a.Rank, b.Rank) })
	for i, h := range row.Ranking {
		if int(h.Rank) != i+1 {
			return fmt.Errorf("case %s: rank %d stands in place %d of its ranking", row.CaseID, h.Rank, i+1)
		}
		if i > 0 && (h.Score == nil) != (c.Scores == nil) {
			return fmt.Errorf("case %s: rank %d: some results have scores and some have none", row.CaseID, h.Rank)
		}
		c.Ranking = append(c.Ranking, h.ChunkID)
		if h.Score != nil {
			c.Scores = append(c.Scores, *h.Score)
		}
		if h.Place != nil {
			c.Spans = append(c.Spans, h.Place.span())
		}
		if h.Source != nil {
			c.Sources = append(c.Sources, *h.Source)
		}
	}
	return nil
}

func (row *caseRow) background() *eval.Background {
	b := &eval.Background{
		Query: row.Query, Filters: row.Filters, AsOf: row.AsOf, Tags: row.Tags, ExpectedSource: row.ExpectedSource,
		Documents: row.Documents, Sections: row.Sections, Chunks: row.Chunks,
		Forbidden: row.Forbidden, Exclude: row.Exclude, Stale: row.Stale,
	}
	b.Scope = make(corpus.Scope, len(row.Scope))
	for _, s := range row.Scope {
		b.Scope[s.Key] = s.Values
	}
	for _, e := range row.Evidence {
		b.Evidence = append(b.Evidence, e.span())
	}
	return b
}
