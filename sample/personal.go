package sample

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	unorm "golang.org/x/text/unicode/norm"
)

// Kinds of personal data that a logged query may hold.
const (
	PersonalMail  = "mail"
	PersonalPhone = "phone"
	PersonalCard  = "card"
	PersonalIBAN  = "iban"
	PersonalKey   = "key"
)

var personal = []struct {
	kind     string
	may      func(query string) bool // false: there is no need to look, as in most queries
	patterns []*regexp.Regexp
	check    func(before, match string) bool // nil: the pattern is enough; before is the query up to the match
}{
	{PersonalMail, func(q string) bool { return strings.Contains(q, "@") }, compiled(`[\p{L}\p{N}._%+\-]+@[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)*\.\p{L}{2,}`), nil},
	{PersonalIBAN, manyDigits, compiled(`(?i)\b[a-z]{2}\d{2}(?:[ \-]?[a-z0-9]{4}){2,7}(?:[ \-]?[a-z0-9]{1,4})?\b`), iban},
	{PersonalKey, func(q string) bool { return longestWord(q) >= shortestCredential }, compiled(
		`(?i)\b(?:bearer|basic)[\s:]+[a-z0-9\-._~+/]{8,}=*`, `(?i)\bauthorization\s*[:=]\s*\S+(?:\s+\S+)?`,
	), credential},
	{PersonalKey, func(q string) bool { return strings.ContainsAny(q, "=:-") || longestWord(q) >= shortestKey }, compiled(
		`\bAKIA[0-9A-Z]{16}\b`, `\bgh[pousr]_\w{20,}`, `\bglpat-[\w\-]{16,}`, `\bsk-[\w\-]{20,}`, `\bxox[abeprs]-[\w\-]{10,}`,
		`\bAIza[\w\-]{30,}`, `\beyJ[\w\-]{8,}\.[\w\-]{8,}`, `-----BEGIN [A-Z ]+-----`, `://[^/\s:@]+:[^/\s@]+@`,
		`(?i)\b(?:password|passwd|pwd|secret|token|api[_\- ]?key|passwort|kennwort)\s*[:=]\s*\S{4,}`,
		`\b[0-9a-fA-F]{32,}\b`,
	), nil},
	{PersonalKey, func(q string) bool { return longestWord(q) >= 32 }, compiled(`[A-Za-z0-9+/_\-]{32,}`), random},
	{PersonalCard, manyDigits, compiled(`\b\d(?:[ \-]?\d){13,18}\b`), card},
	{PersonalPhone, manyDigits, compiled(
		`(?:\+|\b00)[1-9](?:[\s().\-/]{0,2}\d){6,13}\b`,
		`(?:\(\d{3}\)\s?|\b\d{3}[\s.\-])\d{3}[\s.\-]\d{4}\b`,
		`\b0\d{1,4}(?:[\s/\-]+\d{2,}){1,4}\b`, `\b0\d{9,11}\b`,
		`(?i)\b(?:tel|phone|call|mobile|fax|telefon|handy|whatsapp)\b\D{0,10}\d[\d\s().\-/]{5,}\d`,
	), telephone},
}

// shortestCredential is the length of the shortest one that an HTTP header sends.
const shortestCredential = 8

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
	return []string{PersonalMail, PersonalPhone, PersonalCard, PersonalIBAN, PersonalKey}
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
func without(query string, patterns []*regexp.Regexp, check func(before, match string) bool) string {
	for _, pattern := range patterns {
		rest, from := "", 0
		for _, at := range pattern.FindAllStringIndex(query, -1) {
			if check == nil || check(query[:at[0]], query[at[0]:at[1]]) {
				rest += query[from:at[0]] + " "
				from = at[1]
			}
		}
		query = rest + query[from:]
	}
	return query
}

// cardDigits are those of a card number as they are given out today.
const cardDigits = 14

// card reports whether the digits may be those of a card: as many, of an industry
// that issues cards to people, with the check digit of ISO/IEC 7812-1.
func card(_, match string) bool {
	return digitsIn(match) >= cardDigits && match[0] >= '2' && match[0] <= '6' && luhn(match)
}

// luhn reports whether the digits carry the check digit of ISO/IEC 7812-1.
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

// Lengths of an IBAN (ISO 13616).
const (
	minIBAN = 15
	maxIBAN = 34
)

// iban reports whether a match begins with an account number: its words, up to
// one of them, carry the check digits of ISO 7064 (mod 97-10).
func iban(_, match string) bool {
	account := ""
	for word := range strings.FieldsFuncSeq(strings.ToUpper(match), func(r rune) bool { return r == ' ' || r == '-' }) {
		account += word
		if len(account) >= minIBAN && len(account) <= maxIBAN && mod97(account[4:]+account[:4]) == 1 {
			return true
		}
	}
	return false
}

// mod97 is the remainder of digits and capitals, A standing for 10.
func mod97(account string) int {
	rest := 0
	for i := range len(account) {
		if c := account[i]; class(c) == 'A' {
			rest = (100*rest + int(c-'A') + 10) % 97
		} else {
			rest = (10*rest + int(c-'0')) % 97
		}
	}
	return rest
}

// credential tells what a header sends from words about it: words have no digits
// and no capitals within.
func credential(_, match string) bool {
	words := strings.FieldsFunc(match, func(r rune) bool { return unicode.IsSpace(r) || r == ':' || r == '=' })
	sent := func(word string) bool {
		return len(word) >= shortestCredential && (strings.ContainsAny(word, "0123456789") || mixedCase(word))
	}
	return slices.ContainsFunc(words[1:], sent) // the first is bearer or authorization
}

// mixedCase reports a small letter before a capital at least twice, as chance
// brings it and names in code seldom.
func mixedCase(word string) bool {
	turns := 0
	for i := 1; i < len(word); i++ {
		if class(word[i-1]) == 'a' && class(word[i]) == 'A' {
			turns++
		}
	}
	return turns >= 2
}

// Words before a number that say what it is.
var (
	phoneWord = regexp.MustCompile(`(?i)^(?:tel|phone|call|mobile|fax|telefon|handy|whatsapp)\b`)
	partWord  = regexp.MustCompile(`(?i)\b(?:parts?|article|item|sku|serial|order|model|ref|ean|upc|gtin|isbn|issn|invoice|ticket|version|build|` +
		`teile?|artikel|bestell|serien|rechnungs)[\-\s]?(?:no|nr|num|number|nummer|code|id)?\b[\s.:#]{0,3}$`)
)

// telephone keeps dates, short numbers and numbers of things from counting as
// telephone numbers: those that a word says to be of a thing, and those that go on
// from letters, as in XK-0123-4567-89.
func telephone(before, match string) bool {
	if digits := digitsIn(match); digits < minDigits || digits > maxDigits {
		return false
	}
	if phoneWord.MatchString(match) || strings.HasPrefix(match, "+") {
		return true
	}
	attached := before[strings.LastIndexAny(before, " \t\n(,;")+1:]
	goesOn := strings.ContainsFunc(attached, unicode.IsLetter) && strings.ContainsAny(attached[len(attached)-1:], "-_/#")
	return !partWord.MatchString(before) && (!goesOn || phoneWord.MatchString(attached))
}

// random reports a run of letters and digits that nobody types: all of capitals,
// small letters and digits, changing often.
func random(_, match string) bool {
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
