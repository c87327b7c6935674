package corpus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

func day(s string) *time.Time {
	t, err := corpus.ParseTime(s)
	if err != nil {
		panic(err)
	}
	return &t
}

func TestMatch(t *testing.T) {
	c := &corpus.Chunk{
		DocID: "a/b.md", Category: "ops", Language: "en", Unit: corpus.UnitChunk,
		Metadata:  map[string]string{"version": "10", "team": "core"},
		Scope:     corpus.Scope{"tenant": {"x", "y"}, "team": {"core"}},
		ValidFrom: day("2026-01-01"), ValidTo: day("2026-07-01"), UpdatedAt: day("2026-03-01"),
	}
	member := corpus.Scope{"tenant": {"y"}, "team": {"core", "web"}}
	filter := func(field, op string, values ...string) []corpus.Filter {
		return []corpus.Filter{{Field: field, Op: op, Values: values}}
	}
	for name, tc := range map[string]struct {
		scope   corpus.Scope
		filters []corpus.Filter
		asOf    *time.Time
		want    bool
	}{
		"member":                {scope: member, want: true},
		"key missing":           {scope: corpus.Scope{"tenant": {"y"}}},
		"no value shared":       {scope: corpus.Scope{"tenant": {"z"}, "team": {"core"}}},
		"first day":             {scope: member, asOf: day("2026-01-01"), want: true},
		"before":                {scope: member, asOf: day("2025-12-31")},
		"end is outside":        {scope: member, asOf: day("2026-07-01")},
		"eq":                    {scope: member, filters: filter("category", "eq", "ops"), want: true},
		"in":                    {scope: member, filters: filter("team", "in", "web", "core"), want: true},
		"ne":                    {scope: member, filters: filter("doc_id", "ne", "a/b.md")},
		"numbers not strings":   {scope: member, filters: filter("version", "gt", "9"), want: true},
		"eq is exact":           {scope: member, filters: filter("version", "eq", "10.0")},
		"same date":             {scope: member, filters: filter("updated_at", "eq", "2026-03-01"), want: true},
		"strings":               {scope: member, filters: filter("team", "lt", "d"), want: true},
		"dates":                 {scope: member, filters: filter("updated_at", "ge", "2026-03-01T00:00:00Z"), want: true},
		"date below":            {scope: member, filters: filter("updated_at", "lt", "2026-03-01")},
		"missing field eq":      {scope: member, filters: filter("owner", "eq", "")},
		"missing field ne":      {scope: member, filters: filter("owner", "ne", "bob"), want: true},
		"exists":                {scope: member, filters: filter("owner", "exists")},
		"exists false":          {scope: member, filters: filter("owner", "exists", "false"), want: true},
		"unknown op":            {scope: member, filters: filter("team", "like", "core")},
		"all filters must hold": {scope: member, filters: append(filter("team", "eq", "core"), filter("category", "eq", "no")...)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := corpus.Match(c, tc.scope, tc.filters, tc.asOf); got != tc.want {
				t.Errorf("Match is %v", got)
			}
		})
	}
}

func TestValidateFilters(t *testing.T) {
	for name, tc := range map[string]struct {
		filter corpus.Filter
		want   string
	}{
		"op":      {corpus.Filter{Field: "team", Op: "like", Values: []string{"x"}}, `filter team: op "like": want one of eq, in, ne`},
		"field":   {corpus.Filter{Field: "owner", Op: "eq", Values: []string{"x"}}, `unknown field "owner"`},
		"control": {corpus.Filter{Field: "a\x1b", Op: "eq", Values: []string{"x"}}, "not a field name"},
		"count":   {corpus.Filter{Field: "team", Op: "eq"}, "op eq needs one value, not 0"},
		"date":    {corpus.Filter{Field: "valid_to", Op: "lt", Values: []string{"soon"}}, `time "soon"`},
		"exists":  {corpus.Filter{Field: "team", Op: "exists", Values: []string{"maybe"}}, "want true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			err := corpus.ValidateFilters([]corpus.Filter{tc.filter}, []string{"team"})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
