package datasets

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goldgen/goldgen/corpus"
)

// editLine is a line of an edit file as it is written: what people may change of a
// case. When it is read, what a line leaves out stays as it is.
type editLine struct {
	CaseID             string          `json:"case_id"`
	Query              string          `json:"query"`
	QueryType          string          `json:"query_type"`
	Category           string          `json:"category"`
	Language           string          `json:"language"`
	Tags               []string        `json:"tags"`
	Scope              corpus.Scope    `json:"scope"`
	Filters            []corpus.Filter `json:"filters"`
	ExpectedSource     string          `json:"expected_source"`
	AsOf               *time.Time      `json:"as_of"`
	ExpectedAbstention bool            `json:"expected_abstention"`
	ReferenceAnswer    *string         `json:"reference_answer"`
	Status             string          `json:"status"`
	Reason             string          `json:"reason"`
	Evidence           []Evidence      `json:"evidence"`
	Grades             map[string]int  `json:"grades"` // chunk id to a person's grade
}

// Fields of an edit file that are no plain columns of a case.
const (
	fieldID     = "case_id"
	fieldGrades = "grades"
)

// editable are the keys that a line may have.
func editable() []string { return slices.Sorted(maps.Keys(fieldsOf(editLine{}))) }

// WriteEdits writes what may be changed of the cases, one a line, for ReadEdits to
// read again.
func WriteEdits(w io.Writer, cases []Case) error {
	for i := range cases {
		c := cases[i].Canonical()
		line := editLine{
			CaseID: c.ID, Query: c.Query, QueryType: c.QueryType, Category: c.Category, Language: c.Language, Tags: c.Tags,
			Scope: c.Scope, Filters: c.Filters, ExpectedSource: c.ExpectedSource, AsOf: c.AsOf,
			ExpectedAbstention: c.ExpectedAbstention, ReferenceAnswer: c.ReferenceAnswer,
			Status: c.Status, Reason: c.Reason, Evidence: c.Evidence, Grades: c.peoplesGrades(),
		}
		if _, err := w.Write(append(mustJSON(line), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// peoplesGrades are those of the chunks that people judged.
func (c *Case) peoplesGrades() map[string]int {
	out := map[string]int{}
	for _, j := range c.Judgments {
		if j.By == ByHuman && j.Grade != nil {
			out[j.ChunkID] = *j.Grade
		}
	}
	return out
}

// Edit is what a line of an edit file asks for.
type Edit struct {
	CaseID string
	Where  string // file:line
	values fields
}

// ReadEdits reads an edit file; name is how errors call it. They name every bad
// line, up to a limit: broken JSON, a key that cannot be edited or is there twice, a
// case that has another line. The edits of the other lines come with them, so that
// Apply can say what else is wrong.
func ReadEdits(text, name string) ([]Edit, error) {
	var out []Edit
	var errs []error
	seen := map[string]string{}
	for n, line := range lines(strings.TrimPrefix(text, "\ufeff")) {
		if blank(line) {
			continue
		}
		e := Edit{Where: fmt.Sprintf("%s:%d", name, n)}
		if err := e.read(line); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", e.Where, err))
			continue
		}
		if first := seen[e.CaseID]; first != "" {
			errs = append(errs, fmt.Errorf("%s: case %s has a line already: %s", e.Where, printable(e.CaseID), first))
			continue
		}
		seen[e.CaseID] = e.Where
		out = append(out, e)
	}
	if len(out) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s: no edits", name))
	}
	return out, limited(errs)
}

func (e *Edit) read(line string) error {
	if !utf8.ValidString(line) {
		return errors.New("not UTF-8")
	}
	if err := strictJSON([]byte(line), &e.values); err != nil {
		return err
	}
	if key := repeatedKey(line); key != "" {
		return fmt.Errorf("%q is there twice", key)
	}
	keys := editable()
	for _, key := range slices.Sorted(maps.Keys(e.values)) {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("%q cannot be edited; what can: %s", key, strings.Join(keys, ", "))
		}
	}
	if err := json.Unmarshal(e.values[fieldID], &e.CaseID); err != nil || e.CaseID == "" {
		return fmt.Errorf("%s is missing: it says which case is meant", fieldID)
	}
	return nil
}

// repeatedKey finds a key that an object of a line has twice, of which only the
// last would count; "" where there is none. The line is sound JSON.
func repeatedKey(line string) string {
	dec := json.NewDecoder(strings.NewReader(line))
	var open []map[string]bool // keys of the objects around, nil for a list
	key := false               // a key of the innermost object comes next
	for {
		token, err := dec.Token()
		if err != nil {
			return ""
		}
		name, text := token.(string)
		switch {
		case text && key:
			if open[len(open)-1][name] {
				return name
			}
			open[len(open)-1][name], key = true, false
			continue
		case token == json.Delim('{'):
			open = append(open, map[string]bool{})
		case token == json.Delim('['):
			open = append(open, nil)
		case token == json.Delim('}'), token == json.Delim(']'):
			open = open[:len(open)-1]
		}
		key = len(open) > 0 && open[len(open)-1] != nil
	}
}

// get decodes a value that the line has.
func (e *Edit) get(field string, into any) (there bool, err error) {
	raw, ok := e.values[field]
	if !ok {
		return false, nil
	}
	if err := strictJSON(raw, into); err != nil {
		return true, fmt.Errorf("%s: %w", field, err)
	}
	return true, nil
}
