package review_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/browsertest"
	"github.com/goldgen/goldgen/report"
)

// hostileDesk is a desk whose every text is an attack, one a pair.
func hostileDesk() *desk {
	attacks := browsertest.Attacks()
	d := newDesk(len(attacks))
	for i, text := range attacks {
		it := &d.items[i]
		it.CaseID, it.Query, it.QueryType, it.Title, it.DocID, it.ChunkID = text, text, text, text, text, text
		it.HeadingPath, it.Scope = []string{text, text}, corpus.Scope{text: {text, text}}
		it.Text = "before " + text + text + text + " after"
		it.DocumentBytes = len(it.Text)
		it.Passage = [2]int{7, 7 + 3*len(text)}
		it.Evidence = [][2]int{{7 + len(text), 7 + 2*len(text)}}
		d.machine[i].By = text
	}
	return d
}

func TestHostileTextNeverRuns(t *testing.T) {
	ctx := browsertest.Start(t)
	for _, l := range []browsertest.Look{looks[0], looks[2]} {
		t.Run(l.Name, func(t *testing.T) {
			base, token := serve(t, hostileDesk())
			said := browsertest.Listen(t, ctx)
			p := person{t, ctx}
			l.See(t, ctx, base+"/?token="+token)
			for i, text := range browsertest.Attacks() {
				p.at(i + 1)
				p.showsAsText(text)
				p.press("2")
			}
			p.hostileDialogs()
			if diff := cmp.Diff([]string(nil), said()); diff != "" {
				t.Errorf("the console (-want +got):\n%s", diff)
			}
		})
	}
}

// showsAsText checks that the pair in view is shown, and nothing of it is
// markup.
func (p person) showsAsText(text string) {
	p.t.Helper()
	escaped := report.Escape(text)
	want := []string{escaped, escaped, "before ", escaped + escaped + escaped, " after", escaped}
	got := browsertest.Ask[[]string](p.t, p.ctx, `["#query", "#title", "#before", "#passage-text", "#after", "#document mark"].map((s) => document.querySelector(s).textContent)`)
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Errorf("as shown (-want +got):\n%s", diff)
	}
	p.harmless()
}

func (p person) harmless() {
	p.t.Helper()
	if browsertest.Ask[bool](p.t, p.ctx, `"obeyed" in window`) {
		p.t.Error("a text was obeyed")
	}
	if n := browsertest.Ask[int](p.t, p.ctx, `document.querySelectorAll("img, script:not([src='page.js']), svg:not(#interval-bar), [onload], [onerror]").length`); n > 0 {
		p.t.Errorf("%d elements came from text", n)
	}
	if wide := browsertest.Ask[[]string](p.t, p.ctx, browsertest.TooWide); len(wide) > 0 {
		p.t.Errorf("wider than the screen: %q", wide)
	}
}

// hostileDialogs looks at the list and at what a search brings.
func (p person) hostileDialogs() {
	p.t.Helper()
	p.opens("l", "list")
	p.until(fmt.Sprintf(`document.querySelectorAll("#rows li").length === %d`, len(browsertest.Attacks())))
	p.harmless()
	p.press(escape)
	p.closed()
	p.opens("/", "search")
	p.press(browsertest.Attacks()[0], enter)
	p.until(`document.querySelectorAll("#found-list label").length === 2`)
	p.harmless()
}

