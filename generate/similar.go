package generate

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/retrieve"
)

// nearDuplicate is the Jaccard similarity of two queries' terms from which one
// of them is too many.
const nearDuplicate = .8

// similarIndex finds, among queries already accepted, the one most like a new
// one. It looks only at queries that share one of the few terms that a near
// duplicate must share (prefix filtering; Chaudhuri, Ganti, Kaushik 2006).
type similarIndex struct {
	queries  []termList
	ids      []string
	exact    map[string]int   // audience + folded text -> query
	prefixes map[string][]int // audience + term -> queries
}

type termList []string // sorted, distinct

func newSimilarIndex() *similarIndex {
	return &similarIndex{exact: map[string]int{}, prefixes: map[string][]int{}}
}

// similar is an accepted query that a new one repeats.
type similar struct {
	caseID     string
	similarity float64
	exact      bool // the same words in the same order
}

// closest returns the most similar accepted query of the same scope and as_of, if
// its similarity is at least nearDuplicate.
func (x *similarIndex) closest(c *datasets.Case) (best similar, found bool) {
	key := audience(c)
	if i, ok := x.exact[key+folded(c.Query)]; ok {
		return similar{x.ids[i], 1, true}, true
	}
	terms := distinctTerms(c.Query)
	for _, term := range prefix(terms) {
		for _, i := range x.prefixes[key+term] {
			if s := similarity(terms, x.queries[i]); s > best.similarity {
				best = similar{caseID: x.ids[i], similarity: s}
			}
		}
	}
	if best.similarity < nearDuplicate {
		return similar{}, false
	}
	return best, true
}

func (x *similarIndex) add(c *datasets.Case) {
	key, i := audience(c), len(x.queries)
	terms := distinctTerms(c.Query)
	x.queries, x.ids = append(x.queries, terms), append(x.ids, c.ID)
	if _, ok := x.exact[key+folded(c.Query)]; !ok {
		x.exact[key+folded(c.Query)] = i
	}
	for _, term := range prefix(terms) {
		x.prefixes[key+term] = append(x.prefixes[key+term], i)
	}
}

// audience tells apart askers for whom the same words are two queries.
func audience(c *datasets.Case) string {
	key, _ := json.Marshal(struct{ Scope, AsOf any }{c.Scope, c.AsOf}) // maps and times: cannot fail
	return string(key) + "\x00"
}

// folded is a query without case, punctuation and extra space.
func folded(query string) string { return strings.Join(words(query), " ") }

func distinctTerms(query string) termList {
	terms := retrieve.Terms(query)
	slices.Sort(terms)
	return slices.Compact(terms)
}

// prefix returns the terms of which a near duplicate must share at least one.
func prefix(terms termList) termList {
	need := int(math.Ceil(float64(nearDuplicate * float64(len(terms)))))
	return terms[:len(terms)-max(need, 1)+1]
}

// similarity is the Jaccard similarity, but 0 where one of two queries that
// differ says a number that the other does not: versions and dates are what
// tells such queries apart.
func similarity(a, b termList) float64 {
	shared := 0
	for _, term := range a {
		if _, ok := slices.BinarySearch(b, term); ok {
			shared++
		} else if hasDigit(term) {
			return 0
		}
	}
	for _, term := range b {
		if _, ok := slices.BinarySearch(a, term); !ok && hasDigit(term) {
			return 0
		}
	}
	union := len(a) + len(b) - shared
	if union == 0 {
		return 0
	}
	return float64(shared) / float64(union)
}

func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }
