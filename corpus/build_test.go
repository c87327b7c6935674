package corpus_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
)

// writeFiles makes a folder of files from their contents by slash path.
func writeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func build(t testing.TB, src corpus.Source, c corpus.Chunking) *corpus.Snapshot {
	t.Helper()
	s, changed, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: src, Chunking: c}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if !changed {
		t.Fatal("a new snapshot says that nothing changed")
	}
	return s
}

func TestBuildAndRead(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"ops/a.md":   "---\ntitle: Alpha\nteam: core\nscope: {tenant: [x]}\nvalid_from: 2026-01-01\n---\n# Alpha\n\nThe pump starts when the red switch is on and the valve is open.\n",
		"ops/b.txt":  "The pump starts when the red switch  is on and the valve is open.",
		"c.html":     "<html><head><title>Page</title></head><body><nav>menu</nav><h1>H</h1><p>Text of the page about cooling water and its pressure.</p></body></html>",
		".git/x.md":  "hidden",
		"image.jpeg": "\xff\xd8",
	})
	s := build(t, corpus.Source{Documents: dir}, corpus.Chunking{})
	docs, chunks, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID+"|"+d.Category+"|"+d.Title+"|"+d.Language)
	}
	if diff := cmp.Diff([]string{"c.html||Page|en", "ops/a.md|ops|Alpha|en", "ops/b.txt|ops||en"}, ids); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(corpus.Scope{"tenant": {"x"}}, chunks[1].Scope); diff != "" {
		t.Error(diff)
	}
	problems, err := s.Verify(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("verify: %v %v", problems, err)
	}
	i := 0
	for info, err := range s.ChunkInfos() {
		if err != nil {
			t.Fatal(err)
		}
		c := chunks[i]
		want := corpus.ChunkInfo{Row: int64(i), ChunkID: c.ID, DocID: c.DocID, Category: c.Category, Language: c.Language, Source: c.DocID,
			Tokens: c.Tokens, Flags: c.Flags, ExactGroup: c.ExactGroup, NearGroup: c.NearGroup, TextDigest: c.TextDigest}
		if diff := cmp.Diff(want, info); diff != "" {
			t.Error(diff)
		}
		i++
	}
	if i != len(chunks) {
		t.Errorf("%d infos of %d chunks", i, len(chunks))
	}
}
