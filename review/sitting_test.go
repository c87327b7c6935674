package review_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/review"
)

func threeCases() *datasets.Set {
	return goldenSet(
		[]datasets.Judgment{modelled("d0", .5), modelled("d1", .9)},
		[]datasets.Judgment{modelled("d2", .1), graded("d3", 2, nil)},
		[]datasets.Judgment{datasets.SourceJudgment("d4", "d4")},
	)
}

var fivePairs = sampleOf("c0 d0", "c0 d1", "c1 d2", "c1 d3", "c2 d4")

func problem(t *testing.T, err error, status int) {
	t.Helper()
	var p *review.Problem
	if !errors.As(err, &p) || p.Status != status || p.Text == "" {
		t.Errorf("error %v, want a problem with status %d", err, status)
	}
}

func TestASittingGoesOnWhereItStopped(t *testing.T) {
	dir := t.TempDir()
	s := seat(t, dir, threeCases(), fivePairs, nil)
	gradeAll(t, s, 3, 0)
	if _, err := s.Label(t.Context(), 2, review.Said{Skip: true}); err != nil {
		t.Fatal(err)
	}
	before := s.Session()
	if before.Labelled != 2 || before.Skipped != 1 || before.Next != 3 || before.Total != 5 {
		t.Errorf("before: %+v", before)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := seat(t, dir, threeCases(), fivePairs, nil)
	if diff := cmp.Diff(before, again.Session()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	item, err := again.Item(1)
	if err != nil {
		t.Fatal(err)
	}
	if item.Label == nil || *item.Label.Grade != 0 || item.Label.Label != datasets.LabelIrrelevant {
		t.Errorf("item 1: %+v", item.Label)
	}
}

func TestTheMachineIsHiddenUntilThePersonHasSpoken(t *testing.T) {
	for name, test := range map[string]struct {
		n    int
		want *review.Revealed
	}{
		"a probability": {1, &review.Revealed{P: pointer(.9), By: datasets.ByLabelModel}},
		"a grade":       {3, &review.Revealed{Grade: pointer(2), By: datasets.ByLLM}},
		"the source":    {4, &review.Revealed{Grade: pointer(3), By: datasets.BySynthetic}},
	} {
		t.Run(name, func(t *testing.T) {
			s := seat(t, t.TempDir(), threeCases(), fivePairs, nil)
			before, err := s.Item(test.n)
			if err != nil {
				t.Fatal(err)
			}
			skipped, err := s.Label(t.Context(), test.n, review.Said{Skip: true})
			if err != nil {
				t.Fatal(err)
			}
			if before.Revealed != nil || skipped.Item.Revealed != nil {
				t.Errorf("shown before the label: %+v, %+v", before.Revealed, skipped.Item.Revealed)
			}
			after, err := s.Label(t.Context(), test.n, review.Said{Grade: pointer(1)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, after.Item.Revealed); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			open := seat(t, t.TempDir(), threeCases(), fivePairs, func(o *review.Setting) { o.Blind = false })
			if item, err := open.Item(test.n); err != nil || !cmp.Equal(test.want, item.Revealed) {
				t.Errorf("not blind: %+v, %v", item.Revealed, err)
			}
		})
	}
}

func TestWhatCanBeSaidOfAPair(t *testing.T) {
	for name, test := range map[string]struct {
		said   review.Said
		want   review.Given
		status int // of the refusal
	}{
		"grade 0":            {said: review.Said{Grade: pointer(0)}, want: review.Given{Grade: pointer(0), Label: "irrelevant"}},
		"grade 1":            {said: review.Said{Grade: pointer(1)}, want: review.Given{Grade: pointer(1), Label: "partial"}},
		"grade 3":            {said: review.Said{Grade: pointer(3), Label: "relevant"}, want: review.Given{Grade: pointer(3), Label: "relevant"}},
		"stale":              {said: review.Said{Label: "stale"}, want: review.Given{Grade: pointer(0), Label: "stale"}},
		"out of scope":       {said: review.Said{Label: "out_of_scope", Grade: pointer(0)}, want: review.Given{Grade: pointer(0), Label: "out_of_scope"}},
		"skip":               {said: review.Said{Skip: true}, want: review.Given{Skip: true}},
		"nothing":            {status: http.StatusBadRequest},
		"grade 4":            {said: review.Said{Grade: pointer(4)}, status: http.StatusBadRequest},
		"grade -1":           {said: review.Said{Grade: pointer(-1)}, status: http.StatusBadRequest},
		"stale and relevant": {said: review.Said{Grade: pointer(3), Label: "stale"}, status: http.StatusBadRequest},
		"label without":      {said: review.Said{Label: "relevant"}, status: http.StatusBadRequest},
		"another label":      {said: review.Said{Grade: pointer(3), Label: "irrelevant"}, status: http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			s := seat(t, t.TempDir(), threeCases(), fivePairs, nil)
			got, err := s.Label(t.Context(), 0, test.said)
			if test.status != 0 {
				problem(t, err, test.status)
				if s.Session().Labelled != 0 {
					t.Error("it was kept all the same")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got.Item.Label, cmpopts.IgnoreFields(review.Given{}, "At")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestASkipKeepsALabel(t *testing.T) {
	s := seat(t, t.TempDir(), threeCases(), fivePairs, nil)
	gradeAll(t, s, 3)
	got, err := s.Label(t.Context(), 0, review.Said{Skip: true})
	if err != nil {
		t.Fatal(err)
	}
	if got.Item.Label.Skip || *got.Item.Label.Grade != 3 || got.Next != 1 {
		t.Errorf("label %+v, next %d", got.Item.Label, got.Next)
	}
}

func TestUndoTakesBackOneThingAfterTheOther(t *testing.T) {
	s := seat(t, t.TempDir(), threeCases(), fivePairs, nil)
	gradeAll(t, s, 3, 2)
	if _, err := s.Label(t.Context(), 0, review.Said{Grade: pointer(1)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reject(t.Context(), "c1", "nonsense"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		u, err := s.Undo(t.Context())
		if err != nil {
			problem(t, err, http.StatusConflict)
			break
		}
		label := "none"
		if u.Item.Label != nil {
			label = u.Item.Label.Label
		}
		got = append(got, u.Item.CaseID+" "+u.Item.ChunkID+" "+u.Item.Status+" "+label)
	}
	want := []string{"c1 d2 active none", "c0 d0 active relevant", "c0 d1 active none", "c0 d0 active none"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := s.Session(); n.Labelled != 0 || n.Next != 0 {
		t.Errorf("after all: %+v", n)
	}
}

func TestARejectedCaseIsDoneWith(t *testing.T) {
	s := seat(t, t.TempDir(), threeCases(), fivePairs, nil)
	got, err := s.Reject(t.Context(), "c0", "  nobody asks this ")
	if err != nil {
		t.Fatal(err)
	}
	if got.Item.Status != datasets.Retired || got.Next != 2 || got.Session.Labelled != 2 {
		t.Errorf("status %s, next %d, %d labelled", got.Item.Status, got.Next, got.Session.Labelled)
	}
	_, err = s.Label(t.Context(), 0, review.Said{Grade: pointer(3)})
	problem(t, err, http.StatusConflict)
	_, err = s.Reject(t.Context(), "c0", "again")
	problem(t, err, http.StatusConflict)
	_, err = s.Reject(t.Context(), "c1", "   ")
	problem(t, err, http.StatusBadRequest)
	_, err = s.Reject(t.Context(), "c9", "why")
	problem(t, err, http.StatusNotFound)
}

// gate refuses what holds the word no.
func gate(c *datasets.Case, wording string) ([]datasets.Check, bool) {
	passed := !strings.Contains(wording, "no")
	return []datasets.Check{{Name: "no_no", Passed: passed}}, passed
}

func TestAnotherWordingHasToPassItsGates(t *testing.T) {
	dir := t.TempDir()
	checked := func(o *review.Setting) { o.Work.Check = gate }
	s := seat(t, dir, threeCases(), fivePairs, checked)
	gradeAll(t, s, 3, 1)
	refused, err := s.Rewrite(t.Context(), "c0", "no way")
	if err != nil {
		t.Fatal(err)
	}
	if refused.Kept || refused.Item.Query != "question 0" || refused.Item.Label == nil {
		t.Errorf("refused: %+v", refused)
	}
	kept, err := s.Rewrite(t.Context(), "c0", " asked better ")
	if err != nil {
		t.Fatal(err)
	}
	if !kept.Kept || kept.Item.Query != "asked better" || kept.Item.Label != nil || kept.Item.N != 0 {
		t.Errorf("kept: %+v", kept)
	}
	if n := s.Session(); n.Labelled != 0 || n.Next != 0 {
		t.Errorf("labels for the old wording count: %+v", n)
	}
	after, err := s.Label(t.Context(), 0, review.Said{Grade: pointer(2)})
	if err != nil {
		t.Fatal(err)
	}
	if after.Item.Revealed != nil {
		t.Errorf("what the model said of the old wording is shown: %+v", after.Item.Revealed)
	}
	s.Close()
	s = seat(t, dir, threeCases(), fivePairs, checked)
	for range 2 { // the label, the wording
		if _, err := s.Undo(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	item, err := s.Item(0)
	if err != nil || item.Query != "question 0" || item.Label == nil || *item.Label.Grade != 3 {
		t.Errorf("undone: %+v, %v", item, err)
	}
	for _, wording := range []string{"", "  ", "question 0", "bad \xff", strings.Repeat("long ", 500)} {
		_, err := s.Rewrite(t.Context(), "c0", wording)
		problem(t, err, http.StatusBadRequest)
	}
	_, err = seat(t, t.TempDir(), threeCases(), fivePairs, nil).Rewrite(t.Context(), "c0", "asked better")
	problem(t, err, http.StatusNotImplemented)
}

func TestAPassageThatThePersonFoundStandsBehindTheSample(t *testing.T) {
	dir := t.TempDir()
	found := func(o *review.Setting) {
		o.Work.Search = func(_ context.Context, c *datasets.Case, query string, k int) ([]string, error) {
			return []string{"d7", "d0", "gone"}, nil
		}
	}
	s := seat(t, dir, threeCases(), fivePairs, found)
	list, err := s.Search(t.Context(), "c0", "number")
	if err != nil {
		t.Fatal(err)
	}
	want := []review.Found{
		{DocID: "d7", ChunkID: "d7", Title: "Title of d7", Text: "Text number 7 of the shelf."},
		{DocID: "d0", ChunkID: "d0", Title: "Title of d0", Text: "Text number 0 of the shelf.", InPool: true},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	added, err := s.Add(t.Context(), "c0", review.Added{ChunkID: "d7", Grade: pointer(3)})
	if err != nil {
		t.Fatal(err)
	}
	if added.Item.N != 5 || *added.Item.Label.Grade != 3 || added.Session.Total != 6 || added.Session.Labelled != 1 {
		t.Errorf("added: %+v", added)
	}
	if again, err := s.Add(t.Context(), "c0", review.Added{ChunkID: "d0", Grade: pointer(2)}); err != nil || again.Item.N != 0 || again.Session.Total != 6 {
		t.Errorf("one of the sample: %+v, %v", again, err)
	}
	s.Close()
	again := seat(t, dir, threeCases(), fivePairs, found)
	if item, err := again.Item(5); err != nil || item.ChunkID != "d7" || *item.Label.Grade != 3 {
		t.Errorf("after a restart: %+v, %v", item, err)
	}
	if n := again.Session(); n.Total != 6 || n.Labelled != 2 {
		t.Errorf("after a restart: %+v", n)
	}
	_, err = again.Add(t.Context(), "c0", review.Added{ChunkID: "gone", Grade: pointer(3)})
	problem(t, err, http.StatusNotFound)
	_, err = again.Add(t.Context(), "c0", review.Added{ChunkID: "d8"})
	problem(t, err, http.StatusBadRequest)
	if n := again.Session(); n.Total != 6 {
		t.Errorf("a refused passage became an item: %+v", n)
	}
}

// A document of 5 MB of two-byte characters is never sent whole, and no
// character is cut.
func TestAWindowOfAVeryLongDocument(t *testing.T) {
	long := strings.Repeat("é", 5<<19)
	middle := len(long) / 2
	books := bookshelf{
		chunk: corpus.Chunk{ID: "big#1", DocID: "big", Start: middle, End: middle + 1000},
		doc:   corpus.Document{ID: "big", Text: long},
	}
	set := goldenSet([]datasets.Judgment{modelled("big#1", .5)})
	set.Cases[0].Evidence = []datasets.Evidence{
		{DocID: "big", Start: middle + 20, End: middle + 40}, {DocID: "big", Start: 2, End: 4}, {DocID: "other", Start: 0, End: 4},
	}
	s := seat(t, t.TempDir(), set, sampleOf("c0 big#1"), func(o *review.Setting) { o.Corpus = &books })
	item, err := s.Item(0)
	if err != nil {
		t.Fatal(err)
	}
	end := item.TextStart + len(item.Text)
	if len(item.Text) > review.MaxWindow || !utf8.ValidString(item.Text) || item.Text != long[item.TextStart:end] ||
		item.TextStart > middle-1000 || end < middle+2000 || item.DocumentBytes != len(long) {
		t.Errorf("window [%d,%d) of %d", item.TextStart, end, item.DocumentBytes)
	}
	if diff := cmp.Diff([][2]int{{2, 4}, {middle + 20, middle + 40}}, item.Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
	for _, span := range [][2]int{{0, 100}, {1, 100}, {0, len(long)}, {len(long) - 3, len(long)}, {len(long) + 5, 0}, {-5, 7}} {
		text, err := s.Text(0, span[0], span[1])
		if err != nil || len(text.Text) > review.MaxWindow || !utf8.ValidString(text.Text) || text.Text != long[text.TextStart:text.TextStart+len(text.Text)] {
			t.Errorf("%v: [%d,+%d), %v", span, text.TextStart, len(text.Text), err)
		}
	}
	books.chunk.Start, books.chunk.End = 0, len(long)
	if item, err = s.Item(0); err != nil || item.TextStart != 0 || len(item.Text) > review.MaxWindow {
		t.Errorf("a chunk of the whole document: [%d,+%d), %v", item.TextStart, len(item.Text), err)
	}
}

type bookshelf struct {
	chunk corpus.Chunk
	doc   corpus.Document
}

func (b *bookshelf) Chunk(string) (*corpus.Chunk, bool)       { return &b.chunk, true }
func (b *bookshelf) Document(string) (*corpus.Document, bool) { return &b.doc, true }

func TestTheIntervalIsOfTheLabelsSoFar(t *testing.T) {
	var seen [][]string
	s := seat(t, t.TempDir(), threeCases(), fivePairs, func(o *review.Setting) {
		o.Work.Interval = func(_ context.Context, labelled []datasets.Case) (*review.Interval, error) {
			var ids []string
			for _, c := range labelled {
				ids = append(ids, c.ID)
			}
			seen = append(seen, ids)
			if len(labelled) == 2 {
				return nil, errors.New("it cannot be told")
			}
			return &review.Interval{What: "ndcg@10", Low: -.2, High: .2 - .1*float64(len(labelled)), Width: .4 - .1*float64(len(labelled))}, nil
		}
	})
	want := &review.Interval{What: "ndcg@10", Low: -.2, High: .1, WidthAtStart: .4, Width: .3}
	got, err := s.Label(t.Context(), 0, review.Said{Grade: pointer(3)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Session.Interval, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, err = s.Label(t.Context(), 2, review.Said{Grade: pointer(3)})
	if err != nil || got.Session.Interval != nil || got.Session.Labelled != 2 {
		t.Errorf("an interval that cannot be told: %+v, %v", got.Session, err)
	}
	if diff := cmp.Diff([][]string{nil, nil, {"c0"}, {"c0", "c1"}}, seen); diff != "" {
		t.Errorf("cases asked with (-want +got):\n%s", diff)
	}
}

func TestTenThousandItemsAreListedPieceByPiece(t *testing.T) {
	judgments := make([][]datasets.Judgment, 2500)
	for i := range judgments {
		judgments[i] = []datasets.Judgment{modelled("d0", .5), modelled("d1", .5), modelled("d2", .5), modelled("d3", .5)}
	}
	set := goldenSet(judgments...)
	set.Cases[0].Query = strings.Repeat("ö", 300)
	sample, err := review.Draw("random", review.Pool(set, everyChunk), nil, 20000, 7)
	if err != nil {
		t.Fatal(err)
	}
	s := seat(t, t.TempDir(), set, sample, nil)
	if _, err := s.Label(t.Context(), 9999, review.Said{Grade: pointer(2)}); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for from := 0; ; from += 1000 {
		list, err := s.Items(from, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		for _, row := range list {
			if row.N != seen || len(row.Query) > 120 || !utf8.ValidString(row.Query) || row.Labelled != (seen == 9999) {
				t.Fatalf("row %d: %+v", seen, row)
			}
			seen++
		}
	}
	if seen != 10000 {
		t.Errorf("%d items listed", seen)
	}
	_, err = s.Item(10000)
	problem(t, err, http.StatusNotFound)
}

func TestNothingIsSaidToBeKeptThatIsNot(t *testing.T) {
	dir := t.TempDir()
	s := seat(t, dir, threeCases(), fivePairs, nil)
	gradeAll(t, s, 3)
	if err := s.Close(); err != nil { // as a disk that is gone
		t.Fatal(err)
	}
	if _, err := s.Label(t.Context(), 1, review.Said{Grade: pointer(2)}); err == nil {
		t.Error("a label that could not be written was taken")
	}
	if n := s.Session(); n.Labelled != 1 {
		t.Errorf("it counts: %+v", n)
	}
	data, err := os.ReadFile(filepath.Join(dir, "kim.jsonl"))
	if err != nil || strings.Count(string(data), "\n") != 2 {
		t.Errorf("journal %q, %v", data, err)
	}
}

func TestFinishingNeedsSomethingSaid(t *testing.T) {
	finished := 0
	s := seat(t, t.TempDir(), threeCases(), fivePairs, func(o *review.Setting) {
		o.Work.Finish = func(context.Context) (review.Finished, error) {
			finished++
			return review.Finished{Labels: 1, Written: true}, nil
		}
	})
	_, err := s.Finish(t.Context())
	problem(t, err, http.StatusConflict)
	gradeAll(t, s, 3)
	if got, err := s.Finish(t.Context()); err != nil || got.Labels != 1 || finished != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Several pages of one person at once: every label is kept.
func TestLabelsFromSeveralPagesAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := seat(t, dir, threeCases(), fivePairs, func(o *review.Setting) { o.Now = time.Now })
	done := make(chan error)
	for n := range 5 {
		go func() {
			_, err := s.Label(context.Background(), n, review.Said{Grade: pointer(n % 4)})
			done <- err
		}()
	}
	for range 5 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	s.Close()
	if got := seat(t, dir, threeCases(), fivePairs, nil).Session(); got.Labelled != 5 || got.Next != -1 {
		t.Errorf("%+v", got)
	}
}
