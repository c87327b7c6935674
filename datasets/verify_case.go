package datasets

import (
	"slices"

	"github.com/goldgen/goldgen/corpus"
)

// contradictions are what an edit would be refused for and a file can hold all the
// same. What of a case was retired needs no ground.
func (v *verifier) contradictions(c *Case) {
	where := "case " + printable(c.ID)
	if c.Status == Retired {
		if c.Reason == "" {
			v.add(ProblemCase, where+": reason", "is empty, and the case is retired")
		}
		return
	}
	for id, grade := range c.peoplesGrades() {
		if c.ExpectedAbstention && grade >= v.manifest.RelevantGrade {
			v.add(ProblemCase, where+": expected_abstention", "is true, but chunk %q has grade %d by a person", id, grade)
		}
	}
}

// grounds checks that evidence lies in a source, and that the asker gets what the query
// was written from, where goldgen wrote it: other tools know no scopes. What is
// forbidden need not be hidden by scope: people may name it.
func (v *verifier) grounds(c *Case, f *finder) {
	if c.Status == Retired {
		return
	}
	where := "case " + printable(c.ID)
	inSource := func(e Evidence) bool {
		return slices.ContainsFunc(c.Source, func(id string) bool {
			chunk, ok := f.chunks[id]
			return e.ChunkID == id || ok && e.DocID == chunk.DocID && overlap(Span{e.Start, e.End}, spanOf(&chunk)) > 0
		})
	}
	if len(c.Source) > 0 && len(c.Evidence) > 0 && !slices.ContainsFunc(c.Evidence, inSource) {
		v.add(ProblemCase, where+": evidence", "none lies in a chunk that the query was written from")
	}
	for _, id := range c.Source {
		chunk, there := f.chunks[id]
		if there && c.Origin == OriginSynthetic && !c.ExpectedAbstention && !corpus.Match(&chunk, c.Scope, c.Filters, c.AsOf) {
			v.add(ProblemCase, where+": source", "the asker does not get chunk %q, by scope, filters or as_of", id)
		}
	}
}
