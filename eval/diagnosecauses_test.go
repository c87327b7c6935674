package eval_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
)

// causeCase is a failed case with its cause and the proof in words.
type causeCase struct {
	name   string
	change func(situation)
	want   eval.Cause
	why    string
}

// Each cause is made to happen, and then nearly.
func TestCauses(t *testing.T) {
	for _, tt := range slices.Concat(
		errorCauses(), leakCauses(), corpusCauses(), splitCauses(), filterCauses(), indexCauses(),
		rerankCauses(), staleCauses(), nearCauses(), familyCauses(), unjudgedCauses(), positionCauses(),
	) {
		t.Run(tt.name, func(t *testing.T) {
			d := diagnose(t, tt.change)
			if len(d.All) != 1 || d.Failed != 1 || d.Causes[tt.want] != 1 {
				t.Fatalf("%d failed, causes %v: %+v", d.Failed, d.Causes, d.All)
			}
			if got := d.All[0]; got.Cause != tt.want || got.Why != tt.why {
				t.Errorf("%s: %q\nwant %s: %q", got.Cause, got.Why, tt.want, tt.why)
			}
		})
	}
}

// filtered gives a case a filter.
func filtered(s situation) {
	s.about.Filters = []corpus.Filter{{Field: "lang", Op: "eq", Values: []string{"en"}}}
}

// cut lets a case's evidence lie over the boundary of two chunks.
func cut(s situation) {
	*s.shelf = append(*s.shelf, corpus.Chunk{ID: "answer#1", DocID: "answer", Start: 20, End: 30, Text: "and so on."})
	s.about.Evidence = []eval.Span{{Doc: "answer", Start: 15, End: 25}}
}

// errorCauses are about an error.
func errorCauses() []causeCase {
	return []causeCase{
		{"error", func(s situation) { s.c.Failed, s.c.Ranking = "server is away", nil }, eval.CauseError, "server is away"},
		{"an error of a case that expects abstention", func(s situation) { s.c.Abstain, s.c.Failed = true, "away" }, eval.CauseError, "away"},
	}
}

// leakCauses are about a leak.
func leakCauses() []causeCase {
	return []causeCase{
		{"leak", func(s situation) {
			s.in.Leaks = []eval.Leak{{Case: "c1", Chunk: "n1", Rank: 2, Kind: "scope"}, {Case: "c1", Chunk: "n2", Rank: 3}}
		},
			eval.CauseLeak, "n1 at rank 2 must not be seen (scope), and 1 more"},
		{"a leak although the answer is first", func(s situation) {
			s.c.Ranking = []string{"answer#0", "n1"}
			s.in.Leaks = []eval.Leak{{Case: "c1", Chunk: "n1", Rank: 2, Kind: "forbidden"}}
		}, eval.CauseLeak, "n1 at rank 2 must not be seen (forbidden)"},
		{"another case's leak", func(s situation) { s.in.Leaks = []eval.Leak{{Case: "c2", Chunk: "n1"}} }, eval.CauseBelowK, "at rank 5"},
	}
}

