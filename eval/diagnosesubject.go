package eval

import (
	"iter"
	"slices"
)

// subject is one case under diagnosis.
type subject struct {
	*DiagnosisInput
	index    int
	c        *Case
	leaks    []Leak
	relevant []string
	ranking  []string // without excluded and repeated chunks
}

// subjects yields every case. What it yields is valid until the next.
func (in *DiagnosisInput) subjects() iter.Seq[*subject] {
	leaks := map[string][]Leak{}
	for _, l := range in.Leaks {
		leaks[l.Case] = append(leaks[l.Case], l)
	}
	return func(yield func(*subject) bool) {
		for i := range in.Cases {
			c := &in.Cases[i]
			s := &subject{DiagnosisInput: in, index: i, c: c, leaks: leaks[c.ID], relevant: c.relevant(in.MinGrade), ranking: c.kept(c.Ranking)}
			if !yield(s) {
				return
			}
		}
	}
}

// expectsAnswer reports whether something relevant should be in the top k.
func (s *subject) expectsAnswer() bool { return !s.c.Abstain && len(s.relevant) > 0 }

func (s *subject) failed() bool {
	return s.c.Failed != "" || len(s.leaks) > 0 || s.expectsAnswer() && !s.inTop(s.ranking)
}

// rank is the rank of the first relevant chunk, 0 for none.
func (s *subject) rank(hits []string) int {
	return 1 + slices.IndexFunc(hits, func(id string) bool { return slices.Contains(s.relevant, id) })
}

func (s *subject) inTop(hits []string) bool {
	r := s.rank(hits)
	return r > 0 && r <= s.K
}

func (s *subject) top() []string { return s.ranking[:min(s.K, len(s.ranking))] }

func (s *subject) probes() *Probes {
	if s.index < len(s.Probes) {
		return &s.Probes[s.index]
	}
	return &Probes{}
}

// probeRank is the rank of the first relevant chunk in a probe, 0 where it is
// not there or the probe was not made.
func (s *subject) probeRank(p *Probe) int {
	if p == nil {
		return 0
	}
	return s.rank(s.c.kept(p.Hits))
}

func (s *subject) probeInTop(p *Probe) bool { r := s.probeRank(p); return r > 0 && r <= s.K }

// deep is the longest ranking that is known.
func (s *subject) deep() []string {
	if p := s.probes().Deep; p != nil {
		return s.c.kept(p.Hits)
	}
	return s.ranking
}

// label returns the label of a chunk, nil without one.
func (s *subject) label(id string) *Label {
	at := slices.IndexFunc(s.c.Labels, func(l Label) bool { return l.ID == id })
	if at < 0 {
		return nil
	}
	return &s.c.Labels[at]
}

// judged reports whether a chunk has a label that says something.
func (s *subject) judged(id string) bool {
	l := s.label(id)
	return l != nil && (l.Uncertain != nil || l.Grade != Unknown)
}

// diagnose tries every cause in order.
func (s *subject) diagnose() CaseDiagnosis {
	about := s.c.about()
	d := CaseDiagnosis{
		CaseID: s.c.ID, Query: about.Query, Rank: s.rank(s.deep()), Scope: about.Scope, Filters: about.Filters, AsOf: about.AsOf,
		Tags: about.Tags, Relevant: slices.Concat([]string{}, s.relevant), Evidence: []Quote{}, Above: []Stood{}, Also: []Finding{},
	}
	for _, check := range checks() {
		why := check.prove(s)
		switch {
		case why == "":
		case d.Cause == "":
			d.Cause, d.Why = check.cause, why
		case check.cause != CauseNotFound:
			d.Also = append(d.Also, Finding{check.cause, why})
		}
	}
	for _, e := range about.Evidence {
		d.Evidence = append(d.Evidence, Quote{Doc: e.Doc, Start: e.Start, End: e.End, Text: textAt(s.Corpus, e)})
	}
	for i, id := range s.top() {
		one := Stood{Rank: i + 1, Chunk: id, Mark: s.mark(id)}
		if c, ok := s.Corpus.Chunk(id); ok {
			one.Text = excerpt(c)
			d.Tokens += c.Tokens
		}
		d.Above = append(d.Above, one)
	}
	return d
}

// mark says what is known of a result.
func (s *subject) mark(id string) string {
	_, inSnapshot := s.Corpus.Chunk(id)
	l := s.label(id)
	switch {
	case slices.ContainsFunc(s.leaks, func(l Leak) bool { return s.same(id, l.Chunk) }):
		return "leak"
	case !inSnapshot:
		return "not_in_snapshot"
	case s.stale(id):
		return "stale"
	case !s.admitted(id):
		return "violates_filter"
	case slices.Contains(s.relevant, id):
		return "relevant"
	case l == nil:
		return "unjudged"
	case !s.judged(id):
		return "unknown"
	}
	return "not_relevant"
}

// unjudged lists what of the top k a person should look at: the snapshot's
// chunks without a label, where an answer was expected and none is known.
func (s *subject) unjudged() []Unjudged {
	if !s.expectsAnswer() || s.inTop(s.ranking) {
		return nil
	}
	var list []Unjudged
	for i, id := range s.top() {
		if _, ok := s.Corpus.Chunk(id); ok && !s.judged(id) {
			list = append(list, Unjudged{Case: s.c.ID, Query: s.c.about().Query, Chunk: id, Rank: i + 1})
		}
	}
	return list
}

// partly reports a case whose top k lacks some of what could be in it.
func (s *subject) partly() (PartlyFailed, bool) {
	p := PartlyFailed{CaseID: s.c.ID}
	for _, id := range s.relevant {
		if slices.Contains(s.top(), id) {
			p.Found++
		} else {
			p.Missing = append(p.Missing, id)
		}
	}
	return p, p.Found > 0 && p.Found < min(s.K, len(s.relevant))
}
