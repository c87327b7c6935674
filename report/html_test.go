package report_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/report"
)

// pages are the findings that the browser tests look at.
func pages() map[string]*report.Findings {
	return map[string]*report.Findings{"compared": whole(200), "several": several(200), "alone": {Results: []report.Scored{scoredCases(60, "bm25", 0.8)}}}
}

// Every way to see a page: nothing is wider than the screen, no label is cut
// off, no script or policy complains, axe finds nothing serious.
func TestPageInABrowser(t *testing.T) {
	ctx := browser(t)
	for name, f := range pages() {
		address := pageOf(t, f)
		for _, l := range looks {
			t.Run(name+"/"+l.name, func(t *testing.T) {
				said := listen(t, ctx)
				l.see(t, ctx, address)
				if l.media == "screen" {
					ask[bool](t, ctx, `document.querySelector("#list summary").click(), true`)
				}
				if wide := ask[[]string](t, ctx, tooWide); len(wide) > 0 {
					t.Errorf("wider than the screen: %q", wide)
				}
				if cut := ask[[]string](t, ctx, cutLabels); len(cut) > 0 {
					t.Errorf("labels reach out of their drawing: %q", cut)
				}
				if l.media == "screen" {
					axe(t, ctx)
				}
				keep(t, ctx, name+"-"+l.name)
				if diff := cmp.Diff([]string(nil), said()); diff != "" {
					t.Errorf("the console (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// tooWide lists what makes a page wider than its screen.
const tooWide = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.body.querySelectorAll("*")].filter(
	(e) => !e.closest(".hidden, .stack thead") && e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML.slice(0, 100)).slice(0, 5)`

// cutLabels lists texts of drawings that reach out of them.
const cutLabels = `[...document.querySelectorAll("svg text")].filter((text) => {
	const own = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
	return own.width > 0 && (own.left < all.left - 1 || own.right > all.right + 1 || own.top < all.top - 2 || own.bottom > all.bottom + 2);
}).map((text) => text.textContent)`

// listen collects what the page's console says from here on; call the answer
// once.
func listen(t *testing.T, ctx context.Context) func() []string {
	t.Helper()
	own, stop := context.WithCancel(ctx)
	lines := chromedp.Console(own)
	done := make(chan []string, 1)
	go func() {
		var said []string
		for m, err := range lines {
			if err != nil {
				break
			}
			said = append(said, m.String())
		}
		done <- said
	}()
	return func() []string {
		stop()
		return <-done
	}
}

// violation is a rule of axe that a page breaks.
type violation struct {
	ID     string
	Impact string
	Nodes  []string
}

// axe looks for what keeps people out: GOLDGEN_AXE names the file axe.min.js of
// the npm package axe-core.
func axe(t *testing.T, ctx context.Context) {
	t.Helper()
	path := os.Getenv("GOLDGEN_AXE")
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("GOLDGEN_AXE names no axe.min.js")
		}
		return
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ask[bool](t, ctx, string(source)+"\n;true")
	found, err := chromedp.Run(ctx, chromedp.Evaluate[string](`axe.run().then((r) => JSON.stringify(r.violations.map(
		(v) => ({ID: v.id, Impact: v.impact, Nodes: v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary)}))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	var violations []violation
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Errorf("axe: %s (%s): %q", v.ID, v.Impact, v.Nodes)
	}
}
