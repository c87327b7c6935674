package retrievetest

import (
	"slices"
	"strings"
	"time"

	"github.com/qdrant/go-client/qdrant"
)

// passes applies a filter to a payload.
func passes(payload map[string]any, f *qdrant.Filter) bool {
	holds := func(c *qdrant.Condition) bool { return conditionHolds(payload, c) }
	switch {
	case f == nil:
		return true
	case slices.ContainsFunc(f.GetMust(), func(c *qdrant.Condition) bool { return !holds(c) }):
		return false
	case slices.ContainsFunc(f.GetMustNot(), holds):
		return false
	}
	return len(f.GetShould()) == 0 || slices.ContainsFunc(f.GetShould(), holds)
}

func conditionHolds(payload map[string]any, c *qdrant.Condition) bool {
	if inner := c.GetFilter(); inner != nil {
		return passes(payload, inner)
	}
	if empty := c.GetIsEmpty(); empty != nil {
		return len(valuesAt(payload, empty.GetKey())) == 0
	}
	field := c.GetField()
	return field != nil && slices.ContainsFunc(valuesAt(payload, field.GetKey()), func(v any) bool { return fieldHolds(field, v) })
}

// valuesAt are the values at a path: the elements of a list, or the value; a
// missing key, null and an empty list have none.
func valuesAt(v any, path string) []any {
	for _, key := range splitPath(path) {
		fields, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = fields[key]
	}
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

// splitPath cuts a path at its dots, but not within quotes.
func splitPath(path string) []string {
	var keys []string
	for path != "" {
		if quoted, ok := strings.CutPrefix(path, `"`); ok {
			key, rest, _ := strings.Cut(quoted, `"`)
			keys, path = append(keys, key), strings.TrimPrefix(rest, ".")
			continue
		}
		key, rest, _ := strings.Cut(path, ".")
		keys, path = append(keys, key), rest
	}
	return keys
}

func fieldHolds(f *qdrant.FieldCondition, v any) bool {
	switch {
	case f.GetMatch() != nil:
		return matches(f.GetMatch(), v)
	case f.GetRange() != nil:
		x, ok := v.(float64)
		if n, whole := v.(int64); whole {
			x, ok = float64(n), true
		}
		r := f.GetRange()
		return ok && (r.Lt == nil || x < *r.Lt) && (r.Lte == nil || x <= *r.Lte) && (r.Gt == nil || x > *r.Gt) && (r.Gte == nil || x >= *r.Gte)
	case f.GetDatetimeRange() != nil:
		text, _ := v.(string)
		at, err := time.Parse(time.RFC3339Nano, text)
		return err == nil && within(f.GetDatetimeRange(), at)
	}
	return false
}

func matches(m *qdrant.Match, v any) bool {
	switch v := v.(type) {
	case string:
		return slices.Contains(m.GetKeywords().GetStrings(), v)
	case int64:
		return slices.Contains(m.GetIntegers().GetIntegers(), v)
	}
	return false
}

func within(r *qdrant.DatetimeRange, at time.Time) bool {
	return (r.Lt == nil || at.Before(r.Lt.AsTime())) && (r.Lte == nil || !at.After(r.Lte.AsTime())) &&
		(r.Gt == nil || at.After(r.Gt.AsTime())) && (r.Gte == nil || !at.Before(r.Gte.AsTime()))
}
