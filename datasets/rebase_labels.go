package datasets

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/goldgen/goldgen/corpus"
)

// What a judgment that was carried over to another chunk has among its features.
const (
	FeatureCarriedShare = "carried_share" // overlap of what was judged and the chunk, as a share of the shorter
	FeatureCarriedGrade = "carried_grade" // the grade times that share; Grade is its whole part
	FeatureCarriedFrom  = "carried_from"  // the grade that was given
	FeatureCarriedPart  = "carried_part"  // what p was multiplied by; see partOf
	featureCarriedWhole = "carried_whole" // 1 where the grade, or p, was kept whatever the share
)

// leastRead is the share of a new chunk that must have been read for a judgment
// that it is not relevant: of the rest nobody knows.
const leastRead = 0.5

// Carried reports whether the judgment was made of another chunk and carried over
// by rebase.
func (j *Judgment) Carried() bool { _, ok := j.Features[FeatureCarriedShare]; return ok }

// given is the judgment as it was given, before it was carried over.
func (j *Judgment) given() Judgment {
	out := *j
	if from, ok := j.Features[FeatureCarriedFrom]; ok {
		grade := int(from)
		out.Grade = &grade
	}
	if part := j.Features[FeatureCarriedPart]; part > 0 && j.P != nil {
		out.P, out.PDraws = times(*j.P, j.PDraws, 1/part)
	}
	return out
}

// times multiplies p and its draws. p stays the mean of the draws.
func times(p float64, draws []float64, factor float64) (*float64, []float64) {
	product := min(1, float64(p*factor))
	draws = slices.Clone(draws)
	sum := 0.0
	for i := range draws {
		draws[i] = Round(min(1, float64(draws[i]*factor)))
		sum += draws[i]
	}
	if len(draws) > 0 {
		product = sum / float64(len(draws))
	}
	return &product, draws
}

// saysRelevant reports whether a judgment that knows says so.
func (j *Judgment) saysRelevant(relevant int) bool {
	return j.P != nil && *j.P >= 0.5 || j.P == nil && j.Grade != nil && *j.Grade >= relevant
}

// carry is a judgment as one new chunk would have it: its grade times the share, its
// chance times the part.
type carry struct {
	given Judgment
	chunk *corpus.Chunk
	share float64 // see shareOf
	part  float64 // see partOf
	spans []Span  // what it rests on, in the new document
	plain bool    // the chunk is the one that was judged
}

// grade is the grade times the share, to 4 decimals; 0 where there is none.
func (c *carry) grade() float64 {
	if c.given.Grade == nil {
		return 0
	}
	return Round(float64(float64(*c.given.Grade) * c.share))
}

// p is the chance times the part; 0 where there is none.
func (c *carry) p() float64 {
	if c.given.P == nil {
		return 0
	}
	return float64(*c.given.P * c.part)
}

// relevant reports whether the chunk is relevant by it.
func (c *carry) relevant(grade int) bool {
	return c.given.P != nil && c.p() >= 0.5 || c.given.P == nil && c.grade() >= float64(grade)
}

// before orders carries to one chunk by one judge: the judgment of the very chunk
// first, then the one that says most. A chunk is as relevant as the most relevant
// part of it, whatever else it holds.
func (c *carry) before(o *carry) bool {
	if c.plain != o.plain {
		return c.plain
	}
	return cmp.Or(cmp.Compare(c.p(), o.p()), cmp.Compare(c.grade(), o.grade()), cmp.Compare(c.share, o.share)) > 0
}

// judgment is what the new chunk gets. whole keeps the grade whatever the share.
func (c *carry) judgment(relevant int, whole bool) Judgment {
	j := c.given
	j.ChunkID, j.DocID = c.chunk.ID, c.chunk.DocID
	if c.plain {
		if len(j.Spans) > 0 {
			j.Spans = c.spans
		}
		return j
	}
	if j.OfSource() && (c.share == 1 || whole) {
		return SourceJudgment(j.ChunkID, j.DocID)
	}
	j.Spans, j.Features = c.spans, map[string]float64{FeatureCarriedShare: c.share}
	share, part := c.share, c.part
	if whole {
		share, part, j.Features[featureCarriedWhole] = 1, 1, 1
	}
	if j.P != nil {
		j.P, j.PDraws = times(*j.P, j.PDraws, part)
		j.Features[FeatureCarriedPart] = part
	}
	if j.Grade != nil {
		exact := Round(float64(float64(*j.Grade) * share))
		j.Features[FeatureCarriedFrom], j.Features[FeatureCarriedGrade] = float64(*j.Grade), exact
		grade := int(exact)
		j.Grade, j.Label = &grade, carriedLabel(j.Label, exact, relevant)
	}
	return j
}

// carriedLabel is the label of a grade that need not be whole. What says why a
// chunk is wrong stays.
func carriedLabel(label string, grade float64, relevant int) string {
	switch {
	case label == "" || label == LabelStale || label == LabelOutOfScope:
		return label
	case grade > 0 && grade < float64(relevant):
		return LabelPartial
	}
	return LabelOf(int(grade), relevant)
}

