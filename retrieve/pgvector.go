package retrieve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	pgxvector "github.com/pgvector/pgvector-go/pgx"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/dbaddress"
	"github.com/goldgen/goldgen/internal/httpretry"
)

// PGVectorConfig says which table of a PostgreSQL with pgvector is searched and
// how its columns are called. Fields and Scope map what a query names to a
// column, or to COLUMN.KEY in a jsonb column. A field that is not named is the
// column called like it, else a key of the jsonb column `metadata`. Scope
// without an entry is the jsonb column `scope`, a list of values for each key;
// the key `*` names another one. What has no column is not restricted.
type PGVectorConfig struct {
	DSN           string            `yaml:"dsn"`           // without a password: PGPASSWORD, PGPASSFILE or PasswordFile has it
	PasswordFile  string            `yaml:"password_file"` //
	Table         string            `yaml:"table"`         // may be SCHEMA.TABLE
	ChunkID       string            `yaml:"chunk_id"`      // column, "" where hits are spans
	DocID         string            `yaml:"doc_id"`        // column, with Start and End
	Start         string            `yaml:"start"`         // column, byte offset
	End           string            `yaml:"end"`           // column, exclusive
	Vector        string            `yaml:"vector"`        // column of type vector or halfvec
	Distance      string            `yaml:"distance"`      // cosine, l2, inner_product or l1
	Model         string            `yaml:"model"`         // that made the vectors
	Fields        map[string]string `yaml:"fields"`
	Scope         map[string]string `yaml:"scope"`
	EfSearch      int               `yaml:"ef_search"`      // hnsw.ef_search, 0 the server's
	Probes        int               `yaml:"probes"`         // ivfflat.probes, 0 the server's
	IterativeScan string            `yaml:"iterative_scan"` // hnsw.iterative_scan: off, strict_order, relaxed_order
	Exact         bool              `yaml:"exact"`          // no index scan
	CallConfig    `yaml:",inline"`
}

// DefaultPGVector searches chunks.embedding by cosine.
func DefaultPGVector() PGVectorConfig {
	return PGVectorConfig{
		Table: "chunks", ChunkID: "chunk_id", Vector: "embedding", Distance: "cosine", CallConfig: DefaultCalls(),
	}
}

// distances are pgvector's operators.
func distances() map[string]string {
	return map[string]string{"cosine": "<=>", "l2": "<->", "inner_product": "<#>", "l1": "<+>"}
}

// Validate names the field that is wrong. It never shows a password.
func (c PGVectorConfig) Validate() error {
	if err := dbaddress.CheckPostgres(c.DSN); err != nil {
		return err
	}
	operators := distances()
	switch {
	case operators[c.Distance] == "":
		return fmt.Errorf("distance: %q, valid are %s", c.Distance, strings.Join(slices.Sorted(maps.Keys(operators)), ", "))
	case c.Table == "" || c.Vector == "":
		return errors.New("table, vector: one is empty")
	case c.ChunkID == "" && (c.DocID == "" || c.Start == "" || c.End == ""):
		return errors.New("chunk_id: empty, and not all of doc_id, start, end are set")
	case c.EfSearch < 0 || c.Probes < 0:
		return errors.New("ef_search, probes: want 0 or more")
	case !slices.Contains([]string{"", "off", "strict_order", "relaxed_order"}, c.IterativeScan):
		return fmt.Errorf("iterative_scan: %q, valid are off, strict_order, relaxed_order", c.IterativeScan)
	}
	return c.CallConfig.Validate()
}

func (PGVectorConfig) argument() string { return "DSN" }

func (c *PGVectorConfig) take(arg string) error { c.DSN = arg; return nil }

func (c PGVectorConfig) settings() map[string]string {
	s := map[string]string{
		"dsn": c.DSN, "table": c.Table, "chunk_id": c.ChunkID, "doc_id": c.DocID, "start": c.Start, "end": c.End,
		"vector": c.Vector, "distance": c.Distance, "model": c.Model, "exact": strconv.FormatBool(c.Exact),
		"ef_search": strconv.Itoa(c.EfSearch), "probes": strconv.Itoa(c.Probes), "iterative_scan": c.IterativeScan,
	}
	addMap(s, "field.", c.Fields)
	addMap(s, "scope.", c.Scope)
	return s
}

