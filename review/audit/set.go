package audit

import (
	"maps"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
)

// SetFigures are of a set's active cases, from what the set itself holds: they need
// no label.
type SetFigures struct {
	Overlap    []Overlap  `json:"overlap"`
	Duplicates Duplicates `json:"duplicates"`
	Calls      Calls      `json:"calls"`
}

// Overlap is how much of the wording of synthetic queries of a type is their
// source's: of a query's content words, the share that its chunk holds.
type Overlap struct {
	QueryType string  `json:"query_type"`
	Cases     int     `json:"cases"`
	Median    float64 `json:"median"`
	Highest   float64 `json:"highest"`
}

// Duplicates are queries that repeat another one of the same scope and as_of.
type Duplicates struct {
	Exact int                  `json:"exact"`
	Near  int                  `json:"near"`
	Cases []generate.Duplicate `json:"cases"`
}

// Calls are model calls, cached ones among them.
type Calls struct {
	Version int      `json:"version"`       // of the process that wrote the version: writing, gates and grades, as far as it did them
	PerKept *float64 `json:"per_kept_case"` // of these; nil where it made none
	Needed  *float64 `json:"needed"`        // mean of what a kept case took to be written and checked, without the rejects before it; nil where none is known
	Spent   *float64 `json:"spent"`         // the same with what the rejects took; nil where that is not known
}

// FiguresOf reads them.
func FiguresOf(set *datasets.Set) SetFigures {
	var active []datasets.Case
	for i := range set.Cases {
		if set.Cases[i].Status == datasets.Active {
			active = append(active, set.Cases[i])
		}
	}
	out := SetFigures{Overlap: overlaps(active), Calls: calls(set, active)}
	out.Duplicates.Cases = generate.Duplicates(active)
	for _, d := range out.Duplicates.Cases {
		if d.Exact {
			out.Duplicates.Exact++
		} else {
			out.Duplicates.Near++
		}
	}
	return out
}

func overlaps(cases []datasets.Case) []Overlap {
	byType := map[string][]float64{}
	for i := range cases {
		if c := &cases[i]; c.Origin == datasets.OriginSynthetic && len(c.Source) > 0 {
			byType[c.QueryType] = append(byType[c.QueryType], c.Difficulty.Overlap)
		}
	}
	out := []Overlap{}
	for _, name := range slices.Sorted(maps.Keys(byType)) {
		values := slices.Sorted(slices.Values(byType[name]))
		out = append(out, Overlap{QueryType: name, Cases: len(values), Median: median(values), Highest: values[len(values)-1]})
	}
	return out
}

// median of ascending values; of an even number, the mean of the two in the middle.
func median(values []float64) float64 {
	n := len(values)
	return datasets.Round((values[(n-1)/2] + values[n/2]) / 2)
}

func calls(set *datasets.Set, active []datasets.Case) Calls {
	c := set.Manifest.Costs
	out := Calls{Version: c.CallsMade + c.CallsCached}
	if len(active) == 0 {
		return out
	}
	if out.Version > 0 {
		out.PerKept = per(out.Version, len(active))
	}
	needed, known := 0, 0
	for i := range active {
		if n := active[i].Provenance.Calls; n > 0 {
			needed, known = needed+n, known+1
		}
	}
	if known > 0 {
		out.Needed = per(needed, known)
		if refused, told := callsOfRejects(set.Rejects); told {
			out.Spent = per(needed+refused, known)
		}
	}
	return out
}

// callsOfRejects sums them. Sets made before rejects kept their calls have none to
// tell.
func callsOfRejects(rejects []datasets.Reject) (n int, told bool) {
	for i := range rejects {
		n += rejects[i].Calls
	}
	return n, n > 0 || len(rejects) == 0
}

func per(calls, cases int) *float64 {
	x := datasets.Round(float64(calls) / float64(cases))
	return &x
}
