package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// place writes a result of a kind to dir; only results of the same kind may go.
func place(dir, kind, rows string) error {
	document := func(files map[string]string) any { return map[string]any{"kind": kind, "files": files} }
	_, err := writeResult(dir, []struct{ Text string }{{rows}}, document, func() error {
		data, err := os.ReadFile(filepath.Join(dir, resultFile))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if got, err := kindOfResult(data); got != kind || err != nil {
			return errors.Join(fmt.Errorf("holds %s", got), err)
		}
		return nil
	})
	return err
}

// TestResultsPlacedAtOnce holds that results for the same place take turns, that
// another kind of result is never taken away, and that nothing else is left.
func TestResultsPlacedAtOnce(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "mine")
	killed := filepath.Join(root, ".tmp-1")
	if err := errors.Join(os.Mkdir(killed, 0o755), os.WriteFile(filepath.Join(killed, ".alive"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := place(dir, "a", "first"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := place(dir, "a", fmt.Sprint("row ", i)); err != nil {
				t.Error(err)
			}
			if err := place(dir, "b", fmt.Sprint("row ", i)); err == nil || !strings.Contains(err.Error(), "holds a") {
				t.Errorf("another kind: %v", err)
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(filepath.Join(dir, resultFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := checkResult(dir, data); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
}
