package retrieve

import "testing"

// The steps of Lucene's byte encoding: exact up to 40, then four significant
// bits of what is above 24.
func TestLengthByte(t *testing.T) {
	for n, want := range map[int]int{
		0: 0, 1: 1, 23: 23, 24: 24, 39: 39, 40: 40, 41: 40, 42: 42, 55: 54, 56: 56, 59: 56, 60: 60,
		100: 96, 1000: 984, 1 << 20: 983064,
	} {
		if got := lengthOf(lengthByte(n)); got != want {
			t.Errorf("length %d is kept as %d, want %d", n, got, want)
		}
	}
	last := -1
	for n := range 100_000 {
		got := lengthOf(lengthByte(n))
		if got > n || got < last || float64(n-got) > float64(n)/8 {
			t.Fatalf("length %d is kept as %d, after %d", n, got, last)
		}
		last = got
	}
}
