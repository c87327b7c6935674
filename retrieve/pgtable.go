package retrieve

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pgvector/pgvector-go"

	"github.com/goldgen/goldgen/corpus"
)

// pgTable is what the catalogue says of a table.
type pgTable struct {
	columns map[string]string // name to type, as format_type spells it
	dim     int               // of the vectors, 0 where the column takes any
}

// lookAtTable reads the table's columns and checks those that are configured.
func lookAtTable(ctx context.Context, pool *pgxpool.Pool, c PGVectorConfig) (*pgTable, error) {
	rows, err := pool.Query(ctx, `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
		WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`, quoted(c.Table))
	if err != nil {
		return nil, err
	}
	t := &pgTable{columns: map[string]string{}}
	var name, kind string
	if _, err := pgx.ForEachRow(rows, []any{&name, &kind}, func() error { t.columns[name] = kind; return nil }); err != nil {
		return nil, err
	}
	if len(t.columns) == 0 {
		return nil, wrong("no such table")
	}
	for _, column := range []string{c.ChunkID, c.DocID, c.Start, c.End, c.Vector} {
		if _, ok := t.columns[column]; column != "" && !ok {
			return nil, wrong("no column %s", column)
		}
	}
	for field, at := range merged(c.Fields, c.Scope) {
		if column, _, _ := strings.Cut(at, "."); t.columns[column] == "" {
			return nil, wrong("%s: no column %s", field, column)
		}
	}
	return t, t.readVectorType(c.Vector)
}

func merged(a, b map[string]string) map[string]string {
	m := map[string]string{}
	addMap(m, "fields: ", a)
	addMap(m, "scope: ", b)
	return m
}

var vectorType = regexp.MustCompile(`^(?:\w+\.)?(vector|halfvec)(?:\((\d+)\))?$`)

// readVectorType notes the dimensions of the vector column.
func (t *pgTable) readVectorType(column string) error {
	m := vectorType.FindStringSubmatch(t.columns[column])
	if m == nil {
		return wrong("column %s is of type %s, want vector or halfvec", column, t.columns[column])
	}
	t.dim, _ = strconv.Atoi(m[2]) // digits or nothing
	return nil
}

// quoted is an identifier, schema and table apart, for SQL.
func quoted(name string) string { return pgx.Identifier(strings.Split(name, ".")).Sanitize() }

// pgQuery is a search as SQL.
type pgQuery struct {
	text  string
	args  []any
	score func(distance float64) float64
}

// arg adds an argument and returns its placeholder.
func (q *pgQuery) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args))
}

// query writes the search: what the query may see, nearest first.
func (t *pgTable) query(c PGVectorConfig, q Query, vector []float32) (pgQuery, error) {
	s := pgQuery{score: scoreOf(c.Distance)}
	distance := quoted(c.Vector) + " " + distances()[c.Distance] + " " + s.arg(t.vectorValue(c.Vector, vector))
	where := []string{quoted(c.Vector) + " IS NOT NULL"}
	where = append(where, t.scope(&s, c, q.Scope)...)
	for _, f := range q.Filters {
		condition, err := t.filter(&s, c, f)
		if err != nil {
			return s, err
		}
		where = append(where, condition)
	}
	if q.AsOf != nil {
		where = append(where, t.valid(&s, c, *q.AsOf)...)
	}
	order := distance
	if c.Exact && c.ChunkID != "" {
		order += ", " + quoted(c.ChunkID)
	}
	s.text = fmt.Sprintf("SELECT %s, %s, %s, %s, %s FROM %s WHERE %s ORDER BY %s LIMIT %s",
		textColumn(c.ChunkID), textColumn(c.DocID), intColumn(c.Start), intColumn(c.End), distance,
		quoted(c.Table), strings.Join(where, " AND "), order, s.arg(q.K))
	return s, nil
}

// scoreOf turns a distance into a score that is higher for better hits.
func scoreOf(distance string) func(float64) float64 {
	if distance == "cosine" {
		return func(d float64) float64 { return 1 - d }
	}
	return func(d float64) float64 { return 0 - d }
}

