package corpus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
)

// handbook is a corpus with repeated, near-equal, short and empty texts.
func handbook() map[string]string {
	const body = "The pump starts when the red switch is on, the valve of the main line is open and the pressure is above two bar for at least one minute."
	files := map[string]string{
		"a/one.md":   "# One\n\n" + body + "\n",
		"a/two.md":   "# One\n\n" + strings.ReplaceAll(body, " ", "  ") + "\n",
		"b/three.md": "# One\n\n" + strings.Replace(body, "one minute", "five minutes", 1) + "\n",
		"b/short.md": "Two words.\n",
		"b/empty.md": " \n",
		"c/nav.md":   "[Home page](/) [All the products](/p) [Contact our people](/c)\n",
	}
	for i := range 6 {
		files[fmt.Sprintf("d/%d.md", i)] = fmt.Sprintf("# Part %d\n\nThis part number %d says something of its own about topic %d here.\n\n# Notice\n\nThis very same notice stands at the end of each of these pages.\n", i, i, i*i)
	}
	return files
}

func TestGroupsAndFlags(t *testing.T) {
	_, chunks, err := build(t, corpus.Source{Documents: writeFiles(t, handbook())}, corpus.Chunking{}).Load()
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]corpus.Chunk{}
	flags := map[string]string{}
	for _, c := range chunks {
		byID[c.ID] = c
		flags[c.ID] = strings.Join(c.Flags, ",")
	}
	want := map[string]string{
		"a/one.md#0": "", "a/two.md#0": "duplicate", "b/three.md#0": "", "b/short.md#0": "short", "b/empty.md#0": "empty", "c/nav.md#0": "boilerplate",
		"d/0.md#0": "", "d/0.md#1": "boilerplate",
	}
	for i := 1; i < 6; i++ {
		want[fmt.Sprintf("d/%d.md#0", i)], want[fmt.Sprintf("d/%d.md#1", i)] = "", "boilerplate,duplicate"
	}
	if diff := cmp.Diff(want, flags); diff != "" {
		t.Error(diff)
	}
	one, two, three := byID["a/one.md#0"], byID["a/two.md#0"], byID["b/three.md#0"]
	if one.ExactGroup != two.ExactGroup || one.ExactGroup == three.ExactGroup {
		t.Errorf("exact groups %s %s %s", one.ExactGroup, two.ExactGroup, three.ExactGroup)
	}
	if smallest := min(one.ExactGroup, three.ExactGroup); one.NearGroup != smallest || two.NearGroup != smallest || three.NearGroup != smallest {
		t.Errorf("near groups %s %s %s, want %s", one.NearGroup, two.NearGroup, three.NearGroup, smallest)
	}
	if other := byID["d/0.md#1"]; other.NearGroup != other.ExactGroup {
		t.Errorf("a chunk that resembles none has the near group %s", other.NearGroup)
	}
}

func fileBytes(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSameContentIsTheSameSnapshot(t *testing.T) {
	source := corpus.Source{Documents: writeFiles(t, handbook())}
	root := t.TempDir()
	first, changed, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: source}, root)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	before := fileBytes(t, root)
	second, changed, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: source}, root)
	if err != nil || changed || second.Dir() != first.Dir() {
		t.Errorf("changed %v, %v, folders %s %s", changed, err, first.Dir(), second.Dir())
	}
	if diff := cmp.Diff(before, fileBytes(t, root)); diff != "" {
		t.Error(diff)
	}
	other := build(t, source, corpus.Chunking{})
	if diff := cmp.Diff(fileBytes(t, first.Dir()), fileBytes(t, other.Dir())); diff != "" {
		t.Error("another root got other bytes", diff)
	}
	if name := filepath.Base(first.Dir()); name != first.Manifest().Digest[:16] {
		t.Errorf("folder %s of digest %s", name, first.Manifest().Digest)
	}
}

