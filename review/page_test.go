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
		browsertest.Press(p.t, p.ctx, key)
	}
}

// click presses the button that a selector finds.
func (p person) click(selector string) {
	p.t.Helper()
	browsertest.Ask[bool](p.t, p.ctx, fmt.Sprintf(`document.querySelector(%q).click(), true`, selector))
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
	ctx := browsertest.Start(t)
	for _, l := range looks {
		t.Run(l.Name, func(t *testing.T) {
			d := newDesk(60)
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
				p.opened(key.name)
				p.looked(l.Name + "-" + key.name)
				p.press(escape)
				p.closed()
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
	p.says("#last", "Saved: pair 1, grade 2 (relevant). The label model: relevant with p = 0.73.")
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

// A label that the server did not confirm is never shown as saved, stays chosen
// and can be sent again.
func TestLabelThatIsNotSaved(t *testing.T) {
	d := newDesk(6)
	p := sit(t, d, looks[0])
	d.breakWith(&review.Problem{Status: 507, Text: "no space left on the disk", Hint: "free some"})
	p.press("2")
	p.until(`!document.getElementById("banner").hidden`)
	p.says("#banner-text", "Not saved: pair 1, grade 2 (relevant). The server says: no space left on the disk (free some).")
	p.says(`[data-grade="2"] b`, "relevant")
	if got := browsertest.Ask[string](t, p.ctx, `document.querySelector('[aria-pressed="true"]').className`); got != "unsaved" {
		t.Errorf("the grade is shown as %q", got)
	}
	browsertest.Axe(t, p.ctx)
	browsertest.Keep(t, p.ctx, "unsaved")
	p.press("n")
	p.at(2)
	p.says("#last", "")
	p.press("1")
	p.until(`document.getElementById("banner-text").innerText.includes("pair 2")`)
	p.says("#banner-text", "Not saved: pair 1, grade 2 (relevant); pair 2, grade 1 (related). The server says: no space left on the disk (free some).")
	d.breakWith(nil)
	p.click("#again")
	p.until(`document.getElementById("banner").hidden`)
	p.until(`document.getElementById("said").textContent.startsWith("Your label: grade 1")`)
	p.labels(d, "2", "1", "", "", "", "")
	p.says("#progress-text", "2 of 6 labelled")

	d.breakWith(&review.Problem{Status: 507, Text: "no space left on the disk"})
	p.press("3")
	p.until(`!document.getElementById("banner").hidden`)
	p.click("#dismiss")
	p.until(`document.getElementById("banner").hidden`)
	p.labels(d, "2", "1", "", "", "", "")
	if got := browsertest.Ask[string](t, p.ctx, `document.querySelector('[aria-pressed="true"]').dataset.grade`); got != "1" {
		t.Errorf("grade %s is shown as chosen, want 1 as saved", got)
	}
}

// While a label is on its way it is shown as chosen, not as saved, and no other
// one is taken.
func TestLabelOnItsWay(t *testing.T) {
	d := &slowDesk{desk: newDesk(6), asked: make(chan struct{}, 9), answer: make(chan struct{})}
	p := sit(t, d, looks[0])
	p.press("2")
	<-d.asked
	shown := `[...document.querySelectorAll('[aria-pressed="true"]')].map((b) => b.dataset.grade + " " + b.className)`
	if diff := cmp.Diff([]string{"2 sending"}, browsertest.Ask[[]string](t, p.ctx, shown)); diff != "" {
		t.Errorf("chosen (-want +got):\n%s", diff)
	}
	p.press("0", "s")
	p.says("#where", "Pair 1 of 6, case case0000")
	p.says("#said", "")
	p.says("#progress-text", "0 of 6 labelled")
	close(d.answer)
	p.at(2)
	p.labels(d.desk, "2", "", "", "", "", "")
	if n := len(d.asked); n > 0 {
		t.Errorf("%d further labels were sent", n)
	}
}

func TestServerGone(t *testing.T) {
	d := newDesk(6)
	ctx := browsertest.Start(t)
	base, token, stop := serveUntil(t, d)
	p := person{t, ctx}
	looks[0].See(t, ctx, base+"/?token="+token)
	p.at(1)
	stop()
	p.press("3")
	p.until(`!document.getElementById("banner").hidden`)
	p.says("#banner-title", "The server does not answer.")
	p.says("#banner-text", "Not saved: pair 1, grade 3 (perfect). If it was stopped, start goldgen review again and open the address that it prints: whatever this page showed as saved is on disk.")
	p.says("#said", "")
	p.press("n")
	p.until(`document.getElementById("banner-text").innerText.startsWith("pair 2 could not be read. Not saved: pair 1, grade 3 (perfect).")`)
	p.says("#again", "Send again")
	p.says("#where", "Pair 1 of 6, case case0000")
	p.opens("e", "edit")
	p.fill("#edit-query", "typed in vain")
	p.press("\t", enter)
	p.until(`document.getElementById("edit-outcome").innerText === "The server does not answer; nothing is known to be saved."`)
	if got := browsertest.Ask[string](t, ctx, `document.getElementById("edit-query").value`); got != "typed in vain" {
		t.Errorf("the field holds %q", got)
	}
	p.labels(d, "", "", "", "", "", "")
}

// Two pages of one person: the second sees what the first did, when it is
// looked at again and when it moves.
func TestPageOpenedTwice(t *testing.T) {
	d := newDesk(6)
	ctx := browsertest.Start(t)
	base, token := serve(t, d)
	first, second := person{t, ctx}, person{t, browsertest.Tab(t, ctx)}
	for _, p := range []person{first, second} {
		looks[0].See(t, p.ctx, base+"/?token="+token)
		p.at(1)
	}
	first.press("2")
	first.at(2)
	first.press("1")
	first.at(3)
	browsertest.Ask[bool](t, second.ctx, `document.dispatchEvent(new Event("visibilitychange")), true`)
	second.until(`document.getElementById("said").textContent.startsWith("Your label: grade 2")`)
	second.press("n")
	second.at(2)
	second.until(`document.getElementById("said").textContent.startsWith("Your label: grade 1")`)
	second.press(enter)
	second.at(3)
	second.press("0")
	second.at(4)
	first.press("n")
	first.at(4)
	first.says("#progress-text", "3 of 6 labelled")
	first.labels(d, "2", "1", "0", "", "", "")
}

// A key struck twice labels one pair: the next one was not read yet.
func TestKeyStruckTwice(t *testing.T) {
	d := newDesk(6)
	p := sit(t, d, looks[0])
	browsertest.Ask[bool](t, p.ctx, `(() => {
		const strike = () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "2", bubbles: true }));
		new MutationObserver(strike).observe(document.getElementById("where"), { childList: true });
		strike(); strike();
		return true;
	})()`)
	p.at(2)
	p.labels(d, "2", "", "", "", "", "")
}

func TestStayAfterALabel(t *testing.T) {
	d := newDesk(6)
	p := sit(t, d, looks[0])
	p.click("#go-on")
	p.press("1")
	p.until(`document.getElementById("revealed").textContent === "The label model: relevant with p = 0.73."`)
	p.says("#where", "Pair 1 of 6, case case0000")
	p.press(enter)
	p.at(2)
	p.says("#revealed", "")
}

// Single keys can be switched off; the buttons still work.
func TestWithoutSingleKeys(t *testing.T) {
	d := newDesk(6)
	p := sit(t, d, looks[0])
	p.click("#keys-on")
	p.press("2", "s", "n", "?")
	p.says("#where", "Pair 1 of 6, case case0000")
	browsertest.Ask[bool](t, p.ctx, `document.querySelector('[data-grade="3"]').focus(), true`)
	p.press(enter)
	p.at(2)
	p.labels(d, "3", "", "", "", "", "")
}

// Every control is reached by the tab key, and shows that it has the focus.
func TestEveryControlIsReached(t *testing.T) {
	p := sit(t, newDesk(6), looks[0])
	visible := `[...document.querySelectorAll("button, a, input, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.closest("dialog")).length`
	n := browsertest.Ask[int](t, p.ctx, visible)
	browsertest.Ask[bool](t, p.ctx, `document.activeElement.blur(), window.reached = new Set(), window.dark = [], true`)
	for range n + 2 {
		p.press("\t")
		browsertest.Ask[bool](t, p.ctx, `(() => { const e = document.activeElement; if (e === document.body) return true;
			reached.add(e); if (getComputedStyle(e).outlineStyle === "none") dark.push(e.outerHTML); return true; })()`)
	}
	if got := browsertest.Ask[int](t, p.ctx, `reached.size`); got != n {
		t.Errorf("%d controls are reached, of %d", got, n)
	}
	if got := browsertest.Ask[[]string](t, p.ctx, `dark`); len(got) > 0 {
		t.Errorf("no sign of the focus: %q", got)
	}
}

func TestEmptySample(t *testing.T) {
	ctx := browsertest.Start(t)
	base, token := serve(t, newDesk(0))
	p := person{t, ctx}
	looks[0].See(t, ctx, base+"/?token="+token)
	p.until(`document.getElementById("main").innerText === "The sample holds no pair. Choose another one with --sample."`)
	p.press("2", "n", "e", "?")
	p.closed()
	browsertest.Axe(t, ctx)
}

// A passage that was not valid on the day of the query says so.
func TestPassageOutOfItsTime(t *testing.T) {
	d := newDesk(1)
	before, after := at().AddDate(0, -1, 0), at().AddDate(0, 1, 0)
	d.items[0].AsOf, d.items[0].ValidFrom, d.items[0].ValidTo = &after, &before, &after
	p := sit(t, d, looks[0])
	p.says("#facts div:last-child dd", "from 2026-02-04 05:06 UTC before 2026-04-04 05:06 UTC, not on that date")
}
