package eval

import (
	"math/bits"
	"slices"
	"strconv"
	"sync"

	"github.com/goldgen/goldgen/internal/seeded"
)

const (
	exactClusters = 20      // up to as many non-zero ones, all sign-flips are counted
	flipDraws     = 100_000 // beyond
	bootDraws     = 10_000

	// maxUnits bounds what a resample costs. Of more clusters, those whose
	// numbers agree modulo maxUnits are flipped and drawn together. That is a
	// subgroup of the sign-flips, so the test stays exact, and an interval from
	// 1,024 units is as wide as one from more.
	maxUnits = 1024

	// tieShare is how far apart, as a share of the sum of absolute values, two
	// sums may be that are equal but for rounding.
	tieShare = 1e-10
)

// tails are p-values of a sum under sign-flips.
type tails struct {
	lower, upper, two float64
}

// flipper tests sums by flipping the signs of their terms. Signs depend on the
// seed alone, so every sum is tested under the same ones. It may be used from
// several goroutines.
type flipper struct {
	seed  int64
	draws int

	mu    sync.Mutex
	signs [][]uint64 // column b holds the signs of terms 64 b to 64 b + 63, one word a draw
}

func newFlipper(seed int64, draws int) *flipper { return &flipper{seed: seed, draws: draws} }

// test gives the tails of the sum of the terms. Zeros do not matter.
func (f *flipper) test(terms []float64) tails {
	terms = slices.DeleteFunc(slices.Clone(terms), func(x float64) bool { return x == 0 })
	observed, size := 0.0, 0.0
	for _, x := range terms {
		observed += x
		size += max(x, -x)
	}
	tie := float64(size * tieShare)
	if len(terms) <= exactClusters {
		return exactTails(terms, observed, tie)
	}
	return f.drawnTails(terms, observed, tie)
}

// drawnTails counts over drawn sign-flips. The one that was observed counts as
// drawn too (Phipson and Smyth, Statistical Applications in Genetics and
// Molecular Biology 9, 2010).
func (f *flipper) drawnTails(terms []float64, observed, tie float64) tails {
	size := max(observed, -observed)
	var lower, upper, two int
	f.eachSum(terms, func(s float64) {
		if s <= observed+tie {
			lower++
		}
		if s >= observed-tie {
			upper++
		}
		if s >= size-tie || -s >= size-tie {
			two++
		}
	})
	p := func(b int) float64 { return float64(b+1) / float64(f.draws+1) }
	return tails{lower: p(lower), upper: p(upper), two: p(two)}
}

// exactTails counts over all sign-flips.
func exactTails(terms []float64, observed, tie float64) tails {
	all := float64(uint64(1) << len(terms))
	a, b := signedSums(terms[:len(terms)/2]), signedSums(terms[len(terms)/2:])
	share := func(x float64) float64 { return float64(pairsFrom(a, b, x-tie)) / all }
	// The sums are symmetric about 0.
	return tails{lower: share(-observed), upper: share(observed), two: min(1, 2*share(max(observed, -observed)))}
}

// signedSums lists the sums under every choice of signs, sorted.
func signedSums(terms []float64) []float64 {
	sums := []float64{0}
	for _, x := range terms {
		n := len(sums)
		for i := range n {
			sums = append(sums, sums[i]-x)
			sums[i] += x
		}
	}
	slices.Sort(sums)
	return sums
}

// pairsFrom counts the pairs of a sum of a and one of b that reach x.
func pairsFrom(a, b []float64, x float64) int {
	n, at := 0, len(b)
	for _, s := range a {
		for at > 0 && s+b[at-1] >= x {
			at--
		}
		n += len(b) - at
	}
	return n
}

// signTable holds the sums of 64 terms, eight at a time, under each choice of
// their signs.
type signTable [8][256]float64

// drawBlock is how many draws are summed at a time: their sums stay in the
// processor's cache.
const drawBlock = 2048

// eachSum calls found with the sum of the terms under each draw of signs.
func (f *flipper) eachSum(terms []float64, found func(s float64)) {
	columns := f.columns((len(terms) + 63) / 64)
	tables := make([]signTable, len(columns))
	for b := range tables {
		tables[b].fill(terms[64*b:])
	}
	var sums [drawBlock]float64
	for from := 0; from < f.draws; from += drawBlock {
		to := min(f.draws, from+drawBlock)
		clear(sums[:])
		for b, column := range columns {
			tables[b].add(column[from:to], &sums)
		}
		for _, s := range sums[:to-from] {
			found(s)
		}
	}
}

// add adds the terms' sums under each word of signs.
func (t *signTable) add(signs []uint64, sums *[drawBlock]float64) {
	for d, w := range signs {
		sums[d] += t[0][w&255] + t[1][w>>8&255] + t[2][w>>16&255] + t[3][w>>24&255] +
			t[4][w>>32&255] + t[5][w>>40&255] + t[6][w>>48&255] + t[7][w>>56]
	}
}

func (t *signTable) fill(terms []float64) {
	for i := range t {
		fillTable(&t[i], terms[min(8*i, len(terms)):])
	}
}

// fillTable writes the sum of up to eight terms under each choice of signs.
func fillTable(table *[256]float64, terms []float64) {
	terms = terms[:min(8, len(terms))]
	table[0] = 0
	for _, x := range terms {
		table[0] -= x
	}
	for w := 1; w < 256; w++ {
		low := bits.TrailingZeros(uint(w))
		table[w] = table[w&(w-1)]
		if low < len(terms) {
			table[w] += 2 * terms[low]
		}
	}
}

// columns returns the first n columns of signs and draws those that are not
// there yet.
func (f *flipper) columns(n int) [][]uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	for b := len(f.signs); b < n; b++ {
		random := seeded.Rand(f.seed, "sign-flip", strconv.Itoa(b))
		column := make([]uint64, f.draws)
		for d := range column {
			column[d] = random.Uint64()
		}
		f.signs = append(f.signs, column)
	}
	return f.signs[:n:n]
}
