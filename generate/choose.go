package generate

import (
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
)

// at is the unit with its i-th chunk as the first and only one.
func (u Unit) at(i int) Unit {
	one := u
	one.Chunks = u.Chunks[i : i+1]
	if i < len(u.Docs) {
		one.Doc = u.Docs[i]
	}
	return one
}

// mentions reports whether a text has a term's words in a row, whatever their
// case.
func mentions(text, term string) bool {
	return strings.Contains(" "+folded(text)+" ", " "+folded(term)+" ")
}

// notInRivals gives a test of sentences: does no rival have them?
func (u Unit) notInRivals() func(target) bool {
	texts := make([]string, len(u.Rivals))
	for i := range u.Rivals {
		texts[i] = folded(u.Rivals[i].Text)
	}
	return func(t target) bool {
		sentence := folded(t.text)
		return !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, sentence) })
	}
}

// mentionsTerm is a test of sentences: do they hold the row's term, in either
// form?
func (u Unit) mentionsTerm(t target) bool {
	return mentions(t.text, u.Row.Term) || u.Row.OtherForm != "" && mentions(t.text, u.Row.OtherForm)
}

// firstOf gives the best sentence that passes the first test that any passes; a
// nil test is passed by all.
func firstOf(list []target, tests ...func(target) bool) (target, bool) {
	for _, test := range tests {
		for _, t := range list {
			if test == nil || test(t) {
				return t, true
			}
		}
	}
	return target{}, false
}

// chooseOne makes a sentence of the first chunk the evidence, and gives the
// variables of a prompt about it.
func (w *writing) chooseOne(t target) (map[string]string, *refusal) {
	w.evidence = []datasets.Evidence{t.evidence(w.u)}
	vars, r := w.aboutChunk(t.start, t.end)
	if r == nil {
		vars["sentence"] = t.said
	}
	return vars, r
}

// aboutChunk gives the variables of a prompt about the first chunk, of which it
// shows what the window has room for around [start, end) of the document.
func (w *writing) aboutChunk(start, end int) (map[string]string, *refusal) {
	text, r := w.window(start, end)
	if r != nil {
		return nil, r
	}
	return map[string]string{"title": title(w.u), "text": text, "language": languageName(w.language)}, nil
}

// chooseSentence picks the sentence of the row's slot.
func (w *writing) chooseSentence() (map[string]string, *refusal) {
	t, err := pickTarget(w.u, w.m.stats)
	if err != nil {
		return nil, refuse(ReasonNoTarget, "%v", err)
	}
	return w.chooseOne(t)
}

// chooseFirst picks the best sentence, so that those who may and those who may
// not see it are asked about the same.
func (w *writing) chooseFirst() (map[string]string, *refusal) {
	return w.chooseTested("whole prose sentence that stands alone", nil)
}

// chooseChanged picks a sentence that no other version has.
func (w *writing) chooseChanged() (map[string]string, *refusal) {
	return w.chooseTested("sentence that the other versions do not have", w.u.notInRivals())
}

// chooseDifferent picks a sentence that no other near-duplicate has, else one
// that names the difference, else the best: then the query must name it.
func (w *writing) chooseDifferent() (map[string]string, *refusal) {
	return w.withTerm(w.chooseTested("whole prose sentence that stands alone", w.u.notInRivals(), w.u.mentionsTerm, nil))
}

// chooseWithTerm picks a sentence that holds the row's term.
func (w *writing) chooseWithTerm() (map[string]string, *refusal) {
	return w.withTerm(w.chooseTested("sentence about "+w.u.Row.Term, w.u.mentionsTerm))
}

func (w *writing) chooseTested(what string, tests ...func(target) bool) (map[string]string, *refusal) {
	t, ok := firstOf(targets(w.u, w.m.stats), tests...)
	if !ok {
		return nil, refuse(ReasonNoTarget, "chunk %s: no %s", w.u.Chunks[0].ID, what)
	}
	return w.chooseOne(t)
}

func (w *writing) withTerm(vars map[string]string, r *refusal) (map[string]string, *refusal) {
	if r == nil {
		vars["term"] = w.u.Row.Term
	}
	return vars, r
}

// chooseEach picks a sentence of every chunk, one with the row's term where there
// is one.
func (w *writing) chooseEach() *refusal {
	tests := []func(target) bool{nil}
	if w.u.Row.Term != "" {
		tests = []func(target) bool{w.u.mentionsTerm, nil}
	}
	for i := range w.u.Chunks {
		one := w.u.at(i)
		t, ok := firstOf(targets(one, w.m.stats), tests...)
		if !ok {
			return refuse(ReasonNoTarget, "chunk %s: no whole prose sentence that stands alone", one.Chunks[0].ID)
		}
		w.evidence = append(w.evidence, t.evidence(one))
	}
	return nil
}

// chooseHops picks the two sentences that a query must join.
func (w *writing) chooseHops() (map[string]string, *refusal) {
	if len(w.u.Chunks) != 2 {
		return nil, refuse(ReasonNoTarget, "%d chunks, a query of two hops needs 2", len(w.u.Chunks))
	}
	if r := w.chooseEach(); r != nil {
		return nil, r
	}
	return map[string]string{
		"title": title(w.u.at(0)), "other_title": title(w.u.at(1)), "language": languageName(w.language),
		"sentence": w.quoted(0), "other_sentence": w.quoted(1),
	}, nil
}

// chooseReadings picks a sentence for each reading.
func (w *writing) chooseReadings() (map[string]string, *refusal) {
	if r := w.chooseEach(); r != nil {
		return nil, r
	}
	return map[string]string{
		"term": w.u.Row.Term, "language": languageName(w.language), "readings": w.allPlaced(),
	}, nil
}

// placed is a piece of evidence under what it stands under.
func (w *writing) placed(i int) string {
	return title(w.of(i)) + ": " + w.quoted(i)
}

// of is the unit with the chunk of a piece of evidence as the only one.
func (w *writing) of(i int) Unit {
	at := slices.IndexFunc(w.u.Row.ChunkIDs, func(id string) bool { return id == w.evidence[i].ChunkID })
	return w.u.at(max(at, 0))
}

// quoted is a piece of evidence as people read it.
func (w *writing) quoted(i int) string { return said(&w.of(i).Chunks[0], w.evidence[i].Quote) }

// chooseSubject shows the chunk that the query is to sound like; there is no
// evidence.
func (w *writing) chooseSubject() (map[string]string, *refusal) {
	start := w.u.Chunks[0].Start
	return w.aboutChunk(start, start)
}
