package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/goldgen/goldgen/internal/distinct"
	"github.com/goldgen/goldgen/internal/parquetfile"
	"github.com/goldgen/goldgen/internal/plaintext"
)

// Qrels are people's judgments of a collection, by topic. Grades are as the
// file has them: trec_eval takes a negative one for "not in the pool".
type Qrels struct {
	Topics []TopicQrels // in the order in which the file first names them
	Rows   int          // rows read
	Folded int          // rows that repeat an earlier one with the same grade
}

// TopicQrels are the judgments of one topic, sorted by chunk id in byte order,
// each id once.
type TopicQrels struct {
	ID   string
	Rows []Qrel
}

// Qrel is one judgment. ChunkID is the file's own id, which in a collection may
// be a document's. Line is its line in the file, or row from 1.
type Qrel struct {
	ChunkID string
	Grade   int32
	Line    int32
}

// Grade looks an id up; ok is false when it was not judged.
func (t *TopicQrels) Grade(id string) (grade int, ok bool) {
	i, ok := slices.BinarySearchFunc(t.Rows, id, func(q Qrel, id string) int { return strings.Compare(q.ChunkID, id) })
	if !ok {
		return 0, false
	}
	return int(t.Rows[i].Grade), true
}

// ReadQrels reads TREC qrels, four columns (topic, ignored, id, grade) split by
// white space, with lines that begin with # as comments; a .parquet file with
// the columns query_id, chunk_id and grade, or query-id, corpus-id and score; or, recognised by a first line that
// begins with query-id, BEIR's three columns split by tabs. The same id twice
// in a topic with another grade is an error. Errors name file and line.
func ReadQrels(path string) (*Qrels, error) {
	var b qrelsBuilder
	if err := b.readFile(path); err != nil {
		return nil, fmt.Errorf("qrels: %w", err)
	}
	q, err := b.finish()
	if err != nil {
		return nil, fmt.Errorf("qrels %s: %w", path, err)
	}
	return q, nil
}

// qrelsBuilder gathers rows in the file's order and then by topic. Ids share
// the memory of the file's text, so that a row costs 28 bytes.
type qrelsBuilder struct {
	rows  []Qrel
	topic []int32 // of each row, its number in names
	names distinct.Names
}

func (b *qrelsBuilder) add(topic, id string, grade, line int) {
	b.topic = append(b.topic, b.names.Add(topic))
	b.rows = append(b.rows, Qrel{id, int32(grade), int32(line)})
}

// finish gives each topic its rows, sorts them and folds repeats.
func (b *qrelsBuilder) finish() (*Qrels, error) {
	if len(b.rows) == 0 {
		return nil, errors.New("no judgments")
	}
	qrels := &Qrels{Topics: b.distribute(), Rows: len(b.rows)}
	for i := range qrels.Topics {
		t := &qrels.Topics[i]
		byID := func(a, b Qrel) int { return strings.Compare(a.ChunkID, b.ChunkID) }
		if !slices.IsSortedFunc(t.Rows, byID) {
			slices.SortStableFunc(t.Rows, byID)
		}
		kept := t.Rows[:0]
		for _, q := range t.Rows {
			if n := len(kept); n == 0 || kept[n-1].ChunkID != q.ChunkID {
				kept = append(kept, q)
			} else if first := kept[n-1]; first.Grade != q.Grade {
				return nil, fmt.Errorf("line %d: topic %q, id %q has grade %d, but %d on line %d",
					q.Line, t.ID, q.ChunkID, q.Grade, first.Grade, first.Line)
			} else {
				qrels.Folded++
			}
		}
		t.Rows = kept
	}
	return qrels, nil
}

// distribute makes the topics' rows parts of one array, in the file's order
// within a topic.
func (b *qrelsBuilder) distribute() []TopicQrels {
	b.names.Settle(b.topic)
	names := b.names.List()
	ends := make([]int, len(names))
	for _, t := range b.topic {
		ends[t]++
	}
	from := 0
	for t := range ends {
		ends[t] += from
		from = ends[t]
	}
	if !slices.IsSorted(b.topic) {
		sorted := make([]Qrel, len(b.rows))
		for i, t := range slices.Backward(b.topic) {
			ends[t]--
			sorted[ends[t]] = b.rows[i]
		}
		b.rows = sorted
		copy(ends, ends[1:])
		ends[len(ends)-1] = len(sorted)
	}
	topics := make([]TopicQrels, len(names))
	from = 0
	for t, end := range ends {
		topics[t] = TopicQrels{ID: names[t], Rows: b.rows[from:end:end]}
		from = end
	}
	return topics
}

// readFile adds the rows of a file in whichever form; errors begin with its path.
func (b *qrelsBuilder) readFile(path string) error {
	if strings.HasSuffix(path, ".parquet") {
		return b.parquet(path)
	}
	text, err := readText(path)
	if err != nil {
		return err
	}
	parse := trecQrel
	beir := strings.HasPrefix(text, "query-id")
	if beir {
		parse = beirQrel
	}
	for n, line := range lines(text) {
		if blank(line) || line[0] == '#' || (beir && n == 1) {
			continue
		}
		topic, id, grade, err := parse(line)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		b.add(topic, id, grade, n)
	}
	return nil
}

