package sample

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/go-porterstemmer"
)

const (
	// maxWording is the longest query that is taken, in characters.
	maxWording = 500
	// keepWordings is how many wordings stay when there are twice as many; a
	// quarter more may stay for being asked often.
	keepWordings = 1 << 18
	// maxClicks is how many clicked ids a wording keeps.
	maxClicks = 20
	// fewExamples is how many bad records a summary names.
	fewExamples = 5
)

// Reasons why a record is no query.
const (
	DroppedEmpty = "empty" // no letter and no digit
	DroppedLong  = "long"  // over 500 characters
)

// wording is a query and all that are equal to it but for case, space and
// punctuation.
type wording struct {
	hash        uint64
	text        string // as it came first
	count       int
	first, last *time.Time
	clicks      map[string]int
}

// logTally counts wordings in bounded memory. While no more than 2*keep differ,
// all counts are exact. Beyond that it keeps those of the least hashes, which are
// a uniform sample with exact counts (each was there from its first search on),
// and the most frequent of the others, whose counts are lower bounds (lossy
// counting; Manku and Motwani 2002).
type logTally struct {
	keep    int
	table   map[uint64]*wording
	summary LogSummary
}

func newLogTally(path string) *logTally {
	return &logTally{keep: keepWordings, table: map[uint64]*wording{}, summary: LogSummary{
		File: path, BadFirst: []string{}, Personal: map[string]int{}, Dropped: map[string]int{}, Bands: []Band{},
	}}
}

func (f *logTally) bad(b *BadRecord) {
	f.summary.Bad++
	if len(f.summary.BadFirst) < fewExamples {
		f.summary.BadFirst = append(f.summary.BadFirst, b.Error())
	}
}

func (f *logTally) add(s *Search) {
	query := strings.Join(strings.Fields(s.Query), " ")
	folded := foldQuery(query)
	kinds := Personal(query)
	switch {
	case len(kinds) > 0:
		for _, kind := range kinds {
			f.summary.Personal[kind]++
		}
		return
	case folded == "":
		f.summary.Dropped[DroppedEmpty]++
		return
	case utf8.RuneCountInString(query) > maxWording:
		f.summary.Dropped[DroppedLong]++
		return
	}
	f.summary.Searches = plus(f.summary.Searches, s.Count)
	if s.At != nil && (f.summary.Until == nil || s.At.After(*f.summary.Until)) {
		f.summary.Until = s.At
	}
	hash := mix(hashString(fnvOffset, folded))
	w, ok := f.table[hash]
	if !ok {
		w = &wording{hash: hash, text: strings.Clone(query)}
		f.table[hash] = w
	}
	w.count = plus(w.count, s.Count)
	w.see(s)
	if len(f.table) > 2*f.keep {
		f.prune()
	}
}

