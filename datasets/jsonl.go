package datasets

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// jsonlCase is a line of hand-written cases: query and relevant_chunk_ids, and
// any column of a case.
type jsonlCase struct {
	Case
	Relevant []relevantID `json:"relevant_chunk_ids"`

	quoted []Evidence // quotes without a place, which are looked for
}

// relevantID is "id" or {"chunk_id": "id", "grade": 2}.
type relevantID struct {
	ChunkID string `json:"chunk_id"`
	Grade   *int   `json:"grade"`
}

// UnmarshalJSON reads either form.
func (r *relevantID) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &r.ChunkID)
	}
	type plain relevantID
	if err := strictJSON(data, (*plain)(r)); err != nil {
		return fmt.Errorf("relevant_chunk_ids: %w", err)
	}
	if r.ChunkID == "" {
		return errors.New(`relevant_chunk_ids: want "id" or {"chunk_id": "id", "grade": 2}`)
	}
	return nil
}

// strictJSON decodes one value; an unknown key is an error, as a misspelt one
// would lose labels.
func strictJSON(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("%s: want %s, not %s", cmp.Or(strings.TrimPrefix(wrong.Field, "Case."), "line"), jsonKind(wrong.Type), wrong.Value)
		}
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value on the line")
	}
	return nil
}

// jsonKind is what JSON calls the values that a type holds.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Pointer:
		return jsonKind(t.Elem())
	}
	return "a number"
}

// readCases reads hand-written cases. Errors name every bad line, up to a limit.
func (im *importer) readCases(view RebaseView) error {
	text, err := readText(im.options.Queries)
	if err != nil {
		return fmt.Errorf("cases: %w", err)
	}
	return im.addRows(lines(text), view)
}

// addRows takes lines of JSON, with their numbers in the file.
func (im *importer) addRows(lines iter.Seq2[int, string], view RebaseView) error {
	path := im.options.Queries
	var rows []jsonlCase
	var errs []error
	seen := map[string]int{}
	for n, line := range lines {
		if blank(line) {
			continue
		}
		var row jsonlCase
		if err := row.read(line); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", path, n, err))
			continue
		}
		if first, twice := seen[row.ID]; twice {
			errs = append(errs, fmt.Errorf("%s:%d: duplicate case %q, first on line %d", path, n, row.ID, first))
			continue
		}
		seen[row.ID] = n
		rows, im.lines = append(rows, row), append(im.lines, n)
	}
	if len(rows) == 0 && len(errs) == 0 {
		errs = append(errs, fmt.Errorf("%s: no cases", path))
	}
	if err := limited(errs); err != nil {
		return err
	}
	im.report.Queries = len(rows)
	plain, quoted := plainGrade(rows), map[int][]Evidence{}
	for i := range rows {
		im.cases = append(im.cases, rows[i].toCase(plain, filepath.Base(path)))
		if len(rows[i].quoted) > 0 {
			quoted[i] = rows[i].quoted
		}
	}
	return im.placeQuotes(quoted, plain, view)
}

// read decodes and checks one line, and fills what it may leave out.
func (r *jsonlCase) read(line string) error {
	if err := strictJSON([]byte(line), r); err != nil {
		return err
	}
	if r.ID == "" {
		sum := sha256.Sum256(mustJSON([]any{"jsonl", r.Query, r.Scope, r.AsOf}))
		r.ID = hex.EncodeToString(sum[:8])
	}
	if r.Origin == "" {
		r.Origin = OriginImported
	}
	if r.Status == "" {
		r.Status = Active
	}
	for i := range r.Judgments {
		if r.Judgments[i].Inclusion == 0 {
			r.Judgments[i].Inclusion = 1
		}
	}
	r.addSourceJudgments()
	r.splitQuotes()
	return r.check()
}

// splitQuotes takes quotes that say no place out of the evidence.
func (r *jsonlCase) splitQuotes() {
	placed := []Evidence{}
	for _, e := range r.Evidence {
		if e.Quote != "" && e.Start == 0 && e.End == 0 {
			r.quoted = append(r.quoted, e)
		} else {
			placed = append(placed, e)
		}
	}
	r.Evidence = placed
}

// addSourceJudgments gives each source chunk the judgment that every set has.
func (r *jsonlCase) addSourceJudgments() {
	for _, id := range r.Source {
		if !slices.ContainsFunc(r.Judgments, func(j Judgment) bool { return j.ChunkID == id && j.By == BySynthetic }) {
			r.Judgments = append(r.Judgments, SourceJudgment(id, ""))
		}
	}
}

// check refuses a case that contradicts itself.
func (r *jsonlCase) check() error {
	if err := r.Validate(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, j := range r.Judgments {
		if j.By == ByHuman {
			seen[j.ChunkID] = true
		}
	}
	for _, id := range r.Relevant {
		switch {
		case id.Grade != nil && (*id.Grade < 0 || *id.Grade > 3):
			return fmt.Errorf("relevant_chunk_ids: %q has grade %d; want 0 to 3", id.ChunkID, *id.Grade)
		case seen[id.ChunkID]:
			return fmt.Errorf("relevant_chunk_ids: %q is judged twice", id.ChunkID)
		case r.ExpectedAbstention && (id.Grade == nil || *id.Grade > 0):
			return fmt.Errorf("expected_abstention is true, but %q is relevant", id.ChunkID)
		}
		seen[id.ChunkID] = true
	}
	return nil
}

// plainGrade is the grade of an id that stands without one: 1 in a file whose
// grades are 0 and 1 or that has none, 3 beside higher ones.
func plainGrade(rows []jsonlCase) int {
	for i := range rows {
		for _, id := range rows[i].Relevant {
			if id.Grade != nil && *id.Grade > 1 {
				return 3
			}
		}
		for _, j := range rows[i].Judgments {
			if j.By == ByHuman && j.Grade != nil && *j.Grade > 1 {
				return 3
			}
		}
	}
	return 1
}

func (r *jsonlCase) toCase(plain int, file string) Case {
	c := r.Case
	if c.Provenance.Generator == "" {
		c.Provenance.Generator = file
	}
	for _, id := range r.Relevant {
		grade := plain
		if id.Grade != nil {
			grade = *id.Grade
		}
		c.Judgments = append(c.Judgments, humanJudgment(id.ChunkID, grade, file))
	}
	return c
}
