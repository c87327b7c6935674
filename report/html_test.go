package report_test

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/browsertest"
	"github.com/goldgen/goldgen/report"
)

// pages are the findings that the browser tests look at.
func pages() map[string]*report.Findings {
	return map[string]*report.Findings{"compared": whole(200), "several": several(200), "alone": {Results: []report.Scored{scoredCases(60, "bm25", 0.8)}}}
}

// Every way to see a page: nothing is wider than the screen, no label is cut
// off, no script or policy complains, axe finds nothing serious.
func TestPageInABrowser(t *testing.T) {
	ctx := browsertest.Start(t)
	for name, f := range pages() {
		address := pageOf(t, f)
		for _, l := range looks {
			t.Run(name+"/"+l.Name, func(t *testing.T) {
				said := browsertest.Listen(t, ctx)
				l.See(t, ctx, address)
				if l.Media == "screen" {
					browsertest.Ask[bool](t, ctx, `document.querySelector("#list summary").click(), true`)
				}
				if wide := browsertest.Ask[[]string](t, ctx, browsertest.TooWide); len(wide) > 0 {
					t.Errorf("wider than the screen: %q", wide)
				}
				if cut := browsertest.Ask[[]string](t, ctx, cutLabels); len(cut) > 0 {
					t.Errorf("labels reach out of their drawing: %q", cut)
				}
				if l.Media == "screen" {
					browsertest.Axe(t, ctx)
				}
				browsertest.Keep(t, ctx, name+"-"+l.Name)
				if diff := cmp.Diff([]string(nil), said()); diff != "" {
					t.Errorf("the console (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// cutLabels lists texts of drawings that reach out of them.
const cutLabels = `[...document.querySelectorAll("svg text")].filter((text) => {
	const own = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
	return own.width > 0 && (own.left < all.left - 1 || own.right > all.right + 1 || own.top < all.top - 2 || own.bottom > all.bottom + 2);
}).map((text) => text.textContent)`

// Whatever the numbers are, every mark lies inside its drawing.
func TestMarksLieInsideTheirDrawings(t *testing.T) {
	coordinate := regexp.MustCompile(` (?:x|x1|x2|width)="([^"]*)%"`)
	rapid.Check(t, func(rt *rapid.T) {
		f := anyFindings(rt)
		var b bytes.Buffer
		if err := report.HTML(&b, f); err != nil {
			rt.Fatal(err)
		}
		for _, m := range coordinate.FindAllStringSubmatch(b.String(), -1) {
			if v, err := strconv.ParseFloat(m[1], 64); err != nil || v < 0 || v > 100 {
				rt.Fatalf("a coordinate of %s %%", m[1])
			}
		}
		if bad := regexp.MustCompile(`="[^"]*(NaN|Inf)[^"]*"`).FindString(b.String()); bad != "" {
			rt.Fatal(bad)
		}
	})
}

// anyFindings makes results with numbers from anywhere, and parts missing.
func anyFindings(t *rapid.T) *report.Findings {
	value := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(-1e-12, 1e-12), rapid.Float64Range(-1e6, 1e6), rapid.SampledFrom([]float64{0, 1}))
	maybe := func() *float64 { return rapid.Ptr(value, true).Draw(t, "value") }
	f := &report.Findings{}
	for range rapid.IntRange(1, 3).Draw(t, "results") {
		r := &eval.Result{Latency: &eval.Latency{P50: value.Draw(t, "p50"), P95: value.Draw(t, "p95")}}
		for _, name := range []string{"recall@1", "recall@5", "ndcg@5"} {
			low, high := maybe(), maybe()
			if low == nil || high == nil {
				low, high = nil, nil
			}
			r.Metrics = append(r.Metrics, eval.NamedMetric{Name: name, Metric: eval.Metric{Mean: maybe(), Low: low, High: high}})
		}
		r.Slices = eval.Slices{{Name: "kind", Slices: []eval.Slice{{Value: "a", Metrics: r.Metrics}}}}
		s := report.Scored{Result: r}
		for range rapid.IntRange(0, 4).Draw(t, "cases") {
			s.Cases = append(s.Cases, report.Case{CaseRow: eval.CaseRow{TookMS: value.Draw(t, "took")}})
		}
		f.Results = append(f.Results, s)
	}
	if rapid.Bool().Draw(t, "compared") {
		d := eval.Difference{Base: maybe(), Candidate: maybe(), Difference: maybe(), P: maybe()}
		if d.Difference != nil {
			d.Low, d.High = maybe(), maybe()
		}
		named := eval.Differences{{Name: "recall@1", Difference: d}}
		f.Comparison = &eval.Comparison{Comparable: true, Metrics: named, Slices: eval.DifferenceSlices{{Name: "kind", Slices: []eval.DifferenceSlice{{Value: "a", Metrics: named}}}}}
	}
	return f
}

// A result with nothing in it is a page all the same.
func TestPageOfAlmostNothing(t *testing.T) {
	for _, format := range report.Formats() {
		if written(t, format.Write, &report.Findings{Results: []report.Scored{{Result: &eval.Result{}}}}) == "" {
			t.Errorf("%s: nothing was written", format.Name)
		}
	}
}

// Means of different sets stand beside each other only with a warning.
func TestResultsOfDifferentSets(t *testing.T) {
	f := several(9)
	f.Results[1].Result.Golden = &eval.GoldenRef{Ref: "other@v1", Digest: "sha256:ff"}
	f.Results[2].Result.Conventions.MinGrade = 1
	text := written(t, report.PullRequest, f)
	for _, want := range []string{"the means of dense do not stand beside those of bm25: they are of another golden set", "the means of hybrid do not stand beside those of bm25: they were made under other conventions"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
}
