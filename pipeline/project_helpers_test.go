package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/pipeline"
)

// bench is a project with a chunk table of forty documents, a golden set of
// twenty-four cases over them, and a run file for each quality of retriever.
type bench struct {
	*pipeline.Project
	set datasets.Ref
}

const benchCases = 24

func document(i int) string { return fmt.Sprintf("d%02d", i) }
func caseID(i int) string   { return fmt.Sprintf("q%02d", i) }

// newBench makes the project; change may edit the draft of its set.
func newBench(t testing.TB, change func(*datasets.Draft)) *bench {
	t.Helper()
	dir := t.TempDir()
	var chunks strings.Builder
	for i := range 40 {
		scope := ""
		if i >= 36 {
			scope = `, "scope": {"team": ["finance"]}`
		}
		fmt.Fprintf(&chunks, `{"chunk_id": "%[1]s", "doc_id": "%[1]s", "text": "Record %[1]s holds the rules of procedure number %[2]d."%[3]s}`+"\n", document(i), i, scope)
	}
	write(t, filepath.Join(dir, "chunks.jsonl"), chunks.String())
	write(t, filepath.Join(dir, "goldgen.yaml"), "version: 1\nname: records\ncorpus: {chunks: chunks.jsonl}\n")
	p, err := pipeline.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	p.Now = func() time.Time { at = at.Add(time.Second); return at }
	b := &bench{Project: p}
	snapshot, _, err := p.MakeSnapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	b.commit(t, snapshot, change)
	return b
}

// commit writes the next version of the set.
func (b *bench) commit(t testing.TB, s *corpus.Snapshot, change func(*datasets.Draft)) {
	t.Helper()
	m := s.Manifest()
	d := datasets.Draft{Manifest: datasets.Manifest{
		RelevantGrade: 1, Trust: datasets.Trust{Level: datasets.TrustReviewed, Why: "people's judgments"},
		Pins: datasets.Pins{Corpus: datasets.CorpusPin{Digest: m.Digest, Documents: 40, Chunks: 40}, Seed: 7},
	}}
	for i := range benchCases {
		d.Cases = append(d.Cases, benchCase(i))
	}
	if change != nil {
		change(&d)
	}
	ref, _, err := b.Store().Write(t.Context(), "records", d)
	if err != nil {
		t.Fatal(err)
	}
	b.set = ref
}

// benchCase asks for document i; every other case is of the type keyword.
func benchCase(i int) datasets.Case {
	c := datasets.Case{
		ID: caseID(i), Query: fmt.Sprintf("procedure number %d", i), QueryType: "factual", Category: "rules",
		Origin: datasets.OriginImported, Status: datasets.Active,
	}
	if i%2 == 1 {
		c.QueryType = "keyword"
	}
	for j := range 3 {
		grade := 0
		if j == 0 {
			grade = 2
		}
		id := document((i + j) % 36)
		c.Judgments = append(c.Judgments, datasets.Judgment{ChunkID: id, DocID: id, Grade: &grade, Label: datasets.LabelOf(grade, 1), By: datasets.ByHuman, Inclusion: 1})
	}
	return c
}

// run writes a TREC run in which rankOf says where each case's document
// stands, from 1; 0 leaves it out.
func (b *bench) run(t *testing.T, name string, rankOf func(i int) int) string {
	t.Helper()
	var text strings.Builder
	for i := range benchCases {
		right := rankOf(i)
		for rank, other := 1, 1; rank <= 5; rank++ {
			id := document((i + other) % 36)
			if rank == right {
				id = document(i % 36)
			} else {
				other++
			}
			fmt.Fprintf(&text, "%s Q0 %s %d %d %s\n", caseID(i), id, rank, 100-rank, name)
		}
	}
	path := filepath.Join(b.Dir, name+".txt")
	write(t, path, text.String())
	return "run:" + path
}

// score evaluates a retriever into a folder of its own.
func (b *bench) score(t testing.TB, spec string, o pipeline.EvalOptions) *pipeline.Evaluation {
	t.Helper()
	o.Retriever = spec
	e, err := b.Eval(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
