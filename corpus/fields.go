package corpus

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// attributes are what documents and chunks share beside id and text.
type attributes struct {
	Title     string            `json:"title,omitempty"`
	Category  string            `json:"category,omitempty"`
	Language  string            `json:"language,omitempty"`
	Source    string            `json:"source,omitempty"`
	Unit      string            `json:"unit,omitempty"`
	Scope     Scope             `json:"scope,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
	UpdatedAt *time.Time        `json:"updated_at,omitempty"`
	ValidFrom *time.Time        `json:"valid_from,omitempty"`
	ValidTo   *time.Time        `json:"valid_to,omitempty"`
}

// mapping reads our fields from records with other names.
type mapping map[string]string

// take removes and returns the value of one of our fields: under its mapped
// name alone when there is a mapping, else under the first of names.
func (m mapping) take(fields map[string]any, names ...string) (any, bool) {
	if theirs, ok := m[names[0]]; ok {
		return takePath(fields, theirs)
	}
	for _, name := range names {
		if v, ok := fields[name]; ok {
			delete(fields, name)
			return v, v != nil
		}
	}
	return nil, false
}

// takePath follows a dotted path into nested records. A field whose own name
// has dots wins.
func takePath(fields map[string]any, path string) (any, bool) {
	if v, ok := fields[path]; ok {
		delete(fields, path)
		return v, v != nil
	}
	head, rest, nested := strings.Cut(path, ".")
	inner, ok := fields[head].(map[string]any)
	if !nested || !ok {
		return nil, false
	}
	return takePath(inner, rest)
}

// text takes a field that must be a string, or a scalar rendered as one.
func (m mapping) text(fields map[string]any, names ...string) (string, error) {
	v, ok := m.take(fields, names...)
	if !ok {
		return "", nil
	}
	switch v.(type) {
	case []any, map[string]any:
		return "", fmt.Errorf("field %q: want a string, not %s", m.name(names[0]), render(v))
	}
	return render(v), nil
}

func (m mapping) name(ours string) string {
	if theirs, ok := m[ours]; ok {
		return theirs
	}
	return ours
}

// attributes takes all shared fields; what is left over becomes metadata.
func (m mapping) attributes(fields map[string]any) (a attributes, err error) {
	for _, f := range []struct {
		to    *string
		names []string
	}{
		{&a.Title, []string{"title"}}, {&a.Category, []string{"category"}},
		{&a.Language, []string{"language", "lang"}}, {&a.Source, []string{"source"}}, {&a.Unit, []string{"unit"}},
	} {
		if *f.to, err = m.text(fields, f.names...); err != nil {
			return a, err
		}
	}
	for _, f := range []struct {
		to   **time.Time
		name string
	}{{&a.UpdatedAt, "updated_at"}, {&a.ValidFrom, "valid_from"}, {&a.ValidTo, "valid_to"}} {
		if *f.to, err = m.time(fields, f.name); err != nil {
			return a, err
		}
	}
	if err := m.checkValidity(a); err != nil {
		return a, err
	}
	if a.Scope, err = m.scope(fields); err != nil {
		return a, err
	}
	if a.Metadata, err = m.metadata(fields); err != nil {
		return a, err
	}
	return a, checkUnit(a.Unit)
}

// checkValidity refuses a record that is valid on no day.
func (m mapping) checkValidity(a attributes) error {
	if a.ValidFrom == nil || a.ValidTo == nil || a.ValidFrom.Before(*a.ValidTo) {
		return nil
	}
	return fmt.Errorf("field %q: %s is not after %s %s: such a record is never valid", m.name("valid_to"),
		a.ValidTo.Format(time.RFC3339), m.name("valid_from"), a.ValidFrom.Format(time.RFC3339))
}

func (m mapping) time(fields map[string]any, name string) (*time.Time, error) {
	v, ok := m.take(fields, name)
	if !ok {
		return nil, nil
	}
	switch v := v.(type) {
	case time.Time:
		t := v.UTC()
		return &t, nil
	case string:
		if strings.TrimSpace(v) == "" {
			return nil, nil
		}
		t, err := ParseTime(v)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", m.name(name), err)
		}
		return &t, nil
	}
	if n, ok := number(v); ok && n >= minUnix {
		t := fromUnix(n)
		return &t, nil
	}
	return nil, fmt.Errorf("field %q: want a date, not %s", m.name(name), render(v))
}

// Bounds of times given as a number since 1970. A smaller number of seconds is
// no time but a year, say; from maxUnix on it is in milliseconds.
const (
	minUnix = 1e8  // 1973
	maxUnix = 1e11 // 5138
)

// fromUnix reads a number of seconds or milliseconds since 1970.
func fromUnix(n float64) time.Time {
	if n < maxUnix {
		n *= 1000
	}
	return time.UnixMilli(int64(n)).UTC()
}

// scope reads a map from key to a value or a list of values. Fields named
// scope.<key>, as path patterns give them, count too.
func (m mapping) scope(fields map[string]any) (Scope, error) {
	scope := Scope{}
	for key, v := range fields {
		if name, ok := strings.CutPrefix(key, "scope."); ok {
			scope[name] = values(v)
			delete(fields, key)
		}
	}
	for name, v := range m.below("scope.", fields) {
		if list := values(v); len(list) > 0 {
			scope[name] = list
		}
	}
	v, ok := m.take(fields, "scope")
	if !ok {
		return nonEmpty(scope), nil
	}
	given, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("field %q: want a map from key to values, such as {team: [a, b]}, not %s", m.name("scope"), render(v))
	}
	for key, v := range given {
		if list := values(v); len(list) > 0 {
			scope[key] = list
		}
	}
	return nonEmpty(scope), nil
}

// below takes the fields that are mapped to keys of one of our maps, such as
// scope.team.
func (m mapping) below(prefix string, fields map[string]any) map[string]any {
	out := map[string]any{}
	for ours, theirs := range m {
		name, ok := strings.CutPrefix(ours, prefix)
		if !ok {
			continue
		}
		if v, ok := takePath(fields, theirs); ok {
			out[name] = v
		}
	}
	return out
}

func nonEmpty(s Scope) Scope {
	if len(s) == 0 {
		return nil
	}
	return s
}

// values is a value or a list of values as sorted, distinct strings.
func values(v any) []string {
	var list []string
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		for _, item := range v {
			list = append(list, render(item))
		}
	default:
		list = []string{render(v)}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// metadata joins the metadata map with the fields that nothing else took.
func (m mapping) metadata(fields map[string]any) (map[string]string, error) {
	v, ok := m.take(fields, "metadata")
	given, isMap := v.(map[string]any)
	if ok && !isMap {
		return nil, fmt.Errorf("field %q: want a map, not %s", m.name("metadata"), render(v))
	}
	named := m.below("metadata.", fields)
	all := maps.Clone(fields)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, named)
	maps.Copy(all, given)
	out := map[string]string{}
	for key, v := range all {
		if inner, ok := v.(map[string]any); v != nil && (!ok || len(inner) > 0) {
			out[key] = render(v)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// render is a value as text: strings as they are, dates as dates, others as JSON.
func render(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case time.Time:
		if u := v.UTC(); u.Equal(u.Truncate(24 * time.Hour)) {
			return u.Format(time.DateOnly)
		}
		return v.UTC().Format(time.RFC3339Nano)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}
