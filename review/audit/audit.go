// Package audit finds out how good a golden set's queries are, and its gates:
// people look at kept and refused queries alike, without knowing which is which,
// and answer four questions about each. It owns the frame, the sample with its
// inclusion probabilities, the labels' meaning and the figures. It asks no model
// and knows neither files nor terminals.
package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
)

// Question is what a person says yes or no to about a query. A query is valid
// when all are answered with yes.
type Question string

// The questions.
const (
	Answerable    Question = "answerable"     // the evidence alone answers it; where an answer is not expected: rightly so
	SelfContained Question = "self_contained" // it can be understood without the text it was written from
	Natural       Question = "natural"        // somebody would ask it, in these words
	RightType     Question = "right_type"     // it is of the type that it claims
)

// Questions lists them in the order in which they are asked.
func Questions() []Question { return []Question{Answerable, SelfContained, Natural, RightType} }

// Verdict is what became of a query. People who label do not see it.
type Verdict string

// Verdicts.
const (
	Kept     Verdict = "kept"     // active
	Held     Verdict = "held"     // waits for a person's review
	Rejected Verdict = "rejected" // refused by a gate
)

// Item is a query that a person can be asked about.
type Item struct {
	Key      string // digest of all that a label depends on: k and 16 hex digits
	CaseID   string
	Verdict  Verdict
	Gate     string // that refused it, or held it back; "" kept
	Type     string
	Query    string
	Evidence []datasets.Evidence // of an asker who must not see it: what it is
	Abstains bool                // no answer is expected
	Scope    corpus.Scope        // of the asker
	AsOf     *time.Time          // when it is asked; of old sets' rejects neither is known

	documents []string // cases that share one are dependent
}

// keyOf digests query, type and evidence, with no offsets: a label holds for the
// same query of another version, where the evidence may have moved, and also
// where the gates have changed their mind.
func (i *Item) keyOf() string {
	type quote struct{ Doc, Text string }
	of := struct {
		Query, Type string
		Abstains    bool
		Evidence    []quote
	}{Query: i.Query, Type: i.Type, Abstains: i.Abstains}
	for _, e := range i.Evidence {
		of.Evidence = append(of.Evidence, quote{e.DocID, e.Quote})
	}
	data, _ := json.Marshal(of) // strings alone: cannot fail
	sum := sha256.Sum256(data)
	return "k" + hex.EncodeToString(sum[:8]) // no spreadsheet takes it for a number
}

// Frame is all that can be sampled of a version, in the set's order, and what
// cannot.
type Frame struct {
	Items    []Item
	NotAsked []NotAsked
}

// NotAsked counts queries that the four questions do not fit.
type NotAsked struct {
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`
	Cases   int     `json:"cases"`
}

// Why a query is not asked about.
const (
	noQuery    = "no query was written"
	noEvidence = "it has no evidence"
	repeats    = "it repeats another query, which is no matter of these questions"
)

// NewFrame reads a set. Retired cases are no part of it.
func NewFrame(set *datasets.Set) *Frame {
	f, hidden := &Frame{}, evidenceOf(set.Cases)
	for i := range set.Cases {
		if c := &set.Cases[i]; c.Status != datasets.Retired {
			f.take(itemOfCase(c, hidden), "")
		}
	}
	for i := range set.Rejects {
		f.take(itemOfReject(&set.Rejects[i]), set.Rejects[i].Reason)
	}
	return f
}

func (f *Frame) take(item Item, reason string) {
	switch {
	case item.Query == "":
		f.leave(item.Verdict, noQuery)
	case reason == generate.ReasonNearDuplicate:
		f.leave(item.Verdict, repeats)
	case len(item.Evidence) == 0 && !item.Abstains:
		f.leave(item.Verdict, noEvidence)
	default:
		item.Key = item.keyOf()
		f.Items = append(f.Items, item)
	}
}

func (f *Frame) leave(v Verdict, why string) {
	for i := range f.NotAsked {
		if n := &f.NotAsked[i]; n.Verdict == v && n.Why == why {
			n.Cases++
			return
		}
	}
	f.NotAsked = append(f.NotAsked, NotAsked{Verdict: v, Why: why, Cases: 1})
}

// Count is how many queries of a verdict can be asked about.
func (f *Frame) Count(v Verdict) (n int) {
	for i := range f.Items {
		if f.Items[i].Verdict == v {
			n++
		}
	}
	return n
}

// askedOf names a query and a chunk that answers it.
type askedOf struct{ query, chunkID string }

// evidenceOf is the evidence of each query by the chunk that it was written from.
// The case of an asker who must not see that chunk has none of its own.
func evidenceOf(cases []datasets.Case) map[askedOf][]datasets.Evidence {
	out := map[askedOf][]datasets.Evidence{}
	for i := range cases {
		if c := &cases[i]; len(c.Source) > 0 {
			out[askedOf{c.Query, c.Source[0]}] = c.Evidence
		}
	}
	return out
}

func itemOfCase(c *datasets.Case, hidden map[askedOf][]datasets.Evidence) Item {
	item := Item{
		CaseID: c.ID, Verdict: Kept, Type: c.QueryType, Query: c.Query, Evidence: c.Evidence,
		Abstains: c.ExpectedAbstention, Scope: c.Scope, AsOf: c.AsOf,
	}
	if c.Status == datasets.NeedsReview {
		item.Verdict = Held
		item.Gate, _, _ = strings.Cut(c.Reason, ": ") // what follows is of this case alone
	}
	if item.Abstains && len(c.Forbidden) > 0 {
		item.Evidence = hidden[askedOf{c.Query, c.Forbidden[0]}]
	}
	item.documents = documentsOf(item.Evidence)
	for _, j := range c.Judgments {
		if j.By == datasets.BySynthetic {
			item.documents = append(item.documents, j.DocID)
		}
	}
	return item
}

// itemOfReject shows no evidence where no answer is expected: what a reject has
// there is the text that the query sounds like, which kept cases do not have.
func itemOfReject(r *datasets.Reject) Item {
	item := Item{
		CaseID: r.CaseID, Verdict: Rejected, Gate: gateOf(r), Type: r.QueryType, Query: r.Query, Evidence: r.Evidence,
		Abstains: r.QueryType == datasets.OutOfScope, Scope: r.Scope, AsOf: r.AsOf, documents: documentsOf(r.Evidence),
	}
	if item.Abstains {
		item.Evidence = nil
	}
	return item
}

// gateOf is the gate that decided: the first whose check did not pass, else what
// the reject calls its reason.
func gateOf(r *datasets.Reject) string {
	for _, c := range r.Checks {
		if !c.Passed {
			return c.Name
		}
	}
	return r.Reason
}

func documentsOf(evidence []datasets.Evidence) (ids []string) {
	for _, e := range evidence {
		ids = append(ids, e.DocID)
	}
	return ids
}
