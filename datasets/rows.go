package datasets

import (
	"cmp"
	"slices"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// caseRow is the layout of cases.parquet. Maps are stored as lists of
// structs sorted by key: every reader has those, and their order is fixed.
// Only p_draws tells null (no label model) from an empty list.
type caseRow struct {
	ID                 string        `parquet:"case_id"`
	Query              string        `parquet:"query"`
	QueryType          string        `parquet:"query_type"`
	Category           string        `parquet:"category"`
	Style              string        `parquet:"style"`
	Language           string        `parquet:"language"`
	Unit               string        `parquet:"unit"`
	Tags               []string      `parquet:"tags,list"`
	Origin             string        `parquet:"origin"`
	Scope              []scopeRow    `parquet:"scope,list"`
	Filters            []filterRow   `parquet:"filters,list"`
	ExpectedSource     string        `parquet:"expected_source"`
	AsOf               *time.Time    `parquet:"as_of,optional,timestamp(microsecond:utc)"`
	ExpectedAbstention bool          `parquet:"expected_abstention"`
	ReferenceAnswer    *string       `parquet:"reference_answer,optional"`
	Source             []string      `parquet:"source,list"`
	Judgments          []judgmentRow `parquet:"judgments,list"`
	Evidence           []evidenceRow `parquet:"evidence,list"`
	Forbidden          []string      `parquet:"forbidden,list"`
	HardNegatives      []string      `parquet:"hard_negatives,list"`
	Difficulty         difficultyRow `parquet:"difficulty"`
	Checks             []checkRow    `parquet:"checks,list"`
	Provenance         provenanceRow `parquet:"provenance"`
	Status             string        `parquet:"status"`
	Since              string        `parquet:"since"`
	RetiredIn          string        `parquet:"retired_in"`
	Reason             string        `parquet:"reason"`
}

type scopeRow struct {
	Key    string   `parquet:"key"`
	Values []string `parquet:"values,list"`
}

type filterRow struct {
	Field  string   `parquet:"field"`
	Op     string   `parquet:"op"`
	Values []string `parquet:"values,list"`
}

type judgmentRow struct {
	ChunkID   string       `parquet:"chunk_id"`
	DocID     string       `parquet:"doc_id"`
	Grade     *int32       `parquet:"grade,optional"`
	P         *float64     `parquet:"p,optional"`
	PDraws    []float64    `parquet:"p_draws,list,optional"`
	Label     string       `parquet:"label"`
	By        string       `parquet:"by"`
	Judge     string       `parquet:"judge"`
	Features  []featureRow `parquet:"features,list"`
	Inclusion float64      `parquet:"inclusion"`
	Spans     []spanRow    `parquet:"spans,list"`
}

type featureRow struct {
	Name  string  `parquet:"name"`
	Value float64 `parquet:"value"`
}

type spanRow struct {
	Start int64 `parquet:"start"`
	End   int64 `parquet:"end"`
}

type evidenceRow struct {
	DocID   string `parquet:"doc_id"`
	ChunkID string `parquet:"chunk_id"`
	Start   int64  `parquet:"start"`
	End     int64  `parquet:"end"`
	Quote   string `parquet:"quote"`
}

type difficultyRow struct {
	SourceRankBM25  *int32  `parquet:"source_rank_bm25,optional"`
	SourceRankDense *int32  `parquet:"source_rank_dense,optional"`
	Overlap         float64 `parquet:"overlap"`
}

type checkRow struct {
	Name   string  `parquet:"name"`
	Passed bool    `parquet:"passed"`
	Value  float64 `parquet:"value"`
}

type provenanceRow struct {
	Generator string `parquet:"generator"`
	Prompt    string `parquet:"prompt"`
	Seed      int64  `parquet:"seed"`
	Stratum   string `parquet:"stratum"`
	Calls     int64  `parquet:"calls"`
	Term      string `parquet:"term"`
	OtherForm string `parquet:"other_form"`
	Link      string `parquet:"link"`
}

// rejectRow is the layout of rejects.parquet.
type rejectRow struct {
	CaseID    string        `parquet:"case_id"`
	Query     string        `parquet:"query"`
	QueryType string        `parquet:"query_type"`
	Stratum   string        `parquet:"stratum"`
	ChunkID   string        `parquet:"chunk_id"`
	Stage     string        `parquet:"stage"`
	Reason    string        `parquet:"reason"`
	Detail    string        `parquet:"detail"`
	Checks    []checkRow    `parquet:"checks,list"`
	Evidence  []evidenceRow `parquet:"evidence,list"`
	Scope     []scopeRow    `parquet:"scope,list"`
	AsOf      *time.Time    `parquet:"as_of,optional,timestamp(microsecond:utc)"`
	Calls     int64         `parquet:"calls"`
}

// Columns that versions written before they were added lack.
func addedToCases() []string {
	return []string{"provenance.term", "provenance.other_form", "provenance.link"}
}
func addedToRejects() []string { return []string{"scope", "as_of", "calls"} }

// convert maps a list; it gives nil for nil, so that null survives.
func convert[A, B any](in []A, f func(A) B) []B {
	if in == nil {
		return nil
	}
	out := make([]B, len(in))
	for i, a := range in {
		out[i] = f(a)
	}
	return out
}

func toCaseRow(c Case) caseRow {
	return caseRow{
		ID: c.ID, Query: c.Query, QueryType: c.QueryType, Category: c.Category, Style: c.Style,
		Language: c.Language, Unit: c.Unit, Tags: c.Tags, Origin: c.Origin,
		Scope: toScopeRows(c.Scope), Filters: convert(c.Filters, func(f corpus.Filter) filterRow { return filterRow(f) }),
		ExpectedSource: c.ExpectedSource, AsOf: c.AsOf, ExpectedAbstention: c.ExpectedAbstention,
		ReferenceAnswer: c.ReferenceAnswer, Source: c.Source,
		Judgments: convert(c.Judgments, toJudgmentRow), Evidence: convert(c.Evidence, toEvidenceRow),
		Forbidden: c.Forbidden, HardNegatives: c.HardNegatives,
		Difficulty: difficultyRow{
			SourceRankBM25: number[int32](c.Difficulty.SourceRankBM25), SourceRankDense: number[int32](c.Difficulty.SourceRankDense),
			Overlap: c.Difficulty.Overlap,
		},
		Checks: convert(c.Checks, toCheckRow), Provenance: toProvenanceRow(c.Provenance),
		Status: c.Status, Since: c.Since, RetiredIn: c.RetiredIn, Reason: c.Reason,
	}
}

func (r caseRow) toCase() Case {
	return Case{
		ID: r.ID, Query: r.Query, QueryType: r.QueryType, Category: r.Category, Style: r.Style,
		Language: r.Language, Unit: r.Unit, Tags: r.Tags, Origin: r.Origin,
		Scope: fromScopeRows(r.Scope), Filters: convert(r.Filters, func(f filterRow) corpus.Filter { return corpus.Filter(f) }),
		ExpectedSource: r.ExpectedSource, AsOf: r.AsOf, ExpectedAbstention: r.ExpectedAbstention,
		ReferenceAnswer: r.ReferenceAnswer, Source: r.Source,
		Judgments: convert(r.Judgments, judgmentRow.toJudgment), Evidence: convert(r.Evidence, evidenceRow.toEvidence),
		Forbidden: r.Forbidden, HardNegatives: r.HardNegatives,
		Difficulty: Difficulty{
			SourceRankBM25: number[int](r.Difficulty.SourceRankBM25), SourceRankDense: number[int](r.Difficulty.SourceRankDense),
			Overlap: r.Difficulty.Overlap,
		},
		Checks: convert(r.Checks, checkRow.toCheck), Provenance: r.Provenance.toProvenance(),
		Status: r.Status, Since: r.Since, RetiredIn: r.RetiredIn, Reason: r.Reason,
	}
}

func toRejectRow(r Reject) rejectRow {
	return rejectRow{
		CaseID: r.CaseID, Query: r.Query, QueryType: r.QueryType, Stratum: r.Stratum, ChunkID: r.ChunkID,
		Stage: r.Stage, Reason: r.Reason, Detail: r.Detail,
		Checks: convert(r.Checks, toCheckRow), Evidence: convert(r.Evidence, toEvidenceRow),
		Scope: toScopeRows(r.Scope), AsOf: r.AsOf, Calls: int64(r.Calls),
	}
}

func (r rejectRow) toReject() Reject {
	return Reject{
		CaseID: r.CaseID, Query: r.Query, QueryType: r.QueryType, Stratum: r.Stratum, ChunkID: r.ChunkID,
		Stage: r.Stage, Reason: r.Reason, Detail: r.Detail,
		Checks: convert(r.Checks, checkRow.toCheck), Evidence: convert(r.Evidence, evidenceRow.toEvidence),
		Scope: fromScopeRows(r.Scope), AsOf: r.AsOf, Calls: int(r.Calls),
	}
}

func toJudgmentRow(j Judgment) judgmentRow {
	return judgmentRow{
		ChunkID: j.ChunkID, DocID: j.DocID, Grade: number[int32](j.Grade), P: j.P, PDraws: j.PDraws,
		Label: j.Label, By: j.By, Judge: j.Judge, Features: toFeatureRows(j.Features), Inclusion: j.Inclusion,
		Spans: convert(j.Spans, func(s Span) spanRow { return spanRow{int64(s.Start), int64(s.End)} }),
	}
}

func (r judgmentRow) toJudgment() Judgment {
	return Judgment{
		ChunkID: r.ChunkID, DocID: r.DocID, Grade: number[int](r.Grade), P: r.P, PDraws: r.PDraws,
		Label: r.Label, By: r.By, Judge: r.Judge, Features: fromFeatureRows(r.Features), Inclusion: r.Inclusion,
		Spans: convert(r.Spans, func(s spanRow) Span { return Span{int(s.Start), int(s.End)} }),
	}
}

func toEvidenceRow(e Evidence) evidenceRow {
	return evidenceRow{e.DocID, e.ChunkID, int64(e.Start), int64(e.End), e.Quote}
}

func (r evidenceRow) toEvidence() Evidence {
	return Evidence{r.DocID, r.ChunkID, int(r.Start), int(r.End), r.Quote}
}

func toCheckRow(c Check) checkRow { return checkRow(c) }

func (r checkRow) toCheck() Check { return Check(r) }

func toProvenanceRow(p Provenance) provenanceRow {
	return provenanceRow{p.Generator, p.Prompt, p.Seed, p.Stratum, int64(p.Calls), p.Term, p.OtherForm, p.Link}
}

func (r provenanceRow) toProvenance() Provenance {
	return Provenance{r.Generator, r.Prompt, r.Seed, r.Stratum, int(r.Calls), r.Term, r.OtherForm, r.Link}
}

func toScopeRows(s corpus.Scope) []scopeRow {
	rows := make([]scopeRow, 0, len(s))
	for key, values := range s {
		rows = append(rows, scopeRow{key, values})
	}
	slices.SortFunc(rows, func(a, b scopeRow) int { return cmp.Compare(a.Key, b.Key) })
	return rows
}

func fromScopeRows(rows []scopeRow) corpus.Scope {
	s := make(corpus.Scope, len(rows))
	for _, r := range rows {
		s[r.Key] = r.Values
	}
	return s
}

func toFeatureRows(features map[string]float64) []featureRow {
	rows := make([]featureRow, 0, len(features))
	for name, value := range features {
		rows = append(rows, featureRow{name, value})
	}
	slices.SortFunc(rows, func(a, b featureRow) int { return cmp.Compare(a.Name, b.Name) })
	return rows
}

func fromFeatureRows(rows []featureRow) map[string]float64 {
	features := make(map[string]float64, len(rows))
	for _, r := range rows {
		features[r.Name] = r.Value
	}
	return features
}

// number converts an optional whole number.
func number[B, A int | int32](a *A) *B {
	if a == nil {
		return nil
	}
	b := B(*a)
	return &b
}
