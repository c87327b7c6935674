package retrieve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

// pgVariable names the PostgreSQL with pgvector that tests may write to.
const pgVariable = "GOLDGEN_TEST_PG"

// words is the embedder of the tests of indexes outside.
var words = retrievetest.WordEmbedder{Dim: 64}

// postgres connects to the test database and gives a table name of the test's
// own, dropped at its end.
func postgres(t *testing.T) (conn *pgx.Conn, dsn, table string) {
	t.Helper()
	dsn = os.Getenv(pgVariable)
	if dsn == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(pgVariable + " is not set")
		}
		t.Skip(pgVariable + " names no PostgreSQL with pgvector")
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	table = fmt.Sprintf("goldgen_%d_%s", os.Getpid(), strings.ToLower(strings.Map(onlyLetters, t.Name())))
	t.Cleanup(func() {
		if _, err := conn.Exec(context.Background(), "DROP TABLE IF EXISTS "+table); err != nil {
			t.Error(err)
		}
		conn.Close(context.Background())
	})
	return conn, dsn, table
}

func onlyLetters(r rune) rune {
	if r == '_' || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') {
		return r
	}
	return -1
}

func run(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// handbookTable stores the test corpus as docs/retrievers.md lays a table out.
func handbookTable(t *testing.T, conn *pgx.Conn, table string) []corpus.Chunk {
	t.Helper()
	run(t, conn, "CREATE TABLE "+table+` (chunk_id text PRIMARY KEY, doc_id text, start_byte int, end_byte int, category text,
		language text, unit text, metadata jsonb, scope jsonb, teams text[], valid_from timestamptz, valid_to timestamptz, embedding vector(64))`)
	chunks := testCorpus(t)
	for _, c := range chunks {
		var vector any
		if c.Text != "" {
			v, err := words.EmbedQuery(t.Context(), c.Text)
			if err != nil {
				t.Fatal(err)
			}
			vector = pgvector.NewVector(v).String()
		}
		var teams []string
		if v, ok := c.Scope["team"]; ok {
			teams = append([]string{}, v...)
		}
		run(t, conn, "INSERT INTO "+table+` VALUES ($1, $2, $3, $4, nullif($5, ''), nullif($6, ''), $7, $8, $9, $10, $11, $12, $13::text::vector)`,
			c.ID, c.DocID, c.Start, c.End, c.Category, c.Language, c.Unit, asJSON(t, c.Metadata), asJSON(t, c.Scope), teams, c.ValidFrom, c.ValidTo, vector)
	}
	return chunks
}

func asJSON[K ~map[string]V, V any](t *testing.T, v K) string {
	t.Helper()
	if v == nil {
		return "{}"
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func wordDeps(chunks []corpus.Chunk) retrieve.Deps {
	return retrieve.Deps{
		Chunks: retrievetest.Stream(chunks), Embedder: words, Vectors: words.Vectors(chunks),
		Embedding: &corpus.Embedding{Model: "words", Dimensions: 64},
	}
}

// An exact search finds what dense finds, under every scope, filter and date.
func TestPGVectorIsDense(t *testing.T) {
	conn, dsn, table := postgres(t)
	chunks := handbookTable(t, conn, table)
	r := build(t, configured(t, fmt.Sprintf("{kind: pgvector, dsn: %q, table: %s, exact: true}", dsn, table)), wordDeps(chunks))
	retrievetest.TestRetriever(t, r, chunks)
	sameAsDense(t, r, chunks)
}

// sameAsDense compares with the embedded exact search: the same chunks are
// allowed, with the same scores.
func sameAsDense(t *testing.T, r retrieve.Retriever, chunks []corpus.Chunk) {
	t.Helper()
	dense := build(t, retrieve.Spec{Name: "dense", Kind: retrieve.KindDense}, wordDeps(chunks))
	asked := 0
	for q := range retrievetest.Queries(len(chunks)) {
		asked++
		want, err := dense.Retrieve(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Retrieve(t.Context(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		if diff := cmp.Diff(scores(want.Hits), scores(got.Hits), cmpopts.EquateApprox(0, 2e-6)); diff != "" {
			t.Fatalf("%+v: %s", q, diff)
		}
	}
	if asked < 1000 {
		t.Errorf("only %d queries", asked)
	}
}

func scores(hits []retrieve.Hit) map[string]float64 {
	m := map[string]float64{}
	for _, h := range hits {
		m[h.ChunkID] = h.Score
	}
	return m
}

// Columns, keys of a jsonb column and arrays can stand for fields and scope.
func TestPGVectorPlaces(t *testing.T) {
	conn, dsn, table := postgres(t)
	chunks := handbookTable(t, conn, table)
	run(t, conn, "ALTER TABLE "+table+" ADD COLUMN version int, ADD COLUMN updated date")
	run(t, conn, "UPDATE "+table+" SET version = (metadata ->> 'version')::int, updated = valid_from::date")
	spec := configured(t, fmt.Sprintf(`{kind: pgvector, dsn: %q, table: %s, exact: true,
		fields: {topic: category, updated_at: updated, edition: metadata.version}, scope: {team: teams, role: scope.role}}`, dsn, table))
	r := build(t, spec, wordDeps(chunks))
	ask := func(scope corpus.Scope, filters ...corpus.Filter) int {
		t.Helper()
		result, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 100, Scope: scope, Filters: filters})
		if err != nil {
			t.Fatal(err)
		}
		return len(result.Hits)
	}
	count := func(match func(corpus.Chunk) bool) int {
		n := 0
		for _, c := range chunks {
			if c.Text != "" && match(c) {
				n++
			}
		}
		return n
	}
	version := func(c corpus.Chunk) string { return c.Metadata["version"] }
	public := func(c corpus.Chunk) bool { return c.Scope.Visible(nil) }
	for name, tc := range map[string]struct{ got, want int }{
		"an array as scope": {ask(corpus.Scope{"team": {"north"}}), count(func(c corpus.Chunk) bool { return c.Scope.Visible(corpus.Scope{"team": {"north"}}) })},
		"a key as scope": {ask(corpus.Scope{"team": {"north"}, "role": {"treasurer"}}), count(func(c corpus.Chunk) bool {
			return c.Scope.Visible(corpus.Scope{"team": {"north"}, "role": {"treasurer"}})
		})},
		"another column's name":  {ask(nil, corpus.Filter{Field: "topic", Op: "eq", Values: []string{"manual"}}), count(func(c corpus.Chunk) bool { return public(c) && c.Category == "manual" })},
		"a number in jsonb":      {ask(nil, corpus.Filter{Field: "edition", Op: "le", Values: []string{"1.5"}}), count(func(c corpus.Chunk) bool { return public(c) && version(c) == "1" })},
		"a number in a column":   {ask(nil, corpus.Filter{Field: "version", Op: "in", Values: []string{"1", "2"}}), count(func(c corpus.Chunk) bool { return public(c) && version(c) != "" })},
		"a number, not that one": {ask(nil, corpus.Filter{Field: "version", Op: "ne", Values: []string{"2"}}), count(func(c corpus.Chunk) bool { return public(c) && version(c) != "2" })},
		"a date in a column":     {ask(nil, corpus.Filter{Field: "updated_at", Op: "ge", Values: []string{"2026"}}), count(func(c corpus.Chunk) bool { return public(c) && c.ValidFrom != nil && c.ValidFrom.Year() >= 2026 })},
	} {
		if tc.got != tc.want || tc.want == 0 {
			t.Errorf("%s: %d hits, want %d", name, tc.got, tc.want)
		}
	}
	_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "kiln", K: 3, Filters: []corpus.Filter{{Field: "version", Op: "lt", Values: []string{"two"}}}})
	if err == nil || err.Error() != `query q: filter version: value "two": the column holds numbers` {
		t.Errorf("got %v", err)
	}
}

// Distances become scores that are higher for better hits; spans and halfvec
// are read.
func TestPGVectorDistances(t *testing.T) {
	conn, dsn, table := postgres(t)
	run(t, conn, "CREATE TABLE "+table+" (doc text, a int, b int, half halfvec(2))")
	run(t, conn, "INSERT INTO "+table+" VALUES ('d1', 3, 9, '[0,2]'), ('d2', 0, 5, '[1,0]'), ('d3', 0, 5, NULL)")
	for distance, want := range map[string][]retrieve.Hit{
		"cosine":        {{DocID: "d2", End: 5, Score: 1}, {DocID: "d1", Start: 3, End: 9, Score: 0}},
		"l2":            {{DocID: "d2", End: 5, Score: 0}, {DocID: "d1", Start: 3, End: 9, Score: -math.Sqrt(5)}},
		"l1":            {{DocID: "d2", End: 5, Score: 0}, {DocID: "d1", Start: 3, End: 9, Score: -3}},
		"inner_product": {{DocID: "d2", End: 5, Score: 1}, {DocID: "d1", Start: 3, End: 9, Score: 0}},
	} {
		spec := configured(t, fmt.Sprintf("{kind: pgvector, dsn: %q, table: public.%s, chunk_id: '', doc_id: doc, start: a, end: b, vector: half, distance: %s}", dsn, table, distance))
		got, err := build(t, spec, retrieve.Deps{Embedder: fixed{1, 0}}).Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "x", K: 5})
		if err != nil {
			t.Fatalf("%s: %v", distance, err)
		}
		if diff := cmp.Diff(want, got.Hits, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
			t.Errorf("%s: %s", distance, diff)
		}
	}
}

