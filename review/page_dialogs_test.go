package review_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/browsertest"
)

// opened waits for a dialog.
func (p person) opened(name string) {
	p.t.Helper()
	p.until(fmt.Sprintf(`document.querySelector("dialog[open]")?.id === %q`, name))
}

// opens strikes the key of a dialog.
func (p person) opens(key, name string) {
	p.t.Helper()
	p.press(key)
	p.opened(name)
}

// closed waits until no dialog is open.
func (p person) closed() {
	p.t.Helper()
	p.until(`!document.querySelector("dialog[open]")`)
}

// second goes on to the second pair without a label.
func (p person) second() {
	p.t.Helper()
	p.press("n")
	p.at(2)
}

// fill replaces what a field holds by striking keys.
func (p person) fill(selector, text string) {
	p.t.Helper()
	browsertest.Ask[bool](p.t, p.ctx, fmt.Sprintf(`document.querySelector(%q).select(), true`, selector))
	p.press(text)
}

func TestEditAQuery(t *testing.T) {
	d := newDesk(6)
	p := sit(t, d, looks[0])
	p.second()
	p.opens("e", "edit")
	p.fill("#edit-query", "a wording that is refused")
	p.press(enter)
	p.until(`document.querySelectorAll("#edit-outcome tbody tr").length === 2`)
	p.says("#edit-outcome", "Refused: nothing was changed.\n\nGates of this wording\ngate\toutcome\tvalue\nlength\tpassed\t25\ncopied wording\trefused\t0.91")
	if got := d.now(1).Query; got != "how many days can I work from home (1)?" {
		t.Errorf("the query is %q", got)
	}
	browsertest.Axe(t, p.ctx)
	browsertest.Keep(t, p.ctx, "refused")
	p.fill("#edit-query", "days of work at home")
	p.press("\t", enter)
	p.until(`document.querySelector("#edit-outcome").innerText.startsWith("Kept: ")`)
	p.until(`document.activeElement.closest("#edit [data-close]") !== null`)
	p.press(enter)
	p.closed()
	p.says("#query", "days of work at home")
	if got := p.focus(); got != "query" {
		t.Errorf("the focus is on %q", got)
	}
	p.says("#where", "Pair 2 of 6, case case0000")
}

func TestRejectACase(t *testing.T) {
	d := newDesk(6)
	p := sit(t, d, looks[0])
	p.second()
	p.opens("r", "reject")
	p.press(enter) // without a reason
	p.opened("reject")
	p.press("not a question")
	p.press(enter)
	p.closed()
	p.at(4)
	p.says("#progress-text", "3 of 6 labelled")
	p.says("#last", "Saved: the case of pair 2 is rejected.")
	p.press("p")
	p.at(3)
	p.says("#said", "This case is rejected. Undo takes it back.")
	p.press("2")
	p.labels(d, "", "", "", "", "", "")
	if got, want := d.now(0).Status+" "+d.reason(), datasets.Retired+" not a question"; got != want {
		t.Errorf("case %q, want %q", got, want)
	}
}

func TestAddAPassage(t *testing.T) {
	d := newDesk(6)
	p := sit(t, d, looks[0])
	p.opens("/", "search")
	p.press("nothing")
	p.press(enter)
	p.until(`document.getElementById("search-count").textContent === "Nothing found that the asker may see."`)
	if !browsertest.Ask[bool](t, p.ctx, `document.getElementById("add").disabled`) {
		t.Error("nothing can be added")
	}
	p.fill("#search-words", "agreement <b>now</b>")
	p.press(enter)
	p.until(`document.getElementById("search-count").textContent === "2 found, best first."`)
	p.says("#found-list label:nth-child(2) .aside", "policies/remote.md#1, judged already")
	browsertest.Axe(t, p.ctx)
	browsertest.Keep(t, p.ctx, "found")
	p.press(kb.ArrowDown, kb.ArrowUp, "\t", kb.ArrowUp, "\t", enter) // the first one, grade 2
	p.closed()
	p.at(7)
	if got, want := d.now(6).ChunkID+" "+d.said(6), "policies/travel.md#2 2"; got != want {
		t.Errorf("added %q, want %q", got, want)
	}
	p.says("#progress-text", "1 of 7 labelled")
}

func TestWriteAVersion(t *testing.T) {
	d := newDesk(2)
	p := sit(t, d, looks[0])
	p.press("2")
	p.at(2)
	p.press("3")
	p.until(`document.getElementById("last").innerText.startsWith("Every pair of the sample is labelled")`)
	for _, want := range []string{"Written: handbook@v2 with 2 labels, in golden/handbook/v0002", "Nothing new: handbook@v2 already holds the 2 labels."} {
		p.click("[data-do=finish]")
		p.opened("finish")
		p.press(enter)
		p.until(fmt.Sprintf(`document.getElementById("finish-text").textContent === %q`, want))
		p.press(escape)
		p.closed()
	}
}

// A dialog that a button opened gives the focus back to it.
func TestFocusReturns(t *testing.T) {
	p := sit(t, newDesk(6), looks[0])
	focused := `document.activeElement.dataset.do ?? ""`
	for _, name := range []string{"edit", "reject", "search", "list", "finish", "help"} {
		browsertest.Ask[bool](t, p.ctx, fmt.Sprintf(`document.querySelector("[data-do=%s]").focus(), true`, name))
		p.press(enter)
		p.opened(name)
		if inside := browsertest.Ask[bool](t, p.ctx, `document.activeElement.closest("dialog[open]") !== null`); !inside {
			t.Errorf("%s: the focus is outside of the dialog", name)
		}
		p.press("\t", escape)
		p.closed()
		if got := browsertest.Ask[string](t, p.ctx, focused); got != name {
			t.Errorf("after %s the focus is on %q", name, got)
		}
	}
}

func TestListOfTenThousandPairs(t *testing.T) {
	d := newDesk(10_000)
	p := sit(t, d, looks[0])
	p.opens("l", "list")
	p.until(`document.querySelectorAll("#rows li").length === 50`)
	p.says("#rows-where", "1 to 50 of 10,000")
	p.click("#rows-after")
	p.until(`document.getElementById("rows-where").textContent === "51 to 100 of 10,000"`)
	p.fill("#list-number", "9999")
	p.press(enter)
	p.closed()
	p.at(9999)
	p.press("2")
	p.at(10_000)
	p.opens("l", "list")
	p.until(`document.getElementById("rows-where").textContent === "9,951 to 10,000 of 10,000"`)
	p.says("#rows li:nth-child(49) .mark", "✓ grade 2")
	p.click("#rows li button")
	p.at(9951)
}
