package retrieve_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
)

type chunk = corpus.Chunk

func TestTerms(t *testing.T) {
	for text, want := range map[string][2]string{ // terms, content words
		"The kiln's relays are opening; relays!": {"kiln relai open relai", "kiln relays opening relays"},
		"It is what it is, and that was that.":   {"what", "what"},
		"E-TC1 at 1,240.5 degrees":               {"e tc1 1,240.5 degre", "e tc1 1,240.5 degrees"},
		"set_ramp_rate(degrees_per_hour)":        {"set_ramp_rate degrees_per_hour", "set_ramp_rate degrees_per_hour"},
		"naïve Drähte, ÜBERHITZT":                {"naïve drähte überhitzt", "naïve drähte überhitzt"},
		"Печь нагревается":                       {"печь нагревается", "печь нагревается"},
		"釉薬をかけた":                                 {"釉薬 薬を をか かけ けた", "釉薬 薬を をか かけ けた"},
		"窯 コンロ":                                  {"窯 コン ンロ", "窯 コン ンロ"},
		"가마 온도":                                  {"가마 온도", "가마 온도"},
		"pre-fired ware\u2019s glaze":            {"pre fire ware glaze", "pre fired ware glaze"},
		"🔥 -- ...":                               {"", ""},
		"":                                       {"", ""},
	} {
		if diff := cmp.Diff(strings.Fields(want[0]), retrieve.Terms(text), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("terms of %q: %s", text, diff)
		}
		if diff := cmp.Diff(strings.Fields(want[1]), retrieve.ContentWords(text), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("words of %q: %s", text, diff)
		}
	}
}

// Thai has no spaces: a query finds the words within.
func TestTermsOfThai(t *testing.T) {
	terms := retrieve.Terms("เตาเผา")
	if len(terms) < 2 {
		t.Errorf("got %q", terms)
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("The kiln's 釉薬 relay\xff\xfe")
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range retrieve.Terms(text) {
			if term == "" || (utf8.ValidString(text) && !utf8.ValidString(term)) {
				t.Errorf("term %q of %q", term, text)
			}
		}
	})
}
