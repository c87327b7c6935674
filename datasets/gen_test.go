package datasets_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// Generators of rows in which every field varies, in the form that Canonical
// gives. The text includes what tends to break files: NUL, quotes, newlines.

var text = rapid.StringOfN(rapid.RuneFrom([]rune("aé\x00\n\"|<\u202e日🦫")), 0, 6, -1)

func lists[T any](g *rapid.Generator[T]) *rapid.Generator[[]T] { return rapid.SliceOfN(g, 0, 3) }

func optional[T any](t *rapid.T, g *rapid.Generator[T], name string) *T {
	if rapid.Bool().Draw(t, name+"?") {
		return nil
	}
	v := g.Draw(t, name)
	return &v
}

// decimals are numbers as the set stores them.
func decimals(low, high int) *rapid.Generator[float64] {
	return rapid.Map(rapid.IntRange(low*10_000, high*10_000), func(n int) float64 { return float64(n) / 10_000 })
}

var filters = rapid.Custom(func(t *rapid.T) corpus.Filter {
	return corpus.Filter{
		Field:  text.Draw(t, "field"),
		Op:     rapid.SampledFrom([]string{"eq", "in", "ne", "lt", "le", "gt", "ge", "exists"}).Draw(t, "op"),
		Values: lists(text).Draw(t, "values"),
	}
})

var times = rapid.Map(rapid.Int64Range(-1<<50, 1<<50), func(us int64) time.Time { return time.UnixMicro(us).UTC() })

var spans = rapid.Custom(func(t *rapid.T) datasets.Span {
	start := rapid.IntRange(0, 1<<40).Draw(t, "start")
	return datasets.Span{Start: start, End: start + rapid.IntRange(0, 99).Draw(t, "len")}
})

var evidence = rapid.Custom(func(t *rapid.T) datasets.Evidence {
	quote := "q" + text.Draw(t, "quote")
	start := rapid.IntRange(0, 1<<40).Draw(t, "start")
	return datasets.Evidence{
		DocID: text.Draw(t, "doc"), ChunkID: text.Draw(t, "chunk"),
		Start: start, End: start + len(quote), Quote: quote,
	}
})

var checks = rapid.Custom(func(t *rapid.T) datasets.Check {
	return datasets.Check{Name: text.Draw(t, "name"), Passed: rapid.Bool().Draw(t, "passed"), Value: decimals(-5, 5).Draw(t, "value")}
})

// judgment is one by a given judge for a given chunk, with draws that fit p.
func judgment(t *rapid.T, chunk, by string) datasets.Judgment {
	j := datasets.Judgment{
		ChunkID: chunk, DocID: text.Draw(t, "doc"),
		Label: rapid.SampledFrom([]string{"relevant", "partial", "irrelevant", "stale", "out_of_scope", ""}).Draw(t, "label"),
		By:    by, Judge: text.Draw(t, "judge"),
		Features:  rapid.MapOfN(text, decimals(-9, 9), 0, 3).Draw(t, "features"),
		Inclusion: decimals(0, 1).Draw(t, "inclusion"),
		Spans:     lists(spans).Draw(t, "spans"),
	}
	if by == datasets.BySynthetic {
		three := 3
		j.Grade = &three
		return j
	}
	j.Grade = optional(t, rapid.IntRange(0, 3), "grade")
	j.P = optional(t, decimals(0, 1), "p")
	if j.P != nil && rapid.Bool().Draw(t, "draws?") {
		j.PDraws = make([]float64, rapid.IntRange(0, 20).Draw(t, "draws"))
		for i := range j.PDraws {
			j.PDraws[i] = *j.P
		}
	}
	return j
}

func judgments(t *rapid.T, source []string) []datasets.Judgment {
	out := []datasets.Judgment{}
	for _, id := range source {
		out = append(out, judgment(t, id, datasets.BySynthetic))
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "judged") {
		by := rapid.SampledFrom([]string{"llm", "label_model", "human"}).Draw(t, "by")
		out = append(out, judgment(t, fmt.Sprintf("other %d", i), by))
	}
	return out
}

