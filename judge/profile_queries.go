package judge

import (
	"math"

	"github.com/goldgen/goldgen/datasets"
)

// Kinds of queries that a shift variance was measured with. Synthetic ones stand
// for people's: what they have in common that people's do not is an error of their
// own, whatever labels them.
const (
	QueriesHuman     = "human"
	QueriesSynthetic = "synthetic"
)

// ShiftBasis is a collection with people's queries and judgments, and queries that
// a model wrote over it, which shift variances were measured with.
type ShiftBasis struct {
	Collection string   `json:"collection"`
	Human      int      `json:"human"`     // queries
	Synthetic  int      `json:"synthetic"` // queries
	Models     []string `json:"models"`    // that wrote these
	Prompts    []string `json:"prompts"`   // that they were written with
	Digest     string   `json:"digest"`    // of the synthetic queries: sha256 of each id, a tab, the query and a line feed
}

// kind is whose queries the shift variance holds for. Profiles of versions that
// did not say were measured with people's.
func (v ShiftVariance) kind() string {
	if v.Queries == "" {
		return QueriesHuman
	}
	return v.Queries
}

// kindsOf are the kinds of the queries of cases that are not retired. Who wrote an imported one is not
// known: it counts as of both kinds.
func kindsOf(cases []datasets.Case) map[string]bool {
	kinds := map[string]bool{}
	for i := range cases {
		c := &cases[i]
		switch {
		case c.Status == datasets.Retired:
		case c.Origin == datasets.OriginSynthetic:
			kinds[QueriesSynthetic] = true
		case c.Origin == datasets.OriginHuman, c.Origin == datasets.OriginLog:
			kinds[QueriesHuman] = true
		default:
			kinds[QueriesHuman], kinds[QueriesSynthetic] = true, true
		}
	}
	return kinds
}

// ShiftFor are the shift variances that hold for a set with such cases, of each
// kind of its queries. Where none was measured with them, they are what there is.
func (p *Profile) ShiftFor(cases []datasets.Case) []ShiftVariance {
	kinds := kindsOf(cases)
	var out []ShiftVariance
	for _, v := range p.Shift {
		if kinds[v.kind()] {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return p.Shift
	}
	return out
}

// ScaleModelShift scales what a label model brings to shift variances. What else
// there is comes with synthetic queries, and neither labels nor a better model
// change it.
func ScaleModelShift(shift []ShiftVariance, factor float64) []ShiftVariance {
	out := make([]ShiftVariance, len(shift))
	for i, v := range shift {
		if v.kind() == QueriesSynthetic {
			queries := v.Variance - v.Model
			v.Model = roundedShift(v.Model * factor)
			v.Variance = roundedShift(queries + v.Model)
		} else {
			v.Variance = roundedShift(v.Variance * factor)
		}
		out[i] = v
	}
	return out
}

func roundedShift(variance float64) float64 { return math.Round(variance*1e8) / 1e8 }
