package packed_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/internal/packed"
)

// However strings come in, one by one or in blocks, each is found under the
// number that it got.
func TestStrings(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var s packed.Strings
		var want, got []string
		add := func(text string) {
			if n := s.Add([]byte(text)); int(n) != len(want) {
				rt.Fatalf("string %d got number %d", len(want), n)
			}
			want = append(want, text)
		}
		for range rapid.IntRange(0, 5).Draw(rt, "parts") {
			for _, text := range rapid.SliceOfN(rapid.StringN(0, 8, 8), 0, 4).Draw(rt, "singly") {
				add(text)
			}
			if rapid.Bool().Draw(rt, "long") {
				add(strings.Repeat("x", rapid.IntRange(1<<19, 3<<19).Draw(rt, "length")))
			}
			block, offsets := "", []uint32{0}
			first := len(want)
			for _, text := range rapid.SliceOfN(rapid.StringN(0, 8, 8), 0, 4).Draw(rt, "block") {
				block += text
				offsets = append(offsets, uint32(len(block)))
				want = append(want, text)
			}
			if n := s.AddBlock(block, offsets); int(n) != first {
				rt.Fatalf("block from %d got number %d", first, n)
			}
		}
		s.Settle()
		for i := range want {
			got = append(got, s.At(uint32(i)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatal(diff)
		}
		var some, wanted []string
		var numbers []uint32
		if len(want) > 0 {
			numbers = rapid.SliceOf(rapid.Uint32Range(0, uint32(len(want)-1))).Draw(rt, "numbers")
		}
		for _, n := range numbers {
			wanted = append(wanted, want[n])
		}
		some = s.Append(some, numbers)
		if diff := cmp.Diff(wanted, some); diff != "" {
			rt.Fatal(diff)
		}
	})
}