func (t *pgTable) vectorValue(column string, v []float32) any {
	if strings.Contains(t.columns[column], "halfvec") {
		return pgvector.NewHalfVector(v)
	}
	return pgvector.NewVector(v)
}

func textColumn(name string) string {
	if name == "" {
		return "NULL::text"
	}
	return quoted(name) + "::text"
}

func intColumn(name string) string {
	if name == "" {
		return "NULL::int"
	}
	return quoted(name) + "::int"
}

// pgOperand is where a field's value stands in a row.
type pgOperand struct {
	sql  string
	kind string // type of the column; text for a key of a jsonb one
}

// operand finds a field; false where the table has nothing for it.
func (t *pgTable) operand(s *pgQuery, c PGVectorConfig, field string) (pgOperand, bool) {
	at, ok := c.Fields[field]
	if !ok {
		switch {
		case t.columns[field] != "":
			at = field
		case t.columns["metadata"] == "jsonb":
			at = "metadata." + field
		default:
			return pgOperand{}, false
		}
	}
	column, key, isKey := strings.Cut(at, ".")
	if isKey {
		return pgOperand{fmt.Sprintf("(%s ->> %s::text)", pgx.Identifier{column}.Sanitize(), s.arg(key)), "text"}, true
	}
	return pgOperand{pgx.Identifier{column}.Sanitize(), t.columns[column]}, true
}

// filter is a filter as a condition.
func (t *pgTable) filter(s *pgQuery, c PGVectorConfig, f corpus.Filter) (string, error) {
	o, ok := t.operand(s, c, f.Field)
	if !ok {
		return "", fmt.Errorf("filter %s: the table has no such column; name it in fields", f.Field)
	}
	if f.Op == "exists" {
		if len(f.Values) == 0 || f.Values[0] == "true" {
			return o.sql + " IS NOT NULL", nil
		}
		return o.sql + " IS NULL", nil
	}
	var condition string
	var err error
	switch {
	case o.isTime() || isDate(f.Field):
		condition, err = o.compareTimes(s, f)
	case o.isNumber():
		condition, err = o.compareNumbers(s, f)
	default:
		condition = o.compareTexts(s, f)
	}
	if err != nil {
		return "", fmt.Errorf("filter %s: %w", f.Field, err)
	}
	if f.Op == "ne" {
		return fmt.Sprintf("(%s) IS NOT TRUE", condition), nil
	}
	return condition, nil
}

// isDate reports a field whose values are dates.
func isDate(field string) bool {
	return slices.Contains([]string{"updated_at", "valid_from", "valid_to"}, field)
}

func (o pgOperand) isTime() bool { return strings.HasPrefix(o.kind, "timestamp") || o.kind == "date" }

func (o pgOperand) isNumber() bool {
	return slices.Contains([]string{"smallint", "integer", "bigint", "real", "double precision"}, o.kind) || strings.HasPrefix(o.kind, "numeric")
}

// compareTimes compares moments; eq and ne share the condition of in.
func (o pgOperand) compareTimes(s *pgQuery, f corpus.Filter) (string, error) {
	times := make([]time.Time, len(f.Values))
	for i, v := range f.Values {
		var err error
		if times[i], err = corpus.ParseTime(v); err != nil {
			return "", err
		}
	}
	if op := ordering(f.Op); op != "" {
		return fmt.Sprintf("%s::timestamptz %s %s::timestamptz", o.sql, op, s.arg(times[0])), nil
	}
	return fmt.Sprintf("%s::timestamptz = ANY(%s::timestamptz[])", o.sql, s.arg(times)), nil
}

func (o pgOperand) compareNumbers(s *pgQuery, f corpus.Filter) (string, error) {
	for _, v := range f.Values {
		if !numeric.MatchString(v) {
			return "", fmt.Errorf("value %q: the column holds numbers", v)
		}
	}
	if op := ordering(f.Op); op != "" {
		return fmt.Sprintf("%s %s %s::text::numeric", o.sql, op, s.arg(f.Values[0])), nil
	}
	return fmt.Sprintf("%s = ANY(%s::text[]::numeric[])", o.sql, s.arg(f.Values)), nil
}

var numeric = regexp.MustCompile(`^[+-]?\d+(\.\d+)?$`)

