package sample

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/plaintext"
	"github.com/goldgen/goldgen/internal/seeded"
)

// Axes of style and their values.
const (
	AxisForm   = "form"
	AxisLength = "length"
	AxisNoise  = "noise"

	FormQuestion = "question"
	FormKeywords = "keywords"
	FormProblem  = "problem"
	FormCommand  = "command"
	LengthShort  = "short"
	LengthMedium = "medium"
	LengthLong   = "long"
	NoiseClean   = "clean"
	NoiseNoisy   = "noisy"
)

// axes are in the order in which a style names their values.
var axes = []struct {
	name   string
	values []string
}{
	{AxisForm, []string{FormQuestion, FormKeywords, FormProblem, FormCommand}},
	{AxisLength, []string{LengthShort, LengthMedium, LengthLong}},
	{AxisNoise, []string{NoiseClean, NoiseNoisy}},
}

// queryLanguages are those that a model is asked for by name, and that a gate
// tells apart.
var queryLanguages = []string{"de", "en", "es", "fr", "it", "ja", "nl", "pt", "zh"}

// StyleOptions say how queries are worded.
type StyleOptions struct {
	StyleShares map[string]map[string]float64 `yaml:"style_shares" json:"style_shares,omitempty"` // axis -> value -> share
	Personas    string                        `yaml:"personas" json:"personas,omitempty"`         // file: a line for each who asks
	Examples    string                        `yaml:"examples" json:"examples,omitempty"`         // file: a query of the team's own a line
	Language    string                        `yaml:"language" json:"language,omitempty"`         // of queries, ISO 639-1; "" is each chunk's
}

func (o StyleOptions) validate() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(o.StyleShares)) {
		key := "sample.style_shares." + name
		valid := StyleValues(name)
		switch {
		case valid == nil:
			errs = append(errs, fmt.Errorf("sample.style_shares: unknown axis %q, valid are form, length, noise", name))
		case len(o.StyleShares[name]) == 0:
			errs = append(errs, fmt.Errorf("%s: no shares", key))
		default:
			errs = append(errs, CheckShares(key, "unknown", o.StyleShares[name], valid))
		}
	}
	if o.Language != "" && !slices.Contains(queryLanguages, o.Language) {
		errs = append(errs, fmt.Errorf("sample.language: %q, valid are %s", o.Language, strings.Join(queryLanguages, ", ")))
	}
	return errors.Join(errs...)
}

// StyleValues lists what an axis of style may be; nil for no axis.
func StyleValues(axis string) []string {
	for _, a := range axes {
		if a.name == axis {
			return slices.Clone(a.values)
		}
	}
	return nil
}

// Persona is somebody who asks.
type Persona struct {
	Name string // short: stands in the style
	Text string // in words, as the model is told
}

// personaMark stands before a persona's name in a style.
const personaMark = "as "

// hasAxis reports whether queries of a type can have one value or another on an
// axis, given the values that are drawn: how ambiguous ones are put is their type's,
// and a few keywords have no length.
func hasAxis(axis, queryType string, drawn []string) bool {
	switch axis {
	case AxisForm:
		return queryType != datasets.Ambiguous
	case AxisLength:
		return queryType != datasets.Ambiguous && queryType != datasets.Keyword && !slices.Contains(drawn, FormKeywords)
	}
	return true
}

// styleOf is a unit's style: the value of each axis that it has and that has
// shares, and who asks; the named one without either. Keyword queries have one form.
func (o StyleOptions) styleOf(seed int64, unit uint64, queryType, named string, personas []Persona) string {
	var parts []string
	if named != DefaultStyle {
		parts = append(parts, named)
	}
	for _, a := range axes {
		shares := o.StyleShares[a.name]
		if len(shares) == 0 || !hasAxis(a.name, queryType, parts) {
			continue
		}
		weights := make([]float64, len(a.values))
		for i, v := range a.values {
			weights[i] = shares[v]
		}
		value := a.values[pickBy(weights, uniform(draw(seed, "style "+a.name, unit)))]
		if a.name == AxisForm && queryType == datasets.Keyword {
			value = FormKeywords
		}
		parts = append(parts, value)
	}
	if len(personas) > 0 {
		parts = append(parts, personaMark+personas[draw(seed, "persona", unit)%uint64(len(personas))].Name)
	}
	if len(parts) == 0 {
		return named
	}
	return strings.Join(parts, ",")
}

// fewExamplesOf is how many examples a row gets.
const fewExamplesOf = 3

// dress gives rows what their style needs besides its name.
func (in Input) dress(rows []Row, o Options) {
	texts := map[string]string{}
	for _, p := range in.Personas {
		texts[p.Name] = p.Text
	}
	for i := range rows {
		r := &rows[i]
		r.Language = o.Language
		if _, name, ok := strings.Cut(","+r.Style, ","+personaMark); ok {
			r.Persona = texts[name]
		}
		r.Examples = few(in.Examples, o.Seed, r.Wording())
	}
}

// few draws some of the examples for who asks in that wording, in their order.
func few(examples []string, seed int64, wording string) []string {
	if len(examples) <= fewExamplesOf {
		return examples
	}
	at := seeded.Rand(seed, "examples", wording).Perm(len(examples))[:fewExamplesOf]
	slices.Sort(at)
	out := make([]string, len(at))
	for i, n := range at {
		out[i] = examples[n]
	}
	return out
}

// ReadPersonas reads a file of personas, one a line: "name: who it is", or the
// description alone, which is then the name too. Blank lines and those that
// begin with # do not count. A file without any is an error.
func ReadPersonas(path string) ([]Persona, error) {
	lines, err := readLines(path, "persona")
	if err != nil {
		return nil, err
	}
	var out []Persona
	for _, l := range lines {
		name, text, ok := strings.Cut(l, ":")
		if !ok {
			text = l
		}
		p := Persona{strings.Join(strings.Fields(strings.ReplaceAll(name, ",", " ")), " "), strings.TrimSpace(text)}
		if p.Name == "" || p.Text == "" {
			return nil, fmt.Errorf("%s: persona %q: want \"name: who it is\"", path, l)
		}
		if slices.ContainsFunc(out, func(other Persona) bool { return other.Name == p.Name }) {
			return nil, fmt.Errorf("%s: persona %q is there twice", path, p.Name)
		}
		out = append(out, p)
	}
	return out, nil
}

// ReadExamples reads a file of example queries, one a line, likewise. Those that
// hold personal data are left out and counted.
func ReadExamples(path string) (examples []string, personal int, err error) {
	lines, err := readLines(path, "example")
	if err != nil {
		return nil, 0, err
	}
	for _, l := range lines {
		if len(Personal(l)) > 0 {
			personal++
			continue
		}
		examples = append(examples, l)
	}
	return examples, personal, nil
}

func readLines(path, what string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []string
	s := bufio.NewScanner(f)
	n := 1
	for ; s.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(s.Text(), "\ufeff"))
		if problem := plaintext.Problem([]byte(line)); problem != "" {
			return nil, fmt.Errorf("%s:%d: %s", path, n, problem)
		}
		if line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s:%d: a line of more than %d bytes; it holds %s, one a line", path, n, bufio.MaxScanTokenSize, what)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s: no %s in it", path, what)
	}
	return lines, nil
}
