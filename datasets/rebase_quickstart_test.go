package datasets_test

import (
	"fmt"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// chunkings are those that cut prose.
var chunkings = []corpus.Chunking{
	{Method: "markdown", Size: 64, Overlap: 8, Unit: "tokens"},
	{Method: "fixed", Size: 40, Overlap: 10, Unit: "tokens"},
	{Method: "fixed", Size: 300, Unit: "characters"},
	{Method: "sentence", Size: 60, Unit: "tokens"},
	{Method: "recursive", Size: 50, Overlap: 5, Unit: "tokens"},
	{Method: "document"},
}

func quickstartOver(t *testing.T, c corpus.Chunking) *corpus.Snapshot {
	t.Helper()
	s, _, err := corpus.Build(t.Context(), corpus.BuildOptions{
		Source: corpus.Source{Documents: "../examples/quickstart/docs"}, Chunking: c,
	}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// casesOf asks about the middle half of each chunk.
func casesOf(t *testing.T, s *corpus.Snapshot) *datasets.Set {
	t.Helper()
	set := &datasets.Set{}
	set.Manifest.RelevantGrade, set.Manifest.Trust.Level = 2, datasets.TrustSourceOnly
	for chunk, err := range s.Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		from, to := len(chunk.Text)/4, 3*len(chunk.Text)/4
		for !utf8.RuneStart(chunk.Text[from]) {
			from++
		}
		for !utf8.RuneStart(chunk.Text[to]) {
			to++
		}
		set.Cases = append(set.Cases, datasets.Case{
			ID: fmt.Sprintf("%016x", len(set.Cases)), Query: "What?", Origin: datasets.OriginSynthetic, Status: datasets.Active,
			Source: []string{chunk.ID}, Judgments: []datasets.Judgment{datasets.SourceJudgment(chunk.ID, chunk.DocID)},
			Evidence: []datasets.Evidence{{DocID: chunk.DocID, ChunkID: chunk.ID, Start: chunk.Start + from, End: chunk.Start + to, Quote: chunk.Text[from:to]}},
		})
	}
	return set
}

// TestRebaseQuickstartThereAndBack cuts the same documents in every way and back:
// all evidence is found, and the chunks that it is of are relevant again. Another
// chunk is so only when it holds some of the evidence.
func TestRebaseQuickstartThereAndBack(t *testing.T) {
	from := quickstartOver(t, corpus.Chunking{Method: "markdown", Size: 256, Overlap: 32, Unit: "tokens"})
	set := casesOf(t, from)
	for _, chunking := range chunkings {
		t.Run(fmt.Sprintf("%s %d %s", chunking.Method, chunking.Size, chunking.Unit), func(t *testing.T) {
			between := quickstartOver(t, chunking)
			there, report, err := datasets.Rebase(t.Context(), set, from, between, false)
			if err != nil {
				t.Fatal(err)
			}
			wantAllFound(t, report, len(set.Cases))
			moved := &datasets.Set{Cases: there.Cases, Manifest: there.Manifest}
			back, report, err := datasets.Rebase(t.Context(), moved, between, from, false)
			if err != nil {
				t.Fatal(err)
			}
			wantAllFound(t, report, len(set.Cases))
			for i := range set.Cases {
				wantLabelsAgain(t, &set.Cases[i], &back.Cases[i], from)
			}
		})
	}
}

func wantAllFound(t *testing.T, r *datasets.RebaseReport, cases int) {
	t.Helper()
	if r.Spans != (datasets.RebaseSpans{Exact: cases}) || r.Kept != cases || r.Retired != 0 {
		t.Errorf("%d cases: kept %d, retired %d, spans %+v", cases, r.Kept, r.Retired, r.Spans)
	}
}

func wantLabelsAgain(t *testing.T, old, now *datasets.Case, s *corpus.Snapshot) {
	t.Helper()
	e := old.Evidence[0]
	if n := now.Evidence[0]; n.DocID != e.DocID || n.Start != e.Start || n.End != e.End || n.Quote != e.Quote {
		t.Errorf("evidence %+v became %+v", e, n)
	}
	if want := datasets.SourceJudgment(e.ChunkID, e.DocID); !slices.ContainsFunc(now.Judgments, func(j datasets.Judgment) bool {
		return j.ChunkID == want.ChunkID && j.By == want.By && *j.Grade == *want.Grade && j.Label == want.Label && !j.Carried()
	}) {
		t.Errorf("chunk %s is not the source again: %v", e.ChunkID, said(*now))
	}
	var ids []string
	for _, j := range now.Judgments {
		ids = append(ids, j.ChunkID)
	}
	chunks, err := s.ChunksByID(ids)
	if err != nil {
		t.Fatal(err)
	}
	for id, c := range chunks {
		if c.DocID != e.DocID || c.End <= e.Start || e.End <= c.Start {
			t.Errorf("chunk %s has a label and holds nothing of %+v", id, e)
		}
	}
}
