package datasets

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/goldgen/goldgen/internal/parquetfile"
)

// textRow is a row of a Parquet file: the values of its columns, however they are
// nested, in order.
type textRow map[string][]string

// first is the first value of a column, or "".
func (r textRow) first(column string) string {
	if values := r[column]; len(values) > 0 {
		return values[0]
	}
	return ""
}

// textRows reads columns of a Parquet file whose nesting and names of list elements
// differ between writers. A column is the name of a top-level one, or "list.field" for
// a field of a list's elements. Errors name the file.
func textRows(path string, needed, optional []string) iter.Seq2[textRow, error] {
	return func(yield func(textRow, error) bool) {
		f, file, err := parquetfile.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		stopped := errors.New("stopped")
		err = parquetfile.Guard(func() error {
			return eachTextRow(file, needed, optional, func(row textRow) error {
				if !yield(row, nil) {
					return stopped
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(nil, fmt.Errorf("%s: %w", path, err))
		}
	}
}

func eachTextRow(file *parquet.File, needed, optional []string, do func(textRow) error) error {
	columns, err := wantedColumns(file.Schema(), needed, optional)
	if err != nil {
		return err
	}
	reader := parquet.NewReader(file)
	defer reader.Close()
	rows := make([]parquet.Row, 64)
	for {
		n, err := reader.ReadRows(rows)
		for _, values := range rows[:n] {
			row := textRow{}
			for _, v := range values {
				if name, wanted := columns[v.Column()]; wanted && !v.IsNull() {
					row[name] = append(row[name], textOf(v))
				}
			}
			if err := do(row); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func textOf(v parquet.Value) string {
	if v.Kind() == parquet.ByteArray {
		return string(v.ByteArray())
	}
	return v.String()
}

// wantedColumns names the columns of a schema that are wanted, by their index.
func wantedColumns(schema *parquet.Schema, needed, optional []string) (map[int]string, error) {
	columns := map[int]string{}
	found := map[string]bool{}
	for i, path := range schema.Columns() {
		name := path[0]
		if field := name + "." + path[len(path)-1]; slices.Contains(optional, field) || slices.Contains(needed, field) {
			name = field
		}
		if slices.Contains(needed, name) || slices.Contains(optional, name) {
			if found[name] {
				return nil, fmt.Errorf("column %q has several fields", name)
			}
			columns[i], found[name] = name, true
		}
	}
	for _, name := range needed {
		if !found[name] {
			return nil, fmt.Errorf("column %q is missing", name)
		}
	}
	return columns, nil
}

// readHub reads queries.parquet and qrels.parquet as Export writes them; of other
// folders the queries' _id and text are enough.
func (im *importer) readHub(RebaseView) error {
	optional := []string{
		"query_type", "category", "style", "language", "tags", "expected_abstention", "reference_answer", "forbidden", "hard_negatives",
		"evidence.doc_id", "evidence.chunk_id", "evidence.start", "evidence.end", "evidence.quote",
	}
	var topics []Topic
	rows, unanswered := map[string]textRow{}, map[string]bool{}
	for row, err := range textRows(im.options.Queries, []string{"_id", "text"}, optional) {
		if err != nil {
			return fmt.Errorf("queries: %w", err)
		}
		id := row.first("_id")
		topics = append(topics, Topic{id, row.first("text"), len(topics) + 1})
		rows[id], unanswered[id] = row, row.first("expected_abstention") == "true"
	}
	if line, err := checkTopics(topics, false); err != nil {
		return fmt.Errorf("queries %s:%d: %w", im.options.Queries, line, err)
	}
	if err := im.addTopics(topics, unanswered); err != nil {
		return err
	}
	for i := range im.cases {
		if err := rows[im.cases[i].ID].fill(&im.cases[i]); err != nil {
			return fmt.Errorf("queries %s:%d: %w", im.options.Queries, im.lines[i], err)
		}
	}
	return nil
}

// fill completes a case with what the row has besides its query.
func (r textRow) fill(c *Case) error {
	c.QueryType, c.Category, c.Style, c.Language = r.first("query_type"), r.first("category"), r.first("style"), r.first("language")
	c.Tags, c.Forbidden, c.HardNegatives = r["tags"], r["forbidden"], r["hard_negatives"]
	c.ExpectedAbstention = r.first("expected_abstention") == "true"
	if answers := r["reference_answer"]; len(answers) > 0 {
		c.ReferenceAnswer = &answers[0]
	}
	for i, quote := range r["evidence.quote"] {
		e := Evidence{DocID: r.at("evidence.doc_id", i), ChunkID: r.at("evidence.chunk_id", i), Quote: quote}
		var err error
		if e.Start, err = strconv.Atoi(r.at("evidence.start", i)); err == nil {
			e.End, err = strconv.Atoi(r.at("evidence.end", i))
		}
		if err != nil {
			return fmt.Errorf("evidence %d: %w", i, err)
		}
		c.Evidence = append(c.Evidence, e)
	}
	return c.Validate()
}

// at is a value of a column, or "".
func (r textRow) at(column string, i int) string {
	if values := r[column]; i < len(values) {
		return values[i]
	}
	return ""
}
