// Package wording puts numbers and their nouns into sentences.
package wording

import "github.com/dustin/go-humanize/english"

// Count is a number with its noun: "1 case", "2 cases", "0 queries". The noun is
// given for one, and may have words before it.
func Count(n int, noun string) string { return english.Plural(n, noun, "") }

// Pick is the word for one thing, or that for any other number: "is" or "are".
func Pick(n int, one, many string) string { return english.PluralWord(n, one, many) }
