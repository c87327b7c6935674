package eval

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/goldgen/goldgen/internal/seeded"
)

const (
	// SelfTestShuffles is how often sides are swapped unless asked otherwise.
	SelfTestShuffles = 1000

	// selfTestDraws of sign-flips test each shuffle. With fewer than a comparison
	// draws the test is as exact, p-values are coarser.
	selfTestDraws = 1999
)

// SelfTestResult says whether comparisons of these results can be believed: what
// the tests say where it is known that nothing differs.
type SelfTestResult struct {
	Method    string       `json:"method"`
	Cases     int          `json:"cases"`
	Clusters  int          `json:"clusters"`
	Identical bool         `json:"identical"` // each side against itself: difference 0 and p 1 for every measure
	Shuffles  int          `json:"shuffles"`
	Level     float64      `json:"level"` // of the tests
	Alarms    []FalseAlarm `json:"false_alarms"`
}

// FalseAlarm is how often a measure differed significantly after each case's
// two sides were swapped at random. Low and High are an exact 95 % interval of
// the rate (Clopper and Pearson, Biometrika 26, 1934). A measure that cannot be
// tested has no rate; Why says why.
type FalseAlarm struct {
	Measure string   `json:"measure"`
	Alarms  int      `json:"alarms"`
	Rate    *float64 `json:"rate"`
	Low     *float64 `json:"low"`
	High    *float64 `json:"high"`
	Why     string   `json:"why,omitempty"`
}

// SelfTest compares each side with itself, and both after swapping the two
// sides of random cases, so that nothing can differ but by chance: about Level
// of the shuffles should show a difference, fewer where few cases changed.
// shuffles of 0 means SelfTestShuffles. Results that are not comparable are an
// error.
func SelfTest(in CompareInput, shuffles int) (*SelfTestResult, error) {
	if shuffles == 0 {
		shuffles = SelfTestShuffles
	}
	if shuffles < 1 {
		return nil, fmt.Errorf("%d shuffles: want 1 or more", shuffles)
	}
	in.GateOptions = GateOptions{}
	identical, err := selfIdentical(in)
	if err != nil {
		return nil, err
	}
	m, err := match(&in)
	if err != nil {
		return nil, err
	}
	if err := m.share(nil); err != nil {
		return nil, err
	}
	if len(m.differs) > 0 {
		return nil, errors.New("not comparable: " + m.differs[0])
	}
	s, err := newShuffler(m, &in)
	if err != nil {
		return nil, err
	}
	out := &SelfTestResult{
		Method: s.method(), Cases: len(m.base.Cases), Clusters: s.base.groups[0].clusters(s.base.scores),
		Identical: identical, Shuffles: shuffles, Level: significance,
	}
	out.Alarms = s.alarms(shuffles)
	return out, nil
}

// selfIdentical compares each side with itself.
func selfIdentical(in CompareInput) (bool, error) {
	for _, side := range []Input{in.Base, in.Candidate} {
		c, err := Compare(CompareInput{Base: side, Candidate: side, Seed: in.Seed})
		if err != nil {
			return false, err
		}
		for _, d := range c.Metrics {
			same := d.Difference.Difference == nil || *d.Difference.Difference == 0
			if !same || (d.P != nil && *d.P != 1) {
				return false, nil
			}
		}
	}
	return true, nil
}

// shuffler holds the differences of both sides.
type shuffler struct {
	*differ
	drawn  []*drawnCase // by case, where labels are drawn
	shifts []float64    // by measure; sides that are swapped lie as far apart
}

func newShuffler(m *matched, in *CompareInput) (*shuffler, error) {
	s := &shuffler{drawn: make([]*drawnCase, len(m.base.Cases))}
	p, err := newPairing(m.base, m.candidate, func(i int, diff *drawnCase) {
		w := len(m.base.Measures)
		s.drawn[i] = &drawnCase{values: slices.Clone(diff.values[:w*drawCount]), valid: slices.Clone(diff.valid[:w])}
	})
	if err != nil {
		return nil, err
	}
	p.shown = m.shown
	s.differ = &differ{pairing: p, flips: newFlipper(in.Seed, selfTestDraws), seed: in.Seed, shift: in.Shift}
	for j := range s.shown {
		s.shifts = append(s.shifts, s.pooledWithShift(0, j).shift)
	}
	return s, nil
}

// alarms counts the significant differences over shuffles.
func (s *shuffler) alarms(shuffles int) []FalseAlarm {
	out := make([]FalseAlarm, s.shown)
	found := make([][]bool, shuffles) // by measure
	parallel(shuffles, func(r int) { found[r] = s.shuffle(r) })
	for j := range out {
		d := s.describe(0, j)
		out[j].Measure = s.base.in.Measures[j].Name
		if !d.testable() {
			out[j].Why = d.Why
			continue
		}
		for r := range found {
			out[j].Alarms += btoi(found[r][j])
		}
		out[j].Rate = ptr(ratio(out[j].Alarms, shuffles))
		out[j].Low, out[j].High = binomialInterval(out[j].Alarms, shuffles)
	}
	return out
}

// shuffle swaps the sides of about half of the cases and says which measures
// differ significantly then.
func (s *shuffler) shuffle(r int) []bool {
	random := seeded.Rand(s.seed, "self-test", strconv.Itoa(r))
	cases, cluster := s.base.groups[0].cases, s.base.clusters.of
	sign := make([]float64, len(s.base.in.Cases))
	for _, i := range cases {
		sign[i] = float64(2*random.IntN(2) - 1)
	}
	if s.base.drawn {
		return s.significantT(swapped(cases, cluster, len(s.base.in.Measures), sign, func(i int32) *drawnCase { return s.drawn[i] }))
	}
	swapped := newMatrix(len(sign), s.diff.width)
	for _, i := range cases {
		row, to := s.diff.row(int(i)), swapped.row(int(i))
		for j, v := range row {
			to[j] = v * sign[i]
		}
	}
	return s.significantFlips(swapped)
}

func (s *shuffler) significantT(differences []pooled) []bool {
	out := make([]bool, s.shown)
	for j := range out {
		p := differences[j]
		p.shift = s.shifts[j]
		variance, df := p.total()
		out[j] = p.mean != 0 && 2*tTail(-math.Abs(p.mean), variance, df) <= significance
	}
	return out
}

func (s *shuffler) significantFlips(diff *matrix) []bool {
	out := make([]bool, s.shown)
	all := make([]int, s.shown)
	for j := range all {
		all[j] = j
	}
	for _, t := range tallies(diff, s.base.groups[0].cases, s.base.clusters.of, all) {
		for k, j := range t.measures {
			out[j] = s.flips.test(t.terms(k, 0)).two <= significance
		}
	}
	return out
}

// binomialInterval is the exact 95 % interval of a share k of n.
func binomialInterval(k, n int) (low, high *float64) {
	lo, hi := 0.0, 1.0
	if k > 0 {
		lo = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile((1 - intervalLevel) / 2)
	}
	if k < n {
		hi = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile((1 + intervalLevel) / 2)
	}
	return &lo, &hi
}
