// Package plaintext says of bytes that should be a text in UTF-8 why they are
// none, and what divides the columns of a table in text.
package plaintext

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Problem says why data is no text in UTF-8; "" where it is one: another
// encoding, a NUL byte, or bytes that are no character.
func Problem(data []byte) string {
	if other := Encoding(data); other != "" {
		return other
	}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return fmt.Sprintf("a NUL byte at offset %d: it is no text", at)
	}
	if !utf8.Valid(data) {
		return "not UTF-8 text"
	}
	return ""
}

// looked is how much of a text is looked at to tell its encoding, in bytes.
const looked = 1 << 10

// Encoding says that a text which begins with head is in UTF-16 or UTF-32, and
// how it is converted; "" where it seems to be neither. Without a byte order mark
// these show by NUL bytes in every other place, as letters of most languages have
// them.
func Encoding(head []byte) string {
	head = head[:min(len(head), looked)]
	name := ""
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(head, []byte{0, 0, 0xfe, 0xff}):
		name = "UTF-32"
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		name = "UTF-16"
	default:
		name = unmarked(head)
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("it is %s, want UTF-8 (iconv -f %s -t UTF-8)", name, name)
}

// unmarked names UTF-16 by the places of NUL bytes: most of the odd ones and
// hardly an even one, or the other way round.
func unmarked(head []byte) string {
	var nul [2]int
	for i, b := range head {
		if b == 0 {
			nul[i%2]++
		}
	}
	half := len(head) / 2
	many := func(n int) bool { return half > 1 && 2*n > half }
	few := func(n int) bool { return 20*n <= half }
	switch {
	case many(nul[1]) && few(nul[0]):
		return "UTF-16LE"
	case many(nul[0]) && few(nul[1]):
		return "UTF-16BE"
	}
	return ""
}

// Delimiter is what divides the columns of a table whose header is this line: a
// comma, or, where that gives no wanted column, a semicolon or a tab that does. It
// is a comma where nothing does.
func Delimiter(header string, wanted func(column string) bool) rune {
	for _, delimiter := range []rune{',', ';', '\t'} {
		for column := range strings.SplitSeq(header, string(delimiter)) {
			if wanted(strings.Trim(column, " \"\r\n")) {
				return delimiter
			}
		}
	}
	return ','
}