func TestChangedContentIsAnother(t *testing.T) {
	files := handbook()
	root := t.TempDir()
	digests := map[string]bool{}
	for _, change := range []func(){
		func() {}, func() { files["a/one.md"] += "x" }, func() { files["a/one.md"] = "---\nteam: x\n---\n" + files["a/one.md"] }, func() { delete(files, "a/two.md") },
	} {
		change()
		s, changed, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: corpus.Source{Documents: writeFiles(t, files)}}, root)
		if err != nil || !changed || digests[s.Manifest().Digest] {
			t.Fatalf("changed %v, %v, digest seen: %v", changed, err, digests[s.Manifest().Digest])
		}
		digests[s.Manifest().Digest] = true
		latest, err := corpus.Open(root)
		if err != nil || latest.Dir() != s.Dir() {
			t.Errorf("latest is not the newest: %v", err)
		}
	}
}

func TestUnfinishedFolderIsReplaced(t *testing.T) {
	source := corpus.Source{Documents: writeFiles(t, handbook())}
	s := build(t, source, corpus.Chunking{})
	if err := os.Remove(filepath.Join(s.Dir(), "manifest.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.Open(s.Dir()); !errors.Is(err, corpus.ErrNoSnapshot) {
		t.Errorf("open: %v", err)
	}
	again, changed, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: source}, filepath.Dir(s.Dir()))
	if err != nil || !changed || again.Dir() != s.Dir() {
		t.Fatal(changed, err)
	}
	if problems, err := again.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
}

func TestTwoBuildsAtOnce(t *testing.T) {
	source, root := corpus.Source{Documents: writeFiles(t, handbook())}, t.TempDir()
	var wait sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for range 4 {
		wait.Go(func() {
			_, changed, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: source}, root)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if changed {
				made++
			}
		})
	}
	wait.Wait()
	if made != 1 {
		t.Errorf("%d builds say that they made the snapshot", made)
	}
}