// An approximate index with its smallest search misses hits that the exact
// search beside it finds.
func TestPGVectorExact(t *testing.T) {
	conn, dsn, table := postgres(t)
	run(t, conn, "CREATE TABLE "+table+" (chunk_id text, embedding vector(2))")
	run(t, conn, "INSERT INTO "+table+" SELECT n::text, ARRAY[cos(n), sin(n)]::vector FROM generate_series(1, 3000) AS n")
	run(t, conn, "CREATE INDEX ON "+table+" USING hnsw (embedding vector_cosine_ops) WITH (m = 2, ef_construction = 4)")
	spec := configured(t, fmt.Sprintf("{kind: pgvector, dsn: %q, table: %s, ef_search: 5}", dsn, table))
	r := build(t, spec, retrieve.Deps{Embedder: fixed{1, 0}})
	exact, ok := r.(retrieve.Approximate).Exact()
	if !ok {
		t.Fatal("no exact search")
	}
	if _, ok := exact.(retrieve.Approximate); ok {
		t.Error("an exact search is approximate")
	}
	q := retrieve.Query{ID: "q", Text: "x", K: 50}
	fast, err := r.Retrieve(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := exact.Retrieve(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Hits) != 50 || len(fast.Hits) >= 50 {
		t.Errorf("%d hits of the index with ef_search 5, %d of the exact search; want under 50 and 50", len(fast.Hits), len(whole.Hits))
	}
}

// What cannot work is said before the first query, and no password with it.
func TestPGVectorErrors(t *testing.T) {
	conn, dsn, table := postgres(t)
	run(t, conn, "CREATE TABLE "+table+" (chunk_id text, embedding vector(3), name text)")
	server := strings.SplitN(dsn, "host=", 2)[1] + "/postgres"
	for name, tc := range map[string]struct{ config, want string }{
		"a missing table":      {"table: nowhere", "pgvector " + server + ", table nowhere: no such table"},
		"a missing column":     {"table: " + table + ", chunk_id: id", "pgvector " + server + ", table " + table + ": no column id"},
		"a missing scope":      {"table: " + table + ", scope: {team: teams}", "pgvector " + server + ", table " + table + ": scope: team: no column teams"},
		"no vectors":           {"table: " + table + ", vector: name", "pgvector " + server + ", table " + table + ": column name is of type text, want vector or halfvec"},
		"the wrong dimensions": {"table: " + table, "its vectors have 3 dimensions, those of the configured embedding (words) have 64"},
		"the wrong model":      {"table: " + table + ", model: minilm", "its vectors are of model minilm, the configured embedding is words"},
	} {
		t.Run(name, func(t *testing.T) {
			spec := configured(t, fmt.Sprintf("{kind: pgvector, dsn: %q, %s}", dsn, tc.config))
			_, err := retrieve.Build(t.Context(), spec, wordDeps(nil))
			if err == nil || err.Error() != "retriever mine: "+tc.want || !errors.Is(err, retrieve.ErrSpec) {
				t.Errorf("\n got %v\nwant retriever mine: %s", err, tc.want)
			}
		})
	}
}

func TestPGVectorZeroVector(t *testing.T) {
	conn, dsn, table := postgres(t)
	run(t, conn, "CREATE TABLE "+table+" (chunk_id text, embedding vector)")
	run(t, conn, "INSERT INTO "+table+" VALUES ('a', '[0,0]')")
	r := build(t, configured(t, fmt.Sprintf("{kind: pgvector, dsn: %q, table: %s}", dsn, table)), retrieve.Deps{Embedder: fixed{1, 0}})
	_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "x", K: 1})
	if err == nil || !strings.HasSuffix(err.Error(), "a row's distance is NaN: its vector is zero or not finite") {
		t.Errorf("got %v", err)
	}
}

