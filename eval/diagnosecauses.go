package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// judgedShare is the share of the top k that must be judged before chunks
// without a label are taken for the cause: below, the labels know too little
// of the case.
const judgedShare = 0.5

// check proves one cause of a failed case, in words; "" says that it cannot.
type check struct {
	cause Cause
	prove func(*subject) string
}

func checks() []check {
	return []check{
		{CauseError, (*subject).proveError}, {CauseLeak, (*subject).proveLeak},
		{CauseNotInCorpus, answerable((*subject).proveNotInCorpus)}, {CauseSplit, answerable((*subject).proveSplit)},
		{CauseFilteredOut, answerable((*subject).proveFiltered)}, {CauseApproximate, answerable((*subject).proveApproximate)},
		{CauseReranker, answerable((*subject).proveReranker)}, {CauseStale, answerable((*subject).proveStale)},
		{CauseNearDuplicate, answerable((*subject).proveNearDuplicates)}, {CauseEmbedding, answerable((*subject).proveEmbedding)},
		{CauseVocabulary, answerable((*subject).proveVocabulary)}, {CauseUnjudged, answerable((*subject).proveUnjudged)},
		{CauseBelowK, answerable((*subject).proveBelowK)}, {CauseNotFound, answerable((*subject).notFound)},
	}
}

// answerable lets a check look only at cases whose ranking lacks what it
// should hold: after an error there is no ranking to explain, and a leak alone
// may be all that is wrong.
func answerable(prove func(*subject) string) func(*subject) string {
	return func(s *subject) string {
		if s.c.Failed != "" || !s.expectsAnswer() || s.inTop(s.ranking) {
			return ""
		}
		return prove(s)
	}
}

func (s *subject) proveError() string { return s.c.Failed }

func (s *subject) proveLeak() string {
	if len(s.leaks) == 0 {
		return ""
	}
	l := s.leaks[0]
	why := fmt.Sprintf("%s at rank %d must not be seen (%s)", l.Chunk, l.Rank, l.Kind)
	if more := len(s.leaks) - 1; more > 0 {
		why += fmt.Sprintf(", and %d more", more)
	}
	return why
}

// proveNotInCorpus finds what the snapshot or the index lacks.
func (s *subject) proveNotInCorpus() string {
	if !slices.ContainsFunc(s.relevant, s.inSnapshot) {
		return "the snapshot has none of the relevant chunks: " + list(s.relevant)
	}
	evidence := s.c.about().Evidence
	if len(evidence) > 0 && !slices.ContainsFunc(evidence, s.covered) {
		e := evidence[0]
		return fmt.Sprintf("no chunk of the snapshot holds text of the evidence %s [%d,%d)", e.Doc, e.Start, e.End)
	}
	if top := s.top(); len(top) > 0 && !slices.ContainsFunc(top, s.inSnapshot) {
		return fmt.Sprintf("none of the top %d is in the snapshot (%s): the index is of another corpus", len(top), list(top))
	}
	return s.notIndexed()
}

func (s *subject) covered(e Span) bool { over, _ := s.chunksOver(e); return len(over) > 0 }

func (s *subject) inSnapshot(id string) bool { _, ok := s.Corpus.Chunk(id); return ok }

// notIndexed proves that the index lacks what is relevant: no relevant chunk
// comes back, whatever was asked, its own text included.
func (s *subject) notIndexed() string {
	p := s.probes()
	if len(p.Own) == 0 {
		return ""
	}
	for _, id := range s.relevant {
		own, asked := p.Own[id]
		if s.inSnapshot(id) && (!asked || own == nil || s.returned(own, id)) {
			return ""
		}
	}
	for _, other := range []*Probe{p.Deep, p.Open, p.Exact, p.Before} {
		if s.probeRank(other) > 0 {
			return ""
		}
	}
	return fmt.Sprintf("the index does not return %s among %d hits even for its own text without scope and filters", list(s.relevant), s.Depth)
}

// returned reports whether a probe holds a chunk, or a span that shares text
// with it.
func (s *subject) returned(p *Probe, id string) bool {
	return slices.ContainsFunc(p.Hits, func(hit string) bool { return s.same(hit, id) })
}

// same reports whether a hit is a chunk or, where hits are spans, shares text
// with it.
func (s *subject) same(hit, id string) bool {
	if hit == id || !s.BySpan {
		return hit == id
	}
	a, known := s.Corpus.Chunk(hit)
	b, ok := s.Corpus.Chunk(id)
	return known && ok && a.DocID == b.DocID && max(a.Start, b.Start) < min(a.End, b.End)
}

