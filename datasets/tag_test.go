package datasets_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
)

func TestTagsMoveAndKeepTheirMoves(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	v1, v2 := write(t, s, "set", draft("one?")), write(t, s, "set", draft("two?"))
	for _, to := range []datasets.Ref{v1, v2, v2} {
		if _, _, err := s.SetTag(ctx, to, "prod", datasets.TagOptions{Why: "release"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Resolve("set@prod")
	if err != nil || got != v2 {
		t.Errorf("set@prod is %v (%v), want %v", got, err, v2)
	}
	if _, _, err := s.RemoveTag(ctx, "set", "prod", datasets.TagOptions{}); err != nil {
		t.Fatal(err)
	}
	at := "2026-11-30T12:00:00Z"
	want := []datasets.Tag{{Name: "prod", Moves: []datasets.TagMove{
		{Version: 1, Digest: v1.Digest, At: at, Why: "release"},
		{Version: 2, Digest: v2.Digest, From: 1, At: at, Why: "release"},
		{From: 2, At: at},
	}}}
	tags, err := testStore(filepath.Dir(s.Root)).Tags("set")
	if diff := cmp.Diff(want, tags); diff != "" || err != nil {
		t.Errorf("tags (%v): %s", err, diff)
	}
	if _, err := s.Resolve("set@prod"); err == nil || !strings.Contains(err.Error(), "tag prod was taken away on "+at) {
		t.Errorf("a tag that was taken away resolves to %v", err)
	}
}

func TestTagNames(t *testing.T) {
	for _, tag := range []string{"", "v3", "V12", "v0003", "sha256:abcd", "sha256", "Prod", "a/b", "..", "prod ", "con", "pr@od", "none"} {
		err := datasets.ValidateTag(tag)
		if ok := tag == "sha256"; ok != (err == nil) {
			t.Errorf("tag %q: %v", tag, err)
		}
	}
	for _, tag := range []string{"prod", "baseline", "2026-11", "v3-rc", "größe"} {
		if err := datasets.ValidateTag(tag); err != nil {
			t.Error(err)
		}
	}
}

func TestOneOfTwoMoversWithTheSameBeliefFails(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	v1 := write(t, s, "set", draft("one?"))
	v2, v3 := write(t, s, "set", draft("two?")), write(t, s, "set", draft("three?"))
	if _, _, err := s.SetTag(ctx, v1, "prod", datasets.TagOptions{If: new(0)}); err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 2)
	var wait sync.WaitGroup
	for i, to := range []datasets.Ref{v2, v3} {
		wait.Go(func() { _, _, errs[i] = s.SetTag(ctx, to, "prod", datasets.TagOptions{If: new(1)}) })
	}
	wait.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), datasets.ErrTagMoved) {
		t.Errorf("of two movers of prod from v1 one must fail: %v", errs)
	}
	tags, err := s.Tags("set")
	if err != nil || len(tags[0].Moves) != 2 {
		t.Errorf("tags after it: %+v (%v)", tags, err)
	}
}

func TestATagThatCannotBeFollowed(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	v1 := write(t, s, "set", draft("one?"))
	file := filepath.Join(s.Root, "set", "tags", "prod.json")
	cases := []struct{ name, file, want string }{
		{"missing", "", "golden set set has no tag prod, nor any other"},
		{"no JSON", "{", "unexpected end of JSON input"},
		{"another's file", `{"tag":"baseline","version":1}`, "was it renamed or copied?"},
		{"version gone", `{"tag":"prod","version":9,"digest":"sha256:abcd"}`, "tag prod stands at v9 (sha256:abcd), which is not there any more"},
		{"no version", `{"tag":"prod","version":-1,"digest":"sha256:abcd"}`, "stands at v-1 (sha256:abcd), its last move says otherwise"},
		{"last move elsewhere", `{"tag":"prod","version":1,"digest":"sha256:abcd","moves":[{"version":1,"digest":"sha256:abcd"},{"version":2,"digest":"sha256:abcd"}]}`, "its last move says otherwise"},
		{"last move of another digest", `{"tag":"prod","version":1,"digest":"sha256:abcd","moves":[{"version":1,"digest":"sha256:abce"}]}`, "its last move says otherwise"},
		{"version altered", `{"tag":"prod","version":1,"digest":"sha256:abcd"}`, "tag prod stands at v1 (sha256:abcd), which is not there any more"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.file != "" {
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(c.file), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Resolve("set@prod"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("resolves to %v, want %q", err, c.want)
			}
		})
	}
	gone := datasets.Ref{Name: "set", Version: 7, Digest: v1.Digest}
	if _, _, err := s.SetTag(ctx, gone, "next", datasets.TagOptions{}); err == nil || !strings.Contains(err.Error(), "v7 is none") {
		t.Errorf("a tag was set to a version that is not there: %v", err)
	}
}

// A listing shows where tags stand, also those that cannot be followed.
func TestListShowsTags(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	v1, v2 := write(t, s, "set", draft("one?")), write(t, s, "set", draft("two?"))
	write(t, s, "untagged", draft("one?"))
	for tag, to := range map[string]datasets.Ref{"prod": v1, "next": v2, "taken": v2} {
		if _, _, err := s.SetTag(ctx, to, tag, datasets.TagOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := s.RemoveTag(ctx, "set", "taken", datasets.TagOptions{}); err != nil {
		t.Fatal(err)
	}
	for tag, file := range map[string]string{"gone": `{"tag":"gone","version":9,"digest":"sha256:abcd"}`, "torn": "{", "Not a tag": "{"} {
		if err := os.WriteFile(filepath.Join(s.Root, "set", "tags", tag+".json"), []byte(file), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := s.List()
	if err != nil || len(entries) != 2 {
		t.Fatalf("%v, %v", entries, err)
	}
	torn := filepath.Join(s.Root, "set", "tags", "torn.json")
	want := []datasets.TagAt{
		{Name: "gone", Version: 9, Digest: "sha256:abcd", Missing: true},
		{Name: "next", Version: 2, Digest: v2.Digest},
		{Name: "prod", Version: 1, Digest: v1.Digest},
		{Name: "torn", Problem: "tag file " + torn + ": unexpected end of JSON input"},
	}
	if diff := cmp.Diff(want, entries[0].Tags); diff != "" {
		t.Error(diff)
	}
	if entries[0].Problem != "" || entries[0].Ref != v2 {
		t.Errorf("the set itself: %v, %q", entries[0].Ref, entries[0].Problem)
	}
	if diff := cmp.Diff([]datasets.TagAt{}, entries[1].Tags); diff != "" {
		t.Error(diff)
	}
}

func TestADigestAloneFindsItsVersion(t *testing.T) {
	s := newStore(t)
	write(t, s, "other", draft("other?"))
	v1 := write(t, s, "set", draft("one?"))
	write(t, s, "set", draft("two?"))
	got, err := s.Resolve("@" + v1.Digest)
	if err != nil || got != v1 {
		t.Errorf("found %v (%v), want %v", got, err, v1)
	}
	if _, err := s.Resolve("@sha256:00000000"); err == nil || !strings.Contains(err.Error(), "no version of a golden set") {
		t.Errorf("an unknown digest resolves to %v", err)
	}
}
