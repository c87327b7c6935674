package eval

import (
	"cmp"
	"slices"
)

// Span is a byte range of a document, [Start, End), and the tokens of the
// document that begin in it, [Token, EndToken), where they were counted.
type Span struct {
	Doc             string
	Start, End      int
	Token, EndToken int
}

// InTokens counts the tokens of a span, given the byte offsets at which the
// document's tokens start. A token counts where it begins, so spans that touch
// share none.
func (s Span) InTokens(starts []int) Span {
	s.Token, _ = slices.BinarySearch(starts, s.Start)
	s.EndToken, _ = slices.BinarySearch(starts, s.End)
	return s
}

// Units that spans are measured in.
const (
	SpanTokens = "tokens"
	SpanBytes  = "bytes"
)

// UnitSpans is Header.Unit where rankings are spans of documents and no
// labelled items: only measures of Case.Spans against Background.Evidence have
// values.
const UnitSpans = "spans"

func (in *Input) bySpan() bool { return in.Unit == UnitSpans }

// region is a set of positions: stretches by document and start, none of which
// overlap.
type region []stretch

type stretch struct {
	doc      string
	from, to int
}

func (i stretch) before(o stretch) int {
	return cmp.Or(cmp.Compare(i.doc, o.doc), cmp.Compare(i.from, o.from))
}

// merge makes the positions that any of the stretches holds one region.
func merge(stretches []stretch) region {
	slices.SortFunc(stretches, stretch.before)
	var out region
	for _, i := range stretches {
		last := len(out) - 1
		switch {
		case i.to <= i.from:
		case last >= 0 && out[last].doc == i.doc && i.from <= out[last].to:
			out[last].to = max(out[last].to, i.to)
		default:
			out = append(out, i)
		}
	}
	return out
}

func (r region) size() int {
	n := 0
	for _, i := range r {
		n += i.to - i.from
	}
	return n
}

// shared counts the positions that both hold.
func (r region) shared(o region) int {
	n, at := 0, 0
	for _, i := range r {
		for at < len(o) && (o[at].doc < i.doc || o[at].doc == i.doc && o[at].to <= i.from) {
			at++
		}
		for j := at; j < len(o) && o[j].doc == i.doc && o[j].from < i.to; j++ {
			n += min(i.to, o[j].to) - max(i.from, o[j].from)
		}
	}
	return n
}

// stretch is the span in the unit that the input's spans are measured in.
func (in *Input) stretch(s Span) stretch {
	if in.SpanUnit == SpanTokens {
		return stretch{s.Doc, s.Token, s.EndToken}
	}
	return stretch{s.Doc, s.Start, s.End}
}

func (in *Input) evidence(c *Case) region {
	var all []stretch
	for _, s := range c.about().Evidence {
		all = append(all, in.stretch(s))
	}
	return merge(all)
}

func isSpanKind(k kind) bool { return k == spanRecall || k == spanPrecision || k == spanIoU }

// overlap is how a case's top k results cover its evidence, in positions.
// known is false where there is no evidence, or no telling where a result
// stands.
type overlap struct {
	known                       bool
	evidence, retrieved, shared int
}

// spanOverlaps computes the overlap of case i for each cut that a span measure
// asks for.
func (p *prepared) spanOverlaps(in *Input, i int, cuts []int, out []overlap) {
	c := &in.Cases[i]
	evidence := in.evidence(c)
	if len(evidence) == 0 || (len(c.Ranking) > 0 && c.Spans == nil) {
		return
	}
	var all []stretch
	results := int(p.facts[i].results)
	for j, k := range cuts {
		if k == 0 || k > results {
			k = results
		}
		all = all[:0]
		for n := range k {
			all = append(all, in.stretch(c.Spans[p.position(i, n)]))
		}
		retrieved := merge(all)
		out[j] = overlap{true, evidence.size(), retrieved.size(), evidence.shared(retrieved)}
	}
}

// addSpans computes the overlaps of all cases, where a measure asks for them.
func (p *prepared) addSpans(in *Input) {
	for _, m := range in.Measures {
		if isSpanKind(m.kind) && !slices.Contains(p.cuts, m.k) {
			p.cuts = append(p.cuts, m.k)
		}
	}
	p.overlaps = make([]overlap, len(p.cuts)*len(in.Cases))
	if len(p.cuts) == 0 || in.Source == sourceOut {
		return
	}
	eachBlock(len(in.Cases), func(_, from, to int) {
		for i := from; i < to; i++ {
			p.spanOverlaps(in, i, p.cuts, p.overlapsOf(i))
		}
	})
}

func (p *prepared) overlapsOf(i int) []overlap {
	return p.overlaps[i*len(p.cuts) : (i+1)*len(p.cuts)]
}

// sourceOut is the source mode that takes the evidence out of the labels: then
// there is nothing that a span could cover.
const sourceOut = "out"

func spanOf(s *step, v *view, value func(o overlap) float64) float64 {
	if o := v.overlaps[s.cut]; o.known {
		return value(o)
	}
	return unscored(s, v)
}

func spanRecallOf(o overlap) float64 { return ratio(o.shared, o.evidence) }

func spanPrecisionOf(o overlap) float64 { return ratio(o.shared, o.retrieved) }

func spanIoUOf(o overlap) float64 { return ratio(o.shared, o.evidence+o.retrieved-o.shared) }

// SpanMeasures are those shown for rankings of spans when none are asked for.
func SpanMeasures(ks []int) []Measure {
	var out []Measure
	for _, kind := range []kind{spanRecall, spanPrecision, spanIoU} {
		for _, k := range ks {
			m := Measure{kind: kind, k: k}
			m.Name = m.Canonical()
			out = append(out, m)
		}
	}
	return out
}

// HasSpanMeasure reports whether any measure is about where results stand, so
// that Case.Spans is needed.
func HasSpanMeasure(measures []Measure) bool {
	return slices.ContainsFunc(measures, func(m Measure) bool { return isSpanKind(m.kind) })
}
