// Package generate turns the rows of a plan into candidate cases: it picks the
// evidence, has a query written for it, and lets gates refuse what is not
// answered by that evidence or would not be asked by anybody. What depends on
// other cases (near-duplicates, quotas, reserves) is decided here too, in plan
// order. It knows nothing of files and flags.
package generate

import (
	"context"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// Unit is a plan row with what it is about. Chunks are in the order of
// Row.ChunkIDs; Doc is the document of the first, Docs those of all (nil: all are
// of Doc). Rivals are the chunks of Row.Rivals.
type Unit struct {
	Row    sample.Row
	Chunks []corpus.Chunk
	Doc    corpus.Document
	Docs   []corpus.Document
	Rivals []corpus.Chunk
}

// Outcome is what became of a unit: exactly one of Case and Reject is set.
// Calls counts the model calls that it needed, cached ones included, so that it
// is the same when the run is repeated.
type Outcome struct {
	Case   *datasets.Case
	Reject *datasets.Reject
	Calls  int
}

// Writer writes the query of one unit. A unit that gives none is an Outcome
// with a Reject; an error means that the run cannot go on (authentication,
// budget, disk, cancellation). Write may be called concurrently, and its
// outcome depends on the unit alone.
type Writer interface {
	Write(ctx context.Context, u Unit) (Outcome, error)
}

// BatchWriter is a Writer that does better when it gets all units of a chunk at
// once. Outcomes are those of Write, in the order of units.
type BatchWriter interface {
	Writer
	WriteAll(ctx context.Context, units []Unit) ([]Outcome, error)
}

// Stats is what a writer needs to know of the whole corpus.
type Stats interface {
	// IDF returns the inverse document frequency of an index term as
	// retrieve.Terms makes them: at least 0, greatest for a term that no chunk
	// holds.
	IDF(term string) float64
}

// Evidence modes of a model.
const (
	EvidencePick  = "pick"  // goldgen picks a sentence, the model asks what it answers
	EvidenceQuote = "quote" // the model asks, and quotes what answers it
)

// StageName stands in Reject.Stage.
const StageName = "generate"

// Reason codes of rejects. A gate's reason is its check's name unless said
// otherwise there.
const (
	ReasonNoTarget      = "no_target"       // no sentence fit to be asked about
	ReasonNoEvidence    = "no_evidence"     // a quote is not in the chunk
	ReasonPromptTooLong = "prompt_too_long" // longer than num_ctx even when shortened
	ReasonCallFailed    = "call_failed"     // no complete reply after retries
	ReasonUnreadable    = "parsed"          // no usable reply after all attempts
	ReasonTypeUnknown   = "type_unsupported"
	ReasonLanguage      = "language" // as the gate's
	ReasonNearDuplicate = "near_duplicate"
	ReasonDryRun        = "dry_run" // the reply is not in the cache, and no call may be made
)
