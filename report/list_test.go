package report_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/goldgen/goldgen/internal/browsertest"
	"github.com/goldgen/goldgen/report"
)

// pollTimeout is how long the page may take to answer; it answers at once.
const pollTimeout = 20 * time.Second

func itoa(n int) string { return strconv.Itoa(n) }

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// count is what the list says of itself.
const countText = `document.getElementById("count").textContent`

// use sets a control of the list as a person does and waits for the list to say
// what it holds then.
func use(t *testing.T, ctx context.Context, control, value, want string) {
	t.Helper()
	browsertest.Ask[bool](t, ctx, `(() => { const c = document.getElementById("`+control+`"); c.value = `+strconv.Quote(value)+`;
		c.dispatchEvent(new Event(c.tagName === "INPUT" ? "input" : "change")); return c.value === `+strconv.Quote(value)+`; })()`)
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](countText+` === `+strconv.Quote(want), chromedp.WithPollingTimeout(pollTimeout))); err != nil {
		t.Errorf("%s = %q: the list says %q, want %q", control, value, browsertest.Ask[string](t, ctx, countText), want)
	}
}

func TestListOfManyCases(t *testing.T) {
	ctx := browsertest.Start(t)
	f := whole(20_000)
	page := written(t, report.HTML, f)
	if mb := len(page) >> 20; mb > 16 {
		t.Errorf("the page has %d MB", mb)
	}
	looks[0].See(t, ctx, pageOf(t, f))
	if n := browsertest.Ask[int](t, ctx, `document.querySelectorAll("#list > li").length`); n != 25 {
		t.Errorf("%d cases are in the page at once, want 25", n)
	}
	use(t, ctx, "find", "rule 12345 refund", "0 of 20,000 cases")
	use(t, ctx, "find", "RULE 12346 refund", "1 of 20,000 cases, 1 to 1 shown")
	use(t, ctx, "find", "", "20,000 of 20,000 cases, 1 to 25 shown")
	use(t, ctx, "outcome", "0", "1 of 20,000 cases, 1 to 1 shown")
	if text := browsertest.Ask[string](t, ctx, `document.querySelector("#list .outcome").textContent`); text != report.OutcomeLeak {
		t.Errorf("outcome %q", text)
	}
	use(t, ctx, "outcome", "", "20,000 of 20,000 cases, 1 to 25 shown")
	use(t, ctx, "slice", "0:0", "6,667 of 20,000 cases, 1 to 25 shown")
	for _, order := range []string{"slow", "fell", "rose", "set", "worst"} {
		use(t, ctx, "order", order, "6,667 of 20,000 cases, 1 to 25 shown")
	}
	if !browsertest.Ask[bool](t, ctx, `[...document.querySelectorAll("#list .score")].map((s) => parseFloat(s.childNodes[1].textContent)).every((v, i, all) => i === 0 || all[i - 1] <= v)`) {
		t.Error("lowest first: values fall along the list")
	}
	browsertest.Ask[bool](t, ctx, `document.getElementById("next").click(), true`)
	if got := browsertest.Ask[string](t, ctx, countText); got != "6,667 of 20,000 cases, 26 to 50 shown" {
		t.Errorf("after next: %q", got)
	}
}

// Without a mouse: tab to a case, open it, and read its ranking.
func TestKeyboardReachesACase(t *testing.T) {
	ctx := browsertest.Start(t)
	looks[0].See(t, ctx, pageOf(t, whole(30)))
	press := func(key string) {
		t.Helper()
		if err := chromedp.Do(ctx, chromedp.KeyEvent(key)); err != nil {
			t.Fatal(err)
		}
	}
	press(kb.Tab)
	if at := browsertest.Ask[string](t, ctx, `document.activeElement.className`); at != "skip" {
		t.Errorf("the first stop is %q, want the link to the verdict", at)
	}
	reached := false
	for range 80 {
		if reached = browsertest.Ask[bool](t, ctx, `document.activeElement.matches("#list summary")`); reached {
			break
		}
		press(kb.Tab)
	}
	if !reached {
		t.Fatal("no case was reached by the tab key")
	}
	press(kb.Enter)
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](`document.querySelectorAll("#list .case table.ranking tbody tr").length > 0`, chromedp.WithPollingTimeout(pollTimeout))); err != nil {
		t.Error("the ranking did not open")
	}
}

// The page asks for nothing, and a link can lead to a case.
func TestLinkToACase(t *testing.T) {
	ctx := browsertest.Start(t)
	address := pageOf(t, whole(200))
	looks[0].See(t, ctx, address+"#case=c00123")
	if got := browsertest.Ask[string](t, ctx, countText); !strings.HasPrefix(got, "1 of 200 cases") {
		t.Errorf("the list says %q", got)
	}
	if got := browsertest.Ask[string](t, ctx, `document.querySelector("#list details[open] dd").textContent`); got != "c00123" {
		t.Errorf("the case %q is open", got)
	}
	if got := browsertest.Ask[[]string](t, ctx, `performance.getEntriesByType("resource").map((e) => e.name)`); len(got) > 0 {
		t.Errorf("the page fetched %q", got)
	}
}

// Choosing a measure shows its plot in place of the other.
func TestChoiceOfAMeasure(t *testing.T) {
	ctx := browsertest.Start(t)
	looks[0].See(t, ctx, pageOf(t, whole(60)))
	shown := `[...document.querySelectorAll("#slices .chosen:not([hidden])")].map((c) => c.querySelector("caption").textContent)`
	if got := browsertest.Ask[[]string](t, ctx, shown); !slices.Equal(got, []string{"ndcg@10 by slice"}) {
		t.Errorf("shown at first: %q", got)
	}
	browsertest.Ask[bool](t, ctx, `(() => { const s = document.querySelector("#slices select"); s.value = "recall@5"; s.dispatchEvent(new Event("change")); return true; })()`)
	if got := browsertest.Ask[[]string](t, ctx, shown); !slices.Equal(got, []string{"recall@5 by slice"}) {
		t.Errorf("shown then: %q", got)
	}
}

func TestSeveralResultsInTheList(t *testing.T) {
	ctx := browsertest.Start(t)
	looks[0].See(t, ctx, pageOf(t, several(60)))
	use(t, ctx, "result", "2", "60 of 60 cases, 1 to 25 shown")
	if got := browsertest.Ask[[]string](t, ctx, `[...document.querySelectorAll("#result option")].map((o) => o.textContent)`); !slices.Equal(got, []string{"bm25", "dense", "hybrid"}) {
		t.Errorf("retrievers %q", got)
	}
}
