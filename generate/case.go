package generate

import (
	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// newCase fills in what every writer's cases have in common.
func newCase(u Unit, query, language string, evidence []datasets.Evidence, checks []datasets.Check) *datasets.Case {
	chunk := u.Chunks[0]
	category := chunk.Category
	if category == "" {
		category = u.Doc.Category
	}
	return &datasets.Case{
		ID:            u.Row.CaseID,
		Query:         query,
		QueryType:     u.Row.QueryType,
		Category:      category,
		Style:         u.Row.Style,
		Language:      language,
		Unit:          chunk.Unit,
		Tags:          []string{},
		Origin:        datasets.OriginSynthetic,
		Scope:         askersScope(chunk.Scope),
		Filters:       []corpus.Filter{},
		Source:        []string{chunk.ID},
		Judgments:     []datasets.Judgment{sourceJudgment(chunk, evidence)},
		Evidence:      evidence,
		Forbidden:     []string{},
		HardNegatives: []string{},
		Difficulty:    datasets.Difficulty{Overlap: datasets.Round(overlap(query, chunk.Text))},
		Checks:        checks,
		Status:        datasets.Active,
	}
}

// askersScope is the least that somebody must hold to see a record of that
// scope: the first value of each key.
func askersScope(record corpus.Scope) corpus.Scope {
	scope := corpus.Scope{}
	for key, values := range record {
		if len(values) > 0 {
			scope[key] = []string{values[0]}
		}
	}
	return scope
}

func sourceJudgment(chunk corpus.Chunk, evidence []datasets.Evidence) datasets.Judgment {
	spans := make([]datasets.Span, 0, len(evidence))
	for _, e := range evidence {
		spans = append(spans, datasets.Span{Start: e.Start, End: e.End})
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
		Checks: checks, Evidence: evidence,
	}
}
