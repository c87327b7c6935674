package report

import (
	"fmt"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// short is a mean to three decimals.
func short(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *v)
}

// plusMinus is a difference with its sign; one that rounds to 0 has none.
func plusMinus(v *float64) string {
	if v == nil {
		return "–"
	}
	s := fmt.Sprintf("%+.3f", *v)
	if s == "+0.000" || s == "-0.000" {
		return "0.000"
	}
	return strings.Replace(s, "-", "−", 1)
}

// between is an interval in words.
func between(low, high *float64) string {
	if low == nil || high == nil {
		return "–"
	}
	return minus(*low) + " to " + minus(*high)
}

// bracketed is an interval in brackets, "" where there is none.
func bracketed(low, high *float64) string {
	if low == nil || high == nil {
		return ""
	}
	return fmt.Sprintf("[%s, %s]", minus(*low), minus(*high))
}

func minus(v float64) string {
	s := strings.Replace(fmt.Sprintf("%.3f", v), "-", "−", 1)
	return strings.Replace(s, "−0.000", "0.000", 1)
}

// probability is a p-value to three decimals.
func probability(p *float64) string {
	switch {
	case p == nil:
		return "–"
	case *p < 0.001:
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", *p)
}

// filterWords shows filters as conditions.
func filterWords(filters []corpus.Filter) string {
	words := make([]string, len(filters))
	for i, f := range filters {
		words[i] = strings.TrimSpace(f.Field + " " + f.Op + " " + strings.Join(f.Values, "|"))
	}
	return strings.Join(words, ", ")
}

// milliseconds is a time with about three digits.
func milliseconds(ms float64) string {
	switch {
	case ms >= 10000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 100:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 1:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.3f ms", ms)
}
