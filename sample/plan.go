// Package sample decides which chunks are asked about: an exact, seeded,
// stratified plan with reserves. It takes streams of facts about chunks and
// gives rows; of files it reads query logs alone, and it asks no model.
package sample

import (
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// Row is one planned query: the record of a plan file.
type Row struct {
	CaseID    string   `json:"case_id"`
	ChunkIDs  []string `json:"chunk_ids"`
	DocIDs    []string `json:"doc_ids"`
	QueryType string   `json:"query_type"`
	Style     string   `json:"style"`
	Stratum   string   `json:"stratum"`
	Slot      int      `json:"slot"`
	Reserve   bool     `json:"reserve"` // used, in plan order, when a row of its stratum and type is rejected or a band of difficulty is short

	// What a query type needs besides, known before any model is asked. A field
	// that a type does not need is left out of the file.
	Term      string       `json:"term,omitempty"`       // stands in the query: what tells a near-duplicate apart, a rare term, what several readings share, what links two chunks
	OtherForm string       `json:"other_form,omitempty"` // of Term, must not stand in the query: an acronym's expansion, or the reverse
	Link      string       `json:"link,omitempty"`       // multi_hop: how its chunks hang together, one of the Link constants
	Rivals    []string     `json:"rivals,omitempty"`     // chunks that must not be taken for the evidence: other near-duplicates, other versions, copies of what is forbidden
	Scope     corpus.Scope `json:"scope,omitempty"`      // of the asker; where it is left out, the least that sees ChunkIDs
	Forbidden bool         `json:"forbidden,omitempty"`  // the asker must not see ChunkIDs: expects abstention
	AsOf      *time.Time   `json:"as_of,omitempty"`      // when it is asked
	Group     string       `json:"group,omitempty"`      // rows that ask the same under different scopes share it

	// How it is worded, beside Style.
	Persona  string   `json:"persona,omitempty"`  // who asks, in words
	Language string   `json:"language,omitempty"` // of the query, ISO 639-1; "" is the chunk's
	Examples []string `json:"examples,omitempty"` // queries of the team's own to sound like

	// Of a query log. Such a row has no chunks and no query type: where it is
	// answered and what it is are found out later.
	Origin string `json:"origin,omitempty"` // log; "" is synthetic
	Query  string `json:"query,omitempty"`  // as people worded it
	Asked  *Asked `json:"asked,omitempty"`  // what the log knows of it
}

// Plan is what Draw gives: the main rows stratum by stratum, a chunk's rows
// back to back, then the reserves stratum by stratum in the order in which
// they are to be used.
type Plan struct {
	Rows      []Row                `json:"rows"`
	Shortfall []datasets.Shortfall `json:"shortfall"` // empty if every row asked for is there
	Coverage  Coverage             `json:"coverage"`
}

// Main gives the number of rows that are no reserves.
func (p *Plan) Main() int {
	n := 0
	for i := range p.Rows {
		if !p.Rows[i].Reserve {
			n++
		}
	}
	return n
}

// Coverage says how much of the corpus a plan's main rows reach. It goes into
// the plan's header and the manifest.
type Coverage struct {
	Chunks    int            `json:"chunks"`   // all chunks seen
	Eligible  int            `json:"eligible"` // those that may be asked about
	Excluded  map[string]int `json:"excluded"` // flag -> chunks that carry it (a chunk can carry several)
	Planned   int            `json:"planned"`
	Reserves  int            `json:"reserves"`
	Reached   Reached        `json:"reached"`
	Strata    []Stratum      `json:"strata"`
	Mix       map[string]int `json:"mix"`           // main rows by query type
	MixWanted map[string]int `json:"mix_wanted"`    // what the shares ask for
	Log       *LogSummary    `json:"log,omitempty"` // nil without a query log
}

// Reached counts what holds at least one eligible chunk, and what of it at
// least one main row reaches.
type Reached struct {
	Strata    Share  `json:"strata"`
	Documents Share  `json:"documents"`
	Topics    *Share `json:"topics,omitempty"` // nil without topics
}

// Share is Reached of Total; Share is their quotient, 0 when Total is.
type Share struct {
	Reached int     `json:"reached"`
	Total   int     `json:"total"`
	Share   float64 `json:"share"`
}

// Stratum is one stratum's part of a plan.
type Stratum struct {
	Name     string  `json:"name"`
	Eligible int     `json:"eligible"`
	Share    float64 `json:"share"`  // of all eligible chunks
	Wanted   int     `json:"wanted"` // its share of the cases before any stratum was found short
	Planned  int     `json:"planned"`
	Reserves int     `json:"reserves"`
	Why      string  `json:"why,omitempty"` // it got less than it wanted; the rest went to the others as far as they had chunks
}
