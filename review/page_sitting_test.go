package review_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/browsertest"
	"github.com/goldgen/goldgen/review"
)

// What is done on the page is in the journal, and a new server's page goes on
// there.
func TestPageOverAJournal(t *testing.T) {
	work := func(o *review.Setting) {
		o.Work.Check = gate
		o.Work.Search = func(context.Context, *datasets.Case, string, int) ([]string, error) { return []string{"d7", "d0"}, nil }
	}
	dir, ctx := t.TempDir(), browsertest.Start(t)
	open := func() (person, *review.Sitting, func()) {
		s := seat(t, dir, threeCases(), fivePairs, work)
		base, token, stop := serveUntil(t, s)
		looks[0].See(t, ctx, base+"/?token="+token)
		return person{t, ctx}, s, stop
	}

	p, s, stop := open()
	p.at(1)
	p.press("3")
	p.at(2)
	p.says("#last", "Saved: pair 1, grade 3 (perfect). The label model: relevant with p = 0.50.")
	p.press("s")
	p.at(3)
	p.press("0")
	p.at(4)
	p.press("u")
	p.at(3)
	p.press("/")
	p.opened("search")
	p.press("number", enter)
	p.until(`document.querySelectorAll("#found-list label").length === 2`)
	p.press(enter)
	p.closed()
	p.at(6)
	p.press("r")
	p.opened("reject")
	p.press("asked by nobody", enter)
	p.closed()
	p.at(5)
	stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	p, s, _ = open()
	p.at(5)
	p.says("#progress-text", "4 of 6 labelled, 1 skipped")
	items := map[int]string{}
	for n := range 6 {
		item, err := s.Item(n)
		if err != nil {
			t.Fatal(err)
		}
		items[n] = item.ChunkID + " " + item.Status
		if item.Label != nil && item.Label.Grade != nil {
			items[n] += " " + item.Label.Label
		}
	}
	want := map[int]string{0: "d0 active relevant", 1: "d1 active", 2: "d2 retired", 3: "d3 retired", 4: "d4 active", 5: "d7 retired relevant"}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}