// corpusCauses are about what the snapshot or the index lacks.
func corpusCauses() []causeCase {
	return []causeCase{
		{"not in the snapshot", func(s situation) { *s.shelf = (*s.shelf)[1:] }, eval.CauseNotInCorpus, "the snapshot has none of the relevant chunks: answer#0"},
		{"one of two relevant is in the snapshot", func(s situation) {
			*s.shelf = (*s.shelf)[1:]
			s.about.Evidence = nil
			s.c.Labels = append(s.c.Labels, eval.Label{ID: "n4", Grade: 2})
		}, eval.CauseBelowK, "at rank 5"},
		{"no chunk holds the evidence's text", func(s situation) { s.about.Evidence[0] = eval.Span{Doc: "answer", Start: 20, End: 24} },
			eval.CauseNotInCorpus, "no chunk of the snapshot holds text of the evidence answer [20,24)"},
		{"the index is of another corpus", func(s situation) { s.c.Ranking, s.probes.Deep = []string{"x1", "x2"}, probe("x1", "x2") },
			eval.CauseNotInCorpus, "none of the top 2 is in the snapshot (x1, x2): the index is of another corpus"},
		{"one result is of the snapshot", func(s situation) { s.c.Ranking, s.probes.Deep = []string{"x1", "n2"}, probe("x1", "n2") },
			eval.CauseNotFound, "not among 2 hits, and nothing that was looked at explains it"},
		{"not in the index", func(s situation) { s.absent(); s.probes.Own = map[string]*eval.Probe{"answer#0": probe("n1", "n7")} },
			eval.CauseNotInCorpus, "the index does not return answer#0 among 6 hits even for its own text without scope and filters"},
		{"not in the index, and the other one not in the snapshot", func(s situation) {
			s.absent()
			s.c.Labels = append(s.c.Labels, eval.Label{ID: "gone", Grade: 3})
			s.probes.Own = map[string]*eval.Probe{"answer#0": probe("n1")}
		}, eval.CauseNotInCorpus, "the index does not return answer#0, gone among 6 hits even for its own text without scope and filters"},
		{"not found by its own text, and found by the query", func(s situation) { s.probes.Own = map[string]*eval.Probe{"answer#0": probe("n1")} },
			eval.CauseBelowK, "at rank 5"},
		{"in the index", func(s situation) {
			s.absent()
			s.probes.Own = map[string]*eval.Probe{"answer#0": probe("n1", "answer#0")}
		},
			eval.CauseNotFound, "not among 4 hits, and nothing that was looked at explains it"},
		{"its own text could not be asked", func(s situation) { s.absent(); s.probes.Own = map[string]*eval.Probe{"answer#0": nil} },
			eval.CauseNotFound, "not among 4 hits, and nothing that was looked at explains it"},
	}
}

// splitCauses are about evidence over a boundary.
func splitCauses() []causeCase {
	return []causeCase{
		{"split", cut, eval.CauseSplit, "the evidence answer [15,25) is cut over answer#0, answer#1, and no chunk holds it whole"},
		{"over a boundary, and an overlapping chunk holds it", func(s situation) {
			cut(s)
			*s.shelf = append(*s.shelf, corpus.Chunk{ID: "answer#2", DocID: "answer", Start: 15, End: 25, Text: "ys is.and "})
		}, eval.CauseBelowK, "at rank 5"},
		{"evidence that only touches the next chunk", func(s situation) {
			cut(s)
			s.about.Evidence = []eval.Span{{Doc: "answer", Start: 15, End: 20}}
		}, eval.CauseBelowK, "at rank 5"},
		{"cut, and another span that no chunk holds", func(s situation) {
			cut(s)
			s.about.Evidence = append(s.about.Evidence, eval.Span{Doc: "answer", Start: 40, End: 44})
		}, eval.CauseSplit, "the evidence answer [15,25) is cut over answer#0, answer#1, and no chunk holds it whole"},
		{"one of two spans is whole", func(s situation) {
			cut(s)
			s.about.Evidence = append(s.about.Evidence, eval.Span{Doc: "answer", Start: 4, End: 11})
		}, eval.CauseBelowK, "at rank 5"},
	}
}

// filterCauses are about scope, filters and date.
func filterCauses() []causeCase {
	return []causeCase{
		{"filtered out", func(s situation) { filtered(s); s.absent(); s.probes.Open = probe("n0", "answer#0") },
			eval.CauseFilteredOut, "at rank 2 without scope and filters, and not among 4 hits with them; the case's own scope, filters or date exclude it"},
		{"filtered out, and it satisfies the filters", func(s situation) {
			filtered(s)
			(*s.shelf)[0].Metadata = map[string]string{"lang": "en"}
			s.absent()
			s.probes.Open = probe("n0", "answer#0")
		}, eval.CauseFilteredOut, "at rank 2 without scope and filters, and not among 4 hits with them"},
		{"filters applied after the search", func(s situation) {
			filtered(s)
			s.c.Ranking = []string{"n0", "n1"}
			s.probes.Deep = probe("n0", "n1", "answer#0")
		},
			eval.CauseFilteredOut, "at rank 3 when 6 hits are asked for, and not among the 2 that came at first: filters are applied after the search"},
		{"filters, and found below k with them", func(s situation) { filtered(s); s.probes.Open = probe("answer#0") }, eval.CauseBelowK, "at rank 5"},
		{"found without filters below k, and nobody was asked for more with them", func(s situation) {
			filtered(s)
			s.absent()
			s.probes.Deep, s.probes.Open = nil, probe("n0", "n1", "n2", "answer#0")
		}, eval.CauseNotFound, "not among 4 hits, and nothing that was looked at explains it"},
		{"filters, and as many hits as were asked for", func(s situation) { filtered(s); s.probes.Deep = probe("n0", "n1", "answer#0") },
			eval.CauseApproximate, "at rank 3 when 6 hits are asked for, and not in the top 3 of fewer: the search is approximate"},
		{"filters, and not found without them either", func(s situation) { filtered(s); s.absent(); s.probes.Open = probe("n5") },
			eval.CauseNotFound, "not among 4 hits, and nothing that was looked at explains it"},
		{"no filter, however it was asked", func(s situation) { s.absent(); s.probes.Open = probe("answer#0") },
			eval.CauseNotFound, "not among 4 hits, and nothing that was looked at explains it"},
	}
}

