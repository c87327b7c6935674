package unionfind_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/internal/unionfind"
)

func roots(s unionfind.Sets) []int32 {
	out := make([]int32, len(s))
	for i := range s {
		out[i] = s.Root(int32(i))
	}
	return out
}

func TestRootIsTheSmallestMember(t *testing.T) {
	s := unionfind.New(7)
	for _, pair := range [][2]int32{{6, 5}, {5, 2}, {4, 1}, {1, 4}, {3, 3}} {
		s.Join(pair[0], pair[1])
	}
	if diff := cmp.Diff([]int32{0, 1, 2, 3, 1, 2, 2}, roots(s)); diff != "" {
		t.Errorf("roots (-want +got):\n%s", diff)
	}
}

func TestOrderOfJoinsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		pair := rapid.Custom(func(t *rapid.T) [2]int32 {
			at := rapid.Int32Range(0, int32(n-1))
			return [2]int32{at.Draw(t, "a"), at.Draw(t, "b")}
		})
		pairs := rapid.SliceOf(pair).Draw(t, "pairs")
		one, other := unionfind.New(n), unionfind.New(n)
		for _, p := range pairs {
			one.Join(p[0], p[1])
		}
		for _, p := range rapid.Permutation(pairs).Draw(t, "order") {
			other.Join(p[1], p[0])
		}
		if diff := cmp.Diff(roots(one), roots(other)); diff != "" {
			t.Fatalf("roots (-one +other):\n%s", diff)
		}
		for _, p := range pairs {
			if one.Root(p[0]) != one.Root(p[1]) {
				t.Fatalf("%v are not in one set", p)
			}
		}
	})
}
