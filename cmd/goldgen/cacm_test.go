package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// cacmFolder is an absolute path: the test works in a folder of its own.
func cacmFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../../shared/data/cacm")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// cacmIssue is the line of the issue, where a page's title and abstract end and
// dates, codes and citations begin.
var cacmIssue = regexp.MustCompile(`(?m)^ *(CACM +\w+ *,? *\d{4}|CA\d{6} )`)

// goldgen runs one command line and returns its stdout; it wants that exit code.
func goldgen(t *testing.T, code int, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{
		stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
		getenv: func(string) string { return "" }, now: time.Now,
	}
	if got := run(t.Context(), args, a); got != code {
		t.Fatalf("goldgen %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, stderr.String())
	}
	return stdout.Bytes()
}

// cacmDocuments writes the collection's pages as documents.
func cacmDocuments(t *testing.T, from, to string) int {
	f, err := os.Open(filepath.Join(from, "cacm.tar.gz"))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("the collection is not here (it belongs in %s): %v", from, err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	n := 0
	for files, enc := tar.NewReader(zipped), json.NewEncoder(&out); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := bytes.Cut(page, []byte("<pre>"))
		end := cacmIssue.FindIndex(text)
		if end == nil {
			continue
		}
		n++
		id := strings.TrimSuffix(filepath.Base(header.Name), ".html")
		if err := enc.Encode(map[string]string{"id": id, "text": string(text[:end[0]])}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(to, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestBM25OnImportedCACM goes the way of a user with a public collection:
// snapshot, import, eval.
func TestBM25OnImportedCACM(t *testing.T) {
	collection := cacmFolder(t)
	t.Chdir(t.TempDir())
	if n := cacmDocuments(t, collection, "documents.jsonl"); n != 3204 {
		t.Fatalf("%d documents, want 3204", n)
	}
	config := "version: 1\nname: cacm\ncorpus: {source: documents.jsonl}\nchunking: {method: document}\n"
	if err := os.WriteFile("goldgen.yaml", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	goldgen(t, exitDone, "snapshot", "-q")
	// Some judgments name documents in a form that the collection does not have.
	goldgen(t, exitPartly, "datasets", "import", "--format", "trec",
		"--queries", filepath.Join(collection, "topics.cacm.txt"), "--qrels", filepath.Join(collection, "qrels.cacm.txt"))
	var result struct {
		Trust       string
		Conventions struct{ Pins map[string]int }
		Metrics     map[string]struct {
			Mean float64
			N    int
		}
	}
	if err := json.Unmarshal(goldgen(t, exitDone, "eval", "--retriever", "bm25", "-m", "map,P_30", "--json"), &result); err != nil {
		t.Fatal(err)
	}
	// Anserini's regression has MAP .3123 and P@30 .1942.
	if m := result.Metrics["map"]; m.N != 52 || m.Mean < 0.30 || m.Mean > 0.33 {
		t.Errorf("map %.4f over %d queries, want .30 to .33 over 52", m.Mean, m.N)
	}
	if p := result.Metrics["P_30"]; p.Mean < 0.18 || p.Mean > 0.21 {
		t.Errorf("P_30 %.4f, want .18 to .21", p.Mean)
	}
	if depth := result.Conventions.Pins["depth"]; depth != 1000 {
		t.Errorf("map over %d hits a query, want 1000", depth)
	}
	if result.Trust != "reviewed" {
		t.Errorf("trust %s, want reviewed", result.Trust)
	}
}
