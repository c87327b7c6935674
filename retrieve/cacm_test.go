package retrieve_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
)

const cacmDir = "../../shared/data/cacm"

// sharedFile opens a file of the shared test data, or skips the test where it
// is not there.
func sharedFile(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.FromSlash(path))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("shared test data is not there: %v", err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

var cacmDate = regexp.MustCompile(`(?m)^ *(CACM +\w+ *,? *\d{4}|CA\d{6} )`)

// cacm reads CACM's documents: title and abstract, up to the line of the issue.
func cacm(t testing.TB) []corpus.Chunk {
	zipped, err := gzip.NewReader(sharedFile(t, cacmDir+"/cacm.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var chunks []corpus.Chunk
	for files := tar.NewReader(zipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return chunks
		}
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := bytes.Cut(page, []byte("<pre>"))
		end := cacmDate.FindIndex(text)
		if end == nil {
			continue
		}
		id := strings.TrimSuffix(filepath.Base(header.Name), ".html")
		chunks = append(chunks, corpus.Chunk{ID: id, DocID: id, Text: string(text[:end[0]]), Unit: corpus.UnitDocument})
	}
}

var (
	topicDoc    = regexp.MustCompile(`(?s)<DOC>(.*?)</DOC>`)
	topicNumber = regexp.MustCompile(`(?s)<DOCNO>\s*(\S+)\s*</DOCNO>(.*)`)
)

func cacmTopics(t testing.TB) []retrieve.Query {
	data, err := io.ReadAll(sharedFile(t, cacmDir+"/topics.cacm.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var queries []retrieve.Query
	for _, doc := range topicDoc.FindAllSubmatch(data, -1) {
		parts := topicNumber.FindSubmatch(doc[1])
		queries = append(queries, retrieve.Query{ID: string(parts[1]), Text: string(parts[2]), K: 1000})
	}
	return queries
}

func cacmQrels(t testing.TB) map[string]map[string]bool {
	qrels := map[string]map[string]bool{}
	for lines := bufio.NewScanner(sharedFile(t, cacmDir+"/qrels.cacm.txt")); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if qrels[f[0]] == nil {
			qrels[f[0]] = map[string]bool{}
		}
		qrels[f[0]][f[2]] = f[3] != "0"
	}
	return qrels
}

func stream(chunks []corpus.Chunk) iter.Seq2[corpus.Chunk, error] {
	return func(yield func(corpus.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// meanAveragePrecision is over the judged topics.
func meanAveragePrecision(t testing.TB, r retrieve.Retriever, queries []retrieve.Query, qrels map[string]map[string]bool) float64 {
	sum := 0.0
	for _, q := range queries {
		relevant := qrels[q.ID]
		if len(relevant) == 0 {
			continue
		}
		result, err := r.Retrieve(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		found, precision := 0, 0.0
		for i, hit := range result.Hits {
			if relevant[hit.ChunkID] {
				found++
				precision += float64(found) / float64(i+1)
			}
		}
		sum += precision / float64(len(relevant))
	}
	return sum / float64(len(qrels))
}

func TestBM25OnCACM(t *testing.T) {
	r, err := retrieve.NewBM25(stream(cacm(t)), retrieve.DefaultBM25())
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != 3204 {
		t.Errorf("indexed %d documents, want 3204", r.Len())
	}
	// Anserini's regression has .3123 with the same parameters.
	if got := meanAveragePrecision(t, r, cacmTopics(t), cacmQrels(t)); got < 0.30 || got > 0.33 {
		t.Errorf("MAP %.4f, want .30 to .33", got)
	} else {
		t.Logf("MAP %.4f", got)
	}
}

func TestNGramOnCACM(t *testing.T) {
	r, err := retrieve.NewNGram(stream(cacm(t)), retrieve.DefaultNGram())
	if err != nil {
		t.Fatal(err)
	}
	if got := meanAveragePrecision(t, r, cacmTopics(t), cacmQrels(t)); got < 0.20 {
		t.Errorf("MAP %.4f, want at least .20", got)
	} else {
		t.Logf("MAP %.4f", got)
	}
}

func BenchmarkBM25Build(b *testing.B) {
	chunks := cacm(b)
	size := int64(0)
	for _, c := range chunks {
		size += int64(len(c.Text))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := retrieve.NewBM25(stream(chunks), retrieve.DefaultBM25()); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkQueries(b *testing.B, r retrieve.Retriever, queries []retrieve.Query) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := r.Retrieve(b.Context(), queries[i%len(queries)]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBM25Query(b *testing.B) {
	r, err := retrieve.NewBM25(stream(cacm(b)), retrieve.DefaultBM25())
	if err != nil {
		b.Fatal(err)
	}
	benchmarkQueries(b, r, cacmTopics(b))
}

func BenchmarkNGramQuery(b *testing.B) {
	r, err := retrieve.NewNGram(stream(cacm(b)), retrieve.DefaultNGram())
	if err != nil {
		b.Fatal(err)
	}
	benchmarkQueries(b, r, cacmTopics(b))
}
