package generate

import (
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// ChunksOf names the chunks that Recheck wants to see of a case: those that it was
// written from, and those that it must not be taken to ask for.
func ChunksOf(c *datasets.Case) []string { return slices.Concat(c.Source, rivalsOf(c)) }

func rivalsOf(c *datasets.Case) (ids []string) {
	for i := range c.Judgments {
		if c.Judgments[i].OfRival() {
			ids = append(ids, c.Judgments[i].ChunkID)
		}
	}
	return ids
}

// maxWording bounds wordings, in bytes. Longer ones are no queries, and what gates
// make of them would take long.
const maxWording = 1 << 16

// Recheck lets the gates that need no model look at another wording of a case, as
// they would have when it was made, those of its query type among them. chunks are
// those of ChunksOf, by id; others are the cases of the set: one that says nearly
// the same is a reason to refuse. Of a case whose sources are not there, as people and
// logs write them, only preambles and repeats are refused: their queries may be of any
// length up to maxWording. kept is false where a gate did not pass.
func Recheck(c *datasets.Case, wording string, chunks map[string]corpus.Chunk, others []datasets.Case) (checks []datasets.Check, kept bool) {
	candidate, gates := Candidate{Query: wording, Type: c.QueryType}, []Gate{Preamble}
	if len(wording) > maxWording {
		return []datasets.Check{{Name: "length", Value: float64(wordCount(wording))}}, false
	}
	if sources := present(c.Source, chunks); len(sources) > 0 {
		k, _ := kindOf(c.QueryType)
		candidate, gates = reworded(c, wording, sources), append(Gates(), k.gates...)
		candidate.Rivals = present(rivalsOf(c), chunks)
	}
	checks, failed := runGates(candidate, gates)
	repeated, found := repeatOf(c, wording, others)
	checks = append(checks, datasets.Check{Name: ReasonNearDuplicate, Passed: !found, Value: datasets.Round(repeated.similarity)})
	return checks, failed == nil && !found
}

// present are the chunks of ids that are there, in the order of ids.
func present(ids []string, chunks map[string]corpus.Chunk) (list []corpus.Chunk) {
	for _, id := range ids {
		if chunk, ok := chunks[id]; ok {
			list = append(list, chunk)
		}
	}
	return list
}

// reworded is a case's other wording as its gates see it.
func reworded(c *datasets.Case, wording string, sources []corpus.Chunk) Candidate {
	return Candidate{
		Query: wording, Type: c.QueryType, Language: c.Language, Chunk: sources[0], Evidence: c.Evidence,
		Term: c.Provenance.Term, OtherForm: c.Provenance.OtherForm, Readings: readingsOf(sources), AsOf: c.AsOf,
	}
}

// repeatOf is the case among the others that is in use and that a wording repeats.
func repeatOf(c *datasets.Case, wording string, others []datasets.Case) (similar, bool) {
	index := newSimilarIndex()
	for i := range others {
		if o := &others[i]; o.ID != c.ID && o.Status != datasets.Retired {
			index.add(o)
		}
	}
	with := *c
	with.Query = wording
	return index.closest(&with)
}
