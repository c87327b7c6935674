package datasets

import (
	"cmp"
	"iter"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"github.com/goldgen/goldgen/internal/quotes"
)

// How a span of evidence was found in another version of its document.
const (
	SpanExact      = "exact"      // the same bytes, where they stood or elsewhere in the document
	SpanNormalised = "normalised" // but for white space, case, quotation marks and dashes
	SpanFuzzy      = "fuzzy"      // but for a few words
)

// Why evidence is lost, and with it its case.
const (
	LostDocument = "document gone"
	LostFact     = "fact changed"
	LostQuote    = "quote not found"
)

const (
	// leastWords is the least that a quote must hold to be looked for elsewhere than
	// where it stood: shorter ones are found anywhere.
	leastWords = 3

	// fuzzyCost is the share of a quote's words that may differ in a fuzzy find, a
	// different spelling counting half; up to factCost the place is the same and what
	// it says is another thing.
	fuzzyCost, factCost = 0.15, 0.5

	// mostQuoteWords and mostWords bound a fuzzy search.
	mostQuoteWords, mostWords = 400, 20_000
)

// placed is where evidence stands now, or why it is lost.
type placed struct {
	span  Span
	quote string // the document's bytes there
	how   string
	alike float64 // 1 but for fuzzy finds: 1 - the share of words that differ
	lost  string
}

// place finds evidence in what became of its document.
func (m *moved) place(e Evidence) placed {
	switch {
	case m == nil || m.fate == gone:
		return placed{lost: LostDocument}
	case !m.changed():
		return placed{Span{e.Start, e.End}, e.Quote, SpanExact, 1, ""}
	}
	if at, ok := m.exact(Span{e.Start, e.End}); ok && m.now[at.Start:at.End] == e.Quote {
		return m.found(at, SpanExact, 1)
	}
	near := m.alignment().after(e.Start)
	words := wordsOf(quotes.Fold(e.Quote))
	if len(words) < leastWords {
		return placed{lost: LostQuote}
	}
	if at, ok := nearest(occurrences(m.now, e.Quote), near); ok {
		return m.found(at, SpanExact, 1)
	}
	if at, ok := nearest(m.foldedNow().Occurrences(e.Quote), near); ok {
		return m.found(at, SpanNormalised, 1)
	}
	return m.fuzzy(e, words, near)
}

func (m *moved) found(at Span, how string, alike float64) placed {
	return placed{at, m.now[at.Start:at.End], how, alike, ""}
}

// occurrences yields where the bytes of a quote stand alone: not inside of a word.
func occurrences(text, quote string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for from := 0; ; {
			i := strings.Index(text[from:], quote)
			if i < 0 {
				return
			}
			start, end := from+i, from+i+len(quote)
			if apart(text, start) && apart(text, end) && !yield(start, end) {
				return
			}
			from = start + 1
		}
	}
}

// apart reports whether no word goes on over a byte offset.
func apart(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return !quotes.IsWord(before) || !quotes.IsWord(after)
}

// nearest is the span that begins nearest to a byte offset, the first of several.
func nearest(spans iter.Seq2[int, int], near int) (Span, bool) {
	best, found := Span{}, false
	for start, end := range spans {
		if !found || abs(start-near) < abs(best.Start-near) {
			best, found = Span{start, end}, true
		}
	}
	return best, found
}

func abs(n int) int { return max(n, -n) }

// wordAt is a word of a folded text and the bytes where it stands there.
type wordAt struct {
	text     string
	from, to int
}

func wordsOf(t *quotes.Text) []wordAt {
	var out []wordAt
	at := 0
	for _, p := range quotes.Pieces(t.Folded()) {
		if r, _ := utf8.DecodeRuneInString(p); quotes.IsWord(r) {
			out = append(out, wordAt{p, at, at + len(p)})
		}
		at += len(p)
	}
	return out
}

// fuzzy looks for a quote with a few words changed: around where it stood, and in
// the whole of a document that is not too long. A find in which a number or a
// negation differs, or one word stands for another, says another thing.
func (m *moved) fuzzy(e Evidence, quote []wordAt, near int) placed {
	if len(quote) > mostQuoteWords {
		return placed{lost: LostQuote}
	}
	t := m.foldedNow()
	if m.words == nil {
		m.words = wordsOf(t)
	}
	distance := func(w wordAt) int { start, _ := t.Original(w.from, w.to); return abs(start - near) }
	found := match(quote, m.window(e), distance)
	if found.cost > fuzzyCost && len(m.words) <= mostWords {
		if whole := match(quote, m.words, distance); whole.cost < found.cost {
			found = whole
		}
	}
	switch {
	case found.cost > factCost:
		return placed{lost: LostQuote, alike: 1 - found.cost}
	case found.cost > fuzzyCost || found.another:
		return placed{lost: LostFact, alike: 1 - found.cost}
	}
	start, end := t.Original(found.first.from, found.last.to)
	return m.found(Span{start, m.throughPunctuation(end, e.Quote)}, SpanFuzzy, 1-found.cost)
}

// window are the words around where evidence stood.
func (m *moved) window(e Evidence) []wordAt {
	around := m.alignment().outer(Span{e.Start, e.End})
	slack := 2*len(e.Quote) + 200
	from := sort.Search(len(m.words), func(i int) bool { return m.startOf(i) >= around.Start-slack })
	to := sort.Search(len(m.words), func(i int) bool { return m.startOf(i) >= around.End+slack })
	return m.words[from:min(to, from+mostWords)]
}