// indexCauses are about an approximate index.
func indexCauses() []causeCase {
	return []causeCase{
		{"approximate", func(s situation) { s.probes.Exact = probe("n0", "answer#0") },
			eval.CauseApproximate, "at rank 2 by the exact search of the same index, at rank 5 by the approximate one"},
		{"the exact search misses it too", func(s situation) { s.probes.Exact = probe("n0", "n1", "n2", "answer#0") }, eval.CauseBelowK, "at rank 5"},
		{"another ranking when more is asked for", func(s situation) { s.probes.Deep = probe("n0", "answer#0", "n1") },
			eval.CauseApproximate, "at rank 2 when 6 hits are asked for, and not in the top 3 of fewer: the search is approximate"},
	}
}

// rerankCauses are about a reranker.
func rerankCauses() []causeCase {
	return []causeCase{
		{"reranker", func(s situation) { s.probes.Before = probe("answer#0", "n1") }, eval.CauseReranker, "at rank 1 before the reranker, at rank 5 after it"},
		{"below k before the reranker too", func(s situation) { s.probes.Before = probe("n0", "n1", "n2", "answer#0") }, eval.CauseBelowK, "at rank 5"},
	}
}

// staleCauses are about versions that no longer hold.
func staleCauses() []causeCase {
	return []causeCase{
		{"stale by its label", func(s situation) { s.about.Stale = []string{"n1"} }, eval.CauseStale, "n1 at rank 2 no longer holds; what holds now is at rank 5"},
		{"stale below k", func(s situation) { s.about.Stale = []string{"n3"} }, eval.CauseBelowK, "at rank 5"},
		{"an older version of the answer", func(s situation) {
			s.c.Ranking = []string{"n0", "before", "n2", "answer#0"}
			s.probes.Deep = probe(s.c.Ranking...)
		},
			eval.CauseStale, "before at rank 2 no longer holds; what holds now is at rank 4"},
		{"a version that ended when the answer's began", func(s situation) {
			may := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
			(*s.shelf)[2].ValidTo, (*s.shelf)[0].ValidFrom = &may, &may
			s.c.Ranking = []string{"copy", "n0", "n2", "answer#0"}
			s.probes.Deep = probe(s.c.Ranking...)
		}, eval.CauseStale, "copy at rank 1 no longer holds; what holds now is at rank 4"},
		{"a copy that is valid beside the answer", func(s situation) {
			may, june := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
			(*s.shelf)[2].ValidTo, (*s.shelf)[0].ValidFrom = &june, &may
			s.c.Ranking = []string{"copy", "n0", "n2", "answer#0"}
			s.probes.Deep = probe(s.c.Ranking...)
		}, eval.CauseNearDuplicate, "copy at rank 1 is a near-duplicate of answer#0, which is at rank 4"},
		{"valid until the case's date", func(s situation) {
			may := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
			(*s.shelf)[3].ValidTo, s.about.AsOf = &may, &may
		}, eval.CauseStale, "n0 at rank 1 no longer holds; what holds now is at rank 5"},
		{"no longer valid at the case's date", func(s situation) {
			may, june := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
			(*s.shelf)[3].ValidTo, s.about.AsOf = &may, &june
		}, eval.CauseStale, "n0 at rank 1 no longer holds; what holds now is at rank 5"},
		{"still valid at the case's date", func(s situation) {
			may, june := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
			(*s.shelf)[3].ValidTo, s.about.AsOf = &june, &may
		}, eval.CauseBelowK, "at rank 5"},
	}
}

