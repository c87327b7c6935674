// Package clip shortens text without cutting a character.
package clip

import "unicode/utf8"

// Bytes is the longest beginning of s of at most n bytes that does not end
// within a character; "" for n of 0 or less.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
