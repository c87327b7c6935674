package report_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/browsertest"
	"github.com/goldgen/goldgen/report"
)

// agreed is an agreement over n retrievers with a pair of every outcome.
func agreed(n int) *eval.Agreement {
	figures := func(right, tau float64) eval.AgreementFigures {
		share := func(v float64, pairs int) eval.AgreementShare {
			return eval.AgreementShare{Value: p(v), Low: p(max(0, v-0.05)), High: p(min(1, v+0.03)), Pairs: pairs}
		}
		estimate := func(v float64) eval.AgreementEstimate {
			return eval.AgreementEstimate{Value: p(v), Low: p(v - 0.1), High: p(v + 0.1)}
		}
		return eval.AgreementFigures{
			Right: share(right, 120), Reversed: share(0.004, 190), Power: share(0.61, 190),
			Tau: estimate(tau), TauBest: estimate(tau - 0.3), Overlap: estimate(0.6), Loss: estimate(0.012),
		}
	}
	a := &eval.Agreement{
		Reference: eval.AgreementSet{Golden: &eval.GoldenRef{Ref: "people@v2", Digest: "sha256:0123456789abcdef"}, Trust: "reviewed", Cases: 225, Clusters: 225, Labels: "certain", Separated: 190},
		Tested:    eval.AgreementSet{Golden: &eval.GoldenRef{Ref: "made@v3", Digest: "sha256:fedcba9876543210"}, Trust: "prior", TrustDetail: "as shipped", Cases: 200, Clusters: 180, Labels: "uncertain", Separated: 120},
		Measure:   "ndcg@10", Source: "in", Says: "of the 120 pairs of retrievers that made@v3 separates by ndcg@10, people would order 97.0 % the same (95 % interval 92.0 % to 100.0 %)",
		AgreementFigures: figures(0.97, 0.71), Ceiling: figures(0.98, 0.77), Placebo: figures(0.5, 0.02), Method: "tests of compare",
		Notes: []string{"tested set: 3 queries failed and score 0"}, Hints: []string{"were the two swapped?"},
	}
	for i := range n {
		mean := func(x float64) eval.AgreementMean {
			return eval.AgreementMean{Mean: p(x), Low: p(x - 0.03), High: p(x + 0.03), Rank: float64(i + 1), Judged: p(0.9)}
		}
		x := 0.6 - 0.4*float64(i)/float64(n)
		a.Retrievers = append(a.Retrievers, eval.AgreementRetriever{
			Name: fmt.Sprintf("retriever-%02d", i+1), OwnFeature: i == 0, Reference: mean(x), Tested: mean(x + 0.05*float64(i%3)),
		})
	}
	outcomes := []string{eval.PairRight, eval.PairOther, eval.PairReversed, eval.PairMissed, eval.PairUndecided}
	for y := range n {
		for x := range y {
			o := outcomes[(x+y)%len(outcomes)]
			a.Pairs = append(a.Pairs, eval.AgreementPair{
				A: x, B: y, Outcome: o,
				Reference: eval.PairDifference{Difference: -0.04, Separated: o == eval.PairReversed || o == eval.PairMissed},
				Tested:    eval.PairDifference{Difference: 0.02, Separated: o != eval.PairMissed && o != eval.PairUndecided},
			})
		}
	}
	a.Compared = 276
	return a
}