// compareTexts compares texts exactly and orders them as numbers where both
// are, else by their bytes. Of a list, one value is enough.
func (o pgOperand) compareTexts(s *pgQuery, f corpus.Filter) string {
	op := ordering(f.Op)
	switch {
	case op == "" && strings.HasSuffix(o.kind, "[]"):
		return fmt.Sprintf("%s::text[] && %s::text[]", o.sql, s.arg(f.Values))
	case op == "":
		return fmt.Sprintf("%s::text = ANY(%s::text[])", o.sql, s.arg(f.Values))
	}
	value := s.arg(f.Values[0])
	bytewise := fmt.Sprintf(`%s::text COLLATE "C" %s %s::text`, o.sql, op, value)
	if !numeric.MatchString(f.Values[0]) {
		return bytewise
	}
	return fmt.Sprintf(`CASE WHEN %s::text ~ '^[+-]?[0-9]+([.][0-9]+)?$' THEN %s::text::numeric %s %s::text::numeric ELSE %s END`,
		o.sql, o.sql, op, value, bytewise)
}

// ordering is the SQL of an operator that orders, "" for one that does not.
func ordering(op string) string {
	return map[string]string{"lt": "<", "le": "<=", "gt": ">", "ge": ">="}[op]
}

// valid restricts to what is valid at a moment, as far as the table says.
func (t *pgTable) valid(s *pgQuery, c PGVectorConfig, at time.Time) []string {
	var where []string
	for _, bound := range [][2]string{{"valid_from", "<="}, {"valid_to", ">"}} {
		if o, ok := t.operand(s, c, bound[0]); ok {
			where = append(where, fmt.Sprintf("(%s IS NULL OR %s::timestamptz %s %s::timestamptz)", o.sql, o.sql, bound[1], s.arg(at)))
		}
	}
	return where
}

// scope restricts to what an asker with scope may see, as far as the table
// says: for each key that a row has, the asker shares a value.
func (t *pgTable) scope(s *pgQuery, c PGVectorConfig, scope corpus.Scope) []string {
	places := c.Scope
	if len(places) == 0 && t.columns["scope"] == "jsonb" {
		places = map[string]string{wholeScope: "scope"}
	}
	var where []string
	for _, key := range sortedKeys(places) {
		column, path, isPath := strings.Cut(places[key], ".")
		name := pgx.Identifier{column}.Sanitize()
		switch {
		case key == wholeScope:
			where = append(where, wholeScopeVisible(s, name, scope))
		case isPath:
			name = fmt.Sprintf("(%s -> %s::text)", name, s.arg(path))
			where = append(where, fmt.Sprintf("(%s IS NULL OR %s ?| %s::text[])", name, name, s.arg(valuesOf(scope, key))))
		case t.columns[column] == "jsonb":
			where = append(where, fmt.Sprintf("(%s IS NULL OR %s ?| %s::text[])", name, name, s.arg(valuesOf(scope, key))))
		case strings.HasSuffix(t.columns[column], "[]"):
			where = append(where, fmt.Sprintf("(%s IS NULL OR %s::text[] && %s::text[])", name, name, s.arg(valuesOf(scope, key))))
		default:
			where = append(where, fmt.Sprintf("(%s IS NULL OR %s::text = ANY(%s::text[]))", name, name, s.arg(valuesOf(scope, key))))
		}
	}
	return where
}

// wholeScope is the key of Scope that stands for all keys.
const wholeScope = "*"

// wholeScopeVisible compares a jsonb column that holds a row's whole scope.
func wholeScopeVisible(s *pgQuery, column string, scope corpus.Scope) string {
	held, err := json.Marshal(scope)
	if err != nil || scope == nil {
		held = []byte("{}")
	}
	return fmt.Sprintf(`NOT EXISTS (SELECT FROM jsonb_each(%s) AS k WHERE NOT EXISTS (
		SELECT FROM jsonb_array_elements_text(k.value) AS v WHERE %s::text::jsonb -> k.key ? v))`, column, s.arg(string(held)))
}

// valuesOf is what an asker holds for a key, never nil: nil would be NULL.
func valuesOf(scope corpus.Scope, key string) []string { return append([]string{}, scope[key]...) }
