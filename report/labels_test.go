package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/report"
)

// With all of the variance from labels, a third less width is 5/9 less variance:
// 100/(100+n) = 4/9 gives n = 125. With half of it no number of labels reaches a
// third; 100 labels leave 3/4 of the variance, 13 % less width.
func TestCompareSaysWhatLabelsWouldBuy(t *testing.T) {
	share := func(x float64) *float64 { return &x }
	for name, test := range map[string]struct {
		shares []*float64
		want   string
	}{
		"all from labels":  {[]*float64{share(1), share(.2)}, "100 % of the variance of a@1: about 130 more pairs labelled by people would narrow its interval by a third (goldgen review handbook --sample decisive)"},
		"the second more":  {[]*float64{share(.2), share(.8)}, "80 % of the variance of b@1: about 230 more pairs labelled by people would narrow its interval by a third"},
		"half from labels": {[]*float64{share(.5), nil}, "50 % of the variance of a@1: about 100 more pairs labelled by people would narrow its interval by 13 %"},
		"hardly any":       {[]*float64{share(.09), nil}, ""},
		"certain":          {[]*float64{nil, nil}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			low := 0.1
			c := &eval.Comparison{Comparable: true, Golden: &eval.GoldenRef{Name: "handbook", Ref: "handbook@v1"}, Verdict: eval.CannotTell}
			for i, n := range []string{"a@1", "b@1"} {
				c.Metrics = append(c.Metrics, eval.NamedDifference{Name: n, Difference: eval.Difference{
					Base: &low, Candidate: &low, Difference: &low, Low: &low, High: &low, P: &low, LabelShare: test.shares[i],
				}})
			}
			var out bytes.Buffer
			if err := report.CompareTerminal(&out, c, report.Style{}); err != nil {
				t.Fatal(err)
			}
			got := ""
			for line := range strings.Lines(out.String()) {
				if rest, ok := strings.CutPrefix(line, "labels"); ok {
					got = strings.TrimSpace(rest)
				}
			}
			if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
