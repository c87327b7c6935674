package audit

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
)

// Ask is a question about an item, in words.
func (i *Item) Ask(q Question) string {
	switch q {
	case Answerable:
		if i.Abstains && len(i.Evidence) > 0 {
			return "rightly without an answer: this asker may not see the evidence?"
		}
		if i.Abstains {
			return "rightly without an answer: nothing in the corpus answers it?"
		}
		return "answerable: the evidence alone answers it?"
	case SelfContained:
		return "self-contained: clear to somebody who has not seen the text?"
	case Natural:
		return "natural: would people ask it, in such words?"
	}
	return "right type: is it " + typeWords(i.Type) + "?"
}

// typeWords say what a query of a type is, as docs/audit.md lists them.
func typeWords(queryType string) string {
	switch queryType {
	case datasets.Factual:
		return "a question for a fact that the evidence states"
	case datasets.Keyword:
		return "1 to 5 content words as typed into a search box"
	case datasets.Reformulated:
		return "the need put in words other than the evidence's"
	case datasets.MultiHop:
		return "answered by all the pieces together, and by none alone"
	case datasets.Ambiguous:
		return "open to two readings or more, each with its own evidence"
	case datasets.TimeSensitive:
		return "answered differently at different times"
	case datasets.RareTerm:
		return "about a rare term or an acronym, used as people use it"
	case datasets.NearDuplicate:
		return "asking for what tells one of several like texts apart"
	case datasets.OutOfScope:
		return "about what could stand in this corpus, and does not"
	case datasets.PermissionSensitive:
		return "about what only some askers may see"
	}
	return "of type " + queryType
}

// Quotes are the evidence, white space folded.
func (i *Item) Quotes() []string {
	out := make([]string, len(i.Evidence))
	for n, e := range i.Evidence {
		out[n] = strings.Join(strings.Fields(e.Quote), " ")
	}
	return out
}

// Quoted is the evidence as a file shows it: a quote a line, behind its document.
func (i *Item) Quoted() string {
	lines := i.Quotes()
	for n := range lines {
		lines[n] = i.Evidence[n].DocID + ": " + lines[n]
	}
	return strings.Join(lines, "\n")
}

// Asker is who asks and when, for the types that hang on it; "" else. Rejects
// keep neither.
func (i *Item) Asker() string {
	var parts []string
	if i.Type == datasets.PermissionSensitive && len(i.Scope) > 0 {
		scope, _ := json.Marshal(i.Scope) // strings alone: cannot fail
		parts = append(parts, string(scope))
	}
	if i.Type == datasets.TimeSensitive && i.AsOf != nil {
		parts = append(parts, "as of "+i.AsOf.Format(time.DateOnly))
	}
	return strings.Join(parts, ", ")
}
