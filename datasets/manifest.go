package datasets

import (
	"encoding/json"

	"github.com/goldgen/goldgen/corpus"
)

// Format is the version of the golden set's format.
const Format = 1

// Trust of a set's labels.
const (
	TrustNone       = "none"        // builtin queries
	TrustSourceOnly = "source_only" // label = the source chunk
	TrustJudged     = "judged"      // a judge that passed its canaries
	TrustPrior      = "prior"
	TrustFitted     = "fitted"
	TrustReviewed   = "reviewed" // people's judgments
)

// Pins say what a set was made from. Corpus binds; the rest is provenance: it
// is recorded and shown, never a reason to refuse a set. A stage compares only
// the pins that its predecessor set.
type Pins struct {
	Corpus    CorpusPin         `json:"corpus"`
	Chunking  corpus.Chunking   `json:"chunking"`
	Embedding *corpus.Embedding `json:"embedding,omitempty"`
	Plan      string            `json:"plan,omitempty"` // digest of the plan's rows
	Sample    json.RawMessage   `json:"sample,omitempty"`
	Queries   string            `json:"queries,omitempty"` // hex SHA-256 of the query log that the plan was drawn from
	Seed      int64             `json:"seed"`
	Generator *ModelPin         `json:"generator,omitempty"`
	Judge     *ModelPin         `json:"judge,omitempty"`
	Goldgen   string            `json:"goldgen"` // version of the program
}

// CorpusPin is the binding pin.
type CorpusPin struct {
	Digest    string `json:"digest"` // of the snapshot's rows
	Documents int    `json:"documents"`
	Chunks    int    `json:"chunks"`
}

// ModelPin says which model did a stage's work and how it was asked.
type ModelPin struct {
	Provider string            `json:"provider"`
	Model    string            `json:"model"`
	Digest   string            `json:"digest,omitempty"`
	Revision string            `json:"revision,omitempty"`
	Options  json.RawMessage   `json:"options,omitempty"`
	Prompts  map[string]string `json:"prompts,omitempty"` // id@version -> digest
	Pool     map[string]int    `json:"pool,omitempty"`    // judge only: member -> depth
	Panel    []ModelPin        `json:"panel,omitempty"`   // judge only: the models of a panel, in its order
}

// Manifest describes one version. Why, RefreshedAt, CreatedAt and Costs stand
// outside of the digest.
type Manifest struct {
	Format        int               `json:"format"`
	Name          string            `json:"name"`
	Version       int               `json:"version"`
	Parent        string            `json:"parent,omitempty"` // digest of the parent's rows
	ParentVersion int               `json:"parent_version,omitempty"`
	Merged        string            `json:"merged,omitempty"`         // digest of the version that was merged into the parent
	MergedVersion int               `json:"merged_version,omitempty"` // its number where it was made
	Why           string            `json:"why,omitempty"`            // what made this version of its parent; outside of the digest
	Digest        string            `json:"digest"`                   // sha256:... of the rows
	Files         map[string]string `json:"files"`                    // name -> sha256 of its bytes
	RelevantGrade int               `json:"relevant_grade"`
	Counts        Counts            `json:"counts"`
	Pins          Pins              `json:"pins"`
	Funnel        map[string]int    `json:"funnel"` // reject reason -> count
	Shortfall     []Shortfall       `json:"shortfall"`
	Difficulty    []BandShare       `json:"difficulty,omitempty"` // of its active cases, where shares are declared
	Trust         Trust             `json:"trust"`
	Missed        *Interval         `json:"missed_per_query,omitempty"` // relevant chunks outside the pool, estimated
	Coverage      json.RawMessage   `json:"coverage,omitempty"`
	Notes         []string          `json:"notes,omitempty"`
	Reviews       []Review          `json:"reviews,omitempty"`
	Disagreements []Disagreement    `json:"disagreements,omitempty"`
	Drift         *Drift            `json:"drift,omitempty"` // of a version that a refresh made
	Costs         Costs             `json:"costs"`
	RefreshedAt   string            `json:"refreshed_at,omitempty"` // when what it was derived from was made from its corpus; on disk only where that is not CreatedAt
	CreatedAt     string            `json:"created_at"`             // RFC 3339, UTC
}

// Counts of a version.
type Counts struct {
	Cases         int            `json:"cases"`
	Active        int            `json:"active"`
	NeedsReview   int            `json:"needs_review"`
	Retired       int            `json:"retired"`
	Rejected      int            `json:"rejected"`
	Judgments     int            `json:"judgments"`
	UnknownGrades int            `json:"unknown_grades"`
	ByType        map[string]int `json:"by_type"`
}

// Shortfall names what a plan or a run could not give.
type Shortfall struct {
	Stratum   string `json:"stratum"`
	QueryType string `json:"query_type,omitempty"`
	Wanted    int    `json:"wanted"`
	Got       int    `json:"got"`
	Reason    string `json:"reason"`
}

// Trust is how far the labels can be trusted, with the figures behind it.
type Trust struct {
	Level   string             `json:"level"`
	Judge   string             `json:"judge,omitempty"` // passed, blind, untested, "" no judge
	Why     string             `json:"why"`
	Figures map[string]float64 `json:"figures,omitempty"` // canary_auc, canary_auc_low, ...
}

// Interval is an estimate with its 95 % bounds.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Costs of making a version. Outside of the digest.
type Costs struct {
	CallsMade   int     `json:"calls_made"`
	CallsCached int     `json:"calls_cached"`
	CallsFailed int     `json:"calls_failed"`
	TokensIn    int     `json:"tokens_in"`
	TokensOut   int     `json:"tokens_out"`
	Seconds     float64 `json:"seconds"`
}
