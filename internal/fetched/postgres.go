package fetched

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/pgvector/pgvector-go"
	pgxvector "github.com/pgvector/pgvector-go/pgx"
)

// connectTime bounds how long a server that does not answer is waited for.
const connectTime = 10 * time.Second

var ordered = regexp.MustCompile(`(?is)\border\s+by\b`)

// statement is the query, in the order of its first column where it says none: the
// order of rows that nobody asked for is another one each time.
func (c Config) statement() string {
	query := strings.TrimRight(strings.TrimSpace(c.Query), "; \n\t")
	if ordered.MatchString(query) {
		return query
	}
	return "SELECT * FROM (" + query + "\n) AS corpus ORDER BY 1"
}

// connect opens a connection that only reads. Nothing is asked a second time.
func (c Config) connect(ctx context.Context, s *Store) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(c.DSN)
	if err != nil {
		return nil, errors.New("postgres: dsn: no address of a database") // the library's error may hold it
	}
	if c.PasswordFile != "" {
		path := c.PasswordFile
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Dir, path)
		}
		password, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("postgres: password_file: %w", err)
		}
		config.Password = strings.TrimSpace(string(password))
	}
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["application_name"] = "goldgen"
	config.ConnectTimeout = connectTime
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, plainPostgres(net.JoinHostPort(config.Host, fmt.Sprint(config.Port))+"/"+config.Database, err)
	}
	if err := pgxvector.RegisterTypes(ctx, conn); err != nil && !strings.Contains(err.Error(), "vector type not found") {
		return nil, errors.Join(plainPostgres(config.Host, err), conn.Close(ctx))
	}
	return conn, nil
}

// plainPostgres says what a server answers, without the connection's settings.
func plainPostgres(where string, err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		return fmt.Errorf("postgres %s: %s (SQLSTATE %s)", where, answer.Message, answer.Code)
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return fmt.Errorf("postgres %s: %w", where, op)
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return fmt.Errorf("postgres %s: %w", where, connect.Unwrap())
	}
	return fmt.Errorf("postgres %s: %w", where, err)
}

// selectRows writes the rows as they stand at one moment.
func (c Config) selectRows(ctx context.Context, s *Store, out *lines) error {
	conn, err := c.connect(ctx, s)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	where := conn.Config().Host + "/" + conn.Config().Database
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return plainPostgres(where, err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx))
	rows, err := tx.Query(ctx, c.statement())
	if err != nil {
		return plainPostgres(where, err)
	}
	defer rows.Close()
	for n := 1; rows.Next(); n++ {
		row, err := rowOf(rows)
		if err == nil {
			err = out.add(row)
		}
		if err != nil {
			return fmt.Errorf("postgres %s: row %d: %w", where, n, err)
		}
	}
	if err := rows.Err(); err != nil {
		return plainPostgres(where, err)
	}
	return nil
}

// rowOf is a row by column. NULL is a field that is not there.
func rowOf(rows pgx.Rows) (map[string]any, error) {
	values, err := rows.Values()
	if err != nil {
		return nil, err
	}
	row := make(map[string]any, len(values))
	for i, f := range rows.FieldDescriptions() {
		v, err := plainValue(values[i])
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		if _, twice := row[f.Name]; twice {
			return nil, fmt.Errorf("column %s: is there twice; name one of them otherwise, as in %s AS other", f.Name, f.Name)
		}
		if v != nil {
			row[f.Name] = v
		}
	}
	return row, nil
}

// plainValue is a value as JSON has it.
func plainValue(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, int16, int32, int64, map[string]any, []any:
		return v, nil
	case float32:
		return plainValue(float64(v))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v is no number in JSON", v)
		}
		return v, nil
	case time.Time:
		return v.UTC(), nil
	case [16]byte:
		return uuid.UUID(v).String(), nil
	case pgvector.Vector:
		return v.Slice(), nil
	case pgvector.HalfVector:
		return v.Slice(), nil
	case pgtype.InfinityModifier:
		return nil, errors.New("an infinite time; leave it out with nullif")
	case json.Marshaler:
		return v, nil
	}
	return nil, errors.New("its type has no form in JSON; cast it, as in column::text")
}

// probePostgres has the server look at the query.
func (c Config) probePostgres(ctx context.Context, s *Store) error {
	conn, err := c.connect(ctx, s)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Prepare(ctx, "corpus", c.statement()); err != nil {
		return plainPostgres(conn.Config().Host+"/"+conn.Config().Database, err)
	}
	return nil
}
