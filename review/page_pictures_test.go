package review_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/browsertest"
	"github.com/goldgen/goldgen/review"
)

// leaveDesk is a desk over one document of the quickstart.
func leaveDesk(t *testing.T) *desk {
	t.Helper()
	data, err := os.ReadFile("../examples/quickstart/docs/people/leave-2026.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(data)
	document = document[strings.Index(document, "# Leave"):]
	span := func(from, to string) [2]int {
		start := strings.Index(document, from)
		end := start + strings.Index(document[start:], to) + len(to)
		if start < 0 || end < start+len(to) {
			t.Fatalf("the document lacks %q or, after it, %q", from, to)
		}
		return [2]int{start, end}
	}
	d := newDesk(100)
	asked, from := time.Date(2026, 3, 16, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range d.items {
		d.items[i] = review.Item{
			N: i, CaseID: "5f0c2a9be1d47c36", Query: "how many unused leave days can I take into next year?", QueryType: "reformulated",
			Scope: corpus.Scope{"team": {"support"}}, AsOf: &asked, Status: "active", DocID: "people/leave-2026.md", ChunkID: "people/leave-2026.md#0",
			Title: "Leave policy 2026", HeadingPath: []string{"Leave policy 2026"}, Text: document, DocumentBytes: len(document), ValidFrom: &from,
			Passage: span("Up to 8 unused", "on the first."), Evidence: [][2]int{span("Up to 8 unused", "30 June.")},
		}
	}
	d.items[0].Passage, d.items[0].Query = span("Parents", "their choice."), "how long is parental leave?"
	return d
}

// The pictures of docs/review.md: GOLDGEN_SCREENSHOTS=docs/images, as an absolute
// path, keeps them there.
func TestPictures(t *testing.T) {
	small := browsertest.Look{Name: "small", Width: 1000, Height: 820, Scheme: "light", Media: "screen"}
	p := sit(t, leaveDesk(t), small)
	p.press("3")
	p.at(2)
	p.looked("review")
	p.press("e")
	p.opened("edit")
	p.fill("#edit-query", "unused days that are carried: a wording to be refused")
	p.press(enter)
	p.until(`document.getElementById("edit-outcome").innerText.startsWith("Refused")`)
	p.looked("review-edit")
}
