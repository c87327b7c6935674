package datasets_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

var update = flag.Bool("update", false, "rewrite golden files")

// hostile is a draft whose names, which come from the corpus, try to break out
// of the card.
func hostile() datasets.Draft {
	d := full()
	m := &d.Manifest
	m.Funnel = map[string]int{"copy": 2, "refers_to_text": 2, "not_answered": 5}
	m.Shortfall = []datasets.Shortfall{{
		Stratum: "a|b\n---\n# <script>alert(1)</script> [x](http://evil) `c` \x1b[31m", QueryType: "keyword", Wanted: 3, Got: 1, Reason: "no chunk left",
	}}
	m.Difficulty = []datasets.BandShare{{Band: datasets.Hard, Wanted: 2}}
	m.Notes = []string{"12 chunks\n> were cut"}
	m.Trust = datasets.Trust{Level: datasets.TrustJudged, Judge: "passed", Why: "the judge passed its canaries", Figures: map[string]float64{"canary_auc": 0.8123456, "canary_auc_low": 0.75}}
	m.Missed = &datasets.Interval{Value: 0.5, Low: 0.1, High: 1.25}
	m.Pins.Chunking = corpus.Chunking{Method: "markdown", Size: 256, Overlap: 32, Unit: "tokens"}
	m.Pins.Embedding = &corpus.Embedding{Provider: "ollama", Model: "all-minilm", Dimensions: 384}
	m.Pins.Generator = &datasets.ModelPin{Provider: "ollama", Model: "qwen", Digest: "sha256:ab"}
	m.Pins.Judge = &datasets.ModelPin{Provider: "openai", Model: "m", Revision: "2026-01"}
	return d
}

func TestCard(t *testing.T) {
	s := newStore(t)
	write(t, s, "hand_book", draft("parent"))
	ref := write(t, s, "hand_book", hostile())
	got, err := os.ReadFile(filepath.Join(ref.Path, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "card.md")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("card (-want +got), -update accepts it:\n%s", diff)
	}
	for _, bad := range []string{"<script", "\x1b", "[x](http", "\n---\n# "} {
		if _, body, _ := strings.Cut(string(got), "\n---\n"); strings.Contains(body, bad) {
			t.Errorf("text of the corpus got through: %q", bad)
		}
	}
}

// The front matter is what the hub reads: it must name the files that exist.
func TestCardFrontMatter(t *testing.T) {
	ref := write(t, newStore(t), "set", draft("q"))
	card, err := os.ReadFile(filepath.Join(ref.Path, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(string(card), "---\n", 3)
	var front struct {
		Configs []struct {
			Name  string `yaml:"config_name"`
			Files []struct {
				Split string `yaml:"split"`
				Path  string `yaml:"path"`
			} `yaml:"data_files"`
		} `yaml:"configs"`
	}
	if err := yaml.Unmarshal([]byte(parts[1]), &front); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range front.Configs {
		got[c.Name] = c.Files[0].Path
		if _, err := os.Stat(filepath.Join(ref.Path, c.Files[0].Path)); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(map[string]string{"cases": "cases.parquet", "rejects": "rejects.parquet"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestManifestKeys(t *testing.T) {
	ref := write(t, newStore(t), "set", draft("q"))
	data, err := os.ReadFile(filepath.Join(ref.Path, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"format", "name", "version", "digest", "files", "relevant_grade", "counts", "pins", "funnel", "shortfall", "trust", "costs", "created_at"} {
		if m[key] == nil {
			t.Errorf("manifest.json has no %s", key)
		}
	}
}

func TestEvidenceContext(t *testing.T) {
	text := "ééé Keys expire. ééé"
	e := datasets.Evidence{Start: 7, End: 19, Quote: "Keys expire."}
	for width, want := range map[int][2]string{0: {"", ""}, 1: {" ", " "}, 2: {" ", " "}, 3: {"é ", " é"}, 99: {"ééé ", " ééé"}} {
		before, after, ok := e.Context(text, width)
		if diff := cmp.Diff(want, [2]string{before, after}); diff != "" || !ok {
			t.Errorf("width %d: %v %s", width, ok, diff)
		}
	}
	e.Start--
	if _, _, ok := e.Context(text, 9); ok {
		t.Error("a quote that is not there has a context")
	}
}
