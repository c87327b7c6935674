package generate

import (
	"slices"

	"github.com/goldgen/goldgen/datasets"
)

// places are the sentences that a unit's terms may be drawn for: what other
// versions and near-duplicates do not say, what names the row's term.
func (b *Builtin) places(u Unit) []target {
	all := anyTargets(u, b.stats)
	switch u.Row.QueryType {
	case datasets.TimeSensitive:
		return passing(all, u.notInRivals())
	case datasets.NearDuplicate:
		if own := passing(all, u.notInRivals()); len(own) > 0 {
			return own
		}
	case datasets.RareTerm:
		return passing(all, u.mentionsTerm)
	}
	return all
}

func passing(list []target, test func(target) bool) []target {
	return slices.DeleteFunc(slices.Clone(list), func(t target) bool { return !test(t) })
}

// withoutWords takes words out of a bag that are in the query already, or must
// not get into it.
func withoutWords(bag []weighted, texts ...string) []weighted {
	for _, text := range texts {
		terms := termSet(text)
		bag = slices.DeleteFunc(bag, func(w weighted) bool { return terms[w.term] })
	}
	return bag
}

// ambiguous asks for what the readings have in common, and for nothing else.
func (b *Builtin) ambiguous(u Unit) Outcome {
	var list []datasets.Evidence
	for i := range u.Chunks {
		one := u.at(i)
		named := func(t target) bool { return t.good() && u.mentionsTerm(t) }
		t, ok := firstOf(anyTargets(one, b.stats), named, target.good, nil)
		if !ok {
			return b.refused(u, refuse(ReasonNoTarget, "chunk %s: no sentence", one.Chunks[0].ID))
		}
		list = append(list, t.evidence(one))
	}
	return b.gated(u, u.Row.Term, list, overlap(u.Row.Term, textOf(u)))
}
