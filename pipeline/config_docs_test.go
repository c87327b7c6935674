package pipeline_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/pipeline"
)

// TestEveryKeyIsDocumented holds that docs/configuration.md has each key of
// goldgen.yaml, and no other.
func TestEveryKeyIsDocumented(t *testing.T) {
	want := yamlKeys(reflect.TypeFor[pipeline.Config](), "")
	if diff := cmp.Diff(want, documentedKeys(t)); diff != "" {
		t.Errorf("docs/configuration.md (-goldgen.yaml +documented):\n%s", diff)
	}
}

// yamlKeys lists, sorted, the keys of a section and its sections as SECTION.KEY.
// Lists of objects are one key, as are maps.
func yamlKeys(of reflect.Type, section string) []string {
	var keys []string
	for f := range of.Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case option == "inline":
			keys = append(keys, yamlKeys(kind, section)...)
		case kind.Kind() == reflect.Struct:
			keys = append(keys, yamlKeys(kind, section+name+".")...)
		default:
			keys = append(keys, section+name)
		}
	}
	slices.Sort(keys)
	return keys
}

var (
	keysRow = regexp.MustCompile("(?m)^\\| (`[^|]+) \\|[^|]*\\|(.*)\\|$")
	code    = regexp.MustCompile("`([a-z_A-Z.*]+)`")
)

// documentedKeys reads the table of keys: in a cell, a name without a section is
// of the section before it; `generate.*` is followed by the names it stands for.
func documentedKeys(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, row := range keysRow.FindAllStringSubmatch(string(text), -1) {
		section, cell := "", code.FindAllStringSubmatch(row[1], -1)
		for _, name := range cell {
			before, key, named := strings.Cut(name[1], ".")
			switch {
			case key == "*":
				for _, shared := range code.FindAllStringSubmatch(row[2], -1) {
					keys = append(keys, before+"."+shared[1])
				}
			case key == "NAME":
				keys = append(keys, before)
			case named:
				section = before + "."
				keys = append(keys, name[1])
			default:
				keys = append(keys, section+name[1])
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
