package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// What stands in the parentheses of a measure's name: grade>=N, p=X of rbp,
// gains=G0/G1/... of nDCG, and conditions on slices (category=billing).

// parseArgs reads "(grade>=2)" or "(p=0.5,grade>=2)", which begin at offset at.
func (m *Measure) parseArgs(at int, args string) error {
	if args == "" {
		return nil
	}
	at++
	for _, arg := range splitList(args[1 : len(args)-1]) {
		if err := m.parseArg(at, arg); err != nil {
			return err
		}
		at += len(arg) + 1
	}
	return nil
}

func (m *Measure) parseArg(at int, arg string) error {
	if g, ok := strings.CutPrefix(arg, "grade>="); ok {
		return m.parseGrade(at+len("grade>="), g)
	}
	if p, ok := strings.CutPrefix(arg, "p="); ok && takesPersistence(m.kind) {
		return m.parsePersistence(at+len("p="), p)
	}
	if g, ok := strings.CutPrefix(arg, "gains="); ok && m.kind == ndcg {
		return m.parseGains(at+len("gains="), g)
	}
	if name, value, ok := strings.Cut(arg, "="); ok && isWord(name) && !slices.Contains(reserved, name) {
		return m.parseCondition(at, name, value)
	}
	return m.fail(at, "expected "+m.arguments())
}

// reserved are no names of slices.
var reserved = []string{"grade", "gains", "p"}

// arguments lists what may stand in the parentheses.
func (m *Measure) arguments() string {
	switch {
	case takesPersistence(m.kind):
		return "grade>=N, p=X or SLICE=VALUE"
	case m.kind == ndcg:
		return "gains=0/1/3/7 or SLICE=VALUE"
	case m.takesGrade():
		return "grade>=N or SLICE=VALUE"
	}
	return "SLICE=VALUE"
}

func (m *Measure) takesGrade() bool {
	return !m.graded() && m.kind != judged && m.kind != unjudged && !isSpanKind(m.kind) && m.aggregate() != sum
}

func (m *Measure) parseGrade(at int, text string) error {
	g, err := strconv.Atoi(text)
	if err != nil || g < 1 || g > maxGrade || text[0] == '+' {
		return m.fail(at, "expected a grade from 1 on")
	}
	if !m.takesGrade() {
		return m.fail(at-len("grade>="), canonicalNames[m.kind]+" does not look at a least grade")
	}
	m.level = g
	return nil
}

func (m *Measure) parsePersistence(at int, text string) error {
	x, ok := plainNumber(text)
	if !ok || x <= 0 || x >= 1 {
		return m.fail(at, "expected a persistence between 0 and 1")
	}
	m.x = x
	return nil
}

// parseGains reads the gain of each grade from 0 on. Gains do not fall, so the
// ideal ranking is still the one by grade; that of grade 0 is 0, as is that of
// a result without a label.
func (m *Measure) parseGains(at int, text string) error {
	last, gains := 0.0, []string{}
	for i, field := range strings.Split(text, "/") {
		gain, ok := plainNumber(field)
		switch {
		case !ok || gain > maxGain:
			return m.fail(at, "expected the gain of each grade from 0 on, such as 0/1/3/7")
		case i == 0 && gain != 0:
			return m.fail(at, "expected 0 as the gain of grade 0")
		case gain < last:
			return m.fail(at, fmt.Sprintf("gains must not fall: grade %d has less than grade %d", i, i-1))
		}
		gains, last = append(gains, strconv.FormatFloat(gain, 'g', -1, 64)), gain
		at += len(field) + 1
	}
	if last == 0 {
		return m.fail(at-1, "expected a gain above 0")
	}
	m.gains = strings.Join(gains, "/")
	return nil
}

// maxGain bounds a gain, so that sums stay finite.
const maxGain = 1e9

// gainTable is what parseGains read.
func (m *Measure) gainTable() []float64 {
	var out []float64
	for _, field := range strings.Split(m.gains, "/") {
		gain, _ := plainNumber(field)
		out = append(out, gain)
	}
	return out
}

// condition restricts a measure to the cases with a value in a dimension.
type condition struct{ dimension, value string }

func (c condition) String() string {
	if c.value == "" || strings.ContainsAny(c.value, "\",()") || c.value != strings.TrimSpace(c.value) || !strconv.CanBackquote(c.value) {
		return c.dimension + "=" + strconv.Quote(c.value)
	}
	return c.dimension + "=" + c.value
}

// parseCondition reads a value, bare or in double quotes as in Go.
func (m *Measure) parseCondition(at int, name, value string) error {
	at += len(name) + 1
	switch bare := !strings.HasPrefix(value, `"`); {
	case bare && (value == "" || strings.ContainsRune(value, '"')):
		return m.fail(at, `expected a value, in double quotes if it is empty or has one of ,()"`)
	case !bare:
		text, err := strconv.Unquote(value)
		if err != nil {
			return m.fail(at, "expected a value in double quotes")
		}
		value = text
	}
	c := condition{name, value}
	if slices.Contains(m.conditions(), c) {
		return m.fail(at-len(name)-1, c.String()+" stands there twice")
	}
	m.where = strings.TrimPrefix(m.where+","+c.String(), ",")
	return nil
}

// conditions lists what parseCondition read; all of them must hold.
func (m *Measure) conditions() []condition {
	if m.where == "" {
		return nil
	}
	var out []condition
	for _, part := range splitList(m.where) {
		name, value, _ := strings.Cut(part, "=")
		if text, err := strconv.Unquote(value); err == nil && value[0] == '"' {
			value = text
		}
		out = append(out, condition{name, value})
	}
	return out
}

// Conditions are the names of the dimensions that the measure's conditions are
// on.
func (m Measure) Conditions() []string {
	var names []string
	for _, c := range m.conditions() {
		names = append(names, c.dimension)
	}
	return names
}

// quoted is the length of the quoted string that text begins with, or 1.
func quoted(text string) int {
	prefix, err := strconv.QuotedPrefix(text)
	return max(1, len(prefix)*btoi(err == nil))
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == ""
}
