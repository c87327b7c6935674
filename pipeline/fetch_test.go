package pipeline_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/bucket/buckettest"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

// elsewhere opens a project whose goldgen.yaml has these lines.
func elsewhere(t *testing.T, env func(string) string, yaml string) (*pipeline.Project, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "goldgen.yaml"), []byte("version: 1\nname: handbook\n"+yaml), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.Open(dir)
	if err == nil {
		p.Getenv = env
		t.Cleanup(func() { p.Close() })
	}
	return p, err
}

// chunkTexts makes a snapshot and reads its chunks' texts by id.
func chunkTexts(t *testing.T, p *pipeline.Project) map[string]string {
	t.Helper()
	s, _, err := p.MakeSnapshot(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for c, err := range s.Chunks() {
		if err != nil {
			t.Fatal(err)
		}
		out[c.ID] = c.Text
	}
	return out
}

// TestCorpusInAStore reads documents, a table of them and a chunk table from a store.
func TestCorpusInAStore(t *testing.T) {
	server := buckettest.New(t)
	for key, text := range map[string]string{
		"docs/a.md":        "Invoices are paid by debit.",
		"docs/b/c.md":      "Kilns are hot.",
		"docs/logo.png":    "\x00",
		"docs.jsonl":       `{"id": "a.md", "text": "Invoices are paid by debit."}` + "\n" + `{"id": "b/c.md", "text": "Kilns are hot."}` + "\n",
		"tables/all.jsonl": `{"chunk_id": "a.md", "doc_id": "a.md", "text": "Invoices are paid by debit."}` + "\n" + `{"chunk_id": "b/c.md", "doc_id": "b/c.md", "text": "Kilns are hot."}` + "\n",
	} {
		server.Set(key, text)
	}
	want := map[string]string{"a.md": "Invoices are paid by debit.", "b/c.md": "Kilns are hot."}
	for _, yaml := range []string{
		"corpus: {source: s3://team/docs/}\nchunking: {method: document}\n",
		"corpus: {source: s3://team/docs.jsonl}\nchunking: {method: document}\n",
		"corpus: {chunks: s3://team/tables/all.jsonl}\n",
	} {
		p, err := elsewhere(t, server.Env, yaml)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, chunkTexts(t, p)); diff != "" {
			t.Errorf("%s%s", yaml, diff)
		}
		s, _, err := p.MakeSnapshot(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if from := s.Manifest().Source; !strings.HasPrefix(from.Documents+from.Chunks, "s3://team/") {
			t.Errorf("%s: the manifest says it is from %+v", yaml, from)
		}
	}
}

// TestCorpusInAStoreGoesOn: the next snapshot has what has changed, and one that
// nothing changed for is the same.
func TestCorpusInAStoreGoesOn(t *testing.T) {
	server := buckettest.New(t)
	server.Set("docs/a.md", "Invoices are paid by debit.")
	p, err := elsewhere(t, server.Env, "corpus: {source: s3://team/docs/}\nchunking: {method: document}\n")
	if err != nil {
		t.Fatal(err)
	}
	chunkTexts(t, p)
	if _, changed, err := p.MakeSnapshot(t.Context(), ""); changed || err != nil {
		t.Errorf("changed %v, %v", changed, err)
	}
	server.Set("docs/a.md", "Invoices are paid by card.")
	if diff := cmp.Diff(map[string]string{"a.md": "Invoices are paid by card."}, chunkTexts(t, p)); diff != "" {
		t.Error(diff)
	}
}

// TestCorpusInQdrant holds that ids, texts and vectors are those of the index.
func TestCorpusInQdrant(t *testing.T) {
	server, address := retrievetest.StartQdrant(t)
	var points []retrievetest.Point
	for i := range 600 { // more than two pages
		points = append(points, retrievetest.Point{
			ID: uint64(i + 1), Dense: map[string][]float32{"": {float32(i), 1}},
			Payload: map[string]any{"body": fmt.Sprintf("Record %d of many.", i), "doc": map[string]any{"name": fmt.Sprintf("d%d", i/3)}, "team": []any{"north"}},
		})
	}
	params := &qdrant.CollectionParams{VectorsConfig: qdrant.NewVectorsConfig(&qdrant.VectorParams{Size: 2, Distance: qdrant.Distance_Dot})}
	server.Create("handbook", &qdrant.CollectionConfig{Params: params}, points...)
	p, err := elsewhere(t, os.Getenv, "sources: {index: {kind: qdrant, url: '"+address+"/handbook'}}\n"+
		"corpus: {chunks: index, fields: {chunk_id: _point, doc_id: doc.name, text: body, scope.team: team}}\n")
	if err != nil {
		t.Fatal(err)
	}
	texts := chunkTexts(t, p)
	if len(texts) != 600 || texts["1"] != "Record 0 of many." || texts["600"] != "Record 599 of many." {
		t.Errorf("%d chunks, %q", len(texts), texts["600"])
	}
	s, changed, err := p.MakeSnapshot(t.Context(), "")
	if err != nil || changed || s.Manifest().Documents != 200 || len(s.Manifest().Vectors) != 1 {
		t.Errorf("changed %v, %v: %+v", changed, err, s.Manifest())
	}

	server.Fail(nil, status.Error(codes.Unavailable, "shutting down"))
	if _, _, err := p.MakeSnapshot(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "sources.index: qdrant ") {
		t.Errorf("a server that ends in the middle: %v", err)
	}
	if diff := cmp.Diff(texts, chunkTexts(t, p)); diff != "" {
		t.Error(diff)
	}
}

// TestCorpusInPostgres reads documents, chunks with vectors and a log by queries.
func TestCorpusInPostgres(t *testing.T) {
	dsn := os.Getenv("GOLDGEN_TEST_PG")
	if dsn == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("GOLDGEN_TEST_PG is not set")
		}
		t.Skip("GOLDGEN_TEST_PG names no PostgreSQL with pgvector")
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	table := fmt.Sprintf("goldgen_fetch_%d", os.Getpid())
	t.Cleanup(func() {
		conn.Exec(context.Background(), "DROP TABLE IF EXISTS "+table)
		conn.Close(context.Background())
	})
	for _, statement := range []string{
		"CREATE EXTENSION IF NOT EXISTS vector",
		"CREATE TABLE " + table + " (id uuid PRIMARY KEY, page text, n int, body text, vec vector(2), teams text[], since timestamptz, extra jsonb, price numeric)",
		"INSERT INTO " + table + ` VALUES
			('00000000-0000-0000-0000-000000000002', 'p1', 1, 'Kilns are hot.', '[3,4]', '{north,south}', '2026-01-02T03:04:05Z', '{"k": {"deep": 1}}', 1.50),
			('00000000-0000-0000-0000-000000000001', 'p1', 0, 'Invoices are paid by debit.', '[1,0]', NULL, NULL, NULL, NULL)`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	source := func(query string) string {
		return fmt.Sprintf("sources: {pages: {kind: postgres, dsn: %q, query: %q}}\n", dsn, query)
	}
	p, err := elsewhere(t, os.Getenv, source("SELECT id AS chunk_id, page AS doc_id, body AS text, vec AS embedding, teams, since AS updated_at, extra AS metadata, price FROM "+table+" ORDER BY page, n")+
		"corpus: {chunks: pages, fields: {scope.team: teams}}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"00000000-0000-0000-0000-000000000001": "Invoices are paid by debit.", "00000000-0000-0000-0000-000000000002": "Kilns are hot.",
	}
	if diff := cmp.Diff(want, chunkTexts(t, p)); diff != "" {
		t.Error(diff)
	}
	s, changed, err := p.MakeSnapshot(t.Context(), "")
	if err != nil || changed || len(s.Manifest().Vectors) != 1 {
		t.Fatalf("changed %v, %v, vectors %v", changed, err, s.Manifest().Vectors)
	}
	chunks, err := s.ChunksByID([]string{"00000000-0000-0000-0000-000000000002"})
	if got := chunks["00000000-0000-0000-0000-000000000002"]; err != nil || !cmp.Equal(got.Scope, corpus.Scope{"team": {"north", "south"}}) || got.UpdatedAt == nil {
		t.Errorf("%+v, %v", got, err)
	}

	documents, err := elsewhere(t, os.Getenv, source("SELECT id, body AS text FROM "+table)+"corpus: {source: pages}\nchunking: {method: document}\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(chunkTexts(t, documents))); !cmp.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Error(got)
	}
	for query, says := range map[string]string{
		"SELECT id FROM no_such_table":                                                                      "no_such_table",
		"SELECT id, vec::text::bytea AS text FROM " + table:                                                 "column text: its type has no form in JSON; cast it",
		"SELECT id, body AS text, page AS id FROM " + table:                                                 "there twice",
		"DELETE FROM " + table + " RETURNING id, body AS text":                                              "syntax error",
		"SELECT id, 'infinity'::timestamptz AS text FROM " + table:                                          "infinite time",
		"WITH gone AS (DELETE FROM " + table + " RETURNING *) SELECT id, body AS text FROM gone ORDER BY 1": "read-only",
	} {
		p, err := elsewhere(t, os.Getenv, source(query)+"corpus: {source: pages}\n")
		if err == nil {
			_, _, err = p.MakeSnapshot(t.Context(), "")
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestPlacesThatCannotBeRead says what is wrong and what helps.
func TestPlacesThatCannotBeRead(t *testing.T) {
	server := buckettest.New(t)
	for yaml, says := range map[string]string{
		"corpus: {source: s3://other/docs/}\n":       "s3://other/docs: not there: no bucket other",
		"corpus: {chunks: s3://team/none.parquet}\n": "none.parquet: not there",
		"sources: {pages: {kind: postgres, dsn: 'postgres://u@127.0.0.1:1/d', query: select 1}}\ncorpus: {source: pages}\n": "connection refused",
		"sources: {index: {kind: qdrant, url: 'http://127.0.0.1:1/c'}}\ncorpus: {chunks: index}\n":                          "connection refused",
	} {
		p, err := elsewhere(t, server.Env, yaml)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.MakeSnapshot(t.Context(), ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s%v", yaml, err)
		}
		failed := 0
		for _, f := range p.Doctor(t.Context(), nil) {
			if strings.HasPrefix(f.Part, "source ") && f.State == pipeline.StateFail {
				failed++
			}
		}
		if failed != 1 {
			t.Errorf("%sdoctor finds nothing wrong", yaml)
		}
	}
	for yaml, says := range map[string]string{
		"corpus: {chunks: s3://team/tables/}\n":                              "want one file",
		"corpus: {source: s3://team?x=1}\n":                                  `parameter "x" is not known`,
		"sources: {a/b: {kind: qdrant}}\ncorpus: {source: docs}\n":           "want a name of letters",
		"sources: {index: {kind: redis}}\ncorpus: {source: docs}\n":          `kind: "redis", want postgres or qdrant`,
		"sources: {index: {kind: qdrant, dns: x}}\ncorpus: {source: docs}\n": "dns",
	} {
		if _, err := elsewhere(t, server.Env, yaml); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s%v", yaml, err)
		}
	}
}