// proveSplit holds where no span of evidence is whole in a chunk, and one lies
// over a boundary.
func (s *subject) proveSplit() string {
	if s.BySpan {
		return s.proveSplitSpans()
	}
	why := ""
	for _, e := range s.c.about().Evidence {
		over, whole := s.chunksOver(e)
		if whole {
			return ""
		}
		if why == "" && len(over) > 0 {
			why = fmt.Sprintf("the evidence %s [%d,%d) is cut over %s, and no chunk holds it whole", e.Doc, e.Start, e.End, list(over))
		}
	}
	return why
}

// proveSplitSpans holds where every span of evidence came back, but only in
// pieces. What the retriever's chunks are is known from its results alone.
func (s *subject) proveSplitSpans() string {
	why := ""
	for _, e := range s.c.about().Evidence {
		pieces := s.pieces(e)
		if len(pieces) < 2 {
			return ""
		}
		if why == "" {
			why = fmt.Sprintf("the evidence %s [%d,%d) came back in pieces, %s, and never whole", e.Doc, e.Start, e.End, list(pieces))
		}
	}
	return why
}

// pieces names the results, whatever was asked, that together cover a span of
// evidence, in their order in the document; none where they do not, or one
// holds it whole.
func (s *subject) pieces(e Span) []string {
	p := s.probes()
	hits := slices.Clone(s.ranking)
	for _, other := range []*Probe{p.Deep, p.Open, p.Exact, p.Before} {
		if other != nil {
			hits = append(hits, other.Hits...)
		}
	}
	for _, own := range p.Own {
		if own != nil {
			hits = append(hits, own.Hits...)
		}
	}
	slices.Sort(hits)
	var over []*corpus.Chunk
	for _, id := range slices.Compact(hits) {
		if c, ok := s.Corpus.Chunk(id); ok && c.DocID == e.Doc && max(c.Start, e.Start) < min(c.End, e.End) {
			over = append(over, c)
		}
	}
	slices.SortFunc(over, func(a, b *corpus.Chunk) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	var names []string
	at := e.Start
	for _, c := range over {
		if c.Start <= e.Start && e.End <= c.End || c.Start > at {
			return nil
		}
		names, at = append(names, c.ID), max(at, c.End)
	}
	if at < e.End {
		return nil
	}
	return names
}

// chunksOver lists the chunks that share text with a span; whole says that one
// holds all of it. Touching is not sharing.
func (s *subject) chunksOver(e Span) (over []string, whole bool) {
	for _, c := range s.Corpus.ChunksOf(e.Doc) {
		if max(c.Start, e.Start) < min(c.End, e.End) {
			over = append(over, c.ID)
			whole = whole || (c.Start <= e.Start && e.End <= c.End)
		}
	}
	return over, whole
}

// proveFiltered compares with the same query asked without scope, filters and
// as-of date, and notices a search that had too few hits left to filter.
func (s *subject) proveFiltered() string {
	about, p := s.c.about(), s.probes()
	if !about.filtered() && about.AsOf == nil {
		return ""
	}
	if r := s.probeRank(p.Deep); r > 0 {
		if r <= s.K && len(s.ranking) < s.K {
			return fmt.Sprintf("at rank %d when %d hits are asked for, and not among the %d that came at first: filters are applied after the search",
				r, s.Depth, len(s.ranking))
		}
		return ""
	}
	r := s.probeRank(p.Open)
	if r == 0 || (p.Deep == nil && r > s.K) {
		return ""
	}
	why := fmt.Sprintf("at rank %d without scope and filters, and not among %d hits with them", r, len(s.deep()))
	if !slices.ContainsFunc(s.relevant, s.admitted) {
		why += "; the case's own scope, filters or date exclude it"
	}
	return why
}

// admitted reports whether the asker may and would see a chunk.
func (s *subject) admitted(id string) bool {
	about := s.c.about()
	c, ok := s.Corpus.Chunk(id)
	return ok && corpus.Match(c, about.Scope, about.Filters, about.AsOf)
}

func (s *subject) proveApproximate() string {
	p := s.probes()
	if s.probeInTop(p.Exact) {
		return fmt.Sprintf("at rank %d by the exact search of the same index, %s by the approximate one", s.probeRank(p.Exact), s.place())
	}
	if s.probeInTop(p.Deep) && s.proveFiltered() == "" {
		return fmt.Sprintf("at rank %d when %d hits are asked for, and not in the top %d of fewer: the search is approximate", s.probeRank(p.Deep), s.Depth, s.K)
	}
	return ""
}

func (s *subject) proveReranker() string {
	before := s.probes().Before
	if !s.probeInTop(before) {
		return ""
	}
	return fmt.Sprintf("at rank %d before the reranker, %s after it", s.probeRank(before), s.place())
}

// place says in words where the first relevant chunk stands.
func (s *subject) place() string {
	deep := s.deep()
	if r := s.rank(deep); r > 0 {
		return fmt.Sprintf("at rank %d", r)
	}
	return fmt.Sprintf("not among %d hits", len(deep))
}

func (s *subject) proveStale() string {
	for i, id := range s.top() {
		if s.stale(id) {
			return fmt.Sprintf("%s at rank %d no longer holds; what holds now is %s", id, i+1, s.place())
		}
	}
	return ""
}

// stale reports a version that does not hold any more: the case says so, it
// was not valid at the case's date, or it is an older near-duplicate of a
// relevant chunk.
func (s *subject) stale(id string) bool {
	about := s.c.about()
	if slices.Contains(s.relevant, id) {
		return false
	}
	if slices.Contains(about.Stale, id) {
		return true
	}
	c, ok := s.Corpus.Chunk(id)
	if !ok {
		return false
	}
	if about.AsOf != nil && c.ValidTo != nil && !about.AsOf.Before(*c.ValidTo) {
		return true
	}
	return slices.ContainsFunc(s.relevant, func(current string) bool {
		now, ok := s.Corpus.Chunk(current)
		return ok && older(c, now)
	})
}

// older reports whether a is an earlier version of b: nearly the same text,
// and its validity ended before b's began, or it was updated before b.
func older(a, b *corpus.Chunk) bool {
	if copiesOf(a) != copiesOf(b) {
		return false
	}
	ended := a.ValidTo != nil && b.ValidFrom != nil && !a.ValidTo.After(*b.ValidFrom)
	return ended || a.UpdatedAt != nil && b.UpdatedAt != nil && a.UpdatedAt.Before(*b.UpdatedAt)
}

// copiesOf names a chunk's near-duplicates, itself included.
func copiesOf(c *corpus.Chunk) string {
	for _, g := range []string{c.NearGroup, c.ExactGroup} {
		if g != "" {
			return g
		}
	}
	return c.ID
}

func (s *subject) groupOf(id string) string {
	if c, ok := s.Corpus.Chunk(id); ok {
		return copiesOf(c)
	}
	return id
}

// proveNearDuplicates counts near-duplicates of one another as one result. It
// holds where a relevant chunk, or a near-copy of it, is then in the top k.
func (s *subject) proveNearDuplicates() string {
	deep := s.deep()
	if s.inTop(deep) {
		return ""
	}
	wanted := map[string]string{}
	for _, id := range s.relevant {
		wanted[s.groupOf(id)] = id
	}
	seen := map[string]bool{}
	for i, id := range deep {
		g := s.groupOf(id)
		if seen[g] {
			continue
		}
		seen[g] = true
		if len(seen) > s.K {
			return ""
		}
		original, ok := wanted[g]
		switch {
		case !ok:
		case slices.Contains(s.relevant, id):
			return fmt.Sprintf("at rank %d; near-duplicates of one another counted once, at rank %d", i+1, len(seen))
		default:
			return fmt.Sprintf("%s at rank %d is a near-duplicate of %s, which is %s", id, i+1, original, s.place())
		}
	}
	return ""
}

func (s *subject) proveEmbedding() string {
	if p := s.probes().Lexical; s.Family == FamilyDense && s.probeInTop(p) {
		return fmt.Sprintf("at rank %d by bm25, %s by vectors", s.probeRank(p), s.place())
	}
	return ""
}

func (s *subject) proveVocabulary() string {
	if p := s.probes().Dense; s.Family == FamilyLexical && s.probeInTop(p) {
		return fmt.Sprintf("at rank %d by vectors, %s by terms", s.probeRank(p), s.place())
	}
	return ""
}

// proveUnjudged ranks without the chunks that nobody judged (a condensed list:
// Sakai 2007, "Alternatives to Bpref").
func (s *subject) proveUnjudged() string {
	top, judged := s.top(), 0
	for _, id := range top {
		if s.judged(id) {
			judged++
		}
	}
	condensed := slices.DeleteFunc(slices.Clone(s.deep()), func(id string) bool { return !s.judged(id) })
	if len(top) == 0 || float64(judged) < judgedShare*float64(len(top)) || !s.inTop(condensed) {
		return ""
	}
	return fmt.Sprintf("%d of the top %d are unjudged; without such chunks at rank %d, with them %s", len(top)-judged, len(top), s.rank(condensed), s.place())
}

func (s *subject) proveBelowK() string {
	if r := s.rank(s.deep()); r > s.K {
		return fmt.Sprintf("at rank %d", r)
	}
	return ""
}

func (s *subject) notFound() string {
	return fmt.Sprintf("not among %d hits, and nothing that was looked at explains it", len(s.deep()))
}

// listed is how many ids words name.
const listed = 3

// list names the first ids and counts the rest.
func list(ids []string) string {
	words := strings.Join(ids[:min(listed, len(ids))], ", ")
	if more := len(ids) - listed; more > 0 {
		words += fmt.Sprintf(" and %d more", more)
	}
	return words
}
