package datasets_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
)

// nobody needs a version.
func nobody(datasets.Ref) string { return "" }

func TestCollectKeepsWhatIsNeeded(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	var refs []datasets.Ref
	for i := range 4 {
		refs = append(refs, write(t, s, "set", draft(fmt.Sprint(i))))
	}
	for range 2 { // v5 and v6 stand beside v4
		d := datasets.Derive(load(t, s, "set@v3"), "edited")
		d.Cases[0].Query, d.Branch = fmt.Sprint("branch ", len(refs)), true
		refs = append(refs, write(t, s, "set", d))
	}
	if _, _, err := s.SetTag(ctx, refs[0], "prod", datasets.TagOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.SetTag(ctx, refs[1], "gone", datasets.TagOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.RemoveTag(ctx, "set", "gone", datasets.TagOptions{}); err != nil {
		t.Fatal(err)
	}
	want := &datasets.Collected{
		Kept: []datasets.Kept{
			{Ref: refs[0], Why: "tag prod"}, {Ref: refs[2], Why: "v4 and v5 were made of it"},
			{Ref: refs[3], Why: "a branch that was not merged"}, {Ref: refs[4], Why: "a branch that was not merged"}, {Ref: refs[5], Why: "the newest"},
		},
		Deleted: refs[1:2], DryRun: true,
	}
	before := tree(t, s.Root)
	got, err := s.Collect(ctx, "set", datasets.CollectOptions{DryRun: true, Needed: nobody})
	if err != nil {
		t.Fatal(err)
	}
	want.Bytes = got.Bytes
	if diff := cmp.Diff(want, got); diff != "" || got.Bytes == 0 {
		t.Errorf("%d bytes: %s", got.Bytes, diff)
	}
	if diff := cmp.Diff(before, tree(t, s.Root)); diff != "" {
		t.Errorf("a dry run changed files: %s", diff)
	}
	if got, err := s.Collect(ctx, "set", datasets.CollectOptions{Needed: func(r datasets.Ref) string { return "result of " + r.String() }}); err != nil || len(got.Deleted) > 0 {
		t.Errorf("deleted %v (%v), which results need", got.Deleted, err)
	}
	if _, err := s.Collect(ctx, "set", datasets.CollectOptions{Needed: nobody}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resolve("set@v2"); err == nil || !strings.Contains(err.Error(), "it has v1, v3, v4, v5, v6") {
		t.Errorf("after it set@v2 gives %v", err)
	}
	log, err := s.Log("set")
	if err != nil || len(log) != 3 || !log[1].Missing || log[2].Ref.Version != 1 {
		t.Errorf("log after it: %+v (%v)", log, err)
	}
	if got, err := s.Collect(ctx, "set", datasets.CollectOptions{Branches: true, Needed: nobody}); err != nil || len(got.Kept) != 2 || len(got.Deleted) != 3 {
		t.Errorf("with branches: kept %v, deleted %v (%v)", got.Kept, got.Deleted, err)
	}
}

// Branches of several versions each can still be merged after a collection, and a
// second one finds nothing more.
func TestCollectLeavesWhatAMergeNeeds(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	first := write(t, s, "set", draft("0"))
	for i, from := range []string{"set@v1", "set@v2", "set@v1", "set@v4"} { // v1, v2, v3 and v1, v4, v5
		d := datasets.Derive(load(t, s, from), "edited")
		d.Cases[0].Query, d.Branch = fmt.Sprint("edited ", i), true
		write(t, s, "set", d)
	}
	for range 2 {
		got, err := s.Collect(ctx, "set", datasets.CollectOptions{Needed: nobody})
		if err != nil {
			t.Fatal(err)
		}
		var why []string
		for _, k := range got.Kept {
			why = append(why, k.Why)
		}
		want := []string{
			"v3 and v5 were made of it", "v3 was made of v1 by way of it", "a branch that was not merged",
			"v5 was made of v1 by way of it", "the newest",
		}
		if diff := cmp.Diff(want, why); diff != "" || len(got.Deleted) > 0 {
			t.Errorf("deleted %v: %s", got.Deleted, diff)
		}
	}
	var tips []datasets.Ref
	for _, name := range []string{"set@v3", "set@v5"} {
		ref, err := s.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		tips = append(tips, ref)
	}
	if base, err := datasets.CommonAncestor(tips[0], tips[1]); err != nil || base != first {
		t.Errorf("the common ancestor of %v is %v (%v), want %v", tips, base, err, first)
	}
}

// A version in the middle of a chain that was deleted does not part what came after it
// from what it was made of.
func TestMergeOverADeletedVersion(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	first := write(t, s, "set", draft("one?"))
	edited := func(from string, change func(*datasets.Case)) datasets.Ref {
		d := datasets.Derive(load(t, s, from), "edited")
		d.Cases[0].Checks, d.Branch = nil, true
		change(&d.Cases[0])
		return write(t, s, "set", d)
	}
	edited("set@v1", func(c *datasets.Case) { c.Tags = []string{"a"} })
	ours := edited("set@v2", func(c *datasets.Case) { c.Category = "billing" })
	if _, _, err := s.SetTag(ctx, first, "prod", datasets.TagOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Collect(ctx, "set", datasets.CollectOptions{Needed: nobody}); err != nil || len(got.Deleted) != 1 || got.Deleted[0].Version != 2 {
		t.Fatalf("deleted %+v (%v)", got, err)
	}
	theirs := edited("set@v1", func(c *datasets.Case) { c.Language = "de" })
	base, err := datasets.CommonAncestor(ours, theirs)
	if err != nil || base != first {
		t.Fatalf("the common ancestor is %v (%v), want %v", base, err, first)
	}
	merged, _, err := datasets.Merge(load(t, s, "set@v1"), load(t, s, "set@v3"), load(t, s, "set@v4"), "")
	if err != nil {
		t.Fatal(err)
	}
	if c := merged.Cases[0]; c.Category != "billing" || c.Language != "de" || !cmp.Equal(c.Tags, []string{"a"}) {
		t.Errorf("merged: %+v", c)
	}
}

func TestCollectWaitsForACommit(t *testing.T) {
	s := newStore(t)
	write(t, s, "set", draft("one?"))
	write(t, s, "set", draft("two?"))
	ctx, cancel := context.WithCancel(context.Background())
	_, err := s.Collect(context.Background(), "set", datasets.CollectOptions{Needed: func(datasets.Ref) string {
		cancel() // a commit that waits for the lock is given up then
		if _, _, err := s.Write(ctx, "set", draft("three?")); err == nil {
			t.Error("a version was written while versions were deleted")
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCollectSweepsWhatAKilledOneLeft(t *testing.T) {
	s := newStore(t)
	write(t, s, "set", draft("one?"))
	newest := write(t, s, "set", draft("two?"))
	aside := filepath.Join(s.Root, "set", ".tmp-7", "v0001")
	if err := os.MkdirAll(filepath.Dir(aside), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(s.Root, "set", "v0001"), aside); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Collect(context.Background(), "set", datasets.CollectOptions{Needed: nobody}); err != nil {
		t.Fatal(err)
	}
	for name := range tree(t, s.Root) {
		if !strings.HasPrefix(name, "set/v0002/") {
			t.Errorf("left over: %s", name)
		}
	}
	if got, err := s.Resolve("set"); err != nil || got != newest {
		t.Errorf("the set is %v (%v)", got, err)
	}
}

// What a tag that was edited by hand should keep is not known: nothing goes.
func TestCollectRefusesATagThatStandsNowhere(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	v1 := write(t, s, "set", draft("one?"))
	write(t, s, "set", draft("two?"))
	if _, _, err := s.SetTag(ctx, v1, "prod", datasets.TagOptions{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Root, "set", "tags", "prod.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"2", "7"} {
		edited := strings.ReplaceAll(string(data), `"version": 1`, `"version": `+version)
		if err := os.WriteFile(path, []byte(edited), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = s.Collect(ctx, "set", datasets.CollectOptions{Needed: nobody})
		checkError(t, err, "tag prod stands at v"+version+" ("+v1.Digest+"), which is not there any more")
	}
	if _, err := s.Load("set@v1"); err != nil {
		t.Error(err)
	}
}

func TestCollectOfNothing(t *testing.T) {
	s := newStore(t)
	for name, want := range map[string]string{"set": "no golden set set", "../x": "begins with"} {
		if _, err := s.Collect(context.Background(), name, datasets.CollectOptions{Needed: nobody}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
