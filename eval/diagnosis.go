package eval

import (
	"cmp"
	"slices"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// Cause is why a case failed. Each is either a fact (an error, a leak, what
// the corpus lacks) or was proven by taking it away: without it a relevant
// chunk is in the top k.
type Cause string

// The causes in the order in which they are looked for; a case gets the first
// that can be proven, and the others that hold too stand beside it.
const (
	CauseError         Cause = "retriever_error"     // the query got an error
	CauseLeak          Cause = "leak"                // a result that the asker must not see
	CauseNotInCorpus   Cause = "not_in_corpus"       // snapshot or index lack what is relevant
	CauseSplit         Cause = "split"               // no chunk holds a whole span of evidence
	CauseFilteredOut   Cause = "filtered_out"        // found without scope and filters
	CauseApproximate   Cause = "approximate_index"   // found by the exact search of the same index
	CauseReranker      Cause = "reranker"            // found by the stage before the reranker
	CauseStale         Cause = "stale_above"         // a version that no longer holds is in the top k
	CauseNearDuplicate Cause = "near_duplicates"     // found when near-duplicates count once
	CauseEmbedding     Cause = "embedding_mismatch"  // dense, and bm25 finds it
	CauseVocabulary    Cause = "vocabulary_mismatch" // lexical, and dense finds it
	CauseUnjudged      Cause = "unjudged_above"      // found when unjudged chunks do not count
	CauseBelowK        Cause = "found_below_k"       // found further down
	CauseNotFound      Cause = "no_provable_cause"   // not found, and nothing above holds
)

// Causes lists all causes in the order in which they are looked for.
func Causes() []Cause {
	return []Cause{
		CauseError, CauseLeak, CauseNotInCorpus, CauseSplit, CauseFilteredOut, CauseApproximate, CauseReranker, CauseStale,
		CauseNearDuplicate, CauseEmbedding, CauseVocabulary, CauseUnjudged, CauseBelowK, CauseNotFound,
	}
}

// Diagnosis says why cases failed: the file diagnosis.json of a result, and,
// without Cases, the block diagnosis of `goldgen eval --json`.
//
// A case failed when nothing relevant is in its top k, its query got an error,
// or it leaked. Under labels that are probabilities a chunk is relevant here
// from p = .5 on.
type Diagnosis struct {
	K         int                                `json:"k"`
	Depth     int                                `json:"depth"` // hits asked for to look further down
	Looked    int                                `json:"cases"`
	Failed    int                                `json:"failed"`
	Partly    int                                `json:"partly_failed"` // something relevant in the top k, but not all
	Causes    map[Cause]int                      `json:"causes"`        // first causes; they add up to Failed
	Slices    map[string]map[string]FailureSlice `json:"slices"`        // dimension, then value
	Worst     []CaseDiagnosis                    `json:"worst"`
	Tokens    *TokensBefore                      `json:"tokens_before_evidence"` // nil where nothing relevant was found
	Exact     *ExactRecall                       `json:"approximate_against_exact"`
	Labelling Labelling                          `json:"labelling"`
	Hints     []string                           `json:"hints"`
	Notes     []string                           `json:"notes"`
	Missed    []PartlyFailed                     `json:"partly,omitempty"`
	All       []CaseDiagnosis                    `json:"diagnoses,omitempty"` // every failed case, worst first
}

// FailureSlice counts the failed cases of a slice.
type FailureSlice struct {
	Cases  int           `json:"cases"`
	Failed int           `json:"failed"`
	Causes map[Cause]int `json:"causes"`
}

// CaseDiagnosis is one failed case: its first cause, what proves it, and what
// stood where the evidence should have been.
type CaseDiagnosis struct {
	CaseID   string          `json:"case_id"`
	Query    string          `json:"query"`
	Cause    Cause           `json:"cause"`
	Why      string          `json:"why"`  // the proof, in words
	Also     []Finding       `json:"also"` // what holds besides
	Rank     int             `json:"rank"` // of the first relevant chunk, 0 where it is not found within the depth
	Scope    corpus.Scope    `json:"scope,omitempty"`
	Filters  []corpus.Filter `json:"filters,omitempty"`
	AsOf     *time.Time      `json:"as_of,omitempty"`
	Tags     []string        `json:"tags,omitempty"`
	Evidence []Quote         `json:"evidence"`
	Relevant []string        `json:"relevant"` // chunk ids
	Above    []Stood         `json:"above"`    // the top k
	Tokens   int             `json:"tokens"`   // that the top k takes in the context
}

// Finding is a cause with its proof in words.
type Finding struct {
	Cause Cause  `json:"cause"`
	Why   string `json:"why"`
}

// Quote is a span of evidence with the text that stands there, shortened.
type Quote struct {
	Doc   string `json:"doc_id"`
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  string `json:"text"`
}

// Stood is a result of a failed case. Mark says what is known of it: unjudged,
// unknown, not_relevant, relevant, stale, leak, violates_filter (or the scope,
// or the date), or not_in_snapshot.
type Stood struct {
	Rank  int    `json:"rank"`
	Chunk string `json:"chunk_id"`
	Mark  string `json:"mark"`
	Text  string `json:"text"` // shortened
}

// PartlyFailed is a case whose top k holds some of what is relevant.
type PartlyFailed struct {
	CaseID  string   `json:"case_id"`
	Found   int      `json:"found"`
	Missing []string `json:"missing"` // chunk ids
}

// TokensBefore sums up how many tokens stand before the evidence in a context
// that holds the ranking as it is, over the cases that have something relevant
// in their top k. Percentiles are nearest-rank.
type TokensBefore struct {
	N       int     `json:"n"`
	Mean    float64 `json:"mean"`
	P50     int     `json:"p50"`
	P95     int     `json:"p95"`
	Max     int     `json:"max"`
	Unknown int     `json:"unknown"` // cases left out: a chunk down to there is not in the snapshot
}

// ExactRecall is the share of the exact search's top k that the approximate
// search of the same index returns, the mean over N cases.
type ExactRecall struct {
	N      int     `json:"n"`
	K      int     `json:"k"`
	Recall float64 `json:"recall"`
}

// Labelling is the list of unjudged chunks that stand where something relevant
// was expected.
type Labelling struct {
	Path  string     `json:"path,omitempty"` // of the JSONL file; "" where nothing is to be labelled
	Pairs int        `json:"pairs"`
	List  []Unjudged `json:"-"`
}

// Unjudged is a line of the labelling list.
type Unjudged struct {
	Case  string `json:"case_id"`
	Query string `json:"query"`
	Chunk string `json:"chunk_id"`
	Rank  int    `json:"rank"`
}

// DiagnosisInput is what Diagnose looks at. Probes and Cases have the same
// order; a case that nothing was asked for has an empty Probes.
type DiagnosisInput struct {
	Cases      []Case
	Dimensions []Dimension
	Leaks      []Leak // as in the result
	MinGrade   int
	K          int // the top that a case must have something relevant in
	Depth      int // of the deep probes
	Probes     []Probes
	Corpus     Corpus
	Family     string // what the retriever matches by: FamilyLexical, FamilyDense or ""

	// BySpan says that hits are spans, cut from the documents by the retriever,
	// and labelled by whether they hold a whole span of evidence. Corpus.Chunk
	// knows them by their names.
	BySpan bool
}

// What a retriever matches by, where one thing is known.
const (
	FamilyLexical = "lexical"
	FamilyDense   = "dense"
)

// Corpus is what diagnosis looks up in the snapshot.
type Corpus interface {
	// Chunk returns the chunk with that id, false where there is none.
	Chunk(id string) (*corpus.Chunk, bool)
	// ChunksOf returns a document's chunks in order, none if it is unknown.
	ChunksOf(doc string) []*corpus.Chunk
}

// Probes are further rankings for one case. A nil one was not asked for, could
// not be asked, or got an error: it proves nothing.
type Probes struct {
	Deep    *Probe            // the same query, Depth hits
	Open    *Probe            // the same without scope, filters and as-of date, seen by one who may see what is relevant
	Own     map[string]*Probe // a relevant chunk's own text as the query, likewise open
	Exact   *Probe            // by the exact search of the same index
	Before  *Probe            // by the stage before the reranker
	Lexical *Probe            // by bm25
	Dense   *Probe            // by the dense retriever of the snapshot's vectors
}

// Probe is a ranking of chunk ids, best first.
type Probe struct {
	Hits []string
}

// Frequent lists the causes that some case has, the most frequent first; equal
// ones in the order of Causes.
func (d *Diagnosis) Frequent() []Cause {
	causes := slices.DeleteFunc(Causes(), func(c Cause) bool { return d.Causes[c] == 0 })
	slices.SortStableFunc(causes, func(a, b Cause) int { return cmp.Compare(d.Causes[b], d.Causes[a]) })
	return causes
}
