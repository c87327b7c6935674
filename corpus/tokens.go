package corpus

import (
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
func CountTokens(text string) int {
	n := 0
	for _, part := range encodedParts(text) {
		c, err := codec().Count(part)
		if err != nil {
			c = utf8.RuneCountInString(part)
		}
		n += c
	}
	return n
}

// tokenStarts returns the byte offset at which each token of text starts.
func tokenStarts(text string) []int {
	starts := make([]int, 0, len(text)/4+1)
	offset := 0
	for _, part := range encodedParts(text) {
		_, tokens, err := codec().Encode(part)
		if err != nil || totalLen(tokens) != len(part) {
			starts = appendRuneStarts(starts, part, offset)
			offset += len(part)
			continue
		}
		for _, token := range tokens {
			starts = append(starts, offset)
			offset += len(token)
		}
	}
	return starts
}

func totalLen(tokens []string) int {
	n := 0
	for _, t := range tokens {
		n += len(t)
	}
	return n
}

func appendRuneStarts(starts []int, part string, offset int) []int {
	for i := range part {
		starts = append(starts, offset+i)
	}
	return starts
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
