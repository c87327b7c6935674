package sample_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

func styled() sample.Options {
	o := sample.Defaults()
	o.Cases, o.Mix = 400, map[string]float64{datasets.Factual: .5, datasets.Keyword: .5}
	o.StyleShares = map[string]map[string]float64{
		sample.AxisForm:  {sample.FormQuestion: .5, sample.FormProblem: .25, sample.FormCommand: .25},
		sample.AxisNoise: {sample.NoiseClean: .8, sample.NoiseNoisy: .2},
	}
	return o
}

func TestStylesFollowTheirShares(t *testing.T) {
	in := input(fiveThousand())
	in.Personas = []sample.Persona{{Name: "new hire", Text: "somebody in the first week"}, {Name: "admin", Text: "runs the servers"}}
	plan, err := sample.Draw(t.Context(), in, styled())
	if err != nil {
		t.Fatal(err)
	}
	got, texts := map[string]int{}, map[string]string{}
	for _, r := range plan.Rows {
		if r.Reserve {
			continue
		}
		parts := strings.Split(r.Style, ",")
		if len(parts) != 3 {
			t.Fatalf("style %q", r.Style)
		}
		if r.QueryType == datasets.Keyword && parts[0] != sample.FormKeywords {
			t.Errorf("a keyword query has the form %s", parts[0])
		}
		got[r.QueryType+" "+parts[0]]++
		got[parts[1]]++
		texts[parts[2]] = r.Persona
	}
	for what, want := range map[string]int{"factual question": 100, "factual problem": 50, "factual command": 50, "clean": 320, "noisy": 80} {
		if n := got[what]; n < want*6/10 || n > want*14/10 {
			t.Errorf("%s: %d rows, want about %d", what, n, want)
		}
	}
	want := map[string]string{"as new hire": "somebody in the first week", "as admin": "runs the servers"}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("personas (-want +got):\n%s", diff)
	}
}

// Keywords have no length, and an ambiguous query no form either: a style that asks
// for what cannot be is told to no model and sliced by nobody.
func TestStylesThatCannotBe(t *testing.T) {
	o := styled()
	o.StyleShares[sample.AxisForm] = map[string]float64{sample.FormQuestion: .5, sample.FormKeywords: .5}
	o.StyleShares[sample.AxisLength] = map[string]float64{sample.LengthLong: 1}
	in := whole([]corpus.Chunk{
		passage("printer", "Hold the green button.", under("Printer", "Reset")), passage("account", "A new word is mailed.", under("Account", "Reset")),
	})
	styles := map[string]bool{}
	for _, queryType := range []string{datasets.Factual, datasets.Keyword, datasets.Ambiguous} {
		from := input(fiveThousand())
		o.Cases, o.Mix = 40, map[string]float64{queryType: 1}
		if queryType == datasets.Ambiguous {
			from, o.Cases = in, 1
		}
		plan, err := sample.Draw(t.Context(), from, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range plan.Rows {
			shape, _ := strings.CutSuffix(strings.TrimSuffix(r.Style, sample.NoiseNoisy), sample.NoiseClean)
			styles[queryType+" "+shape] = true
		}
	}
	want := map[string]bool{"factual question,long,": true, "factual keywords,": true, "keyword keywords,": true, "ambiguous ": true}
	if diff := cmp.Diff(want, styles); diff != "" {
		t.Errorf("styles (-want +got):\n%s", diff)
	}
}

func TestRowsGetAFewExamplesAndTheLanguage(t *testing.T) {
	in, o := input(fiveThousand()), sample.Defaults()
	in.Examples = []string{"a", "b", "c", "d", "e", "f"}
	o.Cases, o.Language = 20, "de"
	plan, err := sample.Draw(t.Context(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range plan.Rows {
		if len(r.Examples) != 3 || r.Language != "de" || r.Style != "plain" {
			t.Fatalf("row %+v", r)
		}
		for _, e := range r.Examples {
			seen[e] = true
		}
	}
	if len(seen) != len(in.Examples) {
		t.Errorf("only %d examples are used", len(seen))
	}
}

func TestReadPersonas(t *testing.T) {
	got, err := sample.ReadPersonas(logFile(t, "p.txt", "\ufeff# who asks\nnew hire: in the first week: knows nothing\n\nruns the servers, at night\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []sample.Persona{
		{Name: "new hire", Text: "in the first week: knows nothing"}, {Name: "runs the servers at night", Text: "runs the servers, at night"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("personas (-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		"":                                     "p.txt: no persona in it",
		"# none\n\n":                           "p.txt: no persona in it",
		"a: x\na: y\n":                         `p.txt: persona "a" is there twice`,
		": x\n":                                `p.txt: persona ": x": want "name: who it is"`,
		"ok: x\n\xff\n":                        "p.txt:2: not UTF-8",
		"ok: x\n" + strings.Repeat("y", 3<<20): "p.txt:2: a line of more than 65536 bytes; it holds persona, one a line",
		"o\x00k\x00:\x00 \x00x\x00\n\x00":      "p.txt:1: it is UTF-16",
	} {
		if _, err := sample.ReadPersonas(logFile(t, "p.txt", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	if _, err := sample.ReadPersonas(filepath.Join(t.TempDir(), "nosuch")); err == nil {
		t.Error("no file: no error")
	}
}

func TestReadExamples(t *testing.T) {
	got, personal, err := sample.ReadExamples(logFile(t, "e.txt", "how to reset\nmail me at bob@example.com\n"))
	if diff := cmp.Diff([]string{"how to reset"}, got); diff != "" || personal != 1 || err != nil {
		t.Errorf("%d personal, %v (-want +got):\n%s", personal, err, diff)
	}
}

func TestStyleOptionsNameWhatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*sample.Options){
		`sample.style_shares: unknown axis "mood"`:                     func(o *sample.Options) { o.StyleShares["mood"] = map[string]float64{"sad": 1} },
		`sample.style_shares.form: unknown "poem", valid are question`: func(o *sample.Options) { o.StyleShares["form"] = map[string]float64{"poem": 1} },
		"sample.style_shares.noise: the shares sum to 0.9, not to 1":   func(o *sample.Options) { o.StyleShares["noise"] = map[string]float64{"clean": .9} },
		"sample.style_shares.length: no shares":                        func(o *sample.Options) { o.StyleShares["length"] = nil },
		`sample.language: "xx", valid are de, en`:                      func(o *sample.Options) { o.Language = "xx" },
	} {
		o := styled()
		change(&o)
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
