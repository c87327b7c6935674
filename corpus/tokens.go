package corpus

import (
	"iter"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// TokenEncoding names the tokens that Chunking's unit counts. Its tables are in
// the binary: nothing is fetched.
const TokenEncoding = string(tokenizer.O200kBase)

// codec loads the encoding's tables once; they are never changed.
var codec = sync.OnceValue(func() tokenizer.Codec {
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic(err) // the constant names a table of the library
	}
	return c
})

// maxEncoded bounds what the tokenizer sees at once: it is quadratic in runs
// without a break, such as long white space.
const maxEncoded = 2048

// CountTokens counts the tokens of text in TokenEncoding.
func CountTokens(text string) int { return new(tokenCounter).count(text) }

// TokenStarts returns the byte offset at which each token of text starts, in
// TokenEncoding.
func TokenStarts(text string) []int { return new(tokenCounter).starts(text) }

// tokenCounter counts tokens and remembers those of the words it has seen: few
// words make up most of a corpus. It may be used concurrently. The zero value
// is ready.
type tokenCounter struct {
	caches sync.Pool // of *wordCache
}

// wordCache maps a word to the lengths of its tokens in bytes.
type wordCache map[string][]int

// maxCached bounds the words of one cache, which then begins anew.
const maxCached = 1 << 16

func (t *tokenCounter) cache() *wordCache {
	if c, ok := t.caches.Get().(*wordCache); ok {
		return c
	}
	return &wordCache{}
}

func (t *tokenCounter) count(text string) int {
	cache := t.cache()
	defer t.caches.Put(cache)
	n := 0
	for word := range words(text) {
		n += len(cache.lengths(word))
	}
	return n
}

// starts returns the byte offset at which each token of text starts.
func (t *tokenCounter) starts(text string) []int {
	cache := t.cache()
	defer t.caches.Put(cache)
	starts := make([]int, 0, len(text)/4+1)
	offset := 0
	for word := range words(text) {
		for _, n := range cache.lengths(word) {
			starts = append(starts, offset)
			offset += n
		}
	}
	return starts
}

// lengths are the lengths of a word's tokens; they add up to the word's.
func (c *wordCache) lengths(word string) []int {
	if known, ok := (*c)[word]; ok {
		return known
	}
	lengths := encodedLengths(word)
	if len(*c) >= maxCached {
		clear(*c)
	}
	(*c)[strings.Clone(word)] = lengths
	return lengths
}

func encodedLengths(word string) []int {
	_, tokens, err := codec().Encode(word)
	if err != nil || totalLen(tokens) != len(word) {
		return runeLengths(word)
	}
	lengths := make([]int, len(tokens))
	for i, token := range tokens {
		lengths[i] = len(token)
	}
	return lengths
}

// runeLengths stands in where the tokenizer fails: a token a rune.
func runeLengths(word string) []int {
	var lengths []int
	for _, r := range word {
		lengths = append(lengths, utf8.RuneLen(r))
	}
	return lengths
}

// words cuts a text before each single space between two other characters. The
// encoding never joins anything there, so that the tokens of the words are
// those of the text. Words longer than maxEncoded are cut once more.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 1; i < len(text); i++ {
			if text[i] != ' ' || !cutsBefore(text, i) && i-start < maxEncoded {
				continue
			}
			if !yieldParts(text[start:i], yield) {
				return
			}
			start = i
		}
		yieldParts(text[start:], yield)
	}
}

func cutsBefore(text string, space int) bool {
	return text[space-1] > ' ' && text[space-1] < utf8.RuneSelf &&
		space+1 < len(text) && text[space+1] > ' ' && text[space+1] < utf8.RuneSelf
}

func yieldParts(word string, yield func(string) bool) bool {
	if len(word) <= maxEncoded {
		return word == "" || yield(word)
	}
	for _, part := range encodedParts(word) {
		if !yield(part) {
			return false
		}
	}
	return true
}

func totalLen(tokens []string) int {
	n := 0
	for _, t := range tokens {
		n += len(t)
	}
	return n
}

// encodedParts cuts text into parts of at most maxEncoded bytes, after a line
// where there is one, else before a space, else between runes.
func encodedParts(text string) []string {
	var parts []string
	for len(text) > maxEncoded {
		cut := partEnd(text)
		parts = append(parts, text[:cut])
		text = text[cut:]
	}
	return append(parts, text)
}

func partEnd(text string) int {
	window := text[:maxEncoded]
	if i := strings.LastIndexByte(window, '\n'); i > maxEncoded/2 {
		return i + 1
	}
	if i := strings.LastIndexByte(window, ' '); i > maxEncoded/2 {
		return i
	}
	return runeFloor(text, maxEncoded)
}

// runeFloor is the start of the rune that holds offset i.
func runeFloor(text string, i int) int {
	if i >= len(text) {
		return len(text)
	}
	for j := i; j > 0 && j > i-utf8.UTFMax; j-- {
		if utf8.RuneStart(text[j]) {
			return j
		}
	}
	return i
}
