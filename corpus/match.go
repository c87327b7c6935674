package corpus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Ops are the operators of a Filter.
func Ops() []string { return []string{"eq", "in", "ne", "lt", "le", "gt", "ge", "exists"} }

// Validate reports an unknown operator, an empty field, or a number of values
// that the operator cannot use, naming field and value.
func (f Filter) Validate() error {
	if f.Field == "" || strings.ContainsFunc(f.Field, isControl) {
		return fmt.Errorf("filter: field %q: not a field name", f.Field)
	}
	if !slices.Contains(Ops(), f.Op) {
		return fmt.Errorf("filter %s: op %q: want one of %s", f.Field, f.Op, strings.Join(Ops(), ", "))
	}
	if err := f.checkCount(); err != nil {
		return err
	}
	if !isDateField(f.Field) || f.Op == "exists" {
		return nil
	}
	for _, v := range f.Values {
		if _, err := ParseTime(v); err != nil {
			return fmt.Errorf("filter %s: %w", f.Field, err)
		}
	}
	return nil
}

func (f Filter) checkCount() error {
	switch n := len(f.Values); {
	case f.Op == "in" && n == 0:
		return fmt.Errorf("filter %s: op in needs at least one value", f.Field)
	case f.Op == "exists" && n > 1:
		return fmt.Errorf("filter %s: op exists takes one value (true or false) or none, not %d", f.Field, n)
	case f.Op == "exists" && n == 1 && f.Values[0] != "true" && f.Values[0] != "false":
		return fmt.Errorf("filter %s: op exists: value %q: want true or false", f.Field, f.Values[0])
	case f.Op != "in" && f.Op != "exists" && n != 1:
		return fmt.Errorf("filter %s: op %s needs one value, not %d", f.Field, f.Op, n)
	}
	return nil
}

// ValidateFilters validates each filter. fields, when not nil, are the metadata
// keys of the corpus: a filter on a field outside the fixed ones and these is
// an error, since it could match nothing.
func ValidateFilters(filters []Filter, fields []string) error {
	for _, f := range filters {
		if err := f.Validate(); err != nil {
			return err
		}
		if fields != nil && !slices.Contains(fixedFields(), f.Field) && !slices.Contains(fields, f.Field) {
			return fmt.Errorf("filter: unknown field %q: want one of %s",
				f.Field, strings.Join(append(fixedFields(), fields...), ", "))
		}
	}
	return nil
}

func fixedFields() []string {
	return []string{"category", "language", "unit", "doc_id", "updated_at", "valid_from", "valid_to"}
}

func isDateField(field string) bool {
	return field == "updated_at" || field == "valid_from" || field == "valid_to"
}

// Match reports whether an asker with scope may and would see the chunk: the
// chunk's scope is visible, it is valid at asOf (nil asks for no date), and
// every filter holds. Filters must be valid; an invalid one matches nothing.
func Match(c *Chunk, scope Scope, filters []Filter, asOf *time.Time) bool {
	if !c.Scope.Visible(scope) || (asOf != nil && !ValidAt(c.ValidFrom, c.ValidTo, *asOf)) {
		return false
	}
	for i := range filters {
		if !filters[i].Holds(c) {
			return false
		}
	}
	return true
}

// Holds applies one filter. A chunk without the field satisfies only ne and
// exists=false. eq, in and ne compare dates as dates and all else exactly:
// version 1.10 is not 1.1.
func (f *Filter) Holds(c *Chunk) bool {
	if f.checkCount() != nil {
		return false
	}
	value, ok := c.field(f.Field)
	if f.Op == "exists" {
		return ok == (len(f.Values) == 0 || f.Values[0] == "true")
	}
	if !ok {
		return f.Op == "ne"
	}
	switch f.Op {
	case "in":
		return slices.ContainsFunc(f.Values, func(v string) bool { return sameValue(f.Field, value, v) })
	case "eq":
		return sameValue(f.Field, value, f.Values[0])
	case "ne":
		return !sameValue(f.Field, value, f.Values[0])
	}
	return f.ordered(compareValues(f.Field, value, f.Values[0]))
}

func (f *Filter) ordered(cmp int) bool {
	switch f.Op {
	case "lt":
		return cmp < 0
	case "le":
		return cmp <= 0
	case "gt":
		return cmp > 0
	case "ge":
		return cmp >= 0
	}
	return false
}

func sameValue(field, a, b string) bool {
	return a == b || isDateField(field) && compareValues(field, a, b) == 0
}

// field returns the value that filters see; false means that it is not set.
func (c *Chunk) field(name string) (string, bool) {
	switch name {
	case "category":
		return c.Category, c.Category != ""
	case "language":
		return c.Language, c.Language != ""
	case "unit":
		return c.Unit, c.Unit != ""
	case "doc_id":
		return c.DocID, true
	case "updated_at":
		return timeField(c.UpdatedAt)
	case "valid_from":
		return timeField(c.ValidFrom)
	case "valid_to":
		return timeField(c.ValidTo)
	}
	v, ok := c.Metadata[name]
	return v, ok
}

func timeField(t *time.Time) (string, bool) {
	if t == nil {
		return "", false
	}
	return t.UTC().Format(time.RFC3339Nano), true
}

// compareValues orders a and b as times in date fields, as numbers when both
// are numbers, else as strings.
func compareValues(field, a, b string) int {
	if isDateField(field) {
		ta, errA := ParseTime(a)
		tb, errB := ParseTime(b)
		if errA == nil && errB == nil {
			return ta.Compare(tb)
		}
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX != nil || errY != nil || x != x || y != y:
		return strings.Compare(a, b)
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// ParseTime reads RFC 3339 times, dates (midnight UTC), and date-times with a
// space or without a zone (UTC).
func ParseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01", "2006"} {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("time %q: want a date such as 2026-01-31 or RFC 3339", s)
}

func isControl(r rune) bool { return r < 0x20 || (r >= 0x7f && r < 0xa0) || r == 0x2028 || r == 0x2029 }
