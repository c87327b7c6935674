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

// ShiftFor are the shift variances that hold for a set with such cases: of several
// kinds of queries the greatest of each measure, for slices and single gates may
// look at those of one kind alone. Where none was measured with the set's kind,
// they are what there is.
func (p *Profile) ShiftFor(cases []datasets.Case) []ShiftVariance {
	kinds := kindsOf(cases)
	if out := greatestShift(p.Shift, kinds); len(out) > 0 {
		return out
	}
	return greatestShift(p.Shift, map[string]bool{QueriesHuman: true, QueriesSynthetic: true})
}

func greatestShift(shift []ShiftVariance, kinds map[string]bool) []ShiftVariance {
	var out []ShiftVariance
	for _, v := range shift {
		if !kinds[v.kind()] {
			continue
		}
		if i := sameMeasure(out, v); i < 0 {
			out = append(out, v)
		} else if out[i].Variance < v.Variance {
			out[i] = v
		}
	}
	return out
}

// sameMeasure is where the shift variance of v's measure and source mode is, or -1.
func sameMeasure(shift []ShiftVariance, v ShiftVariance) int {
	for i := range shift {
		if shift[i].Metric == v.Metric && shift[i].Source == v.Source {
			return i
		}
	}
	return -1
}

// ScaleModelShift scales what a label model brings to shift variances. Of one for
// synthetic queries that is as much as there is for people's (all, where that is
// not known); the rest comes with the queries, and neither labels nor a better
// model change it.
func ScaleModelShift(shift []ShiftVariance, factor float64) []ShiftVariance {
	human := greatestShift(shift, map[string]bool{QueriesHuman: true})
	out := make([]ShiftVariance, len(shift))
	for i, v := range shift {
		queries := 0.0
		if at := sameMeasure(human, v); at >= 0 {
			queries = max(0, v.Variance-human[at].Variance)
		}
		v.Variance = math.Round((queries+float64((v.Variance-queries)*factor))*1e8) / 1e8
		out[i] = v
	}
	return out
}
