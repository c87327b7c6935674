package sample_test

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/goldgen/goldgen/sample"
)

// synthetic gives n infos without holding them: perDoc chunks a document, 50
// categories.
func synthetic(n, perDoc int) iter.Seq2[sample.Info, error] {
	categories := make([]string, 50)
	for i := range categories {
		categories[i] = fmt.Sprintf("category-%02d", i)
	}
	const hex = "0123456789abcdef"
	return func(yield func(sample.Info, error) bool) {
		id := []byte("handbook/part-00000000/page.md#00000000")
		sum := make([]byte, 64)
		for row := range n {
			doc := row / perDoc
			for i, v := 21, doc; i > 13; i, v = i-1, v/10 {
				id[i] = byte('0' + v%10)
			}
			for i, v := 38, row%perDoc; i > 30; i, v = i-1, v/10 {
				id[i] = byte('0' + v%10)
			}
			for i, v := 0, uint64(row)*0x9e3779b97f4a7c15; i < len(sum); i, v = i+1, v*6364136223846793005+1442695040888963407 {
				sum[i] = hex[v>>60]
			}
			chunk := string(id)
			info := sample.Info{
				Row: row, ChunkID: chunk, DocID: chunk[:30], TextDigest: string(sum),
				Category: categories[doc%50], Language: "en", Tokens: 200,
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

// BenchmarkDraw draws 200 cases. The metric sys-MB is what the program has from
// the system after the draw.
func BenchmarkDraw(b *testing.B) {
	for _, c := range []struct {
		name      string
		n, perDoc int
		strata    []string
	}{
		{"1M/category", 1_000_000, 10, []string{"category"}},
		{"10M/category", 10_000_000, 10, []string{"category"}},
		{"10M/onestratum", 10_000_000, 10, nil},
		{"10M/twodocuments", 10_000_000, 5_000_000, nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			o := options(func(o *sample.Options) { o.Strata = c.strata })
			for b.Loop() {
				if _, err := sample.Draw(b.Context(), sample.Input{Infos: synthetic(c.n, c.perDoc)}, o); err != nil {
					b.Fatal(err)
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/1e6, "sys-MB")
		})
	}
}

// BenchmarkStream is what making the facts costs within BenchmarkDraw.
func BenchmarkStream(b *testing.B) {
	for b.Loop() {
		n := 0
		for range synthetic(10_000_000, 10) {
			n++
		}
	}
}

func BenchmarkTopics(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	vectors := make([][]float32, 2000)
	for i := range vectors {
		vectors[i] = make([]float32, 384)
		for j := range vectors[i] {
			vectors[i][j] = float32(random.NormFloat64() / math.Sqrt(384))
		}
	}
	for b.Loop() {
		sample.Topics(vectors, 20, 1)
	}
}
