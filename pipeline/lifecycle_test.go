package pipeline_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/pipeline"
)

// The records' set is made shortly after noon of 2026-11-30.
func TestGatesHoldTheSetItself(t *testing.T) {
	b := newBench(t, func(d *datasets.Draft) { d.Cases[0].Status, d.Cases[0].Reason = datasets.Retired, "wrong" })
	path := b.score(t, b.run(t, "one", func(int) int { return 1 }), pipeline.EvalOptions{}).Path
	active := len(load(t, b, "records").Cases) - 1
	noon := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	ages := []struct {
		name, maxAge string
		now          time.Time
		verdict, why string
	}{
		{"young", "30d", noon.Add(29 * 24 * time.Hour), eval.Pass, "records@v1 was made from its corpus on 2026-11-30, 28 days ago"},
		{"old", "30d", noon.Add(31 * 24 * time.Hour), eval.Fail, "30 days ago; goldgen refresh takes it along with the corpus, or confirms it"},
		{"old in weeks", "2w", noon.Add(15 * 24 * time.Hour), eval.Fail, "14 days ago"},
		{"hours", "36h", noon.Add(20 * time.Hour), eval.Pass, "19h0m0s ago"},
		{"clock went back", "30d", noon.Add(-48 * time.Hour), eval.CannotTell, "after now: one of the clocks is wrong"},
	}
	for _, c := range ages {
		t.Run(c.name, func(t *testing.T) {
			b.Config.Golden = pipeline.GoldenConfig{MaxAge: c.maxAge}
			b.Now = func() time.Time { return c.now }
			got := compared(t, b, path)
			if got.Verdict != c.verdict || len(got.Gates) != 1 || got.Gates[0].Verdict != c.verdict || !strings.Contains(got.Gates[0].Why, c.why) {
				t.Errorf("verdict %s, gates %+v; want %s, %q", got.Verdict, got.Gates, c.verdict, c.why)
			}
		})
	}
	for least, want := range map[int]string{active: eval.Pass, active + 1: eval.Fail} {
		b.Config.Golden = pipeline.GoldenConfig{MinActive: least}
		if got := compared(t, b, path); got.Verdict != want || got.Gates[0].Verdict != want {
			t.Errorf("min_active %d of %d: %+v", least, active, got.Gates)
		}
	}
}

// A set that would be made again as it is is as young as when that was found.
func TestAConfirmedSetIsYoung(t *testing.T) {
	b := newBench(t, nil)
	path := b.score(t, b.run(t, "one", func(int) int { return 1 }), pipeline.EvalOptions{}).Path
	b.Config.Golden = pipeline.GoldenConfig{MaxAge: "30d"}
	later := time.Date(2027, 1, 30, 12, 0, 0, 0, time.UTC)
	b.Now = func() time.Time { return later }
	if got := compared(t, b, path); got.Verdict != eval.Fail {
		t.Fatalf("a set of two months: %+v", got.Gates)
	}
	ref, err := b.Store().Resolve("records")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Store().Confirm(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	later = later.Add(29 * 24 * time.Hour)
	if got := compared(t, b, path); got.Verdict != eval.Pass || !strings.Contains(got.Gates[0].Why, "on 2027-01-30, 29 days ago") {
		t.Errorf("confirmed 29 days ago: %+v", got.Gates)
	}
	if _, err := b.Retire(t.Context(), pipeline.RetireOptions{Golden: "records", Cases: []string{ref0(t, b)}, Reason: "wrong"}); err != nil {
		t.Fatal(err)
	}
	m := load(t, b, "records").Manifest
	if !strings.HasPrefix(m.RefreshedAt, "2027-01-30") {
		t.Errorf("what was derived from a version that was confirmed was refreshed at %s", m.RefreshedAt)
	}
	write(t, filepath.Join(b.Dir, "golden", "records", "confirmed.json"), "{")
	if got := compared(t, b, path); got.Verdict != eval.CannotTell || !strings.Contains(got.Gates[0].Why, "confirmed.json") {
		t.Errorf("a torn confirmation: %+v", got.Gates)
	}
}

// compared is the comparison of a result with itself.
func compared(t *testing.T, b *bench, path string) *eval.Comparison {
	t.Helper()
	c, err := pipeline.Compare(b.Project, pipeline.CompareOptions{Base: path, Candidate: path})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func load(t *testing.T, b *bench, ref string) *datasets.Set {
	t.Helper()
	set, err := b.Store().Load(ref)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A result names its set by digest: the version is found by that, and by nothing
// else when it has been deleted.
func TestAResultFindsItsSetByDigest(t *testing.T) {
	b := newBench(t, nil)
	e := b.score(t, b.run(t, "one", func(int) int { return 1 }), pipeline.EvalOptions{})
	ref, err := b.Store().Resolve("@" + e.Result.Golden.Digest)
	if err != nil || ref.Version != 1 || ref.Name != "records" {
		t.Errorf("%s is %v (%v)", e.Result.Golden.Digest, ref, err)
	}
	if _, err := b.Retire(t.Context(), pipeline.RetireOptions{Golden: "records", Cases: []string{ref0(t, b)}, Reason: "wrong"}); err != nil {
		t.Fatal(err)
	}
	got, err := b.Collect(t.Context(), pipeline.CollectOptions{Name: "records", Delete: true})
	if err != nil || len(got.Deleted) > 0 || !strings.HasPrefix(got.Kept[0].Why, "result ") {
		t.Errorf("a version that a result names: %+v (%v)", got, err)
	}
}

// ref0 is the id of the first case.
func ref0(t *testing.T, b *bench) string { return load(t, b, "records").Cases[0].ID }

func TestRetireKeepsEverythingElse(t *testing.T) {
	b := newBench(t, nil)
	before := load(t, b, "records")
	done, err := b.Retire(t.Context(), pipeline.RetireOptions{Golden: "records", Cases: []string{ref0(t, b)}, Reason: "asks for the wrong year"})
	if err != nil {
		t.Fatal(err)
	}
	after := load(t, b, "records")
	want := before.Cases
	want[0].Status, want[0].Reason, want[0].RetiredIn = datasets.Retired, "asks for the wrong year", "v2"
	if diff := cmp.Diff(want, after.Cases); diff != "" {
		t.Error(diff)
	}
	m := done.Manifest
	if m.Why != "retired 1 case: asks for the wrong year" || m.Parent != before.Manifest.Digest || m.RefreshedAt != before.Manifest.CreatedAt {
		t.Errorf("manifest %+v", m)
	}
	if _, err := b.Retire(t.Context(), pipeline.RetireOptions{Golden: "records", Cases: []string{ref0(t, b)}, Reason: " "}); !errors.Is(err, pipeline.ErrConfig) {
		t.Errorf("retired without a reason: %v", err)
	}
	if _, err := b.Store().Resolve(filepath.Join(b.Dir, "golden", "records", "v0003")); err == nil {
		t.Error("a third version was written")
	}
}
