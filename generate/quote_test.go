package generate_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
)

func TestLocate(t *testing.T) {
	for _, tc := range []struct{ name, text, quote, want string }{
		{"exact", "The valve closes at six bar.", "valve closes", "valve closes"},
		{"case", "The Valve closes.", "the valve CLOSES", "The Valve closes"},
		{"line wrap", "The valve\r\n   closes at\nsix bar.", "valve closes at six bar", "valve\r\n   closes at\nsix bar"},
		{"no-break space", "six\u00a0bar of pressure", "six bar of", "six\u00a0bar of"},
		{"curly quotes", "the “relief” valve’s seat", `the "relief" valve's seat`, "the “relief” valve’s seat"},
		{"dashes", "closes — quickly – at P‑20", "closes - quickly - at P-20", "closes — quickly – at P‑20"},
		{"composed and decomposed", "Gro\u0308ße der Pumpe", "Größe der", "Gro\u0308ße der"},
		{"sharp s", "die Größe zählt", "DIE GRÖSSE ZÄHLT", "die Größe zählt"},
		{"ligature", "the ﬁnal ﬂow rate", "the final flow", "the ﬁnal ﬂow"},
		{"full width", "Ｐ－２０ pump", "p-20 pump", "Ｐ－２０ pump"},
		{"soft hyphen", "pres\u00adsure of six", "pressure of six", "pres\u00adsure of six"},
		{"emphasis", "the **relief valve** closes", "the relief valve closes", "the **relief valve** closes"},
		{"not inside a word", "recloses, then closes", "closes", "closes"},
		{"second occurrence on a boundary", "valves and a valve", "valve", "valve"},
		{"Chinese", "安全阀在压力超过六巴时关闭。", "压力超过六巴", "压力超过六巴"},
		{"emoji before", "🧰🧰 tool boxes ship", "tool boxes", "tool boxes"},
		{"not there", "The valve closes.", "the valve opens", ""},
		{"empty", "The valve closes.", " \n", ""},
		{"longer than the text", "valve", "valve closes", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start, end, ok := generate.Locate(tc.text, tc.quote)
			if ok != (tc.want != "") || tc.text[start:end] != tc.want {
				t.Errorf("found %v %q, want %q", ok, tc.text[start:end], tc.want)
			}
		})
	}
}

// A piece of a text, cut at word bounds and then written otherwise, is found
// again where it was or at an equal place before.
func TestLocateFindsWhatWasThere(t *testing.T) {
	words := []string{"Ventil", "schließt", "bei", "sechs", "bar", "“relief”", "P‑20", "ﬁnal", "nai\u0308ve", "压力", "🧰", "don’t", "re-open", "**bold**"}
	seps := []string{" ", "\n", "\r\n", "\u00a0", "  \t"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		var b strings.Builder
		var starts, ends []int
		for range n {
			starts = append(starts, b.Len())
			b.WriteString(rapid.SampledFrom(words).Draw(t, "word"))
			ends = append(ends, b.Len())
			b.WriteString(rapid.SampledFrom(seps).Draw(t, "separator"))
		}
		text := b.String()
		i := rapid.IntRange(0, n-1).Draw(t, "from")
		j := rapid.IntRange(i, n-1).Draw(t, "to")
		quote := rewrite.Replace(strings.ToUpper(strings.Join(strings.Fields(text[starts[i]:ends[j]]), " ")))
		start, end, ok := generate.Locate(text, quote)
		if first := starts[i] + len(text[starts[i]:]) - len(strings.TrimLeft(text[starts[i]:], "*")); !ok || start > first {
			t.Fatalf("%q not found in %q at %d (found %v at %d)", quote, text, starts[i], ok, start)
		}
		if !utf8.ValidString(text[start:end]) || !utf8.ValidString(text[:start]) {
			t.Fatalf("[%d,%d) cuts a character of %q", start, end, text)
		}
		if again, _, ok := generate.Locate(text, text[start:end]); !ok || again > start {
			t.Fatalf("what was found (%q) is not found", text[start:end])
		}
	})
}

var rewrite = strings.NewReplacer("“", `"`, "”", `"`, "‑", "-", "’", "'")

func FuzzLocate(f *testing.F) {
	f.Add("The valve closes at six bar.", "valve closes")
	f.Add("ﬁ\u0308nal ß\u0301", "FI")
	f.Add("İstanbul'da ÇÖĞ", "i̇stanbul")
	f.Fuzz(func(t *testing.T, text, quote string) {
		start, end, ok := generate.Locate(text, quote)
		if !ok {
			return
		}
		if start < 0 || end > len(text) || start >= end {
			t.Fatalf("[%d,%d) of %d bytes", start, end, len(text))
		}
	})
}

func quoteOptions() generate.ModelOptions {
	o := options()
	o.Evidence = generate.EvidenceQuote
	return o
}

func TestTwoQuotesEachAtItsOwnPlace(t *testing.T) {
	text := strings.ReplaceAll(pumpText, "\n", "\r\n")
	reply := `{"quotes":["the relief valve of the P-20 closes when the pressure","Operators order spare cartridges from the LYON warehouse"],"question":"Who delivers new parts once a hose is at its limit?"}`
	doc := corpus.Document{ID: "d", Title: "Pumps", Text: "Vorwort: Grüße.\r\n" + text}
	o := write(t, newModel(t, says(reply, .9), quoteOptions(), text), unit(doc, len(doc.Text)-len(text), len(doc.Text), datasets.Factual, 0))
	if o.Case == nil {
		t.Fatalf("rejected: %+v", o.Reject)
	}
	var want []datasets.Evidence
	for _, q := range []string{"The relief valve of the P-20 closes when the pressure", "Operators order spare cartridges from the Lyon warehouse"} {
		at := strings.Index(doc.Text, q)
		want = append(want, datasets.Evidence{DocID: "d", ChunkID: "d#0", Start: at, End: at + len(q), Quote: q})
	}
	if diff := cmp.Diff(want, o.Case.Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
}

func TestQuoteThatIsNotThere(t *testing.T) {
	for name, quote := range map[string]string{"invented": "the valve opens at nine bar", "too short to mean anything": "ceramic seals"} {
		t.Run(name, func(t *testing.T) {
			o := write(t, newModel(t, says(`{"quotes":["`+quote+`"],"question":"When does the valve of the P-20 open?"}`, .9), quoteOptions(), pumpText), whole("d", pumpText, datasets.Factual))
			if o.Reject == nil || o.Reject.Reason != generate.ReasonNoEvidence || o.Calls != 1 {
				t.Errorf("got %+v %+v, want %s after one call", o.Case, o.Reject, generate.ReasonNoEvidence)
			}
		})
	}
}
