package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/eval"
)

// fallen is a slice, or all cases, in which a measure fell with its whole
// interval below 0: the measure that fell furthest, and which others did.
type fallen struct {
	Slice string
	eval.NamedDifference
	Also []string
}

// worseSlices lists where measures fell with their whole interval below 0,
// largest fall first.
func worseSlices(c *eval.Comparison) []fallen {
	out := fell(nil, "all cases", c.Metrics)
	for _, by := range c.Slices {
		for _, s := range by.Slices {
			out = fell(out, by.Name+" = "+s.Value, s.Metrics)
		}
	}
	slices.SortStableFunc(out, func(x, y fallen) int {
		return cmp.Compare(*x.Difference.Difference, *y.Difference.Difference)
	})
	return out
}

// fell adds a slice where any measure fell.
func fell(out []fallen, slice string, metrics eval.Differences) []fallen {
	var worst *eval.NamedDifference
	var names []string
	for i := range metrics {
		m := &metrics[i]
		if direction(&m.Difference) != "bad" {
			continue
		}
		names = append(names, m.Name)
		if worst == nil || *m.Difference.Difference < *worst.Difference.Difference {
			worst = m
		}
	}
	if worst == nil {
		return out
	}
	also := slices.DeleteFunc(names, func(n string) bool { return n == worst.Name })
	return append(out, fallen{slice, *worst, also})
}

// cells are the row of a table: slice, measure, both means, the difference, its
// interval, n, and the other measures that fell.
func (f *fallen) cells() []string {
	return []string{
		f.Slice, f.Name, short(f.Base), short(f.Candidate), plusMinus(f.Difference.Difference), between(f.Low, f.High),
		fmt.Sprint(f.N), strings.Join(f.Also, ", "),
	}
}
