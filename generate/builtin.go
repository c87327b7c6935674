package generate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/retrieve"
)

// BuiltinName stands in provenance.
const BuiltinName = datasets.GeneratorBuiltin

// Builtin writes known-item queries without a model: terms drawn from the
// chunk's own (Azzopardi, de Rijke, Balog: Building simulated queries for
// known-item topics, SIGIR 2007). It shows the pipeline, not quality.
type Builtin struct {
	stats Stats
	seed  int64
}

// NewBuiltin returns a builtin writer. stats are of the corpus.
func NewBuiltin(stats Stats, seed int64) *Builtin { return &Builtin{stats, seed} }

// draws bounds how often terms are drawn until one sentence holds enough of
// them.
const draws = 12

// A draw ends when a sentence holds enoughShare of the terms; of draws that
// never do, the best is kept if its share is at least minEvidenceShare.
const (
	enoughShare      = .66
	minEvidenceShare = .5
)

// form says how the queries of a type are drawn.
type form struct {
	terms, more int     // number of terms: terms to terms+more
	background  float64 // weight of the chunk's common terms against tf idf
	target      float64 // how much likelier terms of the target sentence are
}

func formOf(queryType string) (form, bool) {
	switch queryType {
	case datasets.Factual, datasets.PermissionSensitive, datasets.TimeSensitive:
		return form{terms: 3, more: 1, background: .1, target: 6}, true
	case datasets.Keyword:
		return form{terms: 2, more: 2, background: 0, target: 4}, true
	case datasets.Reformulated:
		return form{terms: 3, more: 1, background: .7, target: 2}, true
	case datasets.NearDuplicate, datasets.RareTerm:
		return form{terms: 2, more: 1, background: .1, target: 6}, true
	}
	return form{}, false
}

// Write draws a query. The same unit gives the same one.
func (b *Builtin) Write(ctx context.Context, u Unit) (Outcome, error) {
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	if err := checkUnit(u); err != nil {
		return Outcome{}, err
	}
	if asked, own := u.Row.Language, u.Chunks[0].Language; asked != "" && asked != own {
		return b.refused(u, refuse(ReasonLanguage, "chunk %s is in %s, and a query in %s cannot be made of its words", u.Chunks[0].ID, cmp.Or(own, "no known language"), asked)), nil
	}
	if u.Row.QueryType == datasets.Ambiguous {
		return b.ambiguous(u), nil
	}
	f, ok := formOf(u.Row.QueryType)
	if !ok {
		return b.refused(u, refuse(ReasonTypeUnknown, "a query of type %s cannot be made without a model", u.Row.QueryType)), nil
	}
	places := b.places(u)
	bag := withoutWords(b.bag(u, places, f), u.Row.Term, u.Row.OtherForm)
	if len(places) == 0 || len(bag) < 2 {
		return b.refused(u, refuse(ReasonNoTarget, "chunk %s: fewer than two terms to draw from", u.Chunks[0].ID)), nil
	}
	drawn, evidence, held := b.draw(u, bag, places, f)
	if held < minEvidenceShare {
		return b.refused(u, refuse(ReasonNoEvidence, "chunk %s: no sentence holds half of the terms drawn", u.Chunks[0].ID)), nil
	}
	return b.outcome(u, drawn, evidence, held), nil
}

func (b *Builtin) refused(u Unit, r *refusal) Outcome {
	return Outcome{Reject: newReject(u, "", r, nil, nil)}
}

func (b *Builtin) outcome(u Unit, drawn []string, evidence target, held float64) Outcome {
	if u.Row.Term != "" {
		drawn = append([]string{u.Row.Term}, drawn...)
	}
	query := phrase(u.Row.QueryType, language(u), drawn)
	return b.gated(u, query, []datasets.Evidence{evidence.evidence(u)}, held)
}

// gated lets the gates look at a query. held is the share of its terms that the
// evidence holds.
func (b *Builtin) gated(u Unit, written string, list []datasets.Evidence, held float64) Outcome {
	k, _ := kindOf(u.Row.QueryType)
	candidate := candidateOf(u, written, language(u), list, b.seed)
	checks, failed := runGates(candidate, append([]Gate{asWritten(Length), inBothForms(CopiedRun)}, k.gates...))
	checks = append(checks, datasets.Check{Name: "evidence_terms", Passed: true, Value: datasets.Round(held)})
	if failed != nil {
		return Outcome{Reject: newReject(u, candidate.Query, &refusal{failed.Reason, failed.Detail}, checks, list)}
	}
	c := newCase(u, candidate, checks)
	c.Provenance = provenanceOf(u, BuiltinName, b.seed)
	k.finish(c, u, BuiltinName)
	return Outcome{Case: c}
}

// weighted is a word of the chunk with its chance of being drawn.
type weighted struct {
	word, term string
	count      float64 // occurrences
	weight     float64
}

