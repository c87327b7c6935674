package report_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/report"
)

func outlook(share float64, third int, widths ...float64) *eval.LabelOutlook {
	o := &eval.LabelOutlook{Metric: "ndcg@10", Share: share}
	if third > 0 {
		o.Third = &third
	}
	for i, w := range widths {
		o.After = append(o.After, eval.LabelStep{Labels: 50 << i, Width: w})
	}
	return o
}

// TestLabelsAreSaidEverywhere holds that the terminal, the page, Markdown and JUnit
// say the same of what labels bring to the doubt, and of what more of them buy.
func TestLabelsAreSaidEverywhere(t *testing.T) {
	review := " (goldgen review handbook --sample decisive)"
	for name, tt := range map[string]struct {
		labels *eval.LabelOutlook
		want   string
	}{
		"a third":         {outlook(1, 130, .8, .7, .6), "100 % of the variance of ndcg@10 comes from labels: labelling 130 more pairs would narrow its interval by a third" + review},
		"less":            {outlook(.5, 0, .99, .95, .87), "50 % of the variance of ndcg@10 comes from labels: labelling 200 more pairs would narrow its interval by 13 %" + review},
		"next to nothing": {outlook(.8, 0, 1, 1, .99), "80 % of the variance of ndcg@10 comes from labels; labelling 200 more pairs would hardly narrow its interval, as far as other collections show"},
		"hardly any":      {outlook(.09, 0, .99, .98, .97), "9 % of the variance of ndcg@10 comes from labels"},
		"nothing known":   {outlook(.8, 0), "80 % of the variance of ndcg@10 comes from labels"},
		"certain":         {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := whole(60)
			f.Comparison.Labels = tt.labels
			for format, write := range map[string]func(io.Writer) error{
				"terminal": func(w io.Writer) error { return report.CompareTerminal(w, f.Comparison, report.Style{}) },
				"html":     func(w io.Writer) error { return report.HTML(w, f) },
				"markdown": func(w io.Writer) error { return report.PullRequest(w, f) },
				"junit":    func(w io.Writer) error { return report.JUnit(w, f) },
			} {
				var out bytes.Buffer
				if err := write(&out); err != nil {
					t.Fatal(err)
				}
				if got := saidOfLabels(out.String()); got != tt.want {
					t.Errorf("%s: got %q, want %q", format, got, tt.want)
				}
			}
		})
	}
}

// saidOfLabels cuts the sentence out of what stands around it.
func saidOfLabels(written string) string {
	at := strings.Index(written, "of the variance of ndcg@10")
	if at < 0 {
		return ""
	}
	begin := strings.LastIndexAny(written[:at], "\n\t\">") + 1
	sentence := strings.TrimPrefix(strings.TrimPrefix(written[begin:], "- "), "labels: ")
	return strings.TrimSpace(sentence[:strings.IndexAny(sentence, "\n\"<")])
}

// Without a golden set's name the hint says where one goes.
func TestLabelsOfResultsWithoutASet(t *testing.T) {
	c := &eval.Comparison{Comparable: true, Labels: outlook(1, 60, .6, .5, .4), Verdict: eval.CannotTell}
	var out bytes.Buffer
	if err := report.CompareTerminal(&out, c, report.Style{}); err != nil || !strings.Contains(fmt.Sprint(&out), "goldgen review SET") {
		t.Errorf("%v: %s", err, &out)
	}
}
