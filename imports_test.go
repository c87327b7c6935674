// Package goldgen_test holds what is true of the repository as a whole.
package goldgen_test

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/goldgen/goldgen/"

// table is docs/architecture.md's: a package imports only what stands above it,
// and internal/.
var table = []string{
	"corpus", "llm", "prompts", "datasets", "sample", "retrieve", "generate", "judge", "eval", "report", "review", "pipeline", "cmd", "bench",
}

// forbidden are arrows that point upward in the table and are wrong all the
// same: what a package must not know.
var forbidden = map[string][]string{
	"prompts":  {"corpus"},
	"datasets": {"llm", "prompts"},
	"sample":   {"llm", "prompts"},
	"retrieve": {"llm", "prompts", "datasets", "sample"},
	"eval":     {"llm", "prompts", "sample", "retrieve", "generate", "judge"},
	"report":   {"llm", "prompts", "sample", "retrieve", "generate", "judge"},
	"review":   {"llm", "prompts", "sample"},
}

// outside are libraries that only one package may stand on.
var outside = map[string]string{
	"github.com/spf13/cobra":            "cmd",
	"github.com/ollama/ollama/api":      "llm",
	"github.com/sashabaranov/go-openai": "llm",
	"modernc.org/sqlite":                "llm",
}

func TestPackagesImportOnlyWhatStandsAboveThem(t *testing.T) {
	for pkg, imports := range packages(t) {
		for _, imported := range imports {
			if why := wrong(pkg, imported); why != "" {
				t.Errorf("%s imports %s: %s", pkg, imported, why)
			}
		}
	}
}

func TestTheTableNoticesWrongArrows(t *testing.T) {
	for _, arrow := range [][2]string{
		{"corpus", module + "llm"}, {"eval", module + "retrieve"}, {"datasets", module + "llm"},
		{"report", module + "pipeline"}, {"pipeline", "github.com/spf13/cobra"}, {"internal/atomicfile", module + "corpus"},
		{"types", module + "corpus"},
	} {
		if wrong(arrow[0], arrow[1]) == "" {
			t.Errorf("%s -> %s passes", arrow[0], arrow[1])
		}
	}
}

// wrong says why pkg (below the module) must not import the package.
func wrong(pkg, imported string) string {
	from := top(pkg)
	if only, ok := outside[imported]; ok && from != only {
		return "only " + only + " stands on it"
	}
	inside, ok := strings.CutPrefix(imported, module)
	if !ok {
		return ""
	}
	to := top(inside)
	at := slices.Index(table, from)
	switch {
	case to == "internal" || from == to:
		return ""
	case from == "internal":
		return "internal packages stand on nothing"
	case at < 0:
		return "the package is not in the table"
	case slices.Index(table, to) > at:
		return "it stands below"
	case slices.Contains(forbidden[from], to):
		return from + " must not know " + to
	}
	return ""
}

func top(pkg string) string {
	first, _, _ := strings.Cut(pkg, "/")
	return first
}

// packages maps each package below the module to what it imports, tests left
// out.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := map[string][]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		fields := strings.Fields(line)
		if pkg, ok := strings.CutPrefix(fields[0], module); ok {
			all[path.Clean(pkg)] = fields[1:]
		}
	}
	if len(all) < len(table) {
		t.Fatalf("go list found %d packages, want at least %d", len(all), len(table))
	}
	return all
}