func TestAgreementTerminal(t *testing.T) {
	a := agreed(4)
	a.Overlap = eval.AgreementEstimate{Why: "it takes more than 5 retrievers"}
	var b bytes.Buffer
	if err := report.AgreementTerminal(&b, a, false, report.Style{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "agreement-pipe.txt", b.Bytes())
	b.Reset()
	if err := report.AgreementTerminal(&b, a, false, report.Style{Terminal: true, Width: 120}); err != nil {
		t.Fatal(err)
	}
	golden(t, "agreement-terminal.txt", b.Bytes())
	if err := report.AgreementTerminal(broken{}, a, false, report.Style{}); err == nil {
		t.Error("a write error is lost")
	}
}

// Of many pairs in another order the first ten are listed, or all.
func TestAgreementListsPairs(t *testing.T) {
	a := agreed(12)
	wrong := 0
	for _, pair := range a.Pairs {
		if pair.Outcome == eval.PairOther || pair.Outcome == eval.PairReversed {
			wrong++
		}
	}
	for _, all := range []bool{false, true} {
		var b bytes.Buffer
		if err := report.AgreementTerminal(&b, a, all, report.Style{}); err != nil {
			t.Fatal(err)
		}
		_, list, _ := strings.Cut(b.String(), "reference separates it\n")
		list, _, _ = strings.Cut(list, "\n\n")
		got, want := strings.Count(list, "\t+0.020\t"), 10
		if all {
			want = wrong
		}
		if got != want || strings.Contains(list, fmt.Sprintf("and %d more", wrong-10)) == all {
			t.Errorf("all %v: %d pairs listed, want %d:\n%s", all, got, want, list)
		}
	}
}

func agreementPage(t *testing.T, a *eval.Agreement) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.AgreementHTML(&b, a); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAgreementPage(t *testing.T) {
	page := agreementPage(t, agreed(24))
	for _, want := range []string{
		"default-src 'none'; style-src &#39;sha256-", "made@v3 held against people@v2", "people would order 97.0 % the same",
		"retriever-24", "reversed: both separate them, the two ways round: <b>55</b>", "were the two swapped?", "own feature",
	} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "'", "&#39;")) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(page, "<script"); n != 0 {
		t.Errorf("%d scripts", n)
	}
	if diff := cmp.Diff(page, agreementPage(t, agreed(24))); diff != "" {
		t.Error(diff)
	}
	if many := agreementPage(t, agreed(41)); !strings.Contains(many, "41 retrievers are too many to draw a cell for each pair") {
		t.Error("41 retrievers have a grid")
	}
}

func TestAgreementPageOfHostileText(t *testing.T) {
	a := agreed(len(attacks))
	all := strings.Join(attacks, " ")
	a.Says, a.Method, a.Measure, a.Source, a.Reference.TrustDetail, a.Tested.Golden.Ref = all, all, all, all, all, all
	a.Notes, a.Hints, a.Right.Why, a.Right.Low = []string{all}, []string{all}, all, nil
	a.ByMeasure = []eval.AgreementMeasure{{Measure: all}}
	for i, text := range attacks {
		a.Retrievers[i].Name = text
	}
	page := agreementPage(t, a)
	for _, bad := range []string{"<script", "<img", "<b>bold", "<svg onload", "<!--<script"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for i, r := range page {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Fatalf("%U at byte %d", r, i)
		}
	}
}

// Every way to see the page: nothing is wider than the screen, no label is cut
// off, no policy complains, axe finds nothing serious.
func TestAgreementPageInABrowser(t *testing.T) {
	ctx := browsertest.Start(t)
	for name, a := range map[string]*eval.Agreement{"many": agreed(24), "two": agreed(2)} {
		path := filepath.Join(t.TempDir(), "agreement.html")
		if err := os.WriteFile(path, []byte(agreementPage(t, a)), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, l := range looks {
			t.Run(name+"/"+l.Name, func(t *testing.T) {
				said := browsertest.Listen(t, ctx)
				l.See(t, ctx, "file://"+path)
				if wide := browsertest.Ask[[]string](t, ctx, browsertest.TooWide); len(wide) > 0 {
					t.Errorf("wider than the screen: %q", wide)
				}
				if cut := browsertest.Ask[[]string](t, ctx, labelsCutOff); len(cut) > 0 {
					t.Errorf("labels reach out of their drawing: %q", cut)
				}
				if l.Media == "screen" {
					browsertest.Axe(t, ctx)
				}
				browsertest.Keep(t, ctx, "agreement-"+name+"-"+l.Name)
				if diff := cmp.Diff([]string(nil), said()); diff != "" {
					t.Errorf("the console (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// labelsCutOff lists texts that reach out of the outermost drawing around them.
const labelsCutOff = `[...document.querySelectorAll("svg text")].filter((text) => {
	let drawing = text.ownerSVGElement;
	while (drawing.ownerSVGElement) drawing = drawing.ownerSVGElement;
	const own = text.getBoundingClientRect(), all = drawing.getBoundingClientRect();
	return own.width > 0 && (own.left < all.left - 1 || own.right > all.right + 1 || own.top < all.top - 2 || own.bottom > all.bottom + 2);
}).map((text) => text.textContent)`
