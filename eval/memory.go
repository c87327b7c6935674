package eval

import (
	"cmp"
	"maps"
	"slices"
)

// Memory is what is said of an agent's memory alone: who it belongs to, what
// has been replaced, and where it came from. A part is nil where no case is
// about it.
type Memory struct {
	Scopes  SliceBy        `json:"scopes"` // by kind of scope, in MemoryScopes' order
	Stale   *StaleHits     `json:"stale"`
	Sources []SourceCounts `json:"sources"`
}

// MemoryScopes are the kinds of scope that memory is kept for.
func MemoryScopes() []string {
	return []string{"session", "user", "project", "repository", "team", "tool"}
}

// StaleHits counts results that held once and do not any more, over the cases
// that have any such chunk labelled. A stale result stands above the current
// one if no relevant result, itself not stale, comes before it. Where labels
// are uncertain, the counts are means over draws.
type StaleHits struct {
	Cases             int     `json:"cases"`
	Returned          int     `json:"returned"`      // stale results
	AboveCurrent      float64 `json:"above_current"` // of these
	CasesAboveCurrent float64 `json:"cases_above_current"`
}

// SourceCounts says which kinds of source were returned first where one kind was
// expected.
type SourceCounts struct {
	Expected string         `json:"expected"`
	Cases    int            `json:"cases"` // that expect it
	First    int            `json:"first"` // whose first result is of the kind
	Found    int            `json:"found"` // with a result of the kind
	Returned map[string]int `json:"returned_first"`
}

// memoryGroups lists the cases of each kind of scope; empty where no case has
// one.
func (s *scores) memoryGroups() []group {
	kinds := MemoryScopes()
	groups := make([]group, len(kinds))
	for _, i := range s.groups[0].cases {
		scope := s.in.Cases[i].about().Scope
		if len(scope) == 0 {
			continue
		}
		for k, kind := range kinds {
			if _, has := scope[kind]; has {
				groups[k].value = k
				groups[k].cases = append(groups[k].cases, i)
			}
		}
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.cases) == 0 })
}

// memory puts the block together; nil where no case is about memory.
func (s *scores) memory() *Memory {
	m := &Memory{Scopes: SliceBy{Name: "scope"}, Stale: s.staleHits(), Sources: s.sourceCounts()}
	for i := range s.memoryOf {
		g := &s.memoryOf[i]
		m.Scopes.Slices = append(m.Scopes.Slices, Slice{Value: MemoryScopes()[g.value], N: s.scoredIn(g), Metrics: s.metricsOf(g)})
	}
	if m.Scopes.Slices == nil && m.Stale == nil && m.Sources == nil {
		return nil
	}
	return m
}

func (s *scores) staleHits() *StaleHits {
	if len(s.prepared.stale) == 0 || s.in.bySpan() {
		return nil
	}
	out := &StaleHits{Cases: len(s.prepared.stale)}
	at := len(s.measures) - 2 // see withHidden
	for _, i := range slices.Sorted(maps.Keys(s.prepared.stale)) {
		out.Returned += len(s.prepared.stale[i])
		if row := s.values.row(i); row[at] == row[at] {
			out.AboveCurrent += row[at]
			out.CasesAboveCurrent += row[at+1]
		}
	}
	return out
}

// addStale finds the ranks of stale results, for the cases that have a chunk
// labelled so.
func (p *prepared) addStale() {
	p.stale = map[int][]int{}
	for i := range p.cases {
		c := &p.cases[i]
		if stale := c.about().Stale; len(stale) > 0 && !c.Abstain {
			p.stale[i] = []int{}
			for n := range int(p.facts[i].results) {
				if slices.Contains(stale, c.Ranking[p.position(i, n)]) {
					p.stale[i] = append(p.stale[i], n)
				}
			}
		}
	}
}

// staleAboveOf counts the stale results above the first one that is relevant
// and not stale.
func staleAboveOf(s *step, v *view) float64 {
	above := 0
	for n, g := range v.gains {
		if slices.Contains(v.stale, n) {
			above++
		} else if g >= s.level {
			break
		}
	}
	return float64(above)
}

func staleCaseOf(s *step, v *view) float64 { return min(1, staleAboveOf(s, v)) }

func (s *scores) sourceCounts() []SourceCounts {
	by := map[string]*SourceCounts{}
	for i := range s.in.Cases {
		c := &s.in.Cases[i]
		expected := c.about().ExpectedSource
		if expected == "" || c.Abstain || (c.Sources == nil && len(c.Ranking) > 0) {
			continue
		}
		if by[expected] == nil {
			by[expected] = &SourceCounts{Expected: expected, Returned: map[string]int{}}
		}
		by[expected].add(c.Sources)
	}
	var out []SourceCounts
	for _, counts := range by {
		out = append(out, *counts)
	}
	slices.SortFunc(out, func(a, b SourceCounts) int { return cmp.Compare(a.Expected, b.Expected) })
	return out
}

func (n *SourceCounts) add(returned []string) {
	n.Cases++
	n.Found += btoi(slices.Contains(returned, n.Expected))
	if len(returned) > 0 {
		n.First += btoi(returned[0] == n.Expected)
		n.Returned[returned[0]]++
	}
}
