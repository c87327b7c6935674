package sample_test

import (
	"testing"

	"github.com/goldgen/goldgen/sample"
)

func TestSeedChangesThePlan(t *testing.T) {
	infos := fiveThousand()
	seven := draw(t, infos, options(func(o *sample.Options) { o.Seed = 7 }))
	eight := draw(t, infos, options(func(o *sample.Options) { o.Seed = 8 }))
	chunk := func(r sample.Row) string { return r.ChunkIDs[0] }
	if n := shared(countBy(mainRows(seven), chunk), countBy(mainRows(eight), chunk)); n > 40 { // 8 expected
		t.Errorf("seeds 7 and 8 share %d of 200 chunks", n)
	}
}

func shared(a, b map[string]int) int {
	n := 0
	for key := range a {
		if b[key] > 0 {
			n++
		}
	}
	return n
}

func TestPlanStaysWhenTheCorpusChangesElsewhere(t *testing.T) {
	o := options(func(o *sample.Options) { o.Cases = 100 })
	before := countBy(mainRows(draw(t, fiveThousand(), o)), byID)
	tests := []struct {
		name   string
		change func([]sample.Info) []sample.Info
		least  int // cases that stay
	}{
		{"same corpus", func(i []sample.Info) []sample.Info { return i }, 100},
		{"a document in front", func(i []sample.Info) []sample.Info { return append(document("aa.md", "c3", 10), i...) }, 97},
		{"one percent removed", func(i []sample.Info) []sample.Info { return i[50:] }, 92},
		{"a paragraph before all others of its document", func(i []sample.Info) []sample.Info {
			return append([]sample.Info{{ChunkID: "x", DocID: i[0].DocID, Category: "c0", TextDigest: digest("new")}}, i...)
		}, 98},
		{"a new category", func(i []sample.Info) []sample.Info { return append(i, document("new.md", "new", 10)...) }, 96},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after := countBy(mainRows(draw(t, tt.change(fiveThousand()), o)), byID)
			if n := shared(before, after); n < tt.least {
				t.Errorf("%d of 100 cases stay, want at least %d", n, tt.least)
			}
		})
	}
}

func TestPlanGrowsWithN(t *testing.T) {
	infos := fiveThousand()
	small := draw(t, infos, options(func(o *sample.Options) { o.Cases = 100 }))
	large := draw(t, infos, options(func(o *sample.Options) { o.Cases = 150 }))
	chunk := func(r sample.Row) string { return r.ChunkIDs[0] }
	if n := shared(countBy(mainRows(small), chunk), countBy(mainRows(large), chunk)); n != 100 {
		t.Errorf("%d of 100 chunks are in the plan of 150", n)
	}
	// The mix is exact for both sizes, so that some chunks change their type.
	if n := shared(countBy(mainRows(small), byID), countBy(mainRows(large), byID)); n < 75 {
		t.Errorf("%d of 100 cases are in the plan of 150", n)
	}
}

func TestStylesAreSpread(t *testing.T) {
	o := options(func(o *sample.Options) { o.Styles = []string{"question", "command"} })
	got := countBy(mainRows(draw(t, fiveThousand(), o)), func(r sample.Row) string { return r.Style })
	if got["question"]+got["command"] != 200 || got["question"] < 70 || got["command"] < 70 {
		t.Errorf("styles %v, want about 100 of each", got)
	}
}