// caseWithID draws a case that Validate accepts.
func caseWithID(id string) *rapid.Generator[datasets.Case] {
	return rapid.Custom(func(t *rapid.T) datasets.Case {
		source := rapid.SliceOfNDistinct(text, 0, 2, rapid.ID).Draw(t, "source")
		for i := range source {
			source[i] = "s" + source[i]
		}
		return datasets.Case{
			ID: id, Query: "q" + text.Draw(t, "query"),
			QueryType: rapid.SampledFrom(queryTypes()).Draw(t, "type"),
			Category:  text.Draw(t, "category"), Style: text.Draw(t, "style"), Language: text.Draw(t, "language"),
			Unit:   rapid.SampledFrom([]string{"document", "chunk", "memory_record", "tool_result", "code_symbol"}).Draw(t, "unit"),
			Tags:   lists(text).Draw(t, "tags"),
			Origin: rapid.SampledFrom([]string{"synthetic", "log", "human", "imported"}).Draw(t, "origin"),
			Scope:  rapid.MapOfN(text, lists(text), 0, 3).Draw(t, "scope"), Filters: lists(filters).Draw(t, "filters"),
			ExpectedSource:     text.Draw(t, "expected"),
			AsOf:               optional(t, times, "as_of"),
			ExpectedAbstention: rapid.Bool().Draw(t, "abstain"),
			ReferenceAnswer:    optional(t, text, "answer"),
			Source:             source, Judgments: judgments(t, source),
			Evidence: lists(evidence).Draw(t, "evidence"), Forbidden: lists(text).Draw(t, "forbidden"),
			HardNegatives: lists(text).Draw(t, "negatives"),
			Difficulty: datasets.Difficulty{
				SourceRankBM25:  optional(t, rapid.IntRange(1, 1<<30), "bm25"),
				SourceRankDense: optional(t, rapid.IntRange(1, 1<<30), "dense"),
				Overlap:         decimals(0, 1).Draw(t, "overlap"),
			},
			Checks: lists(checks).Draw(t, "checks"),
			Provenance: datasets.Provenance{
				Generator: text.Draw(t, "generator"), Prompt: text.Draw(t, "prompt"), Seed: rapid.Int64().Draw(t, "seed"),
				Stratum: text.Draw(t, "stratum"), Calls: rapid.IntRange(0, 99).Draw(t, "calls"),
				Term: text.Draw(t, "term"), OtherForm: text.Draw(t, "other form"), Link: text.Draw(t, "link"),
			},
			Status: rapid.SampledFrom([]string{"active", "needs_review"}).Draw(t, "status"),
			Since:  "v1", Reason: text.Draw(t, "reason"),
		}
	})
}

var rejects = rapid.Custom(func(t *rapid.T) datasets.Reject {
	return datasets.Reject{
		CaseID: text.Draw(t, "id"), Query: text.Draw(t, "query"),
		QueryType: rapid.SampledFrom(queryTypes()).Draw(t, "type"),
		Stratum:   text.Draw(t, "stratum"), ChunkID: text.Draw(t, "chunk"), Stage: text.Draw(t, "stage"),
		Reason: "r" + text.Draw(t, "reason"), Detail: text.Draw(t, "detail"),
		Checks: lists(checks).Draw(t, "checks"), Evidence: lists(evidence).Draw(t, "evidence"),
		Scope: rapid.MapOfN(text, lists(text), 0, 3).Draw(t, "scope"), AsOf: optional(t, times, "as_of"),
		Calls: rapid.IntRange(0, 99).Draw(t, "calls"),
	}
})

// drafts are up to four cases and rejects.
var drafts = rapid.Custom(func(t *rapid.T) datasets.Draft {
	d := datasets.Draft{
		Cases: []datasets.Case{}, Rejects: lists(rejects).Draw(t, "rejects"),
		Manifest: datasets.Manifest{RelevantGrade: 2, Trust: datasets.Trust{Level: datasets.TrustSourceOnly}},
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "cases") {
		d.Cases = append(d.Cases, caseWithID(fmt.Sprintf("%016x", i)).Draw(t, "case"))
	}
	return d
})

func queryTypes() []string {
	return []string{
		datasets.Factual, datasets.Keyword, datasets.Reformulated, datasets.MultiHop, datasets.Ambiguous,
		datasets.TimeSensitive, datasets.RareTerm, datasets.NearDuplicate, datasets.OutOfScope, datasets.PermissionSensitive,
	}
}