// plus adds counts, none of them below 0; what no int can hold stays the greatest
// one.
func plus(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// mix spreads the bits of an FNV hash, whose high ones hardly depend on a text's
// end.
func mix(h uint64) uint64 { return draw(0, "wording", h) }

func (w *wording) see(s *Search) {
	if s.At != nil && (w.first == nil || s.At.Before(*w.first)) {
		w.first = s.At
	}
	if s.At != nil && (w.last == nil || s.At.After(*w.last)) {
		w.last = s.At
	}
	for _, id := range s.Clicked {
		if w.clicks == nil {
			w.clicks = map[string]int{}
		}
		if _, ok := w.clicks[id]; ok || len(w.clicks) < maxClicks {
			w.clicks[strings.Clone(id)] = plus(w.clicks[id], s.Count)
		}
	}
}

func (f *logTally) prune() {
	f.summary.Sampled = true
	hashes := slices.Sorted(maps.Keys(f.table))
	rest := hashes[f.keep:]
	slices.SortFunc(rest, func(a, b uint64) int {
		return cmp.Or(-cmp.Compare(f.table[a].count, f.table[b].count), cmp.Compare(a, b))
	})
	for _, hash := range rest[f.keep/4:] {
		delete(f.table, hash)
	}
}

// cluster is wordings that nearly agree.
type cluster struct {
	best     *wording // asked most
	wordings int
	count    int
	all      wording // of all: times and clicks
}

// clusters gives what was counted, the most frequent first.
func (f *logTally) clusters() []*cluster {
	byKey := map[string]*cluster{}
	for _, hash := range slices.Sorted(maps.Keys(f.table)) {
		w := f.table[hash]
		key := clusterKey(w.text)
		c := byKey[key]
		if c == nil {
			c = &cluster{best: w}
			byKey[key] = c
		}
		if w.count > c.best.count {
			c.best = w
		}
		c.wordings++
		c.count = plus(c.count, w.count)
		c.join(w)
	}
	list := slices.Collect(maps.Values(byKey))
	slices.SortFunc(list, func(a, b *cluster) int {
		return cmp.Or(-cmp.Compare(a.count, b.count), cmp.Compare(a.best.hash, b.best.hash))
	})
	f.summary.Distinct, f.summary.Clusters = len(f.table), len(list)
	return list
}

func (c *cluster) join(w *wording) {
	for _, at := range []*time.Time{w.first, w.last} {
		c.all.see(&Search{At: at})
	}
	for id, n := range w.clicks {
		if c.all.clicks == nil {
			c.all.clicks = map[string]int{}
		}
		c.all.clicks[id] = plus(c.all.clicks[id], n)
	}
}

func (c *cluster) asked() *Asked {
	ids := slices.SortedFunc(maps.Keys(c.all.clicks), func(a, b string) int {
		return cmp.Or(-cmp.Compare(c.all.clicks[a], c.all.clicks[b]), strings.Compare(a, b))
	})
	return &Asked{Count: c.count, Wording: c.wordings, First: c.all.first, Last: c.all.last, Clicked: ids[:min(len(ids), maxClicks)]}
}

// inBands divides clusters, the most frequent first, by thirds of all searches.
func (f *logTally) inBands(clusters []*cluster) map[string][]*cluster {
	out := map[string][]*cluster{}
	before, third := 0, math.Ceil(float64(f.summary.Searches)/3)
	for _, c := range clusters {
		band := BandTail
		switch {
		case c.count == 1:
		case float64(before) < third:
			band = BandHead
		case float64(before) < 2*third:
			band = BandTorso
		}
		out[band] = append(out[band], c)
		before = plus(before, c.count)
	}
	return out
}

// foldQuery is a query in small letters, its words set apart by one space. + and
// # are kept: C++ and C# are names.
func foldQuery(query string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && r != '+' && r != '#'
	}), " ")
}

// stem applies Porter's rules to words of ASCII letters; others are names or of
// another language.
func stem(word string) string {
	if len(word) < 3 || strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return word
	}
	return string(porterstemmer.StemWithoutLowerCasing([]rune(word)))
}

// politeWord are words with which people ask for the same.
var politeWord = map[string]bool{
	"a": true, "an": true, "the": true, "my": true, "our": true, "your": true, "i": true, "we": true, "me": true, "please": true,
	"how": true, "do": true, "can": true, "could": true,
}

// directed are words around which the order of the others matters: CSV to JSON is
// not JSON to CSV.
var directed = map[string]bool{"to": true, "from": true, "vs": true, "into": true, "before": true, "after": true}

// clusterKey is the set of a query's stems, without the words that do not tell
// needs apart; the order of words mostly does not either.
func clusterKey(query string) string {
	folded := foldQuery(query)
	var stems []string
	inOrder := false
	for _, word := range strings.Fields(folded) {
		inOrder = inOrder || directed[word]
		if !politeWord[word] {
			stems = append(stems, stem(word))
		}
	}
	if len(stems) == 0 {
		return folded
	}
	if !inOrder {
		slices.Sort(stems)
		stems = slices.Compact(stems)
	}
	return strings.Join(stems, " ")
}
