package distinct_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/internal/distinct"
)

// Whatever the order of a column, numbers are those of first appearance, and
// every name is found under its own.
func TestNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		column := rapid.SliceOf(rapid.Map(rapid.IntRange(0, 12), func(n int) string { return fmt.Sprint("q", n) })).Draw(rt, "column")
		if rapid.Bool().Draw(rt, "sorted") {
			column = rapid.Permutation([]string{"a", "b", "c"}).Draw(rt, "few")
		}
		var want []string
		first := map[string]int32{}
		var names distinct.Names
		rows, numbers := []int32{}, []int32{}
		for i, name := range column {
			if _, known := first[name]; !known {
				first[name] = int32(len(want))
				want = append(want, name)
			}
			numbers = append(numbers, first[name])
			if i%2 == 0 {
				rows = append(rows, names.Add(name))
			} else {
				rows = append(rows, names.AddBytes([]byte(name)))
			}
		}
		names.Settle(rows)
		if diff := cmp.Diff(want, names.List()) + cmp.Diff(numbers, rows); diff != "" {
			rt.Fatal(diff)
		}
		for i, name := range want {
			if at, ok := names.Index(name); !ok || at != i {
				rt.Fatalf("%s is %d, %v", name, at, ok)
			}
		}
		for _, name := range append(column, "nosuch") {
			last := rapid.IntRange(-1, len(want)-1).Draw(rt, "last")
			at, ok := names.IndexAfter(last, name)
			if number, known := names.Index(name); at != number || ok != known {
				rt.Fatalf("%s after %d is %d, %v; want %d, %v", name, last, at, ok, number, known)
			}
		}
		if _, ok := names.Index("nosuch"); ok {
			rt.Fatal("found a name that is not there")
		}
	})
}
