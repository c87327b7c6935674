package datasets_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/goldgen/goldgen/datasets"
)

// large is a draft of n cases with 30 judgments each, 20 draws for every one.
func large(n int) datasets.Draft {
	d := draft("q")
	one := d.Cases[0]
	d.Cases = nil
	for i := range n {
		c := one
		c.ID, c.Query = fmt.Sprintf("%016x", i), fmt.Sprint("query number ", i)
		c.Judgments = one.Judgments[:1:1]
		for j := range 30 {
			p := float64((i+j)%10) / 10
			draws := make([]float64, 20)
			for k := range draws {
				draws[k] = p
			}
			c.Judgments = append(c.Judgments, datasets.Judgment{
				ChunkID: fmt.Sprint("doc-", i, "#", j), DocID: fmt.Sprint("doc-", i), By: datasets.ByLabelModel,
				P: &p, PDraws: draws, Features: map[string]float64{"cosine": p, "rank_bm25": float64(j)}, Inclusion: 1,
			})
		}
		d.Cases = append(d.Cases, c)
	}
	return d
}

func BenchmarkWrite(b *testing.B) {
	d := large(1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := testStore(b.TempDir()).Write(context.Background(), "set", d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	s := testStore(b.TempDir())
	if _, _, err := s.Write(context.Background(), "set", large(1000)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Load("set"); err != nil {
			b.Fatal(err)
		}
	}
}