// The policy holds where the page itself would fail: markup and scripts that
// are put in all the same are refused.
func TestPolicyRefusesMarkup(t *testing.T) {
	p := sit(t, newDesk(1), looks[0])
	refused := browsertest.Ask[[]bool](t, p.ctx, `[
		() => { document.body.innerHTML = "<b>x</b>"; },
		() => { document.write("x"); },
		() => { const s = document.createElement("script"); s.textContent = "window.obeyed = 1"; document.body.append(s); if (!window.obeyed) throw 0; },
		() => { const d = document.createElement("div"); d.setAttribute("onclick", "window.obeyed = 1"); d.click(); if (!window.obeyed) throw 0; },
	].map((attempt) => { try { attempt(); return false; } catch { return true; } })`)
	if diff := cmp.Diff([]bool{true, true, true, true}, refused); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

// A document of 5 MB: a window of it is shown, more on demand, and the text in
// view stays where it is.
func TestDocumentOf5MB(t *testing.T) {
	d := newDesk(2)
	d.document = strings.Repeat("0123456789 abcdef ghij klmno\n", 5<<20/29)
	middle := len(d.document)/2/29*29 + 5 // in the middle of a line
	for i := range d.items {
		it := &d.items[i]
		it.Text, it.TextStart, it.DocumentBytes = d.document[middle-32<<10:middle+32<<10], middle-32<<10, len(d.document)
		it.Passage, it.Evidence = [2]int{middle, middle + 290}, nil
	}
	p := sit(t, d, looks[2])
	top := `Math.round(document.getElementById("passage").getBoundingClientRect().top)`
	before := browsertest.Ask[int](t, p.ctx, top)
	for _, end := range []string{"before", "after"} {
		length := fmt.Sprintf(`document.getElementById(%q).textContent.length`, end)
		had := browsertest.Ask[int](t, p.ctx, length)
		p.click("#more-" + end)
		p.until(fmt.Sprintf("%s === %d", length, had+32<<10))
	}
	if got := browsertest.Ask[int](t, p.ctx, top); got < before-1 || got > before+1 {
		t.Errorf("the passage moved from %d to %d", before, got)
	}
	whole := `["before", "passage-text", "after"].map((id) => document.getElementById(id).textContent).join("")`
	if got, want := browsertest.Ask[string](t, p.ctx, whole), d.document[middle-64<<10:middle+64<<10]; got != want {
		t.Errorf("%d characters are shown, want %d, and the same", len(got), len(want))
	}
	p.press("3")
	p.at(2)
}

// A passage that is longer than a window says so, and goes on in its frame.
func TestPassageLongerThanAWindow(t *testing.T) {
	d := newDesk(1)
	d.document = strings.Repeat("x", 80<<10) + strings.Repeat("y", 9)
	it := &d.items[0]
	it.Text, it.DocumentBytes, it.Passage, it.Evidence = d.document[:64<<10], len(d.document), [2]int{0, 80 << 10}, nil
	p := sit(t, d, looks[0])
	p.says("#passage-end", "The passage goes on below")
	p.click("#more-after")
	p.until(`document.getElementById("after").textContent === "yyyyyyyyy"`)
	p.says("#passage-end", "End of the passage")
	if n := browsertest.Ask[int](t, p.ctx, `document.getElementById("passage-text").textContent.length`); n != 80<<10 {
		t.Errorf("%d characters of the passage are shown", n)
	}
}

// Bytes of the document become the page's UTF-16 units, whatever the letters.
func TestOffsetsInEveryScript(t *testing.T) {
	d := newDesk(1)
	passage, quote := "Ελλάδα 日本語 "+"\U0001f468\u200d\U0001f469 שלום\r\ne\u0301 \ufeff𝔘 ", "emoji \U0001f600 ñ"
	it := &d.items[0]
	it.Text = "\ufeffà " + passage + quote + " ß"
	from := strings.Index(it.Text, passage)
	it.Passage = [2]int{from, from + len(passage) + len(quote)}
	it.Evidence = [][2]int{{from + len(passage), from + len(passage) + len(quote)}, {from + len(passage) + len(quote), len(it.Text)}}
	it.DocumentBytes = len(it.Text)
	p := sit(t, d, looks[0])
	want := []string{`\ufeff` + "à ", strings.NewReplacer("\r\n", "\n", "\ufeff", `\ufeff`).Replace(passage) + quote, " ß", quote, " ß"}
	got := browsertest.Ask[[]string](t, p.ctx, `[...["before", "passage-text", "after"].map((id) => document.getElementById(id)), ...document.querySelectorAll("#document mark")].map((e) => e.textContent)`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("as shown (-want +got):\n%s", diff)
	}
	if units := browsertest.Ask[int](t, p.ctx, `document.querySelector("#document mark").textContent.length`); units != len(utf16.Encode([]rune(quote))) {
		t.Errorf("%d units", units)
	}
}
