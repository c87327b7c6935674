package sample_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/sample"
)

// generated draws a corpus with flags and a configuration.
type generated struct {
	infos []sample.Info
	o     sample.Options
}

func drawGenerated(t *rapid.T) generated {
	var g generated
	documents := rapid.IntRange(1, 40).Draw(t, "documents")
	for d := range documents {
		category := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "category")
		doc := document(fmt.Sprintf("%s/%d.md", category, d), category, rapid.IntRange(1, 12).Draw(t, "chunks"))
		for i := range doc {
			if rapid.IntRange(0, 9).Draw(t, "flag") == 0 {
				doc[i].Flags = []string{rapid.SampledFrom([]string{corpus.FlagDuplicate, corpus.FlagEmpty}).Draw(t, "kind")}
			}
		}
		g.infos = append(g.infos, doc...)
	}
	g.o = sample.Defaults()
	g.o.Cases = rapid.IntRange(1, 150).Draw(t, "cases")
	g.o.Seed = rapid.Int64().Draw(t, "seed")
	g.o.MaxPerDocument = rapid.IntRange(0, 5).Draw(t, "cap")
	g.o.Allocation = rapid.SampledFrom([]string{sample.Proportional, sample.Equal, sample.Sqrt}).Draw(t, "allocation")
	g.o.Strata = rapid.SampledFrom([][]string{{"category"}, {"length"}, {"document"}, {"category", "length"}, nil}).Draw(t, "strata")
	return g
}

// most is how many rows the corpus can give at all.
func (g generated) most() int {
	byDoc := map[string]int{}
	for _, info := range g.infos {
		if len(info.Flags) == 0 {
			byDoc[info.DocID] += len(g.o.Mix)
		}
	}
	most := 0
	for _, n := range byDoc {
		if g.o.MaxPerDocument > 0 {
			n = min(n, g.o.MaxPerDocument)
		}
		most += n
	}
	return most
}

func TestPlansKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGenerated(t)
		p, err := sample.Draw(context.Background(), input(g.infos), g.o)
		if g.most() == 0 {
			if !errors.Is(err, sample.ErrNoChunks) {
				t.Fatalf("error %v, want ErrNoChunks", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		checkCounts(t, g, p)
		checkRows(t, g, p)
		checkOrder(t, p)
		again, err := sample.Draw(context.Background(), input(g.infos), g.o)
		if diff := cmp.Diff(p, again); err != nil || diff != "" {
			t.Fatalf("drawn again: %v\n%s", err, diff)
		}
	})
}

func checkCounts(t *rapid.T, g generated, p *sample.Plan) {
	if want := min(g.o.Cases, g.most()); p.Main() != want {
		t.Fatalf("%d main rows, want %d", p.Main(), want)
	}
	if (len(p.Shortfall) == 0) != (p.Main() == g.o.Cases) {
		t.Fatalf("%d of %d rows, shortfall %v", p.Main(), g.o.Cases, p.Shortfall)
	}
	missing := 0
	for _, s := range p.Shortfall {
		missing += s.Wanted - s.Got
	}
	if missing < g.o.Cases-p.Main() {
		t.Fatalf("the shortfalls sum to %d, %d rows are missing", missing, g.o.Cases-p.Main())
	}
	// Without repeats the mix is exact.
	if len(countBy(mainRows(p), func(r sample.Row) string { return r.ChunkIDs[0] })) == p.Main() {
		if diff := cmp.Diff(p.Coverage.MixWanted, p.Coverage.Mix); diff != "" {
			t.Fatalf("mix (-want +got):\n%s", diff)
		}
		for kind, share := range g.o.Mix {
			if math.Abs(float64(p.Coverage.MixWanted[kind])-share*float64(p.Main())) > 1 {
				t.Fatalf("mix wanted %v of %d", p.Coverage.MixWanted, p.Main())
			}
		}
	}
	if g.o.Allocation != sample.Proportional {
		return
	}
	for _, s := range p.Coverage.Strata {
		exact := float64(g.o.Cases) * float64(s.Eligible) / float64(p.Coverage.Eligible)
		if math.Abs(float64(s.Wanted)-exact) >= 1 {
			t.Fatalf("stratum %s wants %d, its share is %v", s.Name, s.Wanted, exact)
		}
		if s.Why == "" && s.Planned < s.Wanted {
			t.Fatalf("stratum %s has %d of %d and no reason", s.Name, s.Planned, s.Wanted)
		}
	}
}

func checkRows(t *rapid.T, g generated, p *sample.Plan) {
	known := map[string]sample.Info{}
	for _, info := range g.infos {
		known[info.ChunkID] = info
	}
	for _, r := range p.Rows {
		info := known[r.ChunkIDs[0]]
		if len(info.Flags) > 0 || info.DocID != r.DocIDs[0] {
			t.Fatalf("row %+v asks about %+v", r, info)
		}
	}
	for key, n := range countBy(p.Rows, byUse) {
		if n > 1 {
			t.Fatalf("%s is planned %d times", key, n)
		}
	}
	if ids := countBy(p.Rows, byID); len(ids) != len(p.Rows) {
		t.Fatalf("%d case ids for %d rows", len(ids), len(p.Rows))
	}
	for doc, n := range countBy(p.Rows, byDoc) {
		if g.o.MaxPerDocument > 0 && n > g.o.MaxPerDocument {
			t.Fatalf("document %s has %d rows", doc, n)
		}
	}
}

// checkOrder: main rows, then reserves, each stratum by stratum, a chunk's main
// rows back to back.
func checkOrder(t *rapid.T, p *sample.Plan) {
	for i, r := range p.Rows {
		if r.Reserve != (i >= p.Main()) {
			t.Fatalf("row %d: reserve %v with %d main rows", i, r.Reserve, p.Main())
		}
	}
	for _, part := range [][]sample.Row{mainRows(p), p.Rows[p.Main():]} {
		if !slices.IsSortedFunc(part, func(a, b sample.Row) int { return strings.Compare(a.Stratum, b.Stratum) }) {
			t.Fatal("strata are not in order")
		}
	}
	last := map[string]int{}
	for i, r := range mainRows(p) {
		if at, ok := last[r.ChunkIDs[0]]; ok && at != i-1 {
			t.Fatalf("chunk %s has rows %d and %d", r.ChunkIDs[0], at, i)
		}
		last[r.ChunkIDs[0]] = i
	}
}
