package pipeline_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/pipeline"
)

// corpusFinding is what doctor says of a folder with these files.
func corpusFinding(t *testing.T, config string, files map[string]string) pipeline.Finding {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, "docs", name), text)
	}
	write(t, filepath.Join(dir, "goldgen.yaml"), "version: 1\nname: x\ncorpus: {source: docs"+config+"}\n")
	p, err := pipeline.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, f := range p.Doctor(t.Context(), nil) {
		if f.Part == "corpus" {
			return f
		}
	}
	t.Fatal("doctor says nothing of the corpus")
	return pipeline.Finding{}
}

func TestDoctorReadsTheDocuments(t *testing.T) {
	const latin1, text = "caf\xe9", "Something to read."
	for name, tt := range map[string]struct {
		config string
		files  map[string]string
		state  string
		says   []string
	}{
		"all well":         {"", map[string]string{"a.md": text, "b.txt": text}, pipeline.StateOK, []string{"2 files"}},
		"another encoding": {"", map[string]string{"a.md": text, "b.txt": latin1}, pipeline.StateFail, []string{"2 files", "cannot be read: b.txt", "UTF-8"}},
		"left out anyway":  {", skip_bad: true", map[string]string{"a.md": text, "b.txt": latin1}, pipeline.StateWarn, []string{"b.txt"}},
		"front matter":     {"", map[string]string{"a.md": "---\nscope: [\n---\n" + text}, pipeline.StateFail, []string{"a.md"}},
		"one is empty":     {"", map[string]string{"a.md": text, "b.md": " \n"}, pipeline.StateWarn, []string{"without any text: b.md"}},
		"all are empty":    {"", map[string]string{"b.md": ""}, pipeline.StateFail, []string{"without any text: b.md"}},
		"many":             {"", map[string]string{"a.txt": latin1, "b.txt": latin1, "c.txt": latin1, "d.txt": latin1}, pipeline.StateFail, []string{"and 1 more"}},
		"none":             {"", nil, pipeline.StateFail, []string{"no documents were found"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := corpusFinding(t, tt.config, tt.files)
			if got.State != tt.state {
				t.Errorf("state %s: %s", got.State, got.Detail)
			}
			for _, want := range tt.says {
				if !strings.Contains(got.Detail, want) {
					t.Errorf("%q lacks %q", got.Detail, want)
				}
			}
		})
	}
}
