package datasets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// checkPrefix begins the names of the checks that say how evidence was moved. The
// value is the share of its words that are the same.
const checkPrefix = "rebase_"

// move moves one case. What is lost is left out of it, and the case is retired
// with the reason, or stays retired.
func (r *rebaser) move(old *Case) Case {
	c := *old
	c.Checks = slices.DeleteFunc(slices.Clone(old.Checks), func(k Check) bool { return strings.HasPrefix(k.Name, checkPrefix) })
	c.Evidence = nil
	lost := ""
	places := make([]placed, len(old.Evidence))
	for i, e := range old.Evidence {
		now, p := r.moveEvidence(e)
		places[i] = p
		if old.Status != Retired {
			r.report.count(p)
		}
		c.Checks = append(c.Checks, r.moveChecks(e, p)...)
		switch {
		case p.lost == "":
			c.Evidence = append(c.Evidence, now)
		case lost == "":
			lost = fmt.Sprintf("%s: %s", p.lost, e.DocID)
		}
	}
	c.Judgments = r.moveJudgments(old, places)
	c.Source = sourcesOf(c.Judgments, r.relevant)
	c.Forbidden = r.moveForbidden(old)
	c.HardNegatives = r.moveNegatives(old, c.Judgments)
	for _, why := range []func(old, now *Case) string{r.unanswered, r.otherAskers} {
		if lost == "" {
			lost = why(old, &c)
		}
	}
	if lost != "" && old.Status != Retired {
		c.Status, c.Reason = Retired, lost
	}
	r.report.add(old, &c)
	return c
}

// moveEvidence finds evidence, and the chunk that holds most of it: of several the
// one that its chunk has become, or the first.
func (r *rebaser) moveEvidence(e Evidence) (Evidence, placed) {
	m := r.docs.fates[e.DocID]
	p := m.place(e)
	if p.lost != "" {
		return e, p
	}
	chunks := r.overlapping(m.to, p.span)
	if len(chunks) == 0 {
		p.lost = LostQuote
		return e, p
	}
	if old, ok := r.chunks[e.ChunkID]; ok {
		if same := r.plain(&old); same != nil {
			chunks = append([]*corpus.Chunk{same}, chunks...)
		}
	}
	chunk := largest(chunks, p.span)
	return Evidence{DocID: m.to, ChunkID: chunk.ID, Start: p.span.Start, End: p.span.End, Quote: p.quote}, p
}

// moveChecks say how evidence was moved, where its document changed.
func (r *rebaser) moveChecks(e Evidence, p placed) []Check {
	m := r.docs.fates[e.DocID]
	var out []Check
	if m != nil && (m.fate == renamed || m.fate == rewritten) {
		out = append(out, Check{checkPrefix + "renamed", true, 1})
	}
	switch {
	case p.lost != "":
		out = append(out, Check{checkPrefix + "lost", false, p.alike})
	case m.changed():
		out = append(out, Check{checkPrefix + p.how, true, p.alike})
	}
	return out
}

// moveJudgments carries each judgment to the new chunks that share bytes with what
// it rests on. places are those of the case's evidence.
func (r *rebaser) moveJudgments(c *Case, places []placed) []Judgment {
	l := newLabelling(c, r.relevant)
	for i := range c.Judgments {
		r.carryTo(l, &c.Judgments[i], c, places)
	}
	return l.judgments()
}

func (r *rebaser) carryTo(l *labelling, j *Judgment, c *Case, places []placed) {
	old, ok := r.chunks[j.ChunkID]
	if !ok {
		return
	}
	m := r.docs.fates[old.DocID]
	if same := r.plain(&old); same != nil {
		spans := []Span{spanOf(same)}
		if len(j.Spans) > 0 {
			spans = m.innerAll(j.Spans)
		}
		l.add(&carry{given: *j, chunk: same, share: 1, part: 1, spans: spans, plain: true})
		return
	}
	given := j.given()
	spans := r.restsOn(&given, &old, c, places)
	for n := range r.now[m.target()] {
		chunk := &r.now[m.to][n]
		share, part := 0.0, 0.0
		for _, s := range spans {
			share, part = max(share, shareOf(s, chunk)), max(part, partOf(s, chunk))
		}
		if share > 0 {
			l.add(&carry{given: given, chunk: chunk, share: share, part: part, spans: spans})
		}
	}
}

// target is the id of the new document, or empty.
func (m *moved) target() string {
	if m == nil {
		return ""
	}
	return m.to
}

// innerAll moves the spans that are still there.
func (m *moved) innerAll(spans []Span) []Span {
	var out []Span
	for _, s := range spans {
		if at, ok := m.inner(s); ok {
			out = append(out, at)
		}
	}
	return out
}

