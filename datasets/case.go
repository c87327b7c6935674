// Package datasets owns the golden set: its cases, its manifest, its versions
// on disk, and whether they still hold. It knows nothing of models or
// retrievers.
package datasets

import (
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// Query types.
const (
	Factual             = "factual"
	Keyword             = "keyword"
	Reformulated        = "reformulated"
	MultiHop            = "multi_hop"
	Ambiguous           = "ambiguous"
	TimeSensitive       = "time_sensitive"
	RareTerm            = "rare_term"
	NearDuplicate       = "near_duplicate"
	OutOfScope          = "out_of_scope"
	PermissionSensitive = "permission_sensitive"
)

// Origins of a case.
const (
	OriginSynthetic = "synthetic"
	OriginLog       = "log"
	OriginHuman     = "human"
	OriginImported  = "imported"
)

// Statuses of a case. eval uses active ones.
const (
	Active      = "active"
	NeedsReview = "needs_review"
	Retired     = "retired"
)

// Who made a judgment, and the labels one can carry.
const (
	BySynthetic  = "synthetic"
	ByLLM        = "llm"
	ByLabelModel = "label_model"
	ByHuman      = "human"

	LabelRelevant   = "relevant"
	LabelPartial    = "partial"
	LabelIrrelevant = "irrelevant"
	LabelStale      = "stale"
	LabelOutOfScope = "out_of_scope"
)

// Case is one query with everything that is known of its answer. A row of
// cases.parquet and a candidate in a stage file have the same fields. The
// parquet layout is in rows.go.
type Case struct {
	ID                 string          `json:"case_id"`
	Query              string          `json:"query"`
	QueryType          string          `json:"query_type"`
	Category           string          `json:"category"`
	Style              string          `json:"style"`
	Language           string          `json:"language"`
	Unit               string          `json:"unit"`
	Tags               []string        `json:"tags"`
	Origin             string          `json:"origin"`
	Scope              corpus.Scope    `json:"scope"`
	Filters            []corpus.Filter `json:"filters"`
	ExpectedSource     string          `json:"expected_source"`
	AsOf               *time.Time      `json:"as_of"`
	ExpectedAbstention bool            `json:"expected_abstention"`
	ReferenceAnswer    *string         `json:"reference_answer"`
	Source             []string        `json:"source"` // chunk ids the query was written from
	Judgments          []Judgment      `json:"judgments"`
	Evidence           []Evidence      `json:"evidence"`
	Forbidden          []string        `json:"forbidden"`
	HardNegatives      []string        `json:"hard_negatives"`
	Difficulty         Difficulty      `json:"difficulty"`
	Checks             []Check         `json:"checks"`
	Provenance         Provenance      `json:"provenance"`
	Status             string          `json:"status"`
	Since              string          `json:"since"`      // version that first held it, "v1"
	RetiredIn          string          `json:"retired_in"` // version, or ""
	Reason             string          `json:"reason"`     // why it is retired or needs review
}

// Judgment says how relevant one chunk is to the case's query, by one judge.
// At most one per (chunk, By).
type Judgment struct {
	ChunkID   string             `json:"chunk_id"`
	DocID     string             `json:"doc_id"`
	Grade     *int               `json:"grade"` // 0-3, nil unknown
	P         *float64           `json:"p"`     // P(grade >= the set's relevant_grade), 4 decimals
	PDraws    []float64          `json:"p_draws"`
	Label     string             `json:"label"`
	By        string             `json:"by"`
	Judge     string             `json:"judge"`     // model and prompt, or a person
	Features  map[string]float64 `json:"features"`  // e.g. expected_grade, rank_bm25
	Inclusion float64            `json:"inclusion"` // probability that the pair got into the pool; 1 unless sampled
	Spans     []Span             `json:"spans"`
}

// LabelOf is the label that a grade has in a set whose chunks are relevant from
// the given grade on.
func LabelOf(grade, relevant int) string {
	switch {
	case grade >= relevant:
		return LabelRelevant
	case grade > 0:
		return LabelPartial
	}
	return LabelIrrelevant
}

// SourceJudgment is the judgment by synthetic that a set has of each chunk that
// a query was written from.
func SourceJudgment(chunkID, docID string) Judgment {
	return synthetic(chunkID, docID, 3, LabelRelevant)
}

// RivalJudgment is the judgment by synthetic of a chunk that is wrong by the way
// in which the query was made: another near-duplicate (LabelIrrelevant), or a
// version that does not hold when it is asked (LabelStale).
func RivalJudgment(chunkID, docID, label string) Judgment {
	return synthetic(chunkID, docID, 0, label)
}

func synthetic(chunkID, docID string, grade int, label string) Judgment {
	return Judgment{ChunkID: chunkID, DocID: docID, Grade: &grade, Label: label, By: BySynthetic, Inclusion: 1}
}

// OfSource reports whether the judgment says that the query was written from the
// chunk.
func (j *Judgment) OfSource() bool { return j.By == BySynthetic && !j.OfRival() }

// OfRival reports whether the judgment says that the chunk is wrong by the way in
// which the query was made. A small part of a source has grade 0 too, and is
// partly relevant.
func (j *Judgment) OfRival() bool {
	return j.By == BySynthetic && j.Grade != nil && *j.Grade == 0 && j.Label != LabelPartial
}

// Span is a byte range of a document.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Evidence is a span of a document that answers the query. Quote equals the
// document's bytes [Start, End).
type Evidence struct {
	DocID   string `json:"doc_id"`
	ChunkID string `json:"chunk_id"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Quote   string `json:"quote"`
}

// Difficulty is recorded and never a reason to drop a hard case. A rank is
// from 1; nil means not found or no such retriever.
type Difficulty struct {
	SourceRankBM25  *int    `json:"source_rank_bm25"`
	SourceRankDense *int    `json:"source_rank_dense"`
	Overlap         float64 `json:"overlap"` // share of the query's content words that the source holds
}

// Check is one gate's outcome.
type Check struct {
	Name   string  `json:"name"`
	Passed bool    `json:"passed"`
	Value  float64 `json:"value"`
}

// GeneratorBuiltin is Provenance.Generator of queries made without a model.
const GeneratorBuiltin = "builtin"

// Provenance says how a case was made.
type Provenance struct {
	Generator string `json:"generator"` // provider/model@digest, GeneratorBuiltin, or the file imported
	Prompt    string `json:"prompt"`    // id@version of the prompt, with digest
	Seed      int64  `json:"seed"`
	Stratum   string `json:"stratum"`
	Calls     int    `json:"calls"` // model calls that this case needed
	// What the plan had for the query, which gates hold another wording to.
	Term      string `json:"term,omitempty"`       // must stand in it
	OtherForm string `json:"other_form,omitempty"` // of Term, must not
	Link      string `json:"link,omitempty"`       // of multi_hop: how its sources hang together
}

// Reject is a query that a gate refused, or a unit that gave none.
type Reject struct {
	CaseID    string     `json:"case_id"`
	Query     string     `json:"query"`
	QueryType string     `json:"query_type"`
	Stratum   string     `json:"stratum"`
	ChunkID   string     `json:"chunk_id"`
	Stage     string     `json:"stage"`  // generate, judge
	Reason    string     `json:"reason"` // reason code
	Detail    string     `json:"detail"`
	Checks    []Check    `json:"checks"`
	Evidence  []Evidence `json:"evidence"`
	// Who would have asked, when, and what it took. Sets made before these were kept
	// have none of them, and their digest is as it was.
	Scope corpus.Scope `json:"scope,omitempty"`
	AsOf  *time.Time   `json:"as_of,omitempty"`
	Calls int          `json:"calls,omitempty"` // model calls, cached ones included
}