// bag returns the chunk's words, by word, each weighed by
// (1-background) tf idf + background P(term in the corpus), both normalised,
// times the form's preference for the sentence of the row's slot.
func (b *Builtin) bag(u Unit, places []target, f form) []weighted {
	var preferred map[string]bool
	if len(places) > 0 {
		preferred = b.place(u, places).terms
	}
	bag := countWords(u.Chunks[0].Text)
	sumOwn, sumBack := 0.0, 0.0
	for _, w := range bag {
		sumOwn += float64(w.count * b.stats.IDF(w.term))
		sumBack += math.Exp(-b.stats.IDF(w.term))
	}
	for i, w := range bag {
		idf := b.stats.IDF(w.term)
		own := float64(w.count*idf) / max(sumOwn, 1e-9)
		back := math.Exp(-idf) / max(sumBack, 1e-9)
		bag[i].weight = float64((1-f.background)*own) + float64(f.background*back)
		if preferred[w.term] {
			bag[i].weight *= f.target
		}
	}
	return bag
}

// countWords returns the drawable words of a text, by term, each spelled as
// the first of its forms in the alphabet.
func countWords(text string) []weighted {
	surface := retrieve.ContentWords(text)
	byTerm := map[string]*weighted{}
	for i, term := range retrieve.Terms(text) { // word for word the same as surface
		if i >= len(surface) || !drawable(surface[i]) {
			continue
		}
		w, ok := byTerm[term]
		if !ok {
			w = &weighted{word: surface[i], term: term}
			byTerm[term] = w
		}
		w.word = min(w.word, surface[i])
		w.count++
	}
	bag := make([]weighted, 0, len(byTerm))
	for _, term := range slices.Sorted(maps.Keys(byTerm)) {
		bag = append(bag, *byTerm[term])
	}
	return bag
}

// place is the sentence that the row's slot prefers.
func (b *Builtin) place(u Unit, places []target) target {
	good := slices.DeleteFunc(slices.Clone(places), func(t target) bool { return !t.good() })
	if len(good) == 0 {
		good = places
	}
	slot := u.Row.Slot
	if u.Row.Group != "" {
		slot = 0 // rows of a group ask the same
	}
	return good[(slot+typeOffset(u.Row.QueryType))%len(good)]
}

// drawable words name something: they have a letter, more than one character,
// and are none of the words that every text has.
func drawable(word string) bool {
	return len(word) > 1 && !questionWord[word] && !functionWord[word] && strings.ContainsFunc(word, unicode.IsLetter)
}

// draw draws terms until one sentence holds enough of them, and returns the
// best draw.
func (b *Builtin) draw(u Unit, bag []weighted, places []target, f form) (drawn []string, evidence target, held float64) {
	rng := seeded.Rand(b.seed, StageName, u.Row.Wording())
	for range draws {
		words := sampleWords(rng, bag, f.terms+rng.IntN(f.more+1))
		place, share := mostOf(words, places)
		if share > held || drawn == nil {
			drawn, evidence, held = words, place, share
		}
		if held >= enoughShare {
			break
		}
	}
	return drawn, evidence, held
}

// sampleWords draws n words without replacement, by weight (Efraimidis and
// Spirakis 2006), in the order drawn.
func sampleWords(rng *rand.Rand, bag []weighted, n int) []string {
	type keyed struct {
		word string
		key  float64
	}
	keys := make([]keyed, len(bag))
	for i, w := range bag {
		keys[i] = keyed{w.word, math.Log(1-rng.Float64()) / max(w.weight, 1e-12)}
	}
	slices.SortStableFunc(keys, func(a, b keyed) int { return cmp.Compare(b.key, a.key) })
	var drawn []string
	for _, k := range keys[:min(n, len(keys))] {
		drawn = append(drawn, k.word)
	}
	return drawn
}

// mostOf returns the sentence that holds most of the words' terms, the better
// target on ties, and the share that it holds.
func mostOf(words []string, places []target) (target, float64) {
	query := termSet(strings.Join(words, " "))
	best, most := places[0], -1.0
	for _, t := range places {
		s := share(query, t.terms)
		if s > most || s == most && t.good() && !best.good() {
			best, most = t, s
		}
	}
	return best, most
}

// phrase words a query so that its type shows: a question, bare words, or a
// remark around words in general use.
func phrase(queryType, lang string, drawn []string) string {
	and, question, remark := frames(lang)
	switch queryType {
	case datasets.Keyword:
		return strings.Join(drawn, " ")
	case datasets.Reformulated:
		return fmt.Sprintf(remark, enumerate(drawn, and))
	}
	return fmt.Sprintf(question, enumerate(drawn, and))
}

func frames(lang string) (and, question, remark string) {
	switch lang {
	case "de":
		return "und", "Was gilt für %s?", "ich suche Hilfe zu %s"
	case "fr":
		return "et", "Que faut-il savoir sur %s ?", "je cherche de l'aide sur %s"
	case "es":
		return "y", "¿Qué hay que saber sobre %s?", "busco ayuda con %s"
	}
	return "and", "What is there to know about %s?", "looking for help with %s"
}

func enumerate(list []string, and string) string {
	if len(list) == 1 {
		return list[0]
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " " + and + " " + list[last]
}
