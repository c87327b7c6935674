package judge

import (
	"encoding/json"
	"regexp"
	"strings"
)

var (
	bareGrade = regexp.MustCompile(`^[\s"'*_` + "`" + `(\[{]*([0-3])[\s"'*_` + "`" + `)\]}.!]*$`)
	// markedGrade is a number that a word such as "score" announces.
	markedGrade = regexp.MustCompile(`(?i)\b((?:final|overall)\s+)?(?:score|grade|rating|relevance)\b["'*_]*\s*(?:[:=]|\bis\b|\bof\b)?\s*["'*_]*(-?\d+(?:[.,]\d+)?)(\s*(?:/|out of)\s*\d+)?`)
	ofThree     = regexp.MustCompile(`^\s*(?:/|out of)\s*3$`)
)

// ParseGrade reads a grade of 0 to 3 from a judge's words about the pair that it was
// asked about: a digit alone, JSON with a grade, or a number announced by "score",
// "grade", "rating" or "relevance". Where several are announced and differ, one
// called final counts; else there is no grade. Any other number in the text is
// ignored: it may count studies or topics. What stands in the pair itself is no grade
// either: a judge may repeat the passage, and the passage may say "score: 3". ok is
// false when the text holds no grade.
func ParseGrade(text, asked string) (grade int, ok bool) {
	text = strings.TrimSpace(text)
	if m := bareGrade.FindStringSubmatch(text); m != nil {
		return int(m[1][0] - '0'), true
	}
	if g, ok := jsonGrade(text); ok {
		return g, true
	}
	return announced(text, foldCase(asked))
}

// foldCase makes case and white space alike.
func foldCase(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

func jsonGrade(text string) (int, bool) {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "```json"), "```"), "```")
	var v struct {
		Grade *int `json:"grade"`
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil || v.Grade == nil || *v.Grade < 0 || *v.Grade > 3 {
		return 0, false
	}
	return *v.Grade, true
}

func announced(text, asked string) (int, bool) {
	var all, final []string
	for _, m := range markedGrade.FindAllStringSubmatch(text, -1) {
		if asked != "" && strings.Contains(asked, foldCase(m[0])) {
			continue
		}
		value := m[2]
		if m[3] != "" && !ofThree.MatchString(m[3]) {
			value = "another scale"
		}
		all = append(all, value)
		if m[1] != "" {
			final = append(final, value)
		}
	}
	if len(final) > 0 {
		all = final
	}
	return agreed(all)
}

// agreed returns the one grade that all values name.
func agreed(values []string) (int, bool) {
	for _, v := range values {
		if v != values[0] {
			return 0, false
		}
	}
	if len(values) == 0 || len(values[0]) != 1 || values[0][0] > '3' {
		return 0, false
	}
	return int(values[0][0] - '0'), true
}
