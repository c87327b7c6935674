package generate

import (
	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// Recheck lets the gates that need no model look at another wording of a case,
// as they would have when it was made. source is the chunk that the query was
// written from, others are the cases of the set: one that says nearly the same
// is a reason to refuse. Of a case without a source (nil), as people and logs
// write them, only preambles and repeats are refused: their queries may be of
// any length. kept is false where a gate did not pass.
func Recheck(c *datasets.Case, wording string, source *corpus.Chunk, others []datasets.Case) (checks []datasets.Check, kept bool) {
	candidate := Candidate{Query: wording, Type: c.QueryType, Language: c.Language, Evidence: c.Evidence}
	gates := []Gate{Preamble}
	if source != nil {
		candidate.Chunk, gates = *source, Gates()
	}
	checks, failed := runGates(candidate, gates)
	index := newSimilarIndex()
	for i := range others {
		if o := &others[i]; o.ID != c.ID && o.Status != datasets.Retired {
			index.add(o)
		}
	}
	reworded := *c
	reworded.Query = wording
	repeated, found := index.closest(&reworded)
	checks = append(checks, datasets.Check{Name: ReasonNearDuplicate, Passed: !found, Value: datasets.Round(repeated.similarity)})
	return checks, failed == nil && !found
}
