package corpus

import (
	"maps"
	"slices"
	"strings"
)

// ScopeCount says how many records name a key of scope, and how many do not: the
// key keeps nobody from seeing those.
type ScopeCount struct {
	With    int `json:"with"`
	Without int `json:"without"`
}

// scopeCounter counts records by the keys of their scope. Records are documents,
// or the rows of a chunk table.
type scopeCounter struct {
	records int
	with    map[string]int
}

// newScopeCounter begins with the keys that fields maps, which each record is
// then expected to have.
func newScopeCounter(fields map[string]string) *scopeCounter {
	c := &scopeCounter{with: map[string]int{}}
	for field := range fields {
		if key, ok := strings.CutPrefix(field, "scope."); ok {
			c.with[key] = 0
		}
	}
	return c
}

func (c *scopeCounter) add(s Scope) {
	c.records++
	for key := range s {
		c.with[key]++
	}
}

func (c *scopeCounter) counts() map[string]ScopeCount {
	out := make(map[string]ScopeCount, len(c.with))
	for key, n := range c.with {
		out[key] = ScopeCount{With: n, Without: c.records - n}
	}
	return out
}

// OpenKeys lists, sorted, the keys of scope that some records do not name.
func (m *Manifest) OpenKeys() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.Scopes)), func(key string) bool { return m.Scopes[key].Without == 0 })
}
