package eval

import (
	"fmt"
	"strconv"
	"strings"
)

// Measure is one formula with its parameters. Two measures that differ only in
// Name are the same; Name is how it was asked for and the key of the answer.
type Measure struct {
	Name  string
	kind  kind
	k     int     // 0: the whole ranking
	level int     // relevant from this grade on; 0: Input.MinGrade
	x     float64 // recall level, multiple of R, or persistence
	gains string  // of nDCG: the gain of each grade from 0 on, 0/1/3/7; "" is the grade itself
	where string  // conditions on slices, category=billing,language=en; "" is every case
}

// kind is one formula.
type kind uint8

const (
	recall kind = iota
	precision
	reciprocalRank
	averagePrecision
	ndcg
	ndcgExp
	ndcgRel
	ndcgR
	success
	judged
	unjudged
	rprec
	rprecMultiple
	bpref
	infAP
	rbp
	rbpRest // the residual of rbp
	gmMAP
	gmBpref
	setPrecision
	setRelativePrecision
	setF
	setMAP
	relativePrecision
	interpolated
	elevenPoint
	gain
	binaryGain
	utility
	spanRecall
	spanPrecision
	spanIoU
	staleAbove // hidden: stale results above the current one
	staleCase  // hidden: whether there is any
	numQueries
	numReturned
	numRelevant
	numRelevantReturned
	numNonrelevantReturned
	kinds // how many there are
)

// aggregate says how the cases' values become one.
type aggregate uint8

const (
	mean aggregate = iota
	sum
	geometric // the values are logarithms
)

func (m *Measure) aggregate() aggregate {
	switch m.kind {
	case gmMAP, gmBpref:
		return geometric
	case numQueries, numReturned, numRelevant, numRelevantReturned, numNonrelevantReturned:
		return sum
	}
	return mean
}

// perCase reports whether the measure says something about a single case.
func (m *Measure) perCase() bool { return m.aggregate() != geometric && m.kind != numQueries }

// bounded reports whether every value lies in [0, 1].
func (m *Measure) bounded() bool { return m.aggregate() == mean && m.kind != utility }

// graded reports whether the measure looks at grades themselves rather than
// at relevant or not.
func (m *Measure) graded() bool {
	switch m.kind {
	case ndcg, ndcgExp, ndcgRel, ndcgR, gain:
		return true
	}
	return false
}

// K is the cut, or 0 for the whole ranking.
func (m Measure) K() int { return m.k }

// Canonical is the one name of the formula whatever spelling was asked for:
// precision@5 for P_5 and p@5.
func (m Measure) Canonical() string {
	name := canonicalNames[m.kind]
	if m.kind == recall && m.k == 0 {
		name = "set_recall"
	}
	if m.k > 0 {
		name += "@" + strconv.Itoa(m.k)
	}
	switch m.kind {
	case interpolated, rprecMultiple:
		name += "_" + twoDecimals(m.x)
	}
	if args := m.canonicalArgs(); len(args) > 0 {
		name += "(" + strings.Join(args, ",") + ")"
	}
	return name
}

func (m *Measure) canonicalArgs() []string {
	var args []string
	if takesPersistence(m.kind) {
		args = append(args, "p="+strconv.FormatFloat(m.x, 'g', -1, 64))
	}
	if m.level > 0 {
		args = append(args, "grade>="+strconv.Itoa(m.level))
	}
	if m.gains != "" {
		args = append(args, "gains="+m.gains)
	}
	if m.where != "" {
		args = append(args, m.where)
	}
	return args
}

// twoDecimals writes x as trec_eval does, or in full where that would change
// it.
func twoDecimals(x float64) string {
	short := strconv.FormatFloat(x, 'f', 2, 64)
	if y, err := strconv.ParseFloat(short, 64); err == nil && y == x {
		return short
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

var canonicalNames = [kinds]string{
	recall: "recall", precision: "precision", reciprocalRank: "mrr", averagePrecision: "map",
	ndcg: "ndcg", ndcgExp: "ndcg_exp", ndcgRel: "ndcg_rel", ndcgR: "Rndcg",
	success: "success", judged: "judged", unjudged: "unj",
	rprec: "rprec", rprecMultiple: "Rprec_mult", bpref: "bpref", infAP: "infap", rbp: "rbp", rbpRest: "rbp_residual",
	gmMAP: "gm_map", gmBpref: "gm_bpref",
	setPrecision: "set_P", setRelativePrecision: "set_relative_P", setF: "set_F", setMAP: "set_map",
	relativePrecision: "relative_P", interpolated: "iprec_at_recall", elevenPoint: "11pt_avg",
	gain: "G", binaryGain: "binG", utility: "utility",
	spanRecall: "span_recall", spanPrecision: "span_precision", spanIoU: "span_iou",
	numQueries: "num_q", numReturned: "num_ret", numRelevant: "num_rel",
	numRelevantReturned: "num_rel_ret", numNonrelevantReturned: "num_nonrel_judged_ret",
}

// DefaultMeasures are those shown when none are asked for: recall, precision
// and nDCG at each cut, and MRR and the share judged at the last.
func DefaultMeasures(ks []int) []Measure {
	var out []Measure
	for _, m := range []struct {
		name string
		kind kind
	}{{"recall", recall}, {"precision", precision}, {"ndcg", ndcg}} {
		for _, k := range ks {
			out = append(out, Measure{Name: fmt.Sprintf("%s@%d", m.name, k), kind: m.kind, k: k})
		}
	}
	if len(ks) > 0 {
		k := ks[len(ks)-1]
		out = append(out,
			Measure{Name: fmt.Sprintf("mrr@%d", k), kind: reciprocalRank, k: k},
			Measure{Name: fmt.Sprintf("judged@%d", k), kind: judged, k: k})
	}
	return out
}
