package report_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/report"
)

// detailed is a result with every part that stands apart from its means.
func detailed() *eval.Result {
	r := full()
	r.FilterErrors = []eval.FilterError{{Case: "c7", Query: "what changed in 2026?", Chunk: "notes.md#4", Rank: 3, Filter: corpus.Filter{Field: "category", Op: "in", Values: []string{"billing", "legal"}}}}
	r.Metrics[0].Least, r.Metrics[0].Most, r.Metrics[0].Expected, r.Metrics[0].TiedAtCut = p(0.79), p(0.84), p(0.81), 4
	r.Metrics[1].Least, r.Metrics[1].Most, r.Metrics[1].Expected = r.Metrics[1].Mean, r.Metrics[1].Mean, r.Metrics[1].Mean
	r.BySource = []eval.SourceMetrics{{Source: "judged", Metrics: eval.Metrics{{Name: "recall@10", Metric: eval.Metric{Mean: p(0.7), N: 38}}}}}
	r.Abstention.Threshold = &eval.Threshold{Target: 0.05, Value: 7.25, Low: p(6.5), FalseAnswer: 0.04, FalseAnswerLow: 0.001, FalseAnswerHigh: 0.2, AnswerRate: 0.9, Method: "the least score seen"}
	r.Memory = &eval.Memory{
		Scopes:  eval.SliceBy{Name: "scope", Slices: []eval.Slice{{Value: "session", N: 12, Metrics: r.Metrics[:1]}, {Value: "team", N: 30, Metrics: r.Metrics[:1]}}},
		Stale:   &eval.StaleHits{Cases: 9, Returned: 5, AboveCurrent: 2, CasesAboveCurrent: 1.5},
		Sources: []eval.SourceCounts{{Expected: "wiki", Cases: 8, First: 5, Found: 7, Returned: map[string]int{"wiki": 5, "chat": 3}}},
	}
	return r
}

func TestDetailsOnATerminal(t *testing.T) {
	var b bytes.Buffer
	if err := report.Terminal(&b, detailed(), report.Style{Terminal: true, Width: 110}); err != nil {
		t.Fatal(err)
	}
	golden(t, "result-details.txt", b.Bytes())
}

// A threshold that is rounded keeps another rate of false answers than it says.
func TestAThresholdIsPrintedSoThatItReproduces(t *testing.T) {
	r := detailed()
	r.Abstention.Threshold.Value = math.Nextafter(10, 11)
	var b bytes.Buffer
	if err := report.Terminal(&b, r, report.Style{Width: 110}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "10.000000000000002") {
		t.Errorf("no threshold to compare with in\n%s", b.String())
	}
}

func TestDetailsInAPage(t *testing.T) {
	page := written(t, report.HTML, &report.Findings{Results: []report.Scored{{Result: detailed()}}})
	for _, want := range []string{
		`id="filters"`, "category in billing|legal", `id="ties"`, "0.7900", `id="sources"`, "0.7000 (n 38)",
		`id="threshold"`, "7.2500", `id="memory"`, `id="stale"`, ">1.5<", `id="kinds"`, "chat 3, wiki 5",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(written(t, report.HTML, &report.Findings{Results: []report.Scored{{Result: full()}}}), `id="ties"`) {
		t.Error("a part with nothing to say is in the page")
	}
}
