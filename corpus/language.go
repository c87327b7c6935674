package corpus

import (
	"strings"
	"unicode"

	"github.com/abadojack/whatlanggo"
)

// detected are the languages that detection chooses among: without such a list
// short English texts come out as rare languages.
func detected() map[whatlanggo.Lang]bool {
	list := map[whatlanggo.Lang]bool{}
	for _, l := range []whatlanggo.Lang{
		whatlanggo.Eng, whatlanggo.Deu, whatlanggo.Fra, whatlanggo.Spa, whatlanggo.Ita, whatlanggo.Por,
		whatlanggo.Nld, whatlanggo.Swe, whatlanggo.Dan, whatlanggo.Fin, whatlanggo.Pol, whatlanggo.Ces,
		whatlanggo.Hun, whatlanggo.Ron, whatlanggo.Tur, whatlanggo.Rus, whatlanggo.Ukr, whatlanggo.Ell,
		whatlanggo.Jpn, whatlanggo.Cmn, whatlanggo.Kor, whatlanggo.Arb, whatlanggo.Heb, whatlanggo.Hin,
		whatlanggo.Vie, whatlanggo.Ind, whatlanggo.Tha,
	} {
		list[l] = true
	}
	return list
}

// Bounds of what detection looks at: fewer letters say too little, more cost
// time and change nothing.
const (
	minLetters  = 20
	maxDetected = 400 // bytes
	minSure     = 0.5 // whatlanggo's confidence
)

// Language returns the ISO 639-1 code of the language that text is written in,
// or "" when it is too short or the detector is unsure. Code between fences and
// backticks does not count: it looks like English whatever surrounds it.
func Language(text string) string {
	prose := proseOf(text)
	letters := 0
	for _, r := range prose {
		if unicode.IsLetter(r) {
			letters++
			if r >= 0x2e80 { // one ideograph says as much as several letters
				letters += 2
			}
		}
	}
	if letters < minLetters {
		return ""
	}
	info := whatlanggo.DetectWithOptions(prose, whatlanggo.Options{Whitelist: detected()})
	if info.Confidence < minSure {
		return ""
	}
	return info.Lang.Iso6391()
}

// proseOf drops fenced code and code spans from the head of a text.
func proseOf(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
			continue
		}
		if fenced {
			continue
		}
		for i, part := range strings.Split(line, "`") {
			if i%2 == 0 {
				b.WriteString(part)
			}
		}
		if b.Len() > maxDetected {
			break
		}
	}
	return b.String()[:runeFloor(b.String(), maxDetected)]
}
