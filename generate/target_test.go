package generate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
)

// evidenceOf returns the sentence that the model was asked about.
func evidenceOf(t *testing.T, u generate.Unit) string {
	t.Helper()
	o := write(t, newModel(t, says(`{"question":"What makes the thing go round so fast?"}`, .9), options(), u.Doc.Text), u)
	if o.Case != nil {
		return o.Case.Evidence[0].Quote
	}
	if len(o.Reject.Evidence) > 0 {
		return o.Reject.Evidence[0].Quote
	}
	return o.Reject.Reason
}

func TestTargetSentence(t *testing.T) {
	const good = "Trained technicians must replace the ceramic seals every four thousand hours of operation."
	for name, text := range map[string]string{
		"heading":      "# Trained technicians replace ceramic seals and cartridges in the Lyon warehouse often.\n\n" + good + "\n",
		"code":         "```\nrun the converter with ceramic cartridges and zirconium seals in the Lyon warehouse.\n```\n\n" + good + "\n",
		"table":        "| seals | cartridges |\n|---|---|\n| zirconium seals last | ceramic cartridges from the Lyon warehouse fail early. |\n\n" + good + "\n",
		"list":         "- zirconium cartridges with ceramic seals from the Lyon warehouse in small boxes.\n\n" + good + "\n",
		"deictic":      "These zirconium cartridges carry ceramic seals from the Lyon warehouse in small boxes. " + good + "\n",
		"short":        "Zirconium cartridges fail. " + good + "\n",
		"question":     "Which zirconium cartridges carry ceramic seals from the Lyon warehouse in small boxes? " + good + "\n",
		"list intro":   good + " Zirconium cartridges from the Lyon warehouse come in the following small boxes:\n",
		"front matter": "---\ntitle: Zirconium cartridges carry ceramic seals from the Lyon warehouse in small boxes.\n---\n" + good + "\n",
		"figures":      "12.5 14.8 19.2 zirconium 22.1 23.9 24.8 28.1 30.4 33.8 38.2. " + good + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got := evidenceOf(t, whole("d", text, datasets.Factual)); got != good {
				t.Errorf("picked %q", got)
			}
		})
	}
}

func TestTargetIsNeverCutByTheChunk(t *testing.T) {
	text := "Zirconium cartridges from the Lyon warehouse carry ceramic seals in small wooden boxes. " +
		"Trained technicians must replace the worn seals every four thousand hours of operation. " +
		"Operators telephone the Lyon warehouse before noon to order spare zirconium cartridges there."
	doc := corpus.Document{ID: "d", Text: text}
	u := unit(doc, strings.Index(text, "from the Lyon"), strings.Index(text, "before noon"), datasets.Factual, 0)
	if got, want := evidenceOf(t, u), "Trained technicians must replace the worn seals every four thousand hours of operation."; got != want {
		t.Errorf("picked %q, want the only whole sentence", got)
	}
}

func TestSlotsAndTypesGetDifferentSentences(t *testing.T) {
	doc := corpus.Document{ID: "d", Text: pumpText}
	pick := func(queryType string, slot int) string {
		return evidenceOf(t, unit(doc, 0, len(pumpText), queryType, slot))
	}
	got := []string{pick(datasets.Factual, 0), pick(datasets.Factual, 1), pick(datasets.Factual, 2)}
	if got[0] == got[1] || got[1] == got[2] || got[0] == got[2] {
		t.Errorf("slots repeat a sentence: %q", got)
	}
	if kw := pick(datasets.Keyword, 0); kw == got[0] {
		t.Errorf("keyword and factual share %q", kw)
	}
	if over := pick(datasets.Factual, 3); over != generate.ReasonNoTarget {
		t.Errorf("a slot beyond the sentences gives %q, want %s", over, generate.ReasonNoTarget)
	}
}

func TestNoTarget(t *testing.T) {
	o := write(t, newModel(t, says("", .9), options()), whole("d", "# A heading\n\nShort stub.\n", datasets.Factual))
	if o.Reject == nil || o.Reject.Reason != generate.ReasonNoTarget || o.Calls != 0 {
		t.Errorf("got %+v, want a reject without a call", o.Reject)
	}
}

func TestUnitWhoseChunkIsNotItsDocuments(t *testing.T) {
	u := whole("d", pumpText, datasets.Factual)
	u.Doc.Text = "x" + u.Doc.Text
	for name, w := range map[string]generate.Writer{
		"model": newModel(t, says("", 1), options()), "builtin": generate.NewBuiltin(statsOf(), 1),
	} {
		if _, err := w.Write(context.Background(), u); err == nil || !strings.Contains(err.Error(), "d#0") {
			t.Errorf("%s: got %v, want an error that names the chunk", name, err)
		}
	}
}

// Whatever the text holds, evidence is the document's bytes between its offsets.
func TestEvidenceOffsets(t *testing.T) {
	sentences := []string{
		"Größere Ventile schließen bei 6 bar und schützen den Schlauch der Pumpe zuverlässig.",
		"The “relief” valve of the P‑20 closes — quickly — above six bar of hose pressure.",
		"Trained technicians must\r\nreplace the ceramic seals every 4,000 hours of operation.",
		"The warehouse in Łódź ships 🧰 tool boxes with spare cartridges before noon each Monday.",
		"这个泵的安全阀在压力超过六巴时会自动关闭以保护软管和密封件。",
		"- A list item about ceramic cartridges that are shipped in small wooden boxes.",
		"# Heading\r\n", "```\r\ncode here\r\n```", "\r\n\r\n", "  ", "\u00a0", "It moves.",
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(sentences), 1, 9).Draw(t, "parts")
		sep := rapid.SampledFrom([]string{" ", "\n\n", "\r\n\r\n", "\r\n"}).Draw(t, "separator")
		head := rapid.SampledFrom([]string{"", "Ein Vorwort über Grüße.\r\n\r\n", "日本語。\n\n"}).Draw(t, "head")
		text := head + strings.Join(parts, sep)
		doc := corpus.Document{ID: "d", Text: text}
		queryType := rapid.SampledFrom([]string{datasets.Factual, datasets.Keyword, datasets.Reformulated}).Draw(t, "type")
		u := unit(doc, len(head), len(text), queryType, 0)
		checkWritten(t, u, text, `{"question":"x","keywords":["a","b"]}`)
	})
}

// checkWritten has a model that replies so, and the builtin writer, write for a unit.
func checkWritten(t *rapid.T, u generate.Unit, text, reply string) {
	m, err := generate.NewModel(says(reply, .9), statsOf(text), options())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []generate.Writer{m, generate.NewBuiltin(statsOf(text), 3)} {
		o, err := w.Write(context.Background(), u)
		if err != nil {
			t.Fatal(err)
		}
		checkOffsets(t, u.Doc, o)
	}
}

func checkOffsets(t *rapid.T, doc corpus.Document, o generate.Outcome) {
	var list []datasets.Evidence
	if o.Case != nil {
		list = o.Case.Evidence
	} else {
		list = o.Reject.Evidence
	}
	for _, e := range list {
		if diff := cmp.Diff(doc.Text[e.Start:e.End], e.Quote); diff != "" || strings.TrimSpace(e.Quote) != e.Quote {
			t.Fatalf("evidence [%d,%d) %q is not the document's (-document +quote):\n%s", e.Start, e.End, e.Quote, diff)
		}
	}
}