// addMap adds a mapping to a description.
func addMap(settings map[string]string, prefix string, m map[string]string) {
	for k, v := range m {
		settings[prefix+k] = v
	}
}

func (c PGVectorConfig) build(ctx context.Context, b *Builder) (Retriever, error) {
	if err := b.checkEmbedder(c.Model, 0); err != nil {
		return nil, err
	}
	if c.PasswordFile != "" {
		c.PasswordFile = b.path(c.PasswordFile)
	}
	fields, err := b.fields(ctx)
	if err != nil {
		return nil, err
	}
	r, err := NewPGVector(ctx, c, b.deps.Embedder, fields)
	if err != nil {
		return nil, err
	}
	if err := b.checkEmbedder("", r.table.dim); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// PGVector searches a table of a PostgreSQL with pgvector.
type PGVector struct {
	*gate
	config   PGVectorConfig
	pool     *pgxpool.Pool
	name     string // host and database, for errors
	table    *pgTable
	embedder QueryEmbedder
	fields   []string // of the corpus; nil where that is not known
	beside   *closers
}

// NewPGVector connects and looks at the table: a server that is down, a table
// or column that is missing is said at once. fields are the metadata keys that
// filters may name beside those configured, nil for any.
func NewPGVector(ctx context.Context, c PGVectorConfig, embedder QueryEmbedder, fields []string) (*PGVector, error) {
	if err := c.Validate(); err != nil {
		return nil, wrong("pgvector: %w", err)
	}
	config, err := c.poolConfig()
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("pgvector: %w", err)
	}
	cc := config.ConnConfig
	r := &PGVector{gate: newGate(c.CallConfig), config: c, pool: pool, name: cc.Host + "/" + cc.Database, embedder: embedder, fields: fields, beside: &closers{}}
	err = r.within(ctx, func(ctx context.Context) error {
		r.table, err = lookAtTable(ctx, pool, c)
		return err
	})
	if err != nil {
		pool.Close()
		return nil, r.explain(ctx, err)
	}
	if r.fields != nil {
		r.fields = slices.Concat(slices.Collect(maps.Keys(c.Fields)), sortedKeys(r.table.columns), r.fields)
	}
	return r, nil
}

// poolConfig prepares connections that only read.
func (c PGVectorConfig) poolConfig() (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(c.DSN)
	if err != nil {
		return nil, wrong("pgvector: dsn: %w", errors.Unwrap(err))
	}
	if c.PasswordFile != "" {
		password, err := os.ReadFile(c.PasswordFile)
		if err != nil {
			return nil, wrong("pgvector: password_file: %w", err)
		}
		config.ConnConfig.Password = strings.TrimSpace(string(password))
	}
	config.MaxConns = int32(c.Concurrency)
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if err := pgxvector.RegisterTypes(ctx, conn); err != nil {
			return fmt.Errorf("the database has no extension vector: %w", err)
		}
		for name, value := range c.session() {
			if _, err := conn.Exec(ctx, "SELECT set_config($1, $2, false)", name, value); err != nil {
				return err
			}
		}
		return nil
	}
	return config, nil
}

// session are the settings of each connection.
func (c PGVectorConfig) session() map[string]string {
	s := map[string]string{
		"default_transaction_read_only": "on", "statement_timeout": strconv.FormatInt(c.Timeout.Milliseconds(), 10),
		"application_name": "goldgen",
	}
	if c.EfSearch > 0 {
		s["hnsw.ef_search"] = strconv.Itoa(c.EfSearch)
	}
	if c.Probes > 0 {
		s["ivfflat.probes"] = strconv.Itoa(c.Probes)
	}
	if c.IterativeScan != "" {
		s["hnsw.iterative_scan"] = c.IterativeScan
	}
	if c.Exact {
		for _, scan := range []string{"enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"} {
			s[scan] = "off"
		}
	}
	return s
}