// A query that waits for a lock is given up in time.
func TestPGVectorTimeout(t *testing.T) {
	conn, dsn, table := postgres(t)
	run(t, conn, "CREATE TABLE "+table+" (chunk_id text, embedding vector(2))")
	r := build(t, configured(t, fmt.Sprintf("{kind: pgvector, dsn: %q, table: %s, timeout: 2s}", dsn, table)), retrieve.Deps{Embedder: fixed{1, 0}})
	run(t, conn, "BEGIN")
	run(t, conn, "LOCK TABLE "+table)
	_, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "x", K: 1})
	if err == nil || !strings.HasSuffix(err.Error(), ": no answer in time (2s)") {
		t.Errorf("got %v", err)
	}
	run(t, conn, "ROLLBACK")
	if _, err := r.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "x", K: 1}); err != nil {
		t.Errorf("the next query: %v", err)
	}
}

func TestPGVectorServerDown(t *testing.T) {
	spec := parse(t, "pgvector:postgres://me@127.0.0.1:1/db")
	start := time.Now()
	_, err := retrieve.Build(t.Context(), spec, wordDeps(nil))
	want := "retriever pgvector:postgres://me@127.0.0.1:1/db: pgvector 127.0.0.1/db, table chunks: no server answers: connection refused"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v to say so", took)
	}
}

// A password is refused, and not shown.
func TestPGVectorPasswords(t *testing.T) {
	for text, name := range map[string]string{
		"pgvector:postgres://me:hunter2@h/db":             "pgvector:postgres://me:***@h/db",
		"pgvector:host=h password=hunter2":                "pgvector:host=h password=***",
		"pgvector:postgres://me@h/db?password=hunter2":    "pgvector:postgres://me@h/db?password=***",
		"pgvector:postgres://me@h/db?sslpassword=hunter2": "pgvector:postgres://me@h/db?sslpassword=***",
	} {
		_, err := retrieve.ParseSpec(text, nil)
		want := "retriever " + name + ": dsn: holds a password; put it into PGPASSWORD, PGPASSFILE or password_file"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
