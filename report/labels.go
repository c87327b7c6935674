package report

import (
	"fmt"

	"github.com/goldgen/goldgen/eval"
)

// What is worth saying of more labels.
const (
	labelsLeast  = 0.1  // share of the variance below which labels are not the matter
	labelsNarrow = 0.02 // of the width, below which they would hardly do a thing
)

// labelWords says how much of the doubt about a comparison comes from labels and
// what more of them would do; "" where they are certain.
func labelWords(c *eval.Comparison) string {
	if c == nil || c.Labels == nil {
		return ""
	}
	o := c.Labels
	words := fmt.Sprintf("%.0f %% of the variance of %s comes from labels", 100*o.Share, o.Metric)
	if o.Share < labelsLeast || len(o.After) == 0 {
		return words
	}
	set := "SET"
	if c.Golden != nil {
		set = c.Golden.Name
	}
	review := fmt.Sprintf(" (goldgen review %s --sample decisive)", set)
	most := o.After[len(o.After)-1]
	switch narrower := 1 - most.Width; {
	case o.Third != nil:
		return words + fmt.Sprintf(": labelling %d more pairs would narrow its interval by a third", *o.Third) + review
	case narrower < labelsNarrow:
		return words + fmt.Sprintf("; labelling %d more pairs would hardly narrow its interval, as far as other collections show", most.Labels)
	default:
		return words + fmt.Sprintf(": labelling %d more pairs would narrow its interval by %.0f %%", most.Labels, 100*narrower) + review
	}
}
