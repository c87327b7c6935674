package datasets_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// snapshot is a corpus in memory.
type snapshot struct {
	docs   []corpus.Document
	chunks []corpus.Chunk
}

func (s *snapshot) Manifest() corpus.Manifest {
	return corpus.Manifest{Digest: "c1", Documents: len(s.docs), Chunks: len(s.chunks)}
}

func (s *snapshot) ChunksByID(ids []string) (map[string]corpus.Chunk, error) {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	found := map[string]corpus.Chunk{}
	for _, c := range s.chunks {
		if wanted[c.ID] {
			found[c.ID] = c
		}
	}
	return found, nil
}

func (s *snapshot) DocumentsByID(ids []string) (map[string]corpus.Document, error) {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	found := map[string]corpus.Document{}
	for _, d := range s.docs {
		if wanted[d.ID] {
			found[d.ID] = d
		}
	}
	return found, nil
}

func (s *snapshot) ChunkInfos() iter.Seq2[corpus.ChunkInfo, error] {
	return func(yield func(corpus.ChunkInfo, error) bool) {
		for _, c := range s.chunks {
			if !yield(corpus.ChunkInfo{ChunkID: c.ID, DocID: c.DocID, Category: c.Category, Language: c.Language}, nil) {
				return
			}
		}
	}
}

// add appends a document cut into chunks of size bytes.
func (s *snapshot) add(id, text string, size int) {
	s.docs = append(s.docs, corpus.Document{ID: id, Text: text})
	for n, start := 0, 0; start < len(text); n, start = n+1, start+size {
		end := min(start+size, len(text))
		s.chunks = append(s.chunks, corpus.Chunk{
			ID: fmt.Sprintf("%s#%d", id, n), DocID: id, Ordinal: n, Start: start, End: end, Text: text[start:end], Unit: corpus.UnitChunk,
		})
	}
}

// handbook has the same phrase twice, which is what trap 10 is about.
func handbook() *snapshot {
	s := &snapshot{}
	s.add("a.md", "Keys expire. Rotate them. Keys expire. Café keys too.", 26)
	s.add("b.md", "Nothing here.", 26)
	return s
}

// handbookDraft is sound for handbook: two quotes of equal words.
func handbookDraft() datasets.Draft {
	d := draft("when do keys expire")
	d.Manifest.Pins.Corpus = datasets.CorpusPin{Digest: "c1", Documents: 2, Chunks: 4}
	d.Cases[0].Evidence = []datasets.Evidence{
		{DocID: "a.md", ChunkID: "a.md#0", Start: 0, End: 12, Quote: "Keys expire."},
		{DocID: "a.md", ChunkID: "a.md#1", Start: 26, End: 38, Quote: "Keys expire."},
	}
	d.Rejects[0].ChunkID = "b.md#0"
	return d
}

func verify(t *testing.T, dir string, view datasets.CorpusView) []datasets.Problem {
	t.Helper()
	problems, err := datasets.Verify(context.Background(), dir, view)
	if err != nil {
		t.Fatal(err)
	}
	return problems
}

func TestVerifySound(t *testing.T) {
	ref := write(t, newStore(t), "set", handbookDraft())
	if problems := verify(t, ref.Path, handbook()); len(problems) > 0 {
		t.Errorf("a sound set has problems: %v", problems)
	}
}

