package pipeline_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/goldgen/goldgen/internal/parquetfile"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/retrieve"
)

type qrelRow struct {
	QueryID string `parquet:"query_id,dict"`
	ChunkID string `parquet:"chunk_id"`
	Grade   int32  `parquet:"grade"`
}

// millionRows writes a run of 100,000 queries with 10 results each, and qrels
// with three judgments a query.
func millionRows(tb testing.TB, dir string) (qrels, run string) {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 1))
	const queries = 100_000
	names := make([]string, queries)
	results := make([]retrieve.Result, queries)
	var judged []qrelRow
	for q := range queries {
		names[q] = fmt.Sprintf("q%06d", q)
		for rank := range 10 {
			id := fmt.Sprintf("doc-%07d#%d", random.IntN(3_000_000), rank)
			results[q].Hits = append(results[q].Hits, retrieve.Hit{ChunkID: id, Score: float64(10 - rank)})
			if random.IntN(4) == 0 {
				judged = append(judged, qrelRow{names[q], id, int32(random.IntN(4))})
			}
		}
		judged = append(judged, qrelRow{names[q], fmt.Sprintf("doc-%07d#x", q), 3})
	}
	ranked, err := retrieve.NewRun("bench", names, results)
	if err != nil {
		tb.Fatal(err)
	}
	var runBytes, qrelBytes bytes.Buffer
	if err := retrieve.WriteParquet(&runBytes, ranked); err != nil {
		tb.Fatal(err)
	}
	if err := parquetfile.Write(&qrelBytes, judged); err != nil {
		tb.Fatal(err)
	}
	qrels, run = filepath.Join(dir, "qrels.parquet"), filepath.Join(dir, "run.parquet")
	for path, data := range map[string][]byte{qrels: qrelBytes.Bytes(), run: runBytes.Bytes()} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return qrels, run
}

// BenchmarkEvalFiles reads 1,000,000 result rows and their qrels from Parquet
// and computes ten measures. GOLDGEN_BENCH_DIR keeps the files, to time the
// command on them.
func BenchmarkEvalFiles(b *testing.B) {
	dir := os.Getenv("GOLDGEN_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	qrels, run := millionRows(b, dir)
	runtime.GC()
	for b.Loop() {
		_, err := pipeline.EvalFiles(pipeline.FilesOptions{
			Qrels: qrels, Run: run, K: []int{10}, Now: time.Now,
			Measures: "ndcg@10,ndcg@5,recall@10,recall@5,recall@1,precision@10,map@10,mrr@10,success@10,judged@10",
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
