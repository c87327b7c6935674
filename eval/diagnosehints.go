package eval

import "fmt"

// A cause is spoken of as what to try first from this many cases and this
// share of the failed ones on.
const (
	causeCases = 5
	causeShare = 0.25
)

// causeHints says what to try first for each cause that enough cases have,
// the most frequent one first.
func (d *Diagnosis) causeHints() []string {
	var hints []string
	for _, cause := range d.Frequent() {
		n := d.Causes[cause]
		if n < causeCases || float64(n) < causeShare*float64(d.Failed) {
			continue
		}
		if remedy := cause.remedy(); remedy != "" {
			hints = append(hints, fmt.Sprintf("%d of %d failed cases %s: %s", n, d.Failed, cause.words(), remedy))
		}
	}
	return hints
}

// words says of a case what the cause is.
func (c Cause) words() string {
	return map[Cause]string{
		CauseError:         "got an error",
		CauseLeak:          "leak",
		CauseNotInCorpus:   "ask for what the snapshot or the index lacks",
		CauseSplit:         "have evidence that no chunk holds whole",
		CauseFilteredOut:   "are found only without scope and filters",
		CauseApproximate:   "are found only by the exact search",
		CauseReranker:      "were pushed down by the reranker",
		CauseStale:         "have an outdated version in the top k",
		CauseNearDuplicate: "are crowded out by near-duplicates",
		CauseEmbedding:     "are found by bm25 and missed by vectors",
		CauseVocabulary:    "are found by vectors and missed by terms",
		CauseUnjudged:      "stand below chunks that nobody judged",
		CauseBelowK:        "are found below k",
		CauseNotFound:      "have no cause that can be proven",
	}[c]
}

// remedy is what to try first, "" where nothing follows from the cause.
func (c Cause) remedy() string {
	return map[Cause]string{
		CauseError:         "look at the retriever's errors, then score the failed ones again",
		CauseLeak:          "apply the asker's scope in the search itself",
		CauseNotInCorpus:   "index the corpus of this snapshot again, then score",
		CauseSplit:         "chunk with more overlap, or by sections",
		CauseFilteredOut:   "apply filters in the search, not after it",
		CauseApproximate:   "search the approximate index wider (hnsw ef, probes)",
		CauseReranker:      "score without the reranker, or with another",
		CauseStale:         "take outdated versions out of the index, or filter by date",
		CauseNearDuplicate: "index one of several near-duplicates, or return one of them",
		CauseEmbedding:     "try a hybrid with bm25, or another embedder",
		CauseVocabulary:    "try a hybrid with vectors",
		CauseUnjudged:      "have them judged before believing this number (goldgen judge --extend)",
		CauseBelowK:        "try a reranker over a deeper ranking, or a larger k",
	}[c]
}