// One set with something wrong in every place: all of it is reported.
func TestVerifyReportsEverything(t *testing.T) {
	d := handbookDraft()
	d.Manifest.Pins.Corpus.Digest = "c0"
	c := &d.Cases[0]
	c.Evidence[1].Start, c.Evidence[1].End = 0, 12     // trap 10: the first one's offset
	c.Evidence = append(c.Evidence, datasets.Evidence{ // other words
		DocID: "a.md", ChunkID: "a.md#1", Start: 26, End: 38, Quote: "Keys\x1bexpire.",
	}, datasets.Evidence{DocID: "gone.md", ChunkID: "gone.md#0", Start: 0, End: 1, Quote: "x"},
		datasets.Evidence{DocID: "b.md", ChunkID: "b.md#0", Start: 5, End: 105, Quote: fmt.Sprintf("%100s", "x")})
	c.Forbidden = []string{"b.md#7"}
	c.HardNegatives = []string{"b.md#0", "b.md#8"}
	one := 1
	c.Judgments = append(c.Judgments, datasets.Judgment{ChunkID: "b.md#0", DocID: "a.md", By: datasets.ByLLM, Grade: &one, Inclusion: 1,
		Spans: []datasets.Span{{Start: 50, End: 99}}})
	d.Rejects[0].ChunkID = "c.md#0"
	ref := write(t, newStore(t), "set", d)
	if err := replaceIn("manifest.json", `"active": 1`, `"active": 3`)(ref.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(ref.Path, "README.md"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	id := c.ID
	want := []datasets.Problem{
		{Kind: "file", Where: "README.md"},
		{Kind: "manifest", Where: "counts.active", Detail: "the rows have 1, it says 3"},
		{Kind: "pins", Where: "pins.corpus", Detail: "made for the corpus c0 (2 documents, 4 chunks), the snapshot is c1 (2 documents, 4 chunks)"},
		{Kind: "id", Where: "case " + id + ": forbidden[0]", Detail: `chunk "b.md#7" is not in the snapshot`},
		{Kind: "id", Where: "case " + id + ": hard_negatives[1]", Detail: `chunk "b.md#8" is not in the snapshot`},
		{Kind: "id", Where: "case " + id + ": judgments[1]", Detail: `chunk "b.md#0" is of document "b.md", not "a.md"`},
		{Kind: "evidence", Where: "case " + id + ": judgments[1].spans", Detail: `[50,99) is outside of document "a.md" of 54 bytes`},
		{Kind: "evidence", Where: "case " + id + ": evidence[1]", Detail: `[0,12) is outside of chunk "a.md#1", which is [26,52)`},
		{Kind: "evidence", Where: "case " + id + ": evidence[2]", Detail: `document "a.md" has "Keys expire." at [26,38), the quote is "Keys\x1bexpire."`},
		{Kind: "id", Where: "case " + id + ": evidence[3]", Detail: `chunk "gone.md#0" is not in the snapshot`},
		{Kind: "id", Where: "case " + id + ": evidence[3]", Detail: `document "gone.md" is not in the snapshot`},
		{Kind: "evidence", Where: "case " + id + ": evidence[4]", Detail: `[5,105) is outside of document "b.md" of 13 bytes`},
		{Kind: "id", Where: "reject 00000000000000ff: chunk_id", Detail: `chunk "c.md#0" is not in the snapshot`},
	}
	got := verify(t, ref.Path, handbook())
	got[0].Detail = "" // two digests
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What an edit would be refused for is a problem of a set that has it all the same.
func TestVerifyFindsContradictions(t *testing.T) {
	two := 2
	for name, tc := range map[string]struct {
		spoil func(c *datasets.Case)
		want  []string // field and detail, of the one case
	}{
		"evidence that lies elsewhere": {func(c *datasets.Case) {
			c.Evidence = []datasets.Evidence{{DocID: "b.md", ChunkID: "b.md#0", Start: 0, End: 7, Quote: "Nothing"}}
		}, []string{"evidence: none lies in a chunk that the query was written from"}},
		"filters that hide the source": {func(c *datasets.Case) {
			c.Filters = []corpus.Filter{{Field: "category", Op: "eq", Values: []string{"billing"}}}
		}, []string{`source: the asker does not get chunk "a.md#0", by scope, filters or as_of`}},
		"abstention where a person found an answer": {func(c *datasets.Case) {
			c.ExpectedAbstention = true
			c.Judgments = append(c.Judgments, datasets.Judgment{ChunkID: "b.md#0", DocID: "b.md", Grade: &two, By: datasets.ByHuman, Inclusion: 1})
		}, []string{`expected_abstention: is true, but chunk "b.md#0" has grade 2 by a person`}},
		"retired for nothing":                   {func(c *datasets.Case) { c.Status = datasets.Retired }, []string{"reason: is empty, and the case is retired"}},
		"retired, and its source is hidden":     {func(c *datasets.Case) { c.Status, c.Reason, c.Scope = datasets.Retired, "moved", nil }, nil},
		"forbidden by a person, and not hidden": {func(c *datasets.Case) { c.Forbidden = []string{"b.md#0"} }, nil},
	} {
		d := handbookDraft()
		tc.spoil(&d.Cases[0])
		ref := write(t, newStore(t), "set", d)
		var got []string
		for _, p := range verify(t, ref.Path, handbook()) {
			got = append(got, strings.TrimPrefix(p.Where, "case "+d.Cases[0].ID+": ")+": "+p.Detail)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Rows that were changed along with the digest of their file are still found.
func TestVerifyFindsChangedRows(t *testing.T) {
	ref := write(t, newStore(t), "set", handbookDraft())
	d := handbookDraft()
	d.Cases[0].Query = "another question"
	changed := write(t, newStore(t), "set", d)
	for _, file := range []string{"cases.parquet", "manifest.json"} {
		data, err := os.ReadFile(filepath.Join(changed.Path, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(ref.Path, file), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := replaceIn("manifest.json", changed.Digest, ref.Digest)(ref.Path); err != nil {
		t.Fatal(err)
	}
	want := []datasets.Problem{
		{Kind: "file", Where: "README.md"}, // it names the digest
		{Kind: "digest", Where: "manifest.json", Detail: "the rows have digest " + changed.Digest + ", it says " + ref.Digest},
	}
	got := verify(t, ref.Path, handbook())
	got[0].Detail = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestVerifyNoSet(t *testing.T) {
	_, err := datasets.Verify(context.Background(), t.TempDir(), nil)
	checkError(t, err, "is no golden set")
}
