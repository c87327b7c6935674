package report_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/browsertest"
	"github.com/goldgen/goldgen/report"
)

// attacks are texts that a page must show and never obey.
var attacks = browsertest.Attacks()

// hostile is findings whose every text is an attack.
func hostile() *report.Findings {
	f := whole(len(attacks))
	r := f.Results[0].Result
	all := strings.Join(attacks, " ")
	r.Retriever.Name, r.Retriever.Spec, r.TrustDetail, r.Golden.Ref = all, all, all, all
	r.Notes, r.Hints = []string{all}, []string{all}
	r.Slices[0].Name, r.Slices[0].Slices[0].Value = attacks[1], attacks[0]
	r.Metrics[0].Name, r.Metrics[0].Why, r.Metrics[0].Low = attacks[0], all, nil
	r.Leaks[0] = eval.Leak{Case: attacks[0], Query: all, Scope: corpus.Scope{attacks[0]: {attacks[1]}}, Chunk: attacks[1], Rank: 1, Kind: attacks[2]}
	r.Failed[0] = eval.Failure{Case: attacks[0], Error: all}
	r.Abstention.Why = all
	c := f.Comparison
	c.Gates[0] = eval.GateResult{Gate: all, Slice: all, Verdict: eval.Fail, Why: all}
	c.Gates[1].Waived = &eval.Waiver{Gate: all, Reason: all, Owner: all, Until: all, Case: all}
	c.Settings[0] = eval.Setting{Name: all, Base: all, Candidate: all}
	c.Notes, c.Method, c.Base.Name = []string{all}, all, all
	f.Baseline = &eval.Result{Retriever: eval.RetrieverRef{Name: all}, Metrics: r.Metrics}
	f.History[0].Retriever, f.History[1].Golden = all, all
	f.Results[0].Texts = map[string]string{}
	for i, text := range attacks {
		x := &f.Results[0].Cases[i]
		x.CaseID, x.Query, x.Error, x.Cause, x.Proof, x.Tags = text, text, text, text, text, []string{text}
		x.Scope, x.Filters = corpus.Scope{text: {text}}, []corpus.Filter{{Field: text, Op: "eq", Values: []string{text}}}
		x.Evidence = []report.Evidence{{Doc: text, End: 9, Quote: text}}
		x.Slices = []eval.SliceValue{{Name: attacks[1], Value: text}}
		x.Leaks = []eval.Leak{{Chunk: text, Rank: 1, Kind: text}}
		x.Labels = []eval.Label{{ID: text + " absent", Grade: 3}}
		for j := range x.Ranking {
			x.Ranking[j].ID = text
		}
		f.Results[0].Texts[text] = text
	}
	f.Goldgen = all
	return f
}

func TestPageOfHostileText(t *testing.T) {
	page := written(t, report.HTML, hostile())
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d script elements, want the data and the page's own", n)
	}
	for _, bad := range []string{"<img", "<b>bold", "<svg onload", "<!--<script"} {
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

func TestHostileTextNeverRuns(t *testing.T) {
	ctx := browsertest.Start(t)
	address := pageOf(t, hostile())
	for _, l := range []browsertest.Look{looks[0], looks[2]} {
		said := browsertest.Listen(t, ctx)
		l.See(t, ctx, address)
		browsertest.Ask[bool](t, ctx, `document.querySelectorAll("#list summary").forEach((s) => s.click()), true`)
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.querySelectorAll("#list .case").length === `+itoa(len(attacks)))); err != nil {
			t.Fatal(err)
		}
		if obeyed := browsertest.Ask[bool](t, ctx, `"obeyed" in window`); obeyed {
			t.Error("a text was obeyed")
		}
		if n := browsertest.Ask[int](t, ctx, `document.querySelectorAll("img, b:not(.trust b), script:not(.cases-data):not(:last-of-type), [onload], [onerror]").length`); n > 0 {
			t.Errorf("%d elements came from text", n)
		}
		queries := browsertest.Ask[[]string](t, ctx, `[...document.querySelectorAll("#list .query")].map((q) => q.textContent).sort()`)
		var want []string
		for _, a := range attacks {
			want = append(want, report.Escape(a))
		}
		if diff := cmp.Diff(sorted(want), sorted(queries)); diff != "" {
			t.Errorf("queries as shown (-want +got):\n%s", diff)
		}
		if wide := browsertest.Ask[[]string](t, ctx, browsertest.TooWide); len(wide) > 0 {
			t.Errorf("%s: wider than the screen: %q", l.Name, wide)
		}
		if lines := said(); len(lines) > 0 {
			t.Errorf("the console: %q", lines)
		}
	}
}