// nearCauses are about near-duplicates.
func nearCauses() []causeCase {
	return []causeCase{
		{"a near-copy in its place", func(s situation) { s.c.Ranking = []string{"n0", "copy", "n2"}; s.probes.Deep = probe(s.c.Ranking...) },
			eval.CauseNearDuplicate, "copy at rank 2 is a near-duplicate of answer#0, which is not among 3 hits"},
		{"crowded out", func(s situation) { (*s.shelf)[4].NearGroup, (*s.shelf)[5].NearGroup = "n0", "n0" },
			eval.CauseNearDuplicate, "at rank 5; near-duplicates of one another counted once, at rank 3"},
		{"near-duplicates, and still below k", func(s situation) { (*s.shelf)[4].NearGroup = "n0" }, eval.CauseBelowK, "at rank 5"},
	}
}

// familyCauses are about terms and vectors.
func familyCauses() []causeCase {
	return []causeCase{
		{"dense misses what bm25 finds", func(s situation) { s.in.Family = eval.FamilyDense; s.probes.Lexical = probe("n9", "answer#0") },
			eval.CauseEmbedding, "at rank 2 by bm25, at rank 5 by vectors"},
		{"dense misses, and bm25 too", func(s situation) {
			s.in.Family = eval.FamilyDense
			s.probes.Lexical = probe("n9", "n8", "n7", "answer#0")
		},
			eval.CauseBelowK, "at rank 5"},
		{"bm25 misses what dense finds", func(s situation) { s.in.Family = eval.FamilyLexical; s.absent(); s.probes.Dense = probe("answer#0") },
			eval.CauseVocabulary, "at rank 1 by vectors, not among 4 hits by terms"},
		{"neither kind, whatever bm25 finds", func(s situation) { s.probes.Lexical, s.probes.Dense = probe("answer#0"), probe("answer#0") },
			eval.CauseBelowK, "at rank 5"},
	}
}

// unjudgedCauses are about chunks that nobody judged.
func unjudgedCauses() []causeCase {
	return []causeCase{
		{"unjudged above", func(s situation) { s.c.Labels = append(s.c.Labels, eval.Label{ID: "n0"}, eval.Label{ID: "n1"}) },
			eval.CauseUnjudged, "1 of the top 3 are unjudged; without such chunks at rank 3, with them at rank 5"},
		{"an unknown grade above is unjudged", func(s situation) {
			s.c.Labels = append(s.c.Labels, eval.Label{ID: "n0"}, eval.Label{ID: "n1"}, eval.Label{ID: "n2", Grade: eval.Unknown})
		}, eval.CauseUnjudged, "1 of the top 3 are unjudged; without such chunks at rank 3, with them at rank 5"},
		{"unjudged above, and too little judged to say", func(s situation) { s.c.Labels = append(s.c.Labels, eval.Label{ID: "n0"}) }, eval.CauseBelowK, "at rank 5"},
		{"unjudged above, and below k without them", func(s situation) {
			s.c.Labels = append(s.c.Labels, eval.Label{ID: "n0"}, eval.Label{ID: "n1"}, eval.Label{ID: "n3"})
		}, eval.CauseBelowK, "at rank 5"},
	}
}

// positionCauses are about where it stands, or does not.
func positionCauses() []causeCase {
	return []causeCase{
		{"found below k", nil, eval.CauseBelowK, "at rank 5"},
		{"found only by looking further down", func(s situation) { s.c.Ranking = s.c.Ranking[:3] }, eval.CauseBelowK, "at rank 5"},
		{"not found", func(s situation) { s.absent() }, eval.CauseNotFound, "not among 4 hits, and nothing that was looked at explains it"},
		{"no result at all", func(s situation) { s.c.Ranking, s.probes.Deep = nil, probe() }, eval.CauseNotFound, "not among 0 hits, and nothing that was looked at explains it"},
		{"likely relevant by its label", func(s situation) { s.c.Labels[0] = eval.Label{ID: "answer#0", Uncertain: &eval.Probability{P: 0.5}} },
			eval.CauseBelowK, "at rank 5"},
		{"rank 4 of 5 once an excluded chunk is out", func(s situation) { s.about.Exclude = []string{"n0"} }, eval.CauseBelowK, "at rank 4"},
	}
}

