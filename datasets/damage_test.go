package datasets_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/goldgen/goldgen/datasets"
)

func TestUnsoundDraftIsRefused(t *testing.T) {
	seven, half := 7, 0.5
	tests := map[string]struct {
		spoil func(*datasets.Draft)
		err   string
	}{
		"duplicate id":      {func(d *datasets.Draft) { d.Cases = append(d.Cases, d.Cases[0]) }, "duplicate case_id"},
		"grade":             {func(d *datasets.Draft) { d.Cases[0].Judgments[0].Grade = &seven }, "grade 7"},
		"no grade for p":    {func(d *datasets.Draft) { d.Manifest.RelevantGrade = 0 }, "relevant_grade 0"},
		"trust":             {func(d *datasets.Draft) { d.Manifest.Trust.Level = "" }, "trust"},
		"case id":           {func(d *datasets.Draft) { d.Cases[0].ID = "1" }, "16 hex digits"},
		"status":            {func(d *datasets.Draft) { d.Cases[0].Status = "done" }, `"done"`},
		"source unjudged":   {func(d *datasets.Draft) { d.Cases[0].Judgments = nil }, "no judgment by synthetic"},
		"quote":             {func(d *datasets.Draft) { d.Cases[0].Evidence = []datasets.Evidence{{Start: 1, End: 9, Quote: "x"}} }, "does not fit"},
		"reject, no reason": {func(d *datasets.Draft) { d.Rejects[0].Reason = "" }, "reason"},
		"pins are no JSON":  {func(d *datasets.Draft) { d.Manifest.Pins.Sample = []byte("{") }, "manifest"},
		"second judgment": {func(d *datasets.Draft) {
			d.Cases[0].Judgments = append(d.Cases[0].Judgments, d.Cases[0].Judgments[0])
		}, "second judgment"},
		"draws that do not fit p": {func(d *datasets.Draft) {
			d.Cases[0].Judgments = append(d.Cases[0].Judgments, datasets.Judgment{ChunkID: "x", By: "label_model", P: &half, PDraws: []float64{0, 0.1}})
		}, "mean 0.0500"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			d := draft("q")
			tt.spoil(&d)
			_, _, err := s.Write(context.Background(), "set", d)
			if err == nil {
				t.Fatal("was accepted")
			}
			checkError(t, err, tt.err)
			if files := tree(t, s.Root); len(files) > 0 {
				t.Errorf("left %v", files)
			}
		})
	}
}

func TestDamagedFiles(t *testing.T) {
	damage := map[string]struct {
		do  func(dir string) error
		err string
	}{
		"truncated": {func(dir string) error { return os.Truncate(filepath.Join(dir, "cases.parquet"), 200) }, "cases.parquet was changed"},
		"one byte": {func(dir string) error {
			path := filepath.Join(dir, "rejects.parquet")
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data[len(data)/2] ^= 1
			return os.WriteFile(path, data, 0o644)
		}, "rejects.parquet was changed"},
		"missing":       {func(dir string) error { return os.Remove(filepath.Join(dir, "cases.parquet")) }, "cases.parquet: no such file"},
		"newer format":  {replaceIn("manifest.json", `"format": 1`, `"format": 9`), "format 9 is not known; this goldgen reads up to format 1"},
		"older format":  {replaceIn("manifest.json", `"format": 1`, `"format": 0`), "format 0 is not known"},
		"no JSON":       {replaceIn("manifest.json", `"format": 1`, `"format": `), "manifest.json: "},
		"other JSON":    {replaceIn("manifest.json", `"format": 1`, `"shape": 1`), "not the manifest of a golden set"},
		"other version": {replaceIn("manifest.json", `"version": 1`, `"version": 4`), "was the folder renamed or copied?"},
		"no manifest":   {func(dir string) error { return os.Remove(filepath.Join(dir, "manifest.json")) }, "no golden set set"},
	}
	for name, tt := range damage {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			ref := write(t, s, "set", draft("q"))
			if err := tt.do(ref.Path); err != nil {
				t.Fatal(err)
			}
			_, err := s.Load("set")
			if err == nil {
				t.Fatal("was read")
			}
			checkError(t, err, tt.err)
		})
	}
}

// A version whose manifest is cut off is in the way of nobody who names another one;
// where it is the newest, none stands in for it.
func TestTornManifestOfOneVersion(t *testing.T) {
	ctx := context.Background()
	damagedAt := func(err error) string {
		d, ok := errors.AsType[*datasets.DamagedError](err)
		if !ok {
			return fmt.Sprint(err)
		}
		return filepath.Base(d.Dir)
	}
	for torn, want := range map[int]map[string]string{
		1: {"set": "v2", "set@v2": "v2", "set@prod": "v2", "set@v1": "v0001", "set@sha256:00000000": "v0001", "next": "v3", "gc": "v0001", "log": "1, v1"},
		2: {"set": "v0002", "set@v2": "v0002", "set@prod": "v0002", "set@v1": "v1", "set@sha256:00000000": "v0002", "next": "v0002", "gc": "v0002", "log": "v0002"},
	} {
		s := newStore(t)
		refs := []datasets.Ref{write(t, s, "set", draft("one?")), write(t, s, "set", draft("two?"))}
		if _, _, err := s.SetTag(ctx, refs[1], "prod", datasets.TagOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(refs[torn-1].Path, "manifest.json"), 100); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, name := range []string{"set", "set@v1", "set@v2", "set@prod", "set@sha256:00000000"} {
			if ref, err := s.Resolve(name); err != nil {
				got[name] = damagedAt(err)
			} else {
				got[name] = fmt.Sprint("v", ref.Version)
			}
		}
		if entries, err := s.Log("set"); err != nil {
			got["log"] = damagedAt(err)
		} else if entries[0].Problem != "" {
			got["log"] = fmt.Sprintf("%d, %s", len(entries), entries[0].Parent)
		}
		_, err := s.Collect(ctx, "set", datasets.CollectOptions{Needed: nobody})
		got["gc"] = damagedAt(err)
		if next, _, err := s.Write(ctx, "set", draft("three?")); err != nil {
			got["next"] = damagedAt(err)
		} else {
			got["next"] = fmt.Sprint("v", next.Version)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("v%d is torn (-want +got):\n%s", torn, diff)
		}
	}
}

func replaceIn(file, old, new string) func(dir string) error {
	return func(dir string) error {
		path := filepath.Join(dir, file)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !strings.Contains(string(data), old) {
			return fmt.Errorf("%s holds no %s", file, old)
		}
		return os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o644)
	}
}

// A file of another layout must not read as zeros: here one without a column.
func TestOtherColumns(t *testing.T) {
	s := newStore(t)
	ref := write(t, s, "set", draft("q"))
	type row struct {
		ID string `parquet:"case_id"`
		// no query, and a number where text belongs
		QueryType int64 `parquet:"query_type"`
	}
	if err := parquet.WriteFile(filepath.Join(ref.Path, "cases.parquet"), []row{{ID: "x"}}); err != nil {
		t.Fatal(err)
	}
	problems, err := datasets.Verify(context.Background(), ref.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprint(problems)
	for _, want := range []string{`column "query" is missing`, `column "query_type" has type INT`, "was changed after"} {
		if !strings.Contains(all, want) {
			t.Errorf("problems %s do not say %s", all, want)
		}
	}
}
