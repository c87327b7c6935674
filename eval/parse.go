package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxCut is the deepest rank that a measure is cut at.
const MaxCut = 1_000_000

const (
	maxGrade    = 1000
	persistence = 0.8 // of rbp, unless p is given
)

// cut says whether a name goes with a cut.
type cut uint8

const (
	noCut cut = iota
	mayCut
	mustCut
)

// spelling is one name that a formula can be asked for under.
type spelling struct {
	name string
	kind kind
	cut  cut
}

// ownNames are goldgen's: name@k, in any case.
var ownNames = []spelling{
	{"recall", recall, mustCut}, {"r", recall, mustCut},
	{"precision", precision, mustCut}, {"p", precision, mustCut},
	{"mrr", reciprocalRank, mayCut}, {"rr", reciprocalRank, mayCut},
	{"map", averagePrecision, mayCut}, {"ap", averagePrecision, mayCut},
	{"ndcg", ndcg, mayCut}, {"ndcg_exp", ndcgExp, mayCut},
	{"success", success, mustCut}, {"hit", success, mustCut},
	{"judged", judged, mustCut},
	{"rprec", rprec, noCut}, {"bpref", bpref, noCut}, {"infap", infAP, noCut}, {"rbp", rbp, noCut}, {"rbp_residual", rbpRest, noCut},
	{"gm_map", gmMAP, noCut},
	{"span_recall", spanRecall, mayCut}, {"span_precision", spanPrecision, mayCut}, {"span_iou", spanIoU, mayCut},
}

// trecNames are trec_eval's that stand alone, in its own case.
var trecNames = []spelling{
	{"map", averagePrecision, noCut}, {"gm_map", gmMAP, noCut}, {"recip_rank", reciprocalRank, noCut},
	{"Rprec", rprec, noCut}, {"bpref", bpref, noCut}, {"gm_bpref", gmBpref, noCut}, {"infAP", infAP, noCut},
	{"ndcg", ndcg, noCut}, {"ndcg_rel", ndcgRel, noCut}, {"Rndcg", ndcgR, noCut},
	{"G", gain, noCut}, {"binG", binaryGain, noCut}, {"11pt_avg", elevenPoint, noCut},
	{"set_P", setPrecision, noCut}, {"set_recall", recall, noCut}, {"set_F", setF, noCut},
	{"set_map", setMAP, noCut}, {"set_relative_P", setRelativePrecision, noCut}, {"utility", utility, noCut},
	{"num_q", numQueries, noCut}, {"num_ret", numReturned, noCut}, {"num_rel", numRelevant, noCut},
	{"num_rel_ret", numRelevantReturned, noCut}, {"num_nonrel_judged_ret", numNonrelevantReturned, noCut},
}

// trecCuts are trec_eval's with a rank after the underscore.
var trecCuts = []spelling{
	{"P_", precision, mustCut}, {"recall_", recall, mustCut}, {"map_cut_", averagePrecision, mustCut},
	{"ndcg_cut_", ndcg, mustCut}, {"success_", success, mustCut}, {"relative_P_", relativePrecision, mustCut},
	{"unj_", unjudged, mustCut},
}

// trecLevels are trec_eval's with a number after the underscore that is no
// rank.
var trecLevels = []spelling{{"iprec_at_recall_", interpolated, noCut}, {"Rprec_mult_", rprecMultiple, noCut}}

// MeasureError says what is wrong with a measure's name and where.
type MeasureError struct {
	Name string
	At   int // byte offset in Name
	Why  string
	Near []string // names that look alike, best first
}

func (e *MeasureError) Error() string {
	return "measure " + pointed(e.Name, e.At, e.Why, e.Near)
}

// Caret shows the name with a mark under the character that is wrong.
func (e *MeasureError) Caret() string {
	return caret(e.Name, e.At)
}

// ParseMeasures reads a list; commas outside parentheses separate the names. A
// name asked for twice is an error, as it would be one key.
func ParseMeasures(list string) ([]Measure, error) {
	var out []Measure
	for _, name := range splitList(list) {
		m, err := ParseMeasure(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o Measure) bool { return o.Name == m.Name }) {
			return nil, &MeasureError{Name: m.Name, Why: "asked for twice"}
		}
		out = append(out, m)
	}
	return out, nil
}

// splitList splits at the commas that stand outside of parentheses and quotes.
func splitList(list string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '(':
			depth++
		case ')':
			depth--
		case '"':
			i += quoted(list[i:]) - 1
		case ',':
			if depth == 0 {
				out = append(out, list[from:i])
				from = i + 1
			}
		}
	}
	return append(out, list[from:])
}

