package collections_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/internal/collections"
)

const shared = "../../../shared/data"

func TestLoad(t *testing.T) {
	type size struct{ Documents, Queries, Relevant int }
	want := map[string]size{
		"cranfield": {1400, 225, 1612},
		"cacm":      {3204, 52, 796},
		"cisi":      {1460, 76, 3114},
	}
	got := map[string]size{}
	for _, name := range collections.Names() {
		c, err := collections.Load(shared, name)
		if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") != "true" {
			t.Skipf("shared test data is not there: %v", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		relevant := 0
		for _, q := range c.Queries {
			for _, grade := range c.Qrels[q.ID] {
				relevant += grade
			}
		}
		got[name] = size{len(c.Documents), len(c.Queries), relevant}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoadRefusesWhatItDoesNotKnow(t *testing.T) {
	if _, err := collections.Load(shared, "msmarco"); err == nil {
		t.Error("msmarco is read")
	}
	if _, err := collections.Load(t.TempDir(), "cisi"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty folder: %v", err)
	}
}