func (m *moved) startOf(word int) int {
	start, _ := m.folded.Original(m.words[word].from, m.words[word].to)
	return start
}

// throughPunctuation takes the mark that ends a sentence in where the quote had
// one.
func (m *moved) throughPunctuation(end int, quote string) int {
	last, _ := utf8.DecodeLastRuneInString(quote)
	next, size := utf8.DecodeRuneInString(m.now[end:])
	if unicode.IsPunct(last) && unicode.IsPunct(next) {
		return end + size
	}
	return end
}

// similar is the best find of a quote among words.
type similar struct {
	cost        float64 // share of the quote's words that differ; more than 1 for none
	first, last wordAt
	another     bool // a word that changes what is said differs
}

// Steps of an alignment of words. Costs are in halves of a word.
const (
	stepPair = iota
	stepSkipQuote
	stepSkipText
)

// match aligns all words of a quote with some of a text (Sellers 1980), at the
// least cost; see bestEnd.
func match(quote, text []wordAt, distance func(wordAt) int) similar {
	if len(text) == 0 {
		return similar{cost: 2}
	}
	width := len(text) + 1
	steps := make([]uint8, (len(quote)+1)*width)
	costs, above := make([]int, width), make([]int, width)
	for i, q := range quote {
		costs, above = above, costs
		costs[0] = 2 * (i + 1)
		row := steps[(i+1)*width:]
		row[0] = stepSkipQuote
		for j, w := range text {
			pair, skipQuote, skipText := above[j]+pairCost(q.text, w.text), above[j+1]+2, costs[j]+2
			costs[j+1] = min(pair, skipQuote, skipText)
			switch costs[j+1] {
			case pair:
				row[j+1] = stepPair
			case skipQuote:
				row[j+1] = stepSkipQuote
			default:
				row[j+1] = stepSkipText
			}
		}
	}
	best := bestEnd(costs, steps[len(quote)*width:], func(j int) int { return distance(text[j-1]) })
	out := trace(quote, text, steps, best)
	out.cost = float64(costs[best]) / float64(2*len(quote))
	return out
}

// bestEnd is where the find with the least cost ends; of several one whose last words
// are a pair, the nearest.
func bestEnd(costs []int, steps []uint8, distance func(j int) int) int {
	best := 1
	for j := 2; j < len(costs); j++ {
		unpaired := min(steps[j], 1)
		if cmp.Or(costs[j]-costs[best], int(unpaired)-int(min(steps[best], 1)), distance(j)-distance(best)) < 0 {
			best = j
		}
	}
	return best
}

// trace follows the steps of a find back from its last word. A quote that lacks its
// first or last word says another thing: that word may stand there in another form.
func trace(quote, text []wordAt, steps []uint8, last int) similar {
	width := len(text) + 1
	out := similar{last: text[last-1], first: text[last-1]}
	for i, j := len(quote), last; i > 0; {
		switch steps[i*width+j] {
		case stepPair:
			i, j = i-1, j-1
			out.first = text[j]
			out.another = out.another || anotherThing(quote[i].text, text[j].text)
		case stepSkipQuote:
			i--
			end := i == 0 || i == len(quote)-1
			out.another = out.another || end || decisive(quote[i].text)
		default:
			j--
			out.another = out.another || decisive(text[j].text)
		}
	}
	return out
}

func pairCost(a, b string) int {
	switch {
	case a == b:
		return 0
	case spelling(a, b):
		return 1
	}
	return 2
}

// spelling reports whether two words are one word spelled in two ways: one letter
// differs, or two of nine and more, and not the first.
func spelling(a, b string) bool {
	short := min(len(a), len(b))
	most := 1
	if short >= 9 {
		most = 2
	}
	return short >= 5 && a[0] == b[0] && abs(len(a)-len(b)) <= 2*most &&
		levenshtein.ComputeDistance(a, b) <= most
}

// anotherThing reports whether one word in the place of the other changes what is
// said.
func anotherThing(a, b string) bool {
	return a != b && (decisive(a) || decisive(b) || opposite(a, b) || opposite(b, a) || replaced(a, b))
}

// stem is how many letters two forms of one word have in common at least.
const stem = 4

// replaced reports whether two words long enough to mean something are no two
// spellings and no two forms of one word. An ideograph means something alone.
func replaced(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if unicode.Is(unicode.Han, x[0]) && unicode.Is(unicode.Han, y[0]) {
		return true
	}
	if len(x) < stem || len(y) < stem || spelling(a, b) {
		return false
	}
	return !slices.Equal(x[:stem], y[:stem])
}

// decisive words are numbers, and those that turn what is said around.
func decisive(word string) bool {
	switch word {
	case "not", "no", "never", "none", "nor", "neither", "without", "cannot", "t", "except", "unless", "only",
		"on", "off", "true", "false", "yes", "always",
		"nicht", "kein", "keine", "keinen", "nie", "ohne", "nur", "pas", "ne", "non", "jamais", "sans", "nunca", "sin",
		"não", "mai", "senza", "не", "нет", "без", "不", "没", "沒", "无", "無", "非", "未":
		return true
	}
	return strings.ContainsFunc(word, unicode.IsDigit)
}

// opposite reports whether a is made of b by a syllable that negates.
func opposite(a, b string) bool {
	for _, syllable := range []string{"un", "in", "im", "ir", "il", "dis", "non", "de", "mis"} {
		if rest, ok := strings.CutPrefix(a, syllable); ok && (rest == b || "en"+rest == b) {
			return true
		}
	}
	return false
}
