package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Escape makes text from a corpus or a model safe to print: control characters
// (ANSI sequences begin with one), line and paragraph separators, bidirectional
// and other invisible format characters and broken UTF-8 are shown as escapes,
// each on one line.
func Escape(s string) string {
	if !strings.ContainsFunc(s, unsafe) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		b.WriteString(escapeRune(r, s[i:i+size]))
		i += size
	}
	return b.String()
}

func escapeRune(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return fmt.Sprintf(`\x%02x`, raw[0])
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < 0x100 && unsafe(r):
		return fmt.Sprintf(`\x%02x`, r)
	case r > 0xffff && unsafe(r):
		return fmt.Sprintf(`\U%08x`, r)
	case unsafe(r):
		return fmt.Sprintf(`\u%04x`, r)
	}
	return raw
}

// unsafe reports a rune that can move the cursor, change the order of what is
// shown, or hide. The zero-width joiners stay: scripts and emoji need them.
func unsafe(r rune) bool {
	if r == '\u200c' || r == '\u200d' {
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// EscapeJSON makes an encoded JSON document safe to print without changing what
// it says: what Escape would show as an escape becomes one of JSON's own.
func EscapeJSON(doc string) string {
	risky := func(r rune) bool { return r >= 0x7f && unsafe(r) }
	if !strings.ContainsFunc(doc, risky) {
		return doc
	}
	var b strings.Builder
	for _, r := range doc {
		if !risky(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
