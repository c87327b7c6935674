package review_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/internal/browsertest"
	"github.com/goldgen/goldgen/review"
)

// looks are the ways in which people see the page.
var looks = []browsertest.Look{
	{Name: "light", Width: 1200, Scheme: "light", Media: "screen"},
	{Name: "dark", Width: 1200, Scheme: "dark", Media: "screen"},
	{Name: "narrow", Width: 360, Scheme: "light", Media: "screen"},
	{Name: "narrow-dark", Width: 360, Scheme: "dark", Media: "screen"},
}

// person is somebody in front of the page.
type person struct {
	t   *testing.T
	ctx context.Context
}

// sit opens a desk's page at its first pair.
func sit(t *testing.T, d review.Desk, l browsertest.Look) person {
	t.Helper()
	ctx := browsertest.Start(t)
	base, token := serve(t, d)
	p := person{t, ctx}
	l.See(t, ctx, base+"/?token="+token)
	p.until(`document.body.dataset.ready === "1"`)
	return p
}

// until waits for something to be true of the page.
func (p person) until(expression string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[bool](expression)); err != nil {
		p.t.Fatalf("%s: %v; the page says %.1000q", expression, err, browsertest.Ask[[]string](p.t, p.ctx, pageSays))
	}
}

// pageSays is what tells where a page is.
const pageSays = `[location.hash, ...["#banner", "#where", "#said", "#status", "dialog[open]"].map((s) => document.querySelector(s)?.innerText ?? "")]`

// at waits for a pair, counted from 1 as on the page, that takes keys.
func (p person) at(n int) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.body.dataset.ready === "%d" && location.hash === "#%d"`, n, n))
}

// press strikes keys, one after the other.
func (p person) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		if err := chromedp.Do(p.ctx, chromedp.KeyEvent(key)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// text is what an element says.
func (p person) text(selector string) string {
	p.t.Helper()
	return browsertest.Ask[string](p.t, p.ctx, fmt.Sprintf(`document.querySelector(%q).innerText`, selector))
}

func (p person) says(selector, want string) {
	p.t.Helper()
	if got := p.text(selector); got != want {
		p.t.Errorf("%s says %q, want %q", selector, got, want)
	}
}

func (p person) focus() string {
	p.t.Helper()
	return browsertest.Ask[string](p.t, p.ctx, `document.activeElement.id`)
}

const enter, escape = "\r", "\x1b"

func TestPageInEveryLook(t *testing.T) {
	for _, l := range looks {
		t.Run(l.Name, func(t *testing.T) {
			d := newDesk(60)
			ctx := browsertest.Start(t)
			base, token := serve(t, d)
			said := browsertest.Listen(t, ctx)
			p := person{t, ctx}
			l.See(t, ctx, base+"/?token="+token)
			p.at(1)
			p.press("2")
			p.at(2)
			p.press("p")
			p.at(1)
			p.looked(l.Name)
			for _, key := range []struct{ key, name string }{{"e", "edit"}, {"r", "reject"}, {"/", "search"}, {"l", "list"}, {"?", "help"}} {
				p.press(key.key)
				p.until(fmt.Sprintf(`document.querySelector("dialog[open]")?.id === %q`, key.name))
				p.looked(l.Name + "-" + key.name)
				p.press(escape)
				p.until(`!document.querySelector("dialog[open]")`)
				if got := p.focus(); got != "query" {
					t.Errorf("after %s the focus is on %q", key.name, got)
				}
			}
			if diff := cmp.Diff([]string(nil), said()); diff != "" {
				t.Errorf("the console (-want +got):\n%s", diff)
			}
		})
	}
}

// looked checks what holds for every state of the page.
func (p person) looked(name string) {
	p.t.Helper()
	if wide := browsertest.Ask[[]string](p.t, p.ctx, browsertest.TooWide); len(wide) > 0 {
		p.t.Errorf("%s: wider than the screen: %q", name, wide)
	}
	browsertest.Axe(p.t, p.ctx)
	browsertest.Keep(p.t, p.ctx, name)
}

func TestLabelsByKeys(t *testing.T) {
	d := newDesk(9)
	p := sit(t, d, looks[0])
	p.says("#progress-text", "0 of 9 labelled")
	p.says("#revealed", "")
	p.press("2")
	p.at(2)
	p.says("#last", "Saved: pair 1, grade 2 (partial). The label model: relevant with p = 0.73.")
	p.says("#revealed", "")
	p.press("0")
	p.at(3)
	p.press("s")
	p.at(4)
	p.press("t")
	p.at(5)
	p.press("o")
	p.at(6)
	p.says("#progress-text", "4 of 9 labelled, 1 skipped")
	p.says("#interval-text", "ndcg@10, lsa less bm25: [-0.020, 0.100], 25 % narrower than at the start")
	p.labels(d, "2", "0", "skip", "stale", "out_of_scope", "", "", "", "")

	p.press("u")
	p.at(5)
	p.says("#progress-text", "3 of 9 labelled, 1 skipped")
	p.labels(d, "2", "0", "skip", "stale", "", "", "", "", "")
	p.press("p", "p")
	p.at(3)
	p.press("3")
	p.at(5)
	p.labels(d, "2", "0", "3", "stale", "", "", "", "", "")
	p.press("n")
	p.at(6)
	p.press(enter)
	p.at(5)
	p.press("7", "9", "x", "%")
	p.labels(d, "2", "0", "3", "stale", "", "", "", "", "")
}

// labels checks what the desk holds.
func (p person) labels(d *desk, want ...string) {
	p.t.Helper()
	var got []string
	for i := range want {
		got = append(got, d.said(i))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("labels (-want +got):\n%s", diff)
	}
}

// The passage stands in its document, evidence is marked in it, and neither is
// off by the bytes of letters that take several.
func TestPassageInItsDocument(t *testing.T) {
	d := newDesk(3)
	p := sit(t, d, looks[0])
	it := d.items[0]
	cut := func(from, to int) string { return d.document[from:to] }
	texts := browsertest.Ask[[]string](t, p.ctx, `["before", "passage-text", "after"].map((id) => document.getElementById(id).textContent)`)
	want := []string{cut(0, it.Passage[0]), cut(it.Passage[0], it.Passage[1]), cut(it.Passage[1], len(d.document))}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("the document (-want +got):\n%s", diff)
	}
	if got := browsertest.Ask[[]string](t, p.ctx, `[...document.querySelectorAll("#passage-text mark")].map((m) => m.textContent)`); len(got) != 1 || got[0] != sentence {
		t.Errorf("evidence %q, want %q", got, sentence)
	}
	inView := `(() => { const b = document.getElementById("document").getBoundingClientRect(), p = document.getElementById("passage").getBoundingClientRect();
		return p.top >= b.top && p.bottom <= b.bottom && b.bottom <= innerHeight; })()`
	if !browsertest.Ask[bool](t, p.ctx, inView) {
		t.Error("the passage is not in view")
	}
	p.says("#facts", strings.Join([]string{"type", "factual", "asked by", "team support or sales", "as of", "2026-03-04 05:06 UTC", "passage valid", "from 2026-03-04 05:06 UTC"}, "\n"))
}
