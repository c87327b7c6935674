package sample

import (
	"regexp"
	"slices"
	"strings"

	unorm "golang.org/x/text/unicode/norm"
)

// Kinds of personal data that a logged query may hold.
const (
	PersonalMail  = "mail"
	PersonalPhone = "phone"
	PersonalCard  = "card"
	PersonalKey   = "key"
)

var personal = []struct {
	kind     string
	may      func(query string) bool // false: there is no need to look, as in most queries
	patterns []*regexp.Regexp
	check    func(match string) bool // nil: the pattern is enough
}{
	{PersonalMail, func(q string) bool { return strings.Contains(q, "@") }, compiled(`[\p{L}\p{N}._%+\-]+@[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)*\.\p{L}{2,}`), nil},
	{PersonalKey, func(q string) bool { return strings.ContainsAny(q, "=:-") || longestWord(q) >= shortestKey }, compiled(
		`\bAKIA[0-9A-Z]{16}\b`, `\bgh[pousr]_\w{20,}`, `\bglpat-[\w\-]{16,}`, `\bsk-[\w\-]{20,}`, `\bxox[abeprs]-[\w\-]{10,}`,
		`\bAIza[\w\-]{30,}`, `\beyJ[\w\-]{8,}\.[\w\-]{8,}`, `-----BEGIN [A-Z ]+-----`, `://[^/\s:@]+:[^/\s@]+@`,
		`(?i)\b(?:password|passwd|pwd|secret|token|api[_\- ]?key|passwort|kennwort)\s*[:=]\s*\S{4,}`,
		`\b[0-9a-fA-F]{32,}\b`,
	), nil},
	{PersonalKey, func(q string) bool { return longestWord(q) >= 32 }, compiled(`[A-Za-z0-9+/_\-]{32,}`), random},
	{PersonalCard, manyDigits, compiled(`\b\d(?:[ \-]?\d){12,18}\b`), luhn},
	{PersonalPhone, manyDigits, compiled(
		`(?:\+|\b00)[1-9](?:[\s().\-/]{0,2}\d){6,13}\b`,
		`(?:\(\d{3}\)\s?|\b\d{3}[\s.\-])\d{3}[\s.\-]\d{4}\b`,
		`\b0\d{1,4}(?:[\s/\-]+\d{2,}){1,4}\b`, `\b0\d{9,11}\b`,
		`(?i)\b(?:tel|phone|call|mobile|fax|telefon|handy|whatsapp)\b\D{0,10}\d[\d\s().\-/]{5,}\d`,
	), longEnough},
}

// shortestKey is the length of the shortest key that a pattern finds.
const shortestKey = 14

// Digits of a telephone number (ITU-T E.164); one with fewer is not looked for.
const (
	minDigits = 8
	maxDigits = 15
)

// manyDigits reports whether there are enough for a telephone number.
func manyDigits(query string) bool { return digitsIn(query) >= minDigits }

func digitsIn(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if class(s[i]) == '0' {
			n++
		}
	}
	return n
}

// longestWord is the length of the longest run without white space, in bytes.
func longestWord(query string) int {
	longest := 0
	for word := range strings.FieldsSeq(query) {
		longest = max(longest, len(word))
	}
	return longest
}

// PersonalKinds lists the kinds of personal data that are looked for.
func PersonalKinds() []string {
	return []string{PersonalMail, PersonalPhone, PersonalCard, PersonalKey}
}

func compiled(patterns ...string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		out[i] = regexp.MustCompile(p)
	}
	return out
}

// Personal names the kinds of personal data that a query holds, by pattern, each
// once; nil for none. Full-width forms count as what they stand for. Names and
// addresses of people have no pattern: they are not found.
func Personal(query string) []string {
	query = unorm.NFKC.String(query)
	var kinds []string
	for _, p := range personal {
		if !p.may(query) {
			continue
		}
		rest := without(query, p.patterns, p.check)
		if rest != query && !slices.Contains(kinds, p.kind) {
			kinds = append(kinds, p.kind)
		}
		query = rest // a card number is no telephone number besides
	}
	return kinds
}

// without takes what matches out of a query.
func without(query string, patterns []*regexp.Regexp, check func(string) bool) string {
	for _, pattern := range patterns {
		query = pattern.ReplaceAllStringFunc(query, func(match string) string {
			if check == nil || check(match) {
				return " "
			}
			return match
		})
	}
	return query
}

// luhn reports whether the digits carry the check digit of ISO/IEC 7812-1, as
// card numbers do.
func luhn(match string) bool {
	sum, double := 0, false
	for i := len(match) - 1; i >= 0; i-- {
		if class(match[i]) != '0' {
			continue
		}
		d := int(match[i] - '0')
		if double {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum, double = sum+d, !double
	}
	return sum%10 == 0
}

// longEnough keeps dates and short numbers from counting as telephone numbers.
func longEnough(match string) bool {
	digits := digitsIn(match)
	return digits >= minDigits && digits <= maxDigits
}

// random reports a run of letters and digits that nobody types: all of capitals,
// small letters and digits, changing often.
func random(match string) bool {
	changes := 0
	for i := 1; i < len(match); i++ {
		if class(match[i]) != class(match[i-1]) {
			changes++
		}
	}
	has := func(c byte) bool {
		return strings.ContainsFunc(match, func(r rune) bool { return class(byte(r)) == c })
	}
	return has('a') && has('A') && has('0') && changes >= len(match)/4
}

func class(b byte) byte {
	switch {
	case 'a' <= b && b <= 'z':
		return 'a'
	case 'A' <= b && b <= 'Z':
		return 'A'
	case '0' <= b && b <= '9':
		return '0'
	}
	return '-'
}
