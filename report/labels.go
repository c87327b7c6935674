package report

import (
	"fmt"
	"math"

	"github.com/goldgen/goldgen/eval"
)

// How much labels are expected to tell: what a label model brings from elsewhere
// counts as many labels of a team's own as each of its coefficient vectors saw.
const (
	labelsOfPrior = 100
	labelsMany    = 300 // from here on the advice is what labelsSome would do
	labelsSome    = 100
	labelsLeast   = 0.1 // share of the variance below which labels are not the matter
)

// labelWords says how much of the doubt about a comparison comes from labels and
// what more of them would do; "" where they are certain or not the matter. It
// speaks of the measure on which labels weigh most. With s the labels' share of
// the variance, n labels are taken to leave s 100/(100 + n) of it.
func labelWords(c *eval.Comparison) string {
	most, name := 0.0, ""
	for _, d := range c.Metrics {
		if d.LabelShare != nil && d.Low != nil && *d.LabelShare > most {
			most, name = *d.LabelShare, d.Name
		}
	}
	if most < labelsLeast {
		return ""
	}
	set := "SET"
	if c.Golden != nil {
		set = c.Golden.Name
	}
	n, narrower := labelsThatNarrow(most)
	return fmt.Sprintf("%.0f %% of the variance of %s: about %d more pairs labelled by people would narrow its interval by %s (goldgen review %s --sample decisive)",
		100*most, name, n, narrower, set)
}

// labelsThatNarrow is how many labels take a third off an interval, and that in
// words; where so few would not, what some labels take off.
func labelsThatNarrow(share float64) (n int, narrower string) {
	const third = 1 - 4.0/9 // of the variance, for two thirds of the width
	if share > third {
		if n := math.Ceil(labelsOfPrior*third/(share-third)/10) * 10; n <= labelsMany {
			return int(n), "a third"
		}
	}
	left := 1 - share + float64(share*labelsOfPrior/(labelsOfPrior+labelsSome))
	return labelsSome, fmt.Sprintf("%.0f %%", 100*(1-math.Sqrt(left)))
}