// restsOn gives, in the new document, the spans that a judgment of an old chunk
// rests on: the case's evidence in that chunk where it says relevant, else what it
// rested on before, or the chunk.
func (r *rebaser) restsOn(j *Judgment, old *corpus.Chunk, c *Case, places []placed) []Span {
	var held []Span
	resting := false
	for i, e := range c.Evidence {
		if !j.saysRelevant(r.relevant) || !holds(old, e) {
			continue
		}
		resting = true
		if places[i].lost == "" {
			held = append(held, places[i].span)
		}
	}
	m := r.docs.fates[old.DocID]
	switch {
	case resting:
		return held
	case len(j.Spans) > 0:
		return m.innerAll(j.Spans)
	}
	return m.innerAll([]Span{spanOf(old)})
}

// holds reports whether evidence is of a chunk, or wholly in it.
func holds(c *corpus.Chunk, e Evidence) bool {
	return e.ChunkID == c.ID || e.DocID == c.DocID && c.Start <= e.Start && e.End <= c.End
}

// sourcesOf lists the chunks that hold what the query was written from.
func sourcesOf(judgments []Judgment, relevant int) []string {
	var out []string
	for i := range judgments {
		if j := &judgments[i]; j.OfSource() && *j.Grade >= relevant {
			out = append(out, j.ChunkID)
		}
	}
	return out
}

// moveForbidden forbids every chunk that holds a byte of what was forbidden, or of
// what it was replaced by: no leak is lost.
func (r *rebaser) moveForbidden(c *Case) []string {
	return r.eachOnce(c.Forbidden, func(*corpus.Chunk) bool { return true })
}

// moveNegatives keeps as hard negatives the chunks of which it is still known that
// they are not relevant.
func (r *rebaser) moveNegatives(c *Case, judgments []Judgment) []string {
	known := map[string]bool{}
	for i := range judgments {
		j := &judgments[i]
		if j.Grade == nil && j.P == nil {
			continue
		}
		wrong, seen := known[j.ChunkID]
		known[j.ChunkID] = (wrong || !seen) && !j.saysRelevant(r.relevant)
	}
	return r.eachOnce(c.HardNegatives, func(chunk *corpus.Chunk) bool {
		return known[chunk.ID]
	})
}

// eachOnce lists the successors of chunks that are wanted.
func (r *rebaser) eachOnce(ids []string, wanted func(*corpus.Chunk) bool) []string {
	var out []string
	for _, id := range ids {
		for _, chunk := range r.successors(id) {
			if wanted(chunk) && !slices.Contains(out, chunk.ID) {
				out = append(out, chunk.ID)
			}
		}
	}
	return out
}

// unanswered says why a case without evidence is lost: its relevant chunks are.
func (r *rebaser) unanswered(old, now *Case) string {
	relevant := func(j Judgment) bool { return j.saysRelevant(r.relevant) }
	first := slices.IndexFunc(old.Judgments, relevant)
	if len(old.Evidence) > 0 || first < 0 || slices.ContainsFunc(now.Judgments, relevant) {
		return ""
	}
	doc, why := old.Judgments[first].DocID, LostFact
	if m := r.docs.fates[doc]; m == nil || m.fate == gone {
		why = LostDocument
	}
	return fmt.Sprintf("%s: %s", why, doc)
}

// otherAskers says why a case is lost whose asker no longer gets what answers it,
// by its scope, dates or filters, or now gets what was hidden.
func (r *rebaser) otherAskers(old, now *Case) string {
	gets := func(c *corpus.Chunk) bool { return corpus.Match(c, old.Scope, old.Filters, old.AsOf) }
	for i, e := range now.Evidence {
		before, ok := r.chunks[old.Evidence[i].ChunkID]
		if ok && gets(&before) && !gets(r.chunkNow(e.DocID, e.ChunkID)) {
			return fmt.Sprintf("%s: the asker gets %s no longer", LostFact, e.DocID)
		}
	}
	if !old.ExpectedAbstention {
		return ""
	}
	for _, id := range old.Forbidden {
		before := r.chunks[id]
		for _, after := range r.successors(id) {
			if !gets(&before) && gets(after) {
				return fmt.Sprintf("%s: the asker gets %s now", LostFact, after.DocID)
			}
		}
	}
	return ""
}

func (r *rebaser) chunkNow(doc, id string) *corpus.Chunk {
	chunks := r.now[doc]
	return &chunks[slices.IndexFunc(chunks, func(c corpus.Chunk) bool { return c.ID == id })]
}