// Close ends the connections, those of exact searches included.
func (r *PGVector) Close() error {
	r.pool.Close()
	r.beside.close()
	return nil
}

// Exact returns a retriever over the same table that compares with every
// vector; false if this one does. It has connections of its own, as their
// settings differ.
func (r *PGVector) Exact() (Retriever, bool) {
	if r.config.Exact {
		return nil, false
	}
	config := r.config
	config.Exact = true
	settings, err := config.poolConfig()
	if err != nil {
		return nil, false
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), settings) // connects with the first query
	if err != nil {
		return nil, false
	}
	r.beside.add(pool.Close)
	exact := *r
	exact.config, exact.gate, exact.pool = config, newGate(config.CallConfig), pool
	return sharing{&exact}, true
}

// Retrieve implements Retriever. The server's order is the ranking; ties of an
// exact search are in the order of ids. A query of white space alone has no
// hits.
func (r *PGVector) Retrieve(ctx context.Context, q Query) (Result, error) {
	return r.ask(ctx, q, func(ctx context.Context) ([]Hit, error) {
		if err := corpus.ValidateFilters(q.Filters, r.fields); err != nil {
			return nil, err
		}
		if isBlank(q.Text) {
			return []Hit{}, nil
		}
		vector, err := embedQuery(ctx, r.embedder, q.Text)
		if err != nil {
			return nil, err
		}
		if r.table.dim > 0 && len(vector) != r.table.dim {
			return nil, fmt.Errorf("its vector has %d dimensions, the table's have %d", len(vector), r.table.dim)
		}
		query, err := r.table.query(r.config, q, vector)
		if err != nil {
			return nil, err
		}
		hits, err := retrying(ctx, r.calls(), pgAgain, func() (hits []Hit, err error) {
			err = r.within(ctx, func(ctx context.Context) error {
				hits, err = r.search(ctx, query)
				return err
			})
			return hits, err
		})
		if err != nil {
			return nil, r.explain(ctx, err)
		}
		return hits, nil
	})
}

func (r *PGVector) search(ctx context.Context, query pgQuery) ([]Hit, error) {
	rows, err := r.pool.Query(ctx, query.text, query.args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Hit, error) {
		var chunk, doc *string
		var start, end *int
		var distance float64
		if err := row.Scan(&chunk, &doc, &start, &end, &distance); err != nil {
			return Hit{}, err
		}
		return query.hit(chunk, doc, start, end, distance)
	})
}

// hit is a row as a hit. A chunk's id wins over a span.
func (query pgQuery) hit(chunk, doc *string, start, end *int, distance float64) (Hit, error) {
	if math.IsNaN(distance) || math.IsInf(distance, 0) {
		return Hit{}, fmt.Errorf("a row's distance is %v: its vector is zero or not finite", distance)
	}
	h := Hit{Score: query.score(distance)}
	switch {
	case chunk != nil:
		h.ChunkID = *chunk
	case doc == nil || start == nil || end == nil:
		return Hit{}, errors.New("a row has neither id nor span")
	default:
		h.DocID, h.Start, h.End = *doc, *start, *end
	}
	return h, answerHit{ChunkID: h.ChunkID, DocID: h.DocID, Start: h.Start, End: h.End, Score: &h.Score}.check()
}

// pgAgain reports an error that another attempt may not meet.
func pgAgain(err error) (time.Duration, bool) {
	if pgconn.SafeToRetry(err) {
		return 0, true
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	return 0, ok && slices.Contains([]string{"40001", "40P01", "53300", "57P01", "57P02", "57P03"}, e.Code)
}

// statementTimeout is the server's own word for a query that took too long.
const statementTimeout = "57014"

// explain names the server in an error.
func (r *PGVector) explain(ctx context.Context, err error) error {
	e, isServers := errors.AsType[*pgconn.PgError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case isServers && e.Code == statementTimeout:
		err = errTimeout
	case isServers:
		err = fmt.Errorf("%s (SQLSTATE %s)", e.Message, e.Code)
	case httpretry.DialFailed(err):
		err = downFor(err)
	}
	return fmt.Errorf("pgvector %s, table %s: %w", r.name, r.config.Table, err)
}
