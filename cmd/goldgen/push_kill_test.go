//go:build unix

package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/internal/bucket/buckettest"
	"github.com/goldgen/goldgen/internal/smalldisk"
)

// pushProject is a quickstart with a set of two versions.
func pushProject(t *testing.T, bin string) string {
	t.Helper()
	dir := rebaseProject(t, bin)
	ended(t, t.Context(), bin, dir, "", "rebase", "handbook")
	ended(t, t.Context(), bin, dir, "", "datasets", "tag", "handbook", "prod")
	return dir
}

// emptyProject is one without a set.
func emptyProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "goldgen.yaml"), []byte("version: 1\nname: handbook\ncorpus: {source: docs}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// killed20 runs a command until it was killed at 20 random moments, with reset before
// each and whole after it; then to its end.
func killed20(t *testing.T, bin, dir string, reset, whole func(), args ...string) {
	t.Helper()
	reset()
	start := time.Now()
	ended(t, t.Context(), bin, dir, "", args...)
	alone := time.Since(start)
	random := rand.New(rand.NewPCG(5, 6))
	kills := 0
	for attempt := 0; kills < 20 && attempt < 1000; attempt++ {
		if attempt%4 == 0 {
			reset() // else it goes on with what the killed ones left
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Float64()*float64(alone)))
		if _, killed := ended(t, ctx, bin, dir, "", args...); killed {
			kills++
		}
		cancel()
		whole()
	}
	if kills < 20 {
		t.Fatalf("killed %d times only", kills)
	}
	ended(t, t.Context(), bin, dir, "", args...)
}

// TestPushKilledAtAnyPoint kills pushes to a folder and to a store. What can be seen
// there after each kill is pulled whole.
func TestPushKilledAtAnyPoint(t *testing.T) {
	bin := binary(t)
	dir := pushProject(t, bin)
	for _, place := range []string{filepath.Join(t.TempDir(), "team"), "s3://team/golden"} {
		t.Run(strings.SplitAfter(place, ":")[0], func(t *testing.T) {
			fake := s3Environment(t)
			reset := func() {
				os.RemoveAll(place)
				fake.Clear()
			}
			whole := func() {
				there := emptyProject(t)
				_, manifest := fake.Objects()["golden/handbook/v0001/manifest.json"]
				if _, err := os.Stat(filepath.Join(place, "handbook", "v0001", "manifest.json")); err == nil || manifest {
					ended(t, t.Context(), bin, there, "", "datasets", "pull", "handbook", place)
					wantVersions(t, dir, there)
				}
			}
			killed20(t, bin, dir, reset, whole, "datasets", "push", "handbook", place, "--tag", "prod")
			there := emptyProject(t)
			ended(t, t.Context(), bin, there, "", "datasets", "pull", "handbook@prod", place, "--tag", "prod")
			if diff := cmp.Diff(setBytes(t, dir), setBytes(t, there)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// s3Environment has programs that the test starts ask a store of its own.
func s3Environment(t *testing.T) *buckettest.Server {
	t.Helper()
	fake := buckettest.New(t)
	for _, assignment := range fake.Environ() {
		name, value, _ := strings.Cut(assignment, "=")
		t.Setenv(name, value)
	}
	return fake
}

// wantVersions wants each file of each version that is seen in a project to be as in
// another one.
func wantVersions(t *testing.T, want, got string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(got, "golden", "handbook", "v*", "*"))
	if err != nil || len(files)%4 != 0 {
		t.Fatalf("half a version is seen: %v %v", files, err)
	}
	for _, path := range files {
		rel, _ := filepath.Rel(got, path)
		a, errA := os.ReadFile(path)
		b, errB := os.ReadFile(filepath.Join(want, rel))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s is not what was pushed: %v %v", rel, errA, errB)
		}
	}
}

// TestPullKilledAtAnyPoint: after each kill each version is seen whole or not at all.
func TestPullKilledAtAnyPoint(t *testing.T) {
	bin := binary(t)
	dir := pushProject(t, bin)
	s3Environment(t)
	ended(t, t.Context(), bin, dir, "", "datasets", "push", "handbook", "s3://team/golden", "--tag", "prod")
	there := emptyProject(t)
	reset := func() {
		for _, made := range []string{"golden", ".goldgen"} {
			if err := os.RemoveAll(filepath.Join(there, made)); err != nil {
				t.Fatal(err)
			}
		}
	}
	killed20(t, bin, there, reset, func() { wantVersions(t, dir, there) }, "datasets", "pull", "handbook", "s3://team/golden", "--tag", "prod")
	if diff := cmp.Diff(setBytes(t, dir), setBytes(t, there)); diff != "" {
		t.Error(diff)
	}
	left, err := filepath.Glob(filepath.Join(there, ".goldgen", "pulled", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("parts were left: %v %v", left, err)
	}
}

// TestPullOnAFullDisk has each of its writes fail in turn.
func TestPullOnAFullDisk(t *testing.T) {
	bin := binary(t)
	dir := pushProject(t, bin)
	s3Environment(t)
	ended(t, t.Context(), bin, dir, "", "datasets", "push", "handbook", "s3://team/golden")
	start := emptyProject(t)
	ended(t, t.Context(), bin, start, "", "datasets", "pull", "handbook@v1", "s3://team/golden")
	f, before, after := newFullDisk(t, bin, "", start, "datasets", "pull", "handbook", "s3://team/golden")
	f.sweep(t, before, after, 20)
}

// TestPushToAFullDisk fills the folder that is pushed to.
func TestPushToAFullDisk(t *testing.T) {
	bin := binary(t)
	dir := pushProject(t, bin)
	disk := smalldisk.New(t)
	place := filepath.Join(disk.Dir, "team")
	args := []string{"datasets", "push", "handbook", place}
	ended(t, t.Context(), bin, dir, "", args...)
	room := disk.Used(t)
	failed := 0
	for at := int64(os.Getpagesize()); at < room.Bytes; at += room.Bytes / 20 {
		disk.Limit(t, smalldisk.Room{})
		if err := os.RemoveAll(place); err != nil {
			t.Fatal(err)
		}
		disk.Limit(t, smalldisk.Room{Bytes: at})
		if out, code := failing(t, bin, dir, args...); code != exitDone {
			failed++
			if code != exitFailed || !strings.Contains(out, "no space left on device") || !strings.Contains(out, "free space on") {
				t.Errorf("%d bytes: code %d:\n%s", at, code, out)
			}
		}
		disk.Limit(t, smalldisk.Room{})
		ended(t, t.Context(), bin, dir, "", args...)
		there := emptyProject(t)
		ended(t, t.Context(), bin, there, "", "datasets", "pull", "handbook", place)
		if diff := cmp.Diff(setBytes(t, dir), setBytes(t, there)); diff != "" {
			t.Errorf("%d bytes: %s", at, diff)
		}
	}
	if failed < 10 {
		t.Errorf("failed %d times only", failed)
	}
}
