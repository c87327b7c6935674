package eval

import (
	"cmp"
	"math"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/clip"
)

// Sizes of what a diagnosis shows.
const (
	worstShown  = 20
	stoodBytes  = 200
	quoteBytes  = 300
	criticalTag = "critical"
	likelyFrom  = 0.5 // a label that is a probability counts as relevant from here on
)

// FailedCases lists the indexes of the cases that failed: nothing relevant in
// the top k, an error, or a leak. A case that expects abstention fails only by
// an error or a leak, and so does one with nothing relevant.
func FailedCases(cases []Case, leaks []Leak, minGrade, k int) []int {
	in := DiagnosisInput{Cases: cases, Leaks: leaks, MinGrade: minGrade, K: k}
	var failed []int
	for s := range in.subjects() {
		if s.failed() {
			failed = append(failed, s.index)
		}
	}
	return failed
}

// FirstRelevant is the rank of the first relevant chunk of hits, 0 where there
// is none. Repeated and excluded chunks take no rank.
func FirstRelevant(c *Case, hits []string, minGrade int) int {
	s := subject{c: c, relevant: c.relevant(minGrade)}
	return s.rank(c.kept(hits))
}

// Relevant lists the chunks of a case that are relevant: of a known grade from
// minGrade on, or of a probability from .5 on.
func Relevant(c *Case, minGrade int) []string { return c.relevant(minGrade) }

// Diagnose finds for each failed case the first cause that can be proven, and
// sums up. It asks nothing: what it knows is in its input.
func Diagnose(in DiagnosisInput) *Diagnosis {
	d := &Diagnosis{
		K: in.K, Depth: in.Depth, Causes: map[Cause]int{}, Slices: map[string]map[string]FailureSlice{},
		Hints: []string{}, Notes: []string{}, Worst: []CaseDiagnosis{},
	}
	var tokens tokenSums
	for s := range in.subjects() {
		failed := s.failed()
		if !failed && !s.expectsAnswer() {
			continue
		}
		d.Looked++
		cause := Cause("")
		if failed {
			one := s.diagnose()
			cause = one.Cause
			d.All = append(d.All, one)
			d.Causes[cause]++
			d.Labelling.List = append(d.Labelling.List, s.unjudged()...)
		} else if p, ok := s.partly(); ok {
			d.Missed = append(d.Missed, p)
		}
		d.addSlices(&in, s.index, cause)
		tokens.add(s)
	}
	d.Failed, d.Partly, d.Labelling.Pairs = len(d.All), len(d.Missed), len(d.Labelling.List)
	slices.SortStableFunc(d.All, worse)
	d.Worst = append(d.Worst, d.All[:min(worstShown, len(d.All))]...)
	d.Tokens, d.Exact = tokens.sum(), in.exactRecall()
	d.Hints = append(d.Hints, d.causeHints()...)
	return d
}

// Summary is the diagnosis without the list of every case.
func (d *Diagnosis) Summary() *Diagnosis {
	short := *d
	short.All, short.Missed = nil, nil
	return &short
}

func (d *Diagnosis) addSlices(in *DiagnosisInput, i int, cause Cause) {
	for at := range in.Dimensions {
		dimension := &in.Dimensions[at]
		by := d.Slices[dimension.Name]
		if by == nil {
			by = map[string]FailureSlice{}
			d.Slices[dimension.Name] = by
		}
		values := slices.Compact(slices.Sorted(slices.Values(dimension.Values(i))))
		for _, v := range values {
			if v == "" {
				v = noValue
			}
			s := by[v]
			s.Cases++
			if s.Causes == nil {
				s.Causes = map[Cause]int{}
			}
			if cause != "" {
				s.Failed++
				s.Causes[cause]++
			}
			by[v] = s
		}
	}
}

// worse orders critical cases first, then leaks and errors, then what was not
// found at all, then what stands furthest down.
func worse(a, b CaseDiagnosis) int {
	key := func(d *CaseDiagnosis) (int, int, int) {
		critical, serious, rank := 1, 1, -d.Rank
		if slices.Contains(d.Tags, criticalTag) {
			critical = 0
		}
		if d.Cause == CauseError || d.Cause == CauseLeak {
			serious = 0
		}
		if d.Rank == 0 {
			rank = math.MinInt
		}
		return critical, serious, rank
	}
	a1, a2, a3 := key(&a)
	b1, b2, b3 := key(&b)
	return cmp.Or(cmp.Compare(a1, b1), cmp.Compare(a2, b2), cmp.Compare(a3, b3))
}

// relevant lists the ids of the labels that count as relevant, in their order.
func (c *Case) relevant(minGrade int) []string {
	var ids []string
	for i := range c.Labels {
		l := &c.Labels[i]
		likely := l.Uncertain != nil && l.Uncertain.P >= likelyFrom
		if (likely || l.Uncertain == nil && l.Grade >= minGrade) && !slices.Contains(c.about().Exclude, l.ID) {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// kept is a ranking without excluded and repeated chunks.
func (c *Case) kept(hits []string) []string {
	seen := make(map[string]struct{}, len(hits))
	out := make([]string, 0, len(hits))
	for _, id := range hits {
		if _, twice := seen[id]; twice || slices.Contains(c.about().Exclude, id) {
			continue
		}
		seen[id] = struct{}{}
		out = append(out, id)
	}
	return out
}

// textAt is the document's text in a span, as far as chunks cover it.
func textAt(of Corpus, s Span) string {
	var text []byte
	at := s.Start
	for _, c := range of.ChunksOf(s.Doc) {
		from, to := max(at, c.Start), min(s.End, c.End)
		if from < to {
			text = append(text, c.Text[from-c.Start:to-c.Start]...)
			at = to
		}
	}
	return shorten(string(text), quoteBytes)
}

func excerpt(c *corpus.Chunk) string { return shorten(c.Text, stoodBytes) }

// shorten cuts text to n bytes and marks that it did.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return clip.Bytes(text, n) + "…"
}
