package generate

import (
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// newCase fills in what every writer's cases have in common.
func newCase(u Unit, of Candidate, checks []datasets.Check) *datasets.Case {
	chunk := u.Chunks[0]
	category := chunk.Category
	if category == "" {
		category = u.Doc.Category
	}
	return &datasets.Case{
		ID:            u.Row.CaseID,
		Query:         of.Query,
		QueryType:     u.Row.QueryType,
		Category:      category,
		Style:         givenStyle(u.Row, of.clean()),
		Language:      of.Language,
		Unit:          chunk.Unit,
		Tags:          []string{},
		Origin:        datasets.OriginSynthetic,
		Scope:         askersScope(u),
		AsOf:          u.Row.AsOf,
		Filters:       []corpus.Filter{},
		Source:        slices.Clone(u.Row.ChunkIDs),
		Judgments:     sourceJudgments(u, of.Evidence),
		Evidence:      of.Evidence,
		Forbidden:     []string{},
		HardNegatives: []string{},
		Difficulty:    datasets.Difficulty{Overlap: datasets.Round(overlap(of.Query, textOf(u)))},
		Checks:        checks,
		Status:        datasets.Active,
	}
}

// askersScope is the plan's, or the least that sees all the unit's chunks.
func askersScope(u Unit) corpus.Scope {
	if u.Row.Scope != nil {
		return u.Row.Scope
	}
	scopes := make([]corpus.Scope, len(u.Chunks))
	for i := range u.Chunks {
		scopes[i] = u.Chunks[i].Scope
	}
	return sample.LeastScope(scopes...)
}

// textOf joins the texts of the unit's chunks.
func textOf(u Unit) string {
	texts := make([]string, len(u.Chunks))
	for i := range u.Chunks {
		texts[i] = u.Chunks[i].Text
	}
	return strings.Join(texts, "\n")
}

func sourceJudgments(u Unit, evidence []datasets.Evidence) []datasets.Judgment {
	list := make([]datasets.Judgment, len(u.Chunks))
	for i := range u.Chunks {
		list[i] = sourceJudgment(u.Chunks[i], evidence)
	}
	return list
}

func sourceJudgment(chunk corpus.Chunk, evidence []datasets.Evidence) datasets.Judgment {
	spans := make([]datasets.Span, 0, len(evidence))
	for _, e := range evidence {
		if e.ChunkID == chunk.ID {
			spans = append(spans, datasets.Span{Start: e.Start, End: e.End})
		}
	}
	j := datasets.SourceJudgment(chunk.ID, chunk.DocID)
	j.Features, j.Spans = map[string]float64{}, spans
	return j
}

func newReject(u Unit, query string, r *refusal, checks []datasets.Check, evidence []datasets.Evidence) *datasets.Reject {
	if checks == nil {
		checks = []datasets.Check{}
	}
	if evidence == nil {
		evidence = []datasets.Evidence{}
	}
	return &datasets.Reject{
		CaseID: u.Row.CaseID, Query: query, QueryType: u.Row.QueryType, Stratum: u.Row.Stratum,
		ChunkID: u.Chunks[0].ID, Stage: StageName, Reason: r.reason, Detail: r.detail,
		Checks: checks, Evidence: evidence, Scope: askersScope(u), AsOf: u.Row.AsOf,
	}
}

// provenanceOf is what every writer says of how its cases were made.
func provenanceOf(u Unit, generator string, seed int64) datasets.Provenance {
	return datasets.Provenance{
		Generator: generator, Seed: seed, Stratum: u.Row.Stratum,
		Term: u.Row.Term, OtherForm: u.Row.OtherForm, Link: u.Row.Link,
	}
}
