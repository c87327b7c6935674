package eval

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/internal/wording"
)

// matched is the two sides with the same cases in the same order, and why they
// are not comparable, if they are not.
type matched struct {
	base, candidate Input
	shown, judgedK  int // of the measures the first are shown; where unjudged results are counted
	differs         []string
	notes           []string
}

// match pairs the cases by id. With common, those that only one side has or
// that are not the same are left out and counted in the notes.
func match(in *CompareInput) (*matched, error) {
	base, candidate := in.Base, in.Candidate
	meetBySpans(&base, &candidate)
	m := &matched{differs: conventionsDiffer(&base, &candidate)}
	at, err := casesByID(in.Candidate.Cases)
	if err != nil {
		return nil, fmt.Errorf("candidate: %w", err)
	}
	if _, err := casesByID(in.Base.Cases); err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	keep, with, lost := pairCases(in.Base.Cases, in.Candidate.Cases, at)
	if in.Common {
		m.notes = append(m.notes, lost.note(len(keep))...)
	} else {
		m.differs = append(m.differs, lost.words()...)
	}
	if len(keep) == 0 && len(m.differs) == 0 {
		m.differs = append(m.differs, "no case is the same on both sides")
	}
	m.base, m.candidate = pick(&base, keep), pick(&candidate, with)
	return m, nil
}

// meetBySpans has a ranking of chunks scored by spans too, where the other side
// ranks spans and it is known where the chunks stand: two chunkings are compared
// by what their results cover.
func meetBySpans(a, b *Input) {
	if a.bySpan() != b.bySpan() && a.SpanUnit != "" && a.SpanUnit == b.SpanUnit {
		a.Unit, b.Unit = UnitSpans, UnitSpans
	}
}

// pairCases lists the indexes of the cases that are the same on both sides, in
// the base's order, and what is left over. at holds the candidate's by id and
// is used up.
func pairCases(base, candidate []Case, at map[string]int) (keep, with []int, lost lostCases) {
	for i := range base {
		c := &base[i]
		j, both := at[c.ID]
		if !both {
			lost.onlyBase = append(lost.onlyBase, c.ID)
			continue
		}
		delete(at, c.ID)
		if what := caseDiffers(c, &candidate[j]); what != "" {
			lost.add(what, c.ID)
			continue
		}
		keep, with = append(keep, i), append(with, j)
	}
	lost.onlyCandidate = slices.Sorted(maps.Keys(at))
	return keep, with, lost
}

func casesByID(cases []Case) (map[string]int, error) {
	at := make(map[string]int, len(cases))
	for i := range cases {
		if _, twice := at[cases[i].ID]; twice {
			return nil, fmt.Errorf("case %s: in the input twice", cases[i].ID)
		}
		at[cases[i].ID] = i
	}
	return at, nil
}

// pick keeps the cases listed, in that order.
func pick(in *Input, keep []int) Input {
	out := *in
	if inOrder(keep, len(in.Cases)) {
		return out
	}
	out.Cases = make([]Case, len(keep))
	for n, i := range keep {
		out.Cases[n] = in.Cases[i]
	}
	out.Dimensions, out.Slicing = pickOf(in.Dimensions, keep), pickOf(in.Slicing, keep)
	return out
}

// pickOf keeps the cases at the given positions, in that order.
func pickOf(dimensions []Dimension, keep []int) []Dimension {
	out := make([]Dimension, len(dimensions))
	for d := range dimensions {
		dim := &dimensions[d]
		out[d] = NewDimension(dim.Name, len(keep), func(n int) []string { return dim.Values(keep[n]) })
	}
	return out
}

// inOrder reports whether the list is 0 to n-1.
func inOrder(list []int, n int) bool {
	if len(list) != n {
		return false
	}
	for i, x := range list {
		if i != x {
			return false
		}
	}
	return true
}

// conventionsDiffer lists in words what the two sides must share and do not.
func conventionsDiffer(a, b *Input) []string {
	var out []string
	add := func(what string, x, y any) {
		if !reflect.DeepEqual(x, y) {
			out = append(out, fmt.Sprintf("%s: %s and %s", what, shown(x), shown(y)))
		}
	}
	add("corpus", a.Corpus, b.Corpus)
	if a.bySpan() == b.bySpan() {
		add("unit", a.Unit, b.Unit)
	} else {
		out = append(out, "unit: "+spansAndOthers(a))
	}
	add("source", a.Source, b.Source)
	add("least relevant grade", a.MinGrade, b.MinGrade)
	add("cases with nothing relevant", emptyWord(a), emptyWord(b))
	add("k", slices.Clip(a.K), slices.Clip(b.K))
	for _, key := range slices.Sorted(maps.Keys(union(a.Pins, b.Pins))) {
		add(key, a.Pins[key], b.Pins[key])
	}
	return out
}