// A retriever with chunks of its own cuts evidence at its own boundaries, which
// show only in what it returns.
func TestSplitBySpans(t *testing.T) {
	span := func(id string, start, end int) corpus.Chunk {
		return corpus.Chunk{ID: id, DocID: "answer", Start: start, End: end, Text: strings.Repeat("x", end-start)}
	}
	pieces := func(s situation) {
		s.in.BySpan = true
		*s.shelf = append(*s.shelf, span("left", 0, 8), span("right", 8, 20), span("far", 9, 20), span("whole", 2, 20))
		s.c.Ranking, s.probes.Deep = []string{"n0", "left"}, probe("n0", "left")
	}
	const why = "the evidence answer [4,11) came back in pieces, left, right, and never whole"
	for _, tt := range []struct {
		name   string
		change func(situation)
		want   eval.Cause
	}{
		{"both pieces came", func(s situation) { s.c.Ranking = []string{"right", "left"} }, eval.CauseSplit},
		{"the other piece came when more was asked for", func(s situation) { s.probes.Deep = probe("n0", "left", "right") }, eval.CauseSplit},
		{"... by the chunk's own text", func(s situation) { s.probes.Own = map[string]*eval.Probe{"answer#0": probe("right")} }, eval.CauseSplit},
		{"a part of it by its own text", func(s situation) { s.probes.Own = map[string]*eval.Probe{"answer#0": probe("far")} }, eval.CauseNotFound},
		{"no part of it by its own text", func(s situation) {
			s.c.Ranking, s.probes.Deep, s.probes.Own = []string{"n0"}, probe("n0"), map[string]*eval.Probe{"answer#0": probe("n1")}
		}, eval.CauseNotInCorpus},
		{"one piece came", func(situation) {}, eval.CauseNotFound},
		{"pieces with a gap between them", func(s situation) { s.probes.Deep = probe("left", "far") }, eval.CauseNotFound},
		{"something whole came too", func(s situation) { s.probes.Deep = probe("left", "right", "whole") }, eval.CauseNotFound},
	} {
		d := diagnose(t, func(s situation) { pieces(s); tt.change(s) })
		if got := d.All[0]; got.Cause != tt.want || tt.want == eval.CauseSplit && got.Why != why {
			t.Errorf("%s: %s: %s", tt.name, got.Cause, got.Why)
		}
	}
}

// What explains a case leaves no room for what would explain it otherwise.
func TestCausesThatExcludeOthers(t *testing.T) {
	for name, change := range map[string]func(situation){
		"filters applied after the search": func(s situation) {
			s.about.Filters = []corpus.Filter{{Field: "lang", Op: "exists", Values: []string{"false"}}}
			s.c.Ranking, s.probes.Deep = []string{"n0", "n1"}, probe("n0", "n1", "answer#0")
		},
		"another ranking when more is asked for": func(s situation) { s.probes.Deep = probe("n0", "answer#0", "n1") },
	} {
		if d := diagnose(t, change); len(d.All[0].Also) != 0 {
			t.Errorf("%s: also %+v", name, d.All[0].Also)
		}
	}
}

func TestNoFailure(t *testing.T) {
	for name, change := range map[string]func(situation){
		"found at k":                 func(s situation) { s.c.Ranking = []string{"n0", "n1", "answer#0"} },
		"found at k after excluding": func(s situation) { s.about.Exclude = []string{"n0", "n1"} },
		"found at k after repeats":   func(s situation) { s.c.Ranking = []string{"n0", "n0", "n1", "answer#0"} },
		"expects abstention":         func(s situation) { s.c.Abstain = true },
		"nothing is relevant":        func(s situation) { s.c.Labels[0].Grade = 1 },
		"unlikely to be relevant":    func(s situation) { s.c.Labels[0].Uncertain = &eval.Probability{P: 0.49} },
	} {
		if d := diagnose(t, change); d.Failed != 0 || len(d.All) != 0 || len(d.Causes) != 0 {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
