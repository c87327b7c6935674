package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/internal/unionfind"
)

const (
	agreementDraws = 1000 // of the bootstrap
	halvings       = 500  // of the reference, for the ceiling
	tosses         = 100  // of coins, for the placebo
)

// agreementRun is both sets scored by one measure.
type agreementRun struct {
	seed              int64
	reference, tested *ranked
	ceiling           AgreementFigures
}

// run scores the tested set by a measure, and the reference if nobody did.
func (r *AgreementReference) run(tested *AgreementSide, measure int) (*agreementRun, error) {
	m, seed := r.in.Measures[measure], r.in.Seed
	if measure == len(r.runs) {
		reference, err := newRanked(&r.in.Reference, m, seed, r.flips)
		if err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
		known := agreementRun{seed: seed, reference: reference}
		known.ceiling = known.halved()
		r.runs = append(r.runs, known)
	}
	run := r.runs[measure]
	var err error
	if run.tested, err = newRanked(tested, m, seed, r.flips); err != nil {
		return nil, fmt.Errorf("tested set: %w", err)
	}
	return &run, nil
}

func (a *agreementRun) random(what string, draw int) *rand.Rand {
	return seeded.Rand(a.seed, "agreement "+what, strconv.Itoa(draw))
}

// eachDraw collects the figures of n draws.
func eachDraw(n int, f func(draw int) rates) []rates {
	out := make([]rates, n)
	parallel(n, func(draw int) { out[draw] = f(draw) })
	return out
}

// figures are those of the tested set, with bootstrap intervals.
func (a *agreementRun) figures() AgreementFigures {
	found := ratesOf(&a.reference.exact, &a.tested.exact)
	pool := newUnitPool(&a.reference.units, &a.tested.units)
	draws := eachDraw(agreementDraws, func(draw int) rates {
		known, tested := pool.draw(a.random("bootstrap", draw))
		x, y := a.reference.stand(known, 1), a.tested.stand(tested, 1)
		a.reference.keepSourceSigns(&x, known)
		a.tested.keepSourceSigns(&y, tested)
		return ratesOf(&x, &y)
	})
	return figuresOf(found, func(figure int) (low, high float64) {
		return centred(found.list()[figure], column(draws, figure))
	})
}

// keepSourceSigns takes back the separations whose sign source-only labels do
// not share.
func (r *ranked) keepSourceSigns(s *standing, times []float64) {
	if r.source == nil {
		return
	}
	source := r.source.means(times)
	eachPair(len(source), func(pair, a, b int) {
		if direction(source[b]-source[a]) != s.signs[pair] {
			s.signs[pair] = 0
		}
	})
}

// halved holds random halves of the reference against each other: the ceiling. In
// a half, the variance of labels counts twice.
func (a *agreementRun) halved() AgreementFigures {
	n := len(a.reference.units.cases)
	return spreadOf(eachDraw(halvings, func(draw int) rates {
		first, second := make([]float64, n), make([]float64, n)
		for i, c := range a.random("halves", draw).Perm(n) {
			if i < n/2 {
				first[c] = 1
			} else {
				second[c] = 1
			}
		}
		x, y := a.reference.stand(first, 2), a.reference.stand(second, 2)
		a.reference.keepSourceSigns(&x, first)
		a.reference.keepSourceSigns(&y, second)
		return ratesOf(&x, &y)
	}))
}

// unitPool draws the units of both sets with replacement. Units that hold a
// case of both sets are drawn together.
type unitPool struct {
	reference, tested []int32   // the block that each unit is in
	strata            [][]int32 // blocks of both sets, of the reference, of the tested set
	blocks            int
}

func newUnitPool(reference, tested *units) *unitPool {
	n := len(reference.cases)
	sets := unionfind.New(n + len(tested.cases))
	at := map[string]int32{}
	for c, keys := range reference.keys {
		for _, key := range keys {
			at[key] = int32(c)
		}
	}
	for c, keys := range tested.keys {
		for _, key := range keys {
			if shared, ok := at[key]; ok {
				sets.Join(shared, int32(n+c))
			}
		}
	}
	p := &unitPool{blocks: len(sets), strata: make([][]int32, 3)}
	for i := range sets {
		if root := sets.Root(int32(i)); i < n {
			p.reference = append(p.reference, root)
		} else {
			p.tested = append(p.tested, root)
		}
	}
	p.stratify(n)
	return p
}

// stratify sorts the blocks by the sets that they have units of. A root is the
// smallest unit of its block, and those of the reference come first.
func (p *unitPool) stratify(reference int) {
	both := map[int32]bool{}
	for _, root := range p.tested {
		both[root] = int(root) < reference
	}
	for i := range p.blocks {
		root := int32(i)
		shared, tested := both[root]
		switch {
		case i < reference && p.reference[i] != root, i >= reference && p.tested[i-reference] != root:
		case shared:
			p.strata[0] = append(p.strata[0], root)
		case !tested:
			p.strata[1] = append(p.strata[1], root)
		default:
			p.strata[2] = append(p.strata[2], root)
		}
	}
}

// draw says how often each unit counts.
func (p *unitPool) draw(random *rand.Rand) (reference, tested []float64) {
	times := make([]float64, p.blocks)
	for _, blocks := range p.strata {
		for range blocks {
			times[blocks[random.IntN(len(blocks))]]++
		}
	}
	return pickTimes(times, p.reference), pickTimes(times, p.tested)
}

func pickTimes(times []float64, blocks []int32) []float64 {
	out := make([]float64, len(blocks))
	for c, block := range blocks {
		out[c] = times[block]
	}
	return out
}

// column lists one figure of all draws that have it, sorted.
func column(draws []rates, figure int) []float64 {
	var out []float64
	for i := range draws {
		if v := draws[i].list()[figure]; !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// middle is where the middle 95 % of sorted values lie.
func middle(sorted []float64) (low, high float64) {
	if len(sorted) == 0 {
		return math.NaN(), math.NaN()
	}
	cut := int(float64(len(sorted)) * (1 - intervalLevel) / 2)
	return sorted[cut], sorted[len(sorted)-1-cut]
}

// centred is the percentile interval moved so that the mean of the draws falls
// on the value. Resampling adds its own noise to that of the cases, which moves
// every figure of agreement down; the value has that noise once already.
func centred(value float64, sorted []float64) (low, high float64) {
	if len(sorted) < agreementDraws/2 {
		return math.NaN(), math.NaN()
	}
	low, high = middle(sorted)
	off := value - stat.Mean(sorted, nil)
	return low + off, high + off
}