func trecQrel(line string) (topic, id string, grade int, err error) {
	topic, rest := nextField(line)
	_, rest = nextField(rest)
	id, rest = nextField(rest)
	last, rest := nextField(rest)
	if last == "" || !blank(rest) {
		return "", "", 0, fmt.Errorf("%d columns where topic, iteration, id and grade are wanted", len(strings.Fields(line)))
	}
	grade, err = parseGrade(last)
	return topic, id, grade, err
}

func beirQrel(line string) (topic, id string, grade int, err error) {
	columns := strings.Split(line, "\t")
	if len(columns) != 3 || columns[0] == "" || columns[1] == "" {
		return "", "", 0, fmt.Errorf("want query-id, corpus-id and score with tabs between them, got %d columns", len(columns))
	}
	grade, err = parseGrade(columns[2])
	return columns[0], columns[1], grade, err
}

func parseGrade(s string) (int, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("grade %q is not a whole number", s)
	}
	return int(n), nil
}

// nextField cuts the first run of non-blank bytes off.
func nextField(s string) (field, rest string) {
	start := 0
	for start < len(s) && isBlank(s[start]) {
		start++
	}
	end := start
	for end < len(s) && !isBlank(s[end]) {
		end++
	}
	return s[start:end], s[end:]
}

func isBlank(b byte) bool { return b == ' ' || (b >= '\t' && b <= '\r') }

func blank(s string) bool {
	field, _ := nextField(s)
	return field == ""
}

// qrelRow and qrelRow32 are what Parquet qrels may look like: writers choose
// between the two widths, and mark columns optional.
type qrelRow struct {
	QueryID string `parquet:"query_id"`
	ChunkID string `parquet:"chunk_id"`
	Grade   int64  `parquet:"grade"`
}

type qrelRow32 struct {
	QueryID string `parquet:"query_id"`
	ChunkID string `parquet:"chunk_id"`
	Grade   int32  `parquet:"grade"`
}

func (b *qrelsBuilder) parquet(path string) error {
	f, file, err := parquetfile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := parquetfile.Guard(func() error { return b.columns(file) }); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// hubQrel32 is hubQrel with a narrow score.
type hubQrel32 struct {
	QueryID  string `parquet:"query-id"`
	CorpusID string `parquet:"corpus-id"`
	Score    int32  `parquet:"score"`
}

// qrelColumns are the names of the columns of query, chunk and grade.
func qrelColumns(file *parquet.File) (names [3]string, want *parquet.Schema) {
	names, want = [3]string{"query_id", "chunk_id", "grade"}, parquet.SchemaOf(qrelRow{})
	narrow := parquet.SchemaOf(qrelRow32{})
	if _, hub := file.Schema().Lookup("query-id"); hub {
		names, want, narrow = [3]string{"query-id", "corpus-id", "score"}, parquet.SchemaOf(hubQrel{}), parquet.SchemaOf(hubQrel32{})
	}
	if column, ok := file.Schema().Lookup(names[2]); ok && column.Node.Type().Kind() == parquet.Int32 {
		want = narrow
	}
	return names, want
}

// columns reads column after column, which takes a fraction of the time of
// rows of structs.
func (b *qrelsBuilder) columns(file *parquet.File) error {
	names, want := qrelColumns(file)
	if err := parquetfile.CheckTypes(file.Schema(), want); err != nil {
		return err
	}
	size := min(file.NumRows(), 1<<21) // a damaged footer may promise anything
	b.rows, b.topic = make([]Qrel, 0, size), make([]int32, 0, size)
	err := parquetfile.Strings(file, names[0], func(topic string) { b.topic = append(b.topic, b.names.Add(topic)) })
	if err != nil {
		return err
	}
	err = parquetfile.Strings(file, names[1], func(id string) {
		b.rows = append(b.rows, Qrel{ChunkID: id, Line: int32(len(b.rows) + 1)})
	})
	if err != nil {
		return err
	}
	n := 0
	var wide error
	err = parquetfile.Ints(file, names[2], func(grade int64) {
		b.rows[n].Grade = int32(grade)
		n++
		if int64(int32(grade)) != grade && wide == nil {
			wide = fmt.Errorf("row %d: grade %d is out of range", n, grade)
		}
	})
	return cmp.Or(err, wide)
}

// readText reads a file as one string of valid UTF-8 without a byte order mark.
// Its errors begin with the path.
func readText(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b strings.Builder
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		b.Grow(int(info.Size()))
	}
	if _, err := io.Copy(&b, f); err != nil {
		return "", err
	}
	text := strings.TrimPrefix(b.String(), "\ufeff")
	if other := plaintext.Encoding([]byte(text[:min(len(text), 1<<10)])); other != "" {
		return "", fmt.Errorf("%s: %s", path, other)
	}
	if utf8.ValidString(text) {
		return text, nil
	}
	for n, line := range lines(text) {
		if !utf8.ValidString(line) {
			return "", fmt.Errorf("%s:%d: not UTF-8", path, n)
		}
	}
	return "", fmt.Errorf("%s: not UTF-8", path)
}

// lines yields a text's lines with their numbers from 1, without line ends.
func lines(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for n := 1; text != ""; n++ {
			line, rest, _ := strings.Cut(text, "\n")
			if !yield(n, strings.TrimSuffix(line, "\r")) {
				return
			}
			text = rest
		}
	}
}