// overlap is how many bytes two spans share. Spans that only touch share none.
func overlap(a, b Span) int { return max(0, min(a.End, b.End)-max(a.Start, b.Start)) }

func spanOf(c *corpus.Chunk) Span { return Span{c.Start, c.End} }

// shareOf is the overlap of a span and a chunk as a share of the shorter of the
// two, to 4 decimals.
func shareOf(s Span, c *corpus.Chunk) float64 {
	shorter := min(s.End-s.Start, c.End-c.Start)
	if shorter <= 0 {
		return 0
	}
	return Round(float64(overlap(s, spanOf(c))) / float64(shorter))
}

// partOf is what a chance is multiplied by in a chunk that holds a part of a span:
// the square root of that part. Where in the span the relevant text is nobody knows:
// times 1 every piece of a chunk that is cut up would be as likely relevant as the
// whole, times the part only one of them could be. docs/lifecycle.md has how far each
// of the three lies from a label model that is asked again.
func partOf(s Span, c *corpus.Chunk) float64 {
	if s.End <= s.Start {
		return 0
	}
	return Round(math.Sqrt(float64(overlap(s, spanOf(c))) / float64(s.End-s.Start)))
}

// target is a new chunk and a judge: at most one judgment each.
type target struct{ chunk, by string }

// target is what the carry is to.
func (c *carry) target() target { return target{c.chunk.ID, c.given.By} }

// labelling gathers what the new chunks of a case are carried.
type labelling struct {
	relevant int
	each     bool // each source answers something of its own
	order    []target
	best     map[target]*carry
	read     map[target][]Span // what was judged, of chunks' documents
	all      []*carry
}

func newLabelling(c *Case, relevant int) *labelling {
	each := c.QueryType == MultiHop || c.QueryType == Ambiguous
	return &labelling{relevant: relevant, each: each, best: map[target]*carry{}, read: map[target][]Span{}}
}

func (l *labelling) add(c *carry) {
	t := c.target()
	l.all = append(l.all, c)
	if c.given.Grade != nil || c.given.P != nil {
		l.read[t] = append(l.read[t], c.spans...)
	}
	switch old := l.best[t]; {
	case old == nil:
		l.order = append(l.order, t)
		l.best[t] = c
	case c.before(old):
		l.best[t] = c
	}
}

// judgments are those of the new chunks, in the order of what they were carried
// from. Where a chunk was relevant before and none is relevant now, the one with
// the largest share keeps its grade.
func (l *labelling) judgments() []Judgment {
	keeps := l.keeps()
	out := make([]Judgment, 0, len(l.order))
	for _, t := range l.order {
		switch c := l.best[t]; {
		case keeps[t] != nil:
			out = append(out, keeps[t].judgment(l.relevant, true))
		case c.plain || c.grade() > 0 || c.relevant(l.relevant) || l.wasRead(t):
			out = append(out, c.judgment(l.relevant, false))
		}
	}
	return out
}

// keeps are the carries that keep their grades: one of the case, or of each of its
// sources, where none of its chunks is relevant. What was said of the very chunk
// stays.
func (l *labelling) keeps() map[target]*carry {
	relevant, largest := map[string]bool{}, map[string]*carry{}
	for _, c := range l.all {
		best, group := l.best[c.target()], l.group(c)
		if best.relevant(l.relevant) {
			relevant[group], relevant[""] = true, true
		}
		if first := largest[group]; !best.plain && c.given.saysRelevant(l.relevant) && (first == nil || c.share > first.share) {
			largest[group] = c
		}
	}
	out := map[target]*carry{}
	for group, c := range largest {
		if !relevant[group] {
			out[c.target()] = c
		}
	}
	return out
}

// group is the source that a carry is of, where each source answers something of
// its own.
func (l *labelling) group(c *carry) string {
	if l.each && c.given.OfSource() {
		return c.given.ChunkID
	}
	return ""
}

// wasRead reports whether enough of a chunk was judged to say that it is not
// relevant.
func (l *labelling) wasRead(t target) bool {
	chunk := l.best[t].chunk
	spans := slices.Clone(l.read[t])
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(a.Start-b.Start, a.End-b.End) })
	read, at := 0, chunk.Start
	for _, s := range spans {
		s.Start = max(s.Start, at)
		read += overlap(s, spanOf(chunk))
		at = max(at, s.End)
	}
	return read > 0 && float64(read) >= float64(leastRead*float64(chunk.End-chunk.Start))
}

// labelsAlike reports whether what is known of a case's chunks is what it was:
// the same judges gave as many chunks the same grades and chances. Which chunks
// these are, and unknown grades, make no difference.
func labelsAlike(old, now []Judgment) bool {
	counts := map[string]int{}
	count := func(judgments []Judgment, by int) {
		for _, j := range judgments {
			if j.Grade != nil || j.P != nil {
				counts[string(mustJSON([]any{j.By, j.Grade, j.P, j.Label}))] += by
			}
		}
	}
	count(old, 1)
	count(now, -1)
	return !slices.ContainsFunc(slices.Collect(maps.Values(counts)), func(n int) bool { return n != 0 })
}