// spansAndOthers says why rankings of spans and others, of which a is the base,
// cannot be compared, and how they can.
func spansAndOthers(base *Input) string {
	other := "base"
	if base.bySpan() {
		other = "candidate"
	}
	return fmt.Sprintf("one side ranks spans, and the %s was not scored by spans: eval it with -m span_recall@k, span_precision@k or span_iou@k", other)
}

func shown(x any) string {
	if x == nil {
		return "unknown"
	}
	return cmp.Or(fmt.Sprint(x), "unknown")
}

func emptyWord(in *Input) string {
	if in.KeepEmpty {
		return "score 0"
	}
	return "are left out"
}

func union(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}

// caseDiffers names the first thing in which two cases of one id differ, or is
// empty.
func caseDiffers(a, b *Case) string {
	x, y := a.about(), b.about()
	switch {
	case x.Query != y.Query:
		return "another query"
	case !slices.EqualFunc(x.Evidence, y.Evidence, samePlace):
		return "other evidence"
	case a.Abstain != b.Abstain, !sameLabels(a.Labels, b.Labels), !slices.Equal(x.Exclude, y.Exclude):
		return "other labels"
	case !slices.Equal(x.Forbidden, y.Forbidden):
		return "other forbidden chunks"
	case !reflect.DeepEqual(x.Scope, y.Scope) && len(x.Scope)+len(y.Scope) > 0:
		return "another scope"
	}
	return ""
}

// samePlace compares two spans by their bytes, and by their tokens where these
// were counted on both sides.
func samePlace(a, b Span) bool {
	counted := a.EndToken > 0 && b.EndToken > 0
	return a.Doc == b.Doc && a.Start == b.Start && a.End == b.End && (!counted || a == b)
}

// sameLabels compares labels in any order.
func sameLabels(a, b []Label) bool {
	if slices.EqualFunc(a, b, sameLabel) {
		return true
	}
	if len(a) != len(b) {
		return false
	}
	byID := func(x, y Label) int { return cmp.Compare(x.ID, y.ID) }
	return slices.EqualFunc(slices.SortedFunc(slices.Values(a), byID), slices.SortedFunc(slices.Values(b), byID), sameLabel)
}

func sameLabel(a, b Label) bool {
	if a.ID != b.ID || (a.Uncertain == nil) != (b.Uncertain == nil) {
		return false
	}
	if a.Uncertain == nil {
		return a.Grade == b.Grade
	}
	return a.Uncertain.P == b.Uncertain.P && slices.Equal(a.Uncertain.Draws, b.Uncertain.Draws)
}

// lostCases are the ids that cannot be paired.
type lostCases struct {
	onlyBase, onlyCandidate []string
	other                   []string            // what differs, in the order of first sight
	ids                     map[string][]string // by what differs
}

func (l *lostCases) add(what, id string) {
	if l.ids == nil {
		l.ids = map[string][]string{}
	}
	if _, seen := l.ids[what]; !seen {
		l.other = append(l.other, what)
	}
	l.ids[what] = append(l.ids[what], id)
}

func (l *lostCases) words() []string {
	var out []string
	if n := len(l.onlyBase); n > 0 {
		out = append(out, fmt.Sprintf("%s only in the base: %s", casesWord(n), someOf(l.onlyBase)))
	}
	if n := len(l.onlyCandidate); n > 0 {
		out = append(out, fmt.Sprintf("%s only in the candidate: %s", casesWord(n), someOf(l.onlyCandidate)))
	}
	for _, what := range l.other {
		out = append(out, fmt.Sprintf("%s with %s: %s", casesWord(len(l.ids[what])), what, someOf(l.ids[what])))
	}
	return out
}

func (l *lostCases) note(kept int) []string {
	words := l.words()
	if len(words) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("compared are the %s that both have and that are the same; left out: %s", casesWord(kept), strings.Join(words, "; "))}
}

func casesWord(n int) string { return wording.Count(n, "case") }

// someShown is how many ids a sentence names.
const someShown = 3

// someOf names the first few ids.
func someOf(ids []string) string {
	s := fmt.Sprintf("%.80q", ids[:min(len(ids), someShown)])
	s = strings.NewReplacer(`" "`, ", ", `["`, "", `"]`, "").Replace(s)
	if len(ids) > someShown {
		s += ", ..."
	}
	return s
}
