package generate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// Bounds of lengths in words, as prompts name them.
const (
	maxShortWords = 8
	minLongWords  = 14
)

// otherForm stands for a wording that no rule knows the form of.
const otherForm = "other"

// givenStyle is a row's style as its query has it: a form or a length that a model
// was asked for and did not give is replaced by the one that it gave, or left out
// where the rules know none. query is without noise.
func givenStyle(row sample.Row, query string) string {
	if !tellsStyle(row.QueryType) {
		return row.Style
	}
	var values []string
	for _, value := range styleValues(row.Style) {
		if value = givenValue(value, query); value != otherForm {
			values = append(values, value)
		}
	}
	return cmp.Or(strings.Join(values, ","), sample.DefaultStyle)
}

func styleValues(style string) []string { return strings.Split(style, ",") }

// givenValue is what a query has in place of one value of its style.
func givenValue(value, query string) string {
	switch {
	case slices.Contains(sample.StyleValues(sample.AxisLength), value):
		return lengthOf(query)
	case slices.Contains(sample.StyleValues(sample.AxisForm), value) && !hasForm(query, value):
		return givenForm(query)
	}
	return value
}

func lengthOf(query string) string {
	switch n := wordCount(query); {
	case n <= maxShortWords:
		return sample.LengthShort
	case n >= minLongWords:
		return sample.LengthLong
	}
	return sample.LengthMedium
}

// hasForm reports whether a query may have a form. That one is no question can be
// told, but not whether it is a command or a report of what goes wrong.
func hasForm(query, form string) bool {
	switch form {
	case sample.FormQuestion:
		return asks(query)
	case sample.FormKeywords:
		return !asks(query) && wordCount(query) <= fewWords
	}
	return !asks(query)
}

func givenForm(query string) string {
	switch {
	case asks(query):
		return sample.FormQuestion
	case tellsTrouble.MatchString(query):
		return sample.FormProblem
	case wordCount(query) <= fewWords:
		return sample.FormKeywords
	}
	return otherForm
}

// styleShort names each form and length that fewer of the set's queries have than
// were asked for in it, and what these are instead.
func (s *Selection) styleShort() (short []datasets.Shortfall) {
	in := s.inSet()
	for _, axis := range []string{sample.AxisForm, sample.AxisLength} {
		for _, value := range sample.StyleValues(axis) {
			if wanted, others := s.styled(in, axis, value); len(others) > 0 {
				short = append(short, datasets.Shortfall{
					Stratum: "style=" + value, Wanted: wanted, Got: wanted - sum(others),
					Reason: "asked for in this style and written in another: " + listed(others),
				})
			}
		}
	}
	return short
}

// styled counts the set's cases whose row asks for a value of style, and those
// that have another one instead, by what that is.
func (s *Selection) styled(in []bool, axis, value string) (wanted int, others map[string]int) {
	others = map[string]int{}
	for i, row := range s.rows {
		if !in[i] || !tellsStyle(row.QueryType) || valueOn(axis, row.Style) != value {
			continue
		}
		wanted++
		if given := valueOn(axis, s.fates[i].outcome.Case.Style); given != value {
			others[given]++
		}
	}
	return wanted, others
}

// valueOn is a style's value on an axis.
func valueOn(axis, style string) string {
	for _, value := range styleValues(style) {
		if slices.Contains(sample.StyleValues(axis), value) {
			return value
		}
	}
	return otherForm
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// listed gives counts by name, the greatest first.
func listed(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, counts[name])
	}
	return strings.Join(names, ", ")
}