// ParseMeasure reads a measure's name: ndcg@10, recall@10(grade>=1),
// rbp(p=0.5), ndcg@10(gains=0/1/3/7), p@5(category=billing), or one of
// trec_eval's spellings (P_5, ndcg_cut_10, recip_rank). An error is a
// *MeasureError.
func ParseMeasure(name string) (Measure, error) {
	m := Measure{Name: name}
	head, args := name, ""
	if open := strings.IndexByte(name, '('); open >= 0 {
		if !strings.HasSuffix(name, ")") {
			return m, &MeasureError{Name: name, At: len(name), Why: `expected ")" at the end`}
		}
		head, args = name[:open], name[open:]
	}
	if err := m.parseHead(head); err != nil {
		return m, err
	}
	if takesPersistence(m.kind) {
		m.x = persistence
	}
	return m, m.parseArgs(len(head), args)
}

func (m *Measure) parseHead(head string) error {
	if head == "" {
		return m.fail(0, "expected a measure, such as ndcg@10")
	}
	if at := strings.IndexByte(head, '@'); at >= 0 {
		return m.parseOwn(head[:at], head[at+1:], true)
	}
	for _, s := range trecNames {
		if s.name == head {
			m.kind = s.kind
			return nil
		}
	}
	for _, s := range trecCuts {
		if rest, ok := strings.CutPrefix(head, s.name); ok && startsWithDigit(rest) {
			m.kind = s.kind
			return m.parseCut(rest, len(s.name))
		}
	}
	for _, s := range trecLevels {
		if rest, ok := strings.CutPrefix(head, s.name); ok && rest != "" {
			return m.parseLevel(s.kind, rest, len(s.name))
		}
	}
	return m.parseOwn(head, "", false)
}

func (m *Measure) parseOwn(base, rest string, hasCut bool) error {
	at := slices.IndexFunc(ownNames, func(s spelling) bool { return strings.EqualFold(s.name, base) })
	if at < 0 {
		e := &MeasureError{Name: m.Name, Why: "no such measure", Near: nearNames(base, rest, hasCut)}
		return e
	}
	s := ownNames[at]
	m.kind = s.kind
	switch {
	case hasCut && s.cut == noCut:
		return m.fail(len(base), s.name+" takes no cut")
	case hasCut:
		return m.parseCut(rest, len(base)+1)
	case s.cut == mustCut:
		return m.fail(len(base), fmt.Sprintf("%s needs a cut, such as %s@10", s.name, s.name))
	}
	return nil
}

func (m *Measure) parseCut(text string, at int) error {
	if end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		return m.fail(at+end, "expected a rank from 1 on")
	}
	k, err := strconv.Atoi(text)
	if err != nil || k < 1 || k > MaxCut {
		return m.fail(at, fmt.Sprintf("expected a rank from 1 to %d", MaxCut))
	}
	m.k = k
	return nil
}

func (m *Measure) parseLevel(k kind, text string, at int) error {
	x, ok := plainNumber(text)
	if !ok || (k == interpolated && x > 1) || x > 1000 || (k == rprecMultiple && x == 0) {
		return m.fail(at, "expected a number, such as 0.20")
	}
	m.kind, m.x = k, x
	return nil
}

// plainNumber reads digits with at most one point, nothing else.
func plainNumber(text string) (float64, bool) {
	if strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}

func takesPersistence(k kind) bool { return k == rbp || k == rbpRest }

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func (m *Measure) fail(at int, why string) error {
	return &MeasureError{Name: m.Name, At: at, Why: why}
}

// nearNames lists up to three names like base, with the cut that was asked.
func nearNames(base, rest string, hasCut bool) []string {
	type near struct {
		name     string
		distance int
	}
	var found []near
	add := func(name, shown string) {
		d := distance(base, name)
		if looksLike(d, name) && !slices.ContainsFunc(found, func(n near) bool { return n.name == shown }) {
			found = append(found, near{shown, d})
		}
	}
	for _, s := range ownNames {
		add(s.name, s.withCut(rest, hasCut))
	}
	if !hasCut {
		for _, s := range trecNames {
			add(s.name, s.name)
		}
		for _, s := range trecCuts {
			add(s.name+"10", s.name+"10")
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.distance - b.distance })
	out := make([]string, 0, 3)
	for _, n := range found[:min(3, len(found))] {
		out = append(out, n.name)
	}
	return out
}

// withCut shows an own name as it would be asked for.
func (s spelling) withCut(rest string, hasCut bool) string {
	switch {
	case s.cut == noCut || (!hasCut && s.cut == mayCut):
		return s.name
	case startsWithDigit(rest):
		return s.name + "@" + rest
	}
	return s.name + "@10"
}
