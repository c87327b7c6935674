package corpus_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
)

// checkCover reports letters and digits that no chunk has, and chunks that are
// out of order.
func checkCover(t *testing.T, text string, chunks []corpus.Chunk) {
	t.Helper()
	covered := 0
	for i, c := range chunks {
		if i > 0 && (c.Start <= chunks[i-1].Start || c.End <= chunks[i-1].End) {
			t.Errorf("chunk %d [%d,%d) does not go beyond the one before it", i, c.Start, c.End)
		}
		if lost := text[min(covered, c.Start):c.Start]; strings.ContainsFunc(lost, says) {
			t.Errorf("lost before chunk %d: %q", i, lost)
		}
		covered = max(covered, c.End)
	}
	if lost := text[covered:]; strings.ContainsFunc(lost, says) {
		t.Errorf("lost at the end: %q", lost)
	}
}

func says(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func codeSources() map[string]string {
	return map[string]string{"shop/a.go": goSource, "shop/a.py": pythonSource, "shop/a.ts": typescriptSource, "shop/A.java": javaSource}
}

// TestCodeLosesNothing reads the same sources as editors of other systems
// write them.
func TestCodeLosesNothing(t *testing.T) {
	crlf := strings.NewReplacer("\n", "\r\n").Replace
	chunker := codeChunker(t)
	for id, text := range codeSources() {
		plain := cutCode(t, chunker, id, text)
		checkCover(t, text, plain)
		for name, other := range map[string]string{"crlf": crlf(text), "bom": "\ufeff" + text, "blanks": text + "\n\t\n  \n"} {
			chunks := cutCode(t, chunker, id, other)
			checkCover(t, other, chunks)
			if name == "bom" {
				continue // it stands with the first chunk
			}
			if diff := cmp.Diff(cutsOf(plain), cutsOf(chunks)); diff != "" {
				t.Errorf("%s, %s: %s", id, name, diff)
			}
		}
	}
}

// TestHostileCode reads what nobody wrote by hand. It takes some seconds: the
// texts are megabytes.
func TestHostileCode(t *testing.T) {
	if testing.Short() {
		t.Skip("reads megabytes of code")
	}
	chunker := codeChunker(t)
	const deep = 20_000
	nested := func(open, inner, shut string) string {
		return strings.Repeat(open, deep) + inner + strings.Repeat(shut, deep)
	}
	for name, c := range map[string]struct {
		id, text string
		symbols  int // -1: it need not parse
	}{
		"go, one line":       {"a.go", "package a; " + strings.Repeat("func f() { x(1, 2, 3) }; ", 200_000), 200_000},
		"python, one line":   {"a.py", "x = [" + strings.Repeat("1, ", 1_700_000) + "]\n", -1},
		"typescript, a line": {"a.ts", strings.Repeat("function f() { x(1, 2, 3); } ", 20_000), 20_000},
		"java, one line":     {"A.java", "class A { " + strings.Repeat("void f() { x(1, 2, 3); } ", 20_000) + "}", 20_001},
		"java, deep types":   {"A.java", nested("class A { ", "int x;", "}"), 16},
		"go, deep":           {"a.go", "package a\nvar x = " + nested("(", "1", ")"), -1},
		"python, deep":       {"a.py", "x = " + nested("(", "1", ")"), -1},
		"typescript, deep":   {"a.ts", "x = " + nested("[", "1", "]"), -1},
		"java, unclosed":     {"A.java", strings.Repeat("class A { void f() { if (x) { ", 10_000), -1},
		"python, open text":  {"a.py", strings.Repeat("'''", 3) + strings.Repeat("x", 1<<20), -1},
	} {
		t.Run(name, func(t *testing.T) {
			chunks, err := chunker.Chunks(t.Context(), corpus.Document{ID: c.id, Text: c.text})
			if err != nil && c.symbols >= 0 {
				t.Fatal(err)
			}
			checkCover(t, c.text[:len(c.text)*min(1, len(chunks))], chunks)
			n := 0
			for _, chunk := range chunks {
				if chunk.Unit == corpus.UnitCodeSymbol {
					n++
				}
			}
			if c.symbols >= 0 && n != c.symbols {
				t.Errorf("%d symbols, want %d", n, c.symbols)
			}
		})
	}
}

// TestSnapshotNamesCodeThatDoesNotParse holds that a bad file stops nothing and
// is not half read.
func TestSnapshotNamesCodeThatDoesNotParse(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"shop/a.go": goSource, "shop/bad.go": "package shop\n\nfunc Good() {}\n\nfunc bad( {\n",
		"shop/README.md": "not asked for", "node_modules/x.ts": "let theirs = 1", "vendor/v.go": "package v",
	})
	s, _, err := corpus.Build(t.Context(), corpus.BuildOptions{
		Source: corpus.Source{Documents: dir}, Chunking: corpus.Chunking{Method: "code"},
	}, filepath.Join(t.TempDir(), "snapshots"))
	if err != nil {
		t.Fatal(err)
	}
	m := s.Manifest()
	if diff := cmp.Diff([]string{"shop/bad.go:5:11: does not parse as Go"}, m.Unparsed); diff != "" || m.Documents != 1 || m.Chunks != 8 {
		t.Errorf("%d documents, %d chunks, %s", m.Documents, m.Chunks, diff)
	}
	for chunk, err := range s.Chunks() {
		if err != nil || chunk.Language != "en" {
			t.Errorf("chunk %s: language %q, error %v", chunk.ID, chunk.Language, err)
		}
	}
}