func TestAlteredFilesAreErrors(t *testing.T) {
	s := build(t, corpus.Source{Documents: writeFiles(t, handbook())}, corpus.Chunking{})
	path := filepath.Join(s.Dir(), "chunks.parquet")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(whole); i += 1 + len(whole)/80 {
		altered := bytes.Clone(whole)
		altered[i] ^= 0x55
		if err := os.WriteFile(path, altered, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := corpus.Open(s.Dir()); err == nil || !strings.Contains(err.Error(), "chunks.parquet: altered") {
			t.Fatalf("byte %d: open says %v", i, err)
		}
		readThrough(s) // must not panic
	}
	for _, cut := range []int{0, 3, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := corpus.Open(s.Dir()); err == nil || !strings.Contains(err.Error(), "chunks.parquet: truncated or altered") {
			t.Errorf("cut at %d: open says %v", cut, err)
		}
		if err := readThrough(s); err == nil || !strings.Contains(err.Error(), "chunks.parquet") {
			t.Errorf("cut at %d: reading says %v", cut, err)
		}
		if problems, err := s.Verify(t.Context()); err != nil || len(problems) == 0 {
			t.Errorf("cut at %d: verify says %v %v", cut, problems, err)
		}
	}
}

// readThrough reads everything that a damaged snapshot offers.
func readThrough(s *corpus.Snapshot) (first error) {
	keep := func(err error) bool {
		if first == nil {
			first = err
		}
		return err == nil
	}
	for _, err := range s.Chunks() {
		if !keep(err) {
			break
		}
	}
	for _, err := range s.ChunkInfos() {
		if !keep(err) {
			break
		}
	}
	_, err := s.ChunksByID([]string{"a/one.md#0"})
	keep(err)
	_, err = s.ChunksAt([]int64{0, 3})
	keep(err)
	return first
}

func TestLookups(t *testing.T) {
	s := build(t, corpus.Source{Documents: writeFiles(t, handbook())}, corpus.Chunking{})
	docs, chunks, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	at, err := s.ChunksAt([]int64{5, 0, 5})
	if diff := cmp.Diff([]corpus.Chunk{chunks[5], chunks[0], chunks[5]}, at); diff != "" || err != nil {
		t.Error(diff, err)
	}
	byID, err := s.ChunksByID([]string{chunks[2].ID, "none", chunks[7].ID})
	if diff := cmp.Diff(map[string]corpus.Chunk{chunks[2].ID: chunks[2], chunks[7].ID: chunks[7]}, byID); diff != "" || err != nil {
		t.Error(diff, err)
	}
	docsByID, err := s.DocumentsByID([]string{docs[3].ID})
	if diff := cmp.Diff(map[string]corpus.Document{docs[3].ID: docs[3]}, docsByID); diff != "" || err != nil {
		t.Error(diff, err)
	}
	of, err := s.ChunksOfDocuments([]string{"d/1.md"})
	if diff := cmp.Diff([]string{"d/1.md#0", "d/1.md#1"}, chunkIDs(of["d/1.md"])); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := s.ChunksAt([]int64{int64(len(chunks))}); err == nil {
		t.Error("a row outside is no error")
	}
}

func chunkIDs(chunks []corpus.Chunk) (ids []string) {
	for _, c := range chunks {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestVectors(t *testing.T) {
	s := build(t, corpus.Source{Documents: writeFiles(t, handbook())}, corpus.Chunking{})
	_, chunks, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	var all []corpus.Vector
	for i, c := range chunks {
		if !slices.Contains(c.Flags, corpus.FlagEmpty) {
			all = append(all, corpus.Vector{ChunkID: c.ID, Values: []float32{float32(i + 1), 1, 0}})
		}
	}
	e := corpus.Embedding{Provider: "ollama", Server: "ollama 1", Model: "m", Digest: "d", Dimensions: 3, Long: "cut"}
	with := func(i int, v corpus.Vector) []corpus.Vector {
		out := slices.Clone(all)
		out[i] = v
		return out
	}
	for name, c := range map[string]struct {
		vectors []corpus.Vector
		want    string
	}{
		"zero":        {with(1, corpus.Vector{ChunkID: all[1].ChunkID, Values: []float32{0, 0, 0}}), "chunk " + all[1].ChunkID + ": vector is zero"},
		"length":      {with(2, corpus.Vector{ChunkID: all[2].ChunkID, Values: []float32{1}}), "vector has 1 dimensions, want 3"},
		"order":       {with(0, all[1]), "where that of " + all[0].ChunkID + " is due"},
		"one missing": {all[:len(all)-1], "chunk " + all[len(all)-1].ChunkID + ": no vector"},
		"one more":    {append(slices.Clone(all), all[0]), "a vector too many"},
	} {
		t.Run(name, func(t *testing.T) {
			err := s.WriteVectors(t.Context(), e, nil, vectorSeq(c.vectors))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if again, err := corpus.Open(s.Dir()); err != nil || len(again.Manifest().Vectors) > 0 {
				t.Errorf("kept something: %v", err)
			}
		})
	}
	if err := s.WriteVectors(t.Context(), e, func() int { return 2 }, vectorSeq(all)); err != nil {
		t.Fatal(err)
	}
	again, err := corpus.Open(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	set, ok := again.VectorSet(e.Key())
	if !ok || set.Count != len(all) || set.Cut != 2 || again.Manifest().Digest != s.Manifest().Digest {
		t.Errorf("recorded: %+v", set)
	}
	i := 0
	for v, err := range again.Vectors(e.Key()) {
		if err != nil {
			t.Fatal(err)
		}
		if norm := v.Values[0]*v.Values[0] + v.Values[1]*v.Values[1]; v.ChunkID != all[i].ChunkID || norm < .99999 || norm > 1.00001 {
			t.Errorf("vector %d: %v", i, v)
		}
		i++
	}
	if problems, err := again.Verify(t.Context()); err != nil || len(problems) > 0 || i != len(all) {
		t.Error(problems, err, i)
	}
	for _, err := range again.Vectors("0123456789abcdef") {
		if err == nil {
			t.Error("vectors of another embedder")
		}
	}
}

func vectorSeq(list []corpus.Vector) iter.Seq2[corpus.Vector, error] {
	return func(yield func(corpus.Vector, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func TestEmbeddingKeyCoversEveryField(t *testing.T) {
	base := corpus.Embedding{Provider: "p", Server: "s", Model: "m", Digest: "d", Dimensions: 3, Long: "cut"}
	keys := map[string]bool{base.Key(): true}
	for _, change := range []func(*corpus.Embedding){
		func(e *corpus.Embedding) { e.Provider = "x" }, func(e *corpus.Embedding) { e.Server = "x" }, func(e *corpus.Embedding) { e.Model = "x" },
		func(e *corpus.Embedding) { e.Digest = "x" }, func(e *corpus.Embedding) { e.Dimensions = 4 }, func(e *corpus.Embedding) { e.Normalised = true },
		func(e *corpus.Embedding) { e.Prefix = "x" }, func(e *corpus.Embedding) { e.Long = "fail" },
	} {
		e := base
		change(&e)
		keys[e.Key()] = true
	}
	if len(keys) != 9 {
		t.Errorf("only %v differ", slices.Collect(maps.Keys(keys)))
	}
}

func TestIDsNeverBecomePaths(t *testing.T) {
	root := t.TempDir()
	src := corpus.Source{Documents: file(t, "d.jsonl", `{"id":"../../escape","text":"Some text that goes nowhere."}`)}
	s, _, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: src}, root)
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(fileBytes(t, root)))
	base := filepath.Base(s.Dir())
	if diff := cmp.Diff([]string{".lock", base + "/chunks.parquet", base + "/documents.parquet", base + "/manifest.json", "latest"}, names); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(filepath.Join(root, "latest"), []byte("../elsewhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := corpus.Open(root); err == nil || !strings.Contains(err.Error(), "names no snapshot") {
		t.Errorf("open: %v", err)
	}
}

func TestVerifyReportsAllProblems(t *testing.T) {
	s := build(t, corpus.Source{Documents: writeFiles(t, handbook())}, corpus.Chunking{})
	path := filepath.Join(s.Dir(), "manifest.json")
	m := s.Manifest()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	altered := strings.Replace(string(data), m.Digest, strings.Repeat("0", 64), 1)
	altered = strings.Replace(altered, fmt.Sprintf("\"documents\": %d", m.Documents), "\"documents\": 99", 1)
	if err := os.WriteFile(path, []byte(altered), 0o644); err != nil {
		t.Fatal(err)
	}
	opened, err := corpus.Open(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.Dir(), "documents.parquet")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	whole[bytes.LastIndex(whole, []byte("goldgen"))] ^= 1 // CreatedBy: the rows stay readable
	if err := os.WriteFile(file, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	problems, err := opened.Verify(t.Context())
	kinds := map[string]bool{}
	for _, p := range problems {
		kinds[p.Kind] = true
	}
	if diff := cmp.Diff(map[string]bool{"file": true, "manifest": true, "digest": true}, kinds); diff != "" || err != nil {
		t.Error(diff, problems, err)
	}
}

func TestLeftoversOfKilledBuildsGo(t *testing.T) {
	root := t.TempDir()
	left := filepath.Join(root, ".tmp-123")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, ".alive"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: corpus.Source{Documents: writeFiles(t, handbook())}}, root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

func TestCancelledBuildLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	root := t.TempDir()
	_, _, err := corpus.Build(ctx, corpus.BuildOptions{Source: corpus.Source{Documents: writeFiles(t, handbook())}}, root)
	if !errors.Is(err, stopped) {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(root); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
