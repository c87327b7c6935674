package pipeline

import (
	"slices"
	"sync"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
)

// spanShelf is a snapshot in which the spans that a retriever returned stand
// beside its chunks. It may be used concurrently.
type spanShelf struct {
	lookup
	mu     sync.Mutex
	places map[string]eval.Span
	cut    map[string]*corpus.Chunk
}

// newSpanShelf knows the spans of the rankings; add tells it of others.
func newSpanShelf(v *view, cases []eval.Case) *spanShelf {
	s := &spanShelf{lookup: lookup{v}, places: map[string]eval.Span{}, cut: map[string]*corpus.Chunk{}}
	for i := range cases {
		for n, span := range cases[i].Spans {
			s.add(cases[i].Ranking[n], span)
		}
	}
	return s
}

func (s *spanShelf) add(id string, span eval.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places[id] = span
}

// Chunk implements eval.Corpus. A span is a chunk as its document would have
// it, without duplicates.
func (s *spanShelf) Chunk(id string) (*corpus.Chunk, bool) {
	if c, ok := s.lookup.Chunk(id); ok {
		return c, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.cut[id]; ok {
		return c, true
	}
	span := s.places[id]
	at, ok := s.view.docAt[span.Doc]
	if !ok || span.Start < 0 || span.End > len(s.view.docs[at].Text) || span.Start >= span.End {
		return nil, false
	}
	d := &s.view.docs[at]
	text := d.Text[span.Start:span.End]
	s.cut[id] = &corpus.Chunk{
		ID: id, DocID: d.ID, Start: span.Start, End: span.End, Text: text, Tokens: corpus.CountTokens(text),
		Category: d.Category, Language: d.Language, Metadata: d.Metadata, Scope: d.Scope,
		ValidFrom: d.ValidFrom, ValidTo: d.ValidTo, UpdatedAt: d.UpdatedAt,
	}
	return s.cut[id], true
}

// labelled is a case whose labels say of each result whether it holds a whole
// span of evidence; those of the set's own chunks stay. A case without evidence
// has none.
func (s *spanShelf) labelled(c *eval.Case, minGrade int, probes *eval.Probes) eval.Case {
	out := *c
	out.Labels = nil
	evidence := c.Background.Evidence
	if len(evidence) == 0 {
		return out
	}
	seen := map[string]bool{}
	for _, l := range c.Labels {
		seen[l.ID] = true
		out.Labels = append(out.Labels, l)
	}
	for _, hits := range append(probeHits(probes), c.Ranking) {
		for _, id := range hits {
			if seen[id] {
				continue
			}
			seen[id] = true
			label := eval.Label{ID: id}
			if s.holds(id, evidence) {
				label.Grade = minGrade
			}
			out.Labels = append(out.Labels, label)
		}
	}
	return out
}

func (s *spanShelf) holds(id string, evidence []eval.Span) bool {
	c, ok := s.Chunk(id)
	return ok && slices.ContainsFunc(evidence, func(e eval.Span) bool {
		return c.DocID == e.Doc && c.Start <= e.Start && e.End <= c.End
	})
}

// all labels every case; probes may be nil.
func (s *spanShelf) all(cases []eval.Case, minGrade int, probes []eval.Probes) []eval.Case {
	out := make([]eval.Case, len(cases))
	for i := range cases {
		p := &eval.Probes{}
		if probes != nil {
			p = &probes[i]
		}
		out[i] = s.labelled(&cases[i], minGrade, p)
	}
	return out
}

// probeHits lists the rankings of the probes that were made.
func probeHits(p *eval.Probes) [][]string {
	var out [][]string
	for _, probe := range []*eval.Probe{p.Deep, p.Open, p.Exact, p.Before, p.Lexical, p.Dense} {
		if probe != nil {
			out = append(out, probe.Hits)
		}
	}
	for _, probe := range p.Own {
		if probe != nil {
			out = append(out, probe.Hits)
		}
	}
	return out
}
