package eval_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/seeded"
)

// simulatedSets is how many sets a simulation has. In short runs there are few,
// which show gross errors only.
func simulatedSets() int {
	if testing.Short() {
		return 60
	}
	return 1000
}

// skipLong leaves out what resamples many sets, which takes minutes under the
// race detector.
func skipLong(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a simulation that resamples many sets: run without -short")
	}
}

// slack is what short runs let a share miss its bound by: three standard errors.
func slack(bound float64) float64 {
	if !testing.Short() {
		return 0
	}
	return 3 * math.Sqrt(bound*(1-bound)/float64(simulatedSets()))
}

// outcome is what one simulated set showed.
type outcome struct {
	alarm   bool // p of the difference is at most .05
	covered bool // the interval holds the true difference
}

// simulate compares sets, on as many processors as there are, and gives the
// shares of alarms and of intervals that hold the truth.
func simulate(t *testing.T, draw func(random *rand.Rand) (in eval.CompareInput, truth float64)) (alarms, coverage float64) {
	t.Helper()
	sets := simulatedSets()
	outcomes := make([]outcome, sets)
	var group sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := w; i < sets; i += runtime.GOMAXPROCS(0) {
				in, truth := draw(seeded.Rand(1, t.Name(), strconv.Itoa(i)))
				in.Seed = int64(i)
				outcomes[i] = observe(t, in, truth)
			}
		})
	}
	group.Wait()
	for _, o := range outcomes {
		if o.alarm {
			alarms += 1 / float64(sets)
		}
		if o.covered {
			coverage += 1 / float64(sets)
		}
	}
	t.Logf("alarms %.3f, coverage %.3f", alarms, coverage)
	return alarms, coverage
}

func observe(t *testing.T, in eval.CompareInput, truth float64) outcome {
	c, err := eval.Compare(in)
	if err != nil {
		t.Error(err)
		return outcome{}
	}
	d := c.Metrics[0].Difference
	if d.P == nil || d.Low == nil {
		t.Errorf("no test: %s", d.Why)
		return outcome{}
	}
	return outcome{alarm: *d.P <= 0.05, covered: *d.Low <= truth && truth <= *d.High}
}

// clustered makes documents of one to three cases. Cases of one document are
// alike: they are found first with a chance that the document shifts. gain is
// what the candidate's chance has more.
func clustered(random *rand.Rand, documents int, gain float64) eval.CompareInput {
	base, candidate := input("recall@1"), input("recall@1")
	base.Trust, candidate.Trust = "reviewed", "reviewed"
	for d := range documents {
		easy := 0.2 + float64(0.4*random.Float64())
		shiftA, shiftB := 0.3*random.Float64()-0.15, 0.3*random.Float64()-0.15
		for j := range 1 + random.IntN(3) {
			id, doc := fmt.Sprintf("q%d-%d", d, j), fmt.Sprint("doc", d)
			base.Cases = append(base.Cases, found(id, rankOf(random, easy+shiftA), doc))
			candidate.Cases = append(candidate.Cases, found(id, rankOf(random, easy+shiftB+gain), doc))
		}
	}
	return eval.CompareInput{Base: base, Candidate: candidate}
}

// rankOf is 1 with the chance given, else 2.
func rankOf(random *rand.Rand, chance float64) int {
	if random.Float64() < chance {
		return 1
	}
	return 2
}

func TestCertainLabelsSimulated(t *testing.T) {
	skipLong(t)
	for _, tt := range []struct {
		documents int
		gain      float64
	}{{50, 0}, {100, 0}, {200, 0}, {50, 0.1}} {
		t.Run(fmt.Sprintf("clusters=%d/gain=%v", tt.documents, tt.gain), func(t *testing.T) {
			t.Parallel()
			alarms, coverage := simulate(t, func(random *rand.Rand) (eval.CompareInput, float64) {
				return clustered(random, tt.documents, tt.gain), tt.gain
			})
			checkCoverage(t, coverage)
			if tt.gain == 0 {
				checkAlarms(t, alarms)
			}
		})
	}
}

func checkAlarms(t *testing.T, alarms float64) {
	t.Helper()
	if alarms > 0.065+slack(0.065) {
		t.Errorf("%.1f %% false alarms, want at most 6.5 %%", 100*alarms)
	}
}

func checkCoverage(t *testing.T, coverage float64) {
	t.Helper()
	if coverage < 0.93-slack(0.93) || coverage > 0.99+slack(0.99) {
		t.Errorf("%.1f %% of the intervals hold the truth, want 93 to 99", 100*coverage)
	}
}

// labelModel is a label model whose one coefficient is not known: items are
// relevant with chance logistic(sure * (x + b)). The base returns the items
// with -b, the candidate those with b, or both with b where they are alike.
type labelModel struct {
	sure      float64 // how sharply it decides
	spread    float64 // of b
	alike     bool
	unchanged float64 // share of the cases in which the candidate returns what the base does
}

func (m labelModel) chance(x, b float64) float64 { return logistic(m.sure * (x + b)) }

func (m labelModel) ofBase(b float64) float64 {
	if m.alike {
		return b
	}
	return -b
}

// set draws 20 coefficients, and cases with a label for the item of either side
// and one that nobody returns. The truth, under one more coefficient, is over
// all cases that there could be.
func (m labelModel) set(random *rand.Rand, documents int) (eval.CompareInput, float64) {
	base, candidate := input("success@1"), input("success@1")
	base.Trust, candidate.Trust = "reviewed", "reviewed"
	draws := make([]float64, 20)
	for t := range draws {
		draws[t] = float64(m.spread * random.NormFloat64())
	}
	for d := range documents {
		level := random.NormFloat64()
		for j := range 1 + random.IntN(3) {
			x, y := level+random.NormFloat64(), level+random.NormFloat64()
			c := eval.Case{ID: fmt.Sprintf("q%d-%d", d, j), Background: &eval.Background{Documents: []string{fmt.Sprint("doc", d)}}}
			c.Labels = []eval.Label{
				labelled("a", draws, func(b float64) float64 { return m.chance(x, m.ofBase(b)) }),
				labelled("b", draws, func(b float64) float64 { return m.chance(y, b) }),
				{ID: "sure", Grade: 3},
			}
			c.Ranking = []string{"a"}
			base.Cases = append(base.Cases, c)
			if random.Float64() >= m.unchanged {
				c.Ranking = []string{"b"}
			}
			candidate.Cases = append(candidate.Cases, c)
		}
	}
	truth := m.truth(float64(m.spread * random.NormFloat64()))
	return eval.CompareInput{Base: base, Candidate: candidate}, float64((1 - m.unchanged) * truth)
}

// truth integrates over x and y, which are normal with variance 2.
func (m labelModel) truth(b float64) float64 {
	const step = 0.01
	sum := 0.0
	for x := -9.0; x < 9; x += step {
		density := math.Exp(-x*x/4) / math.Sqrt(4*math.Pi)
		sum += float64(density * step * (m.chance(x, b) - m.chance(x, m.ofBase(b))))
	}
	return sum
}

func labelled(id string, draws []float64, p func(b float64) float64) eval.Label {
	u := &eval.Probability{Draws: make([]float64, len(draws))}
	for t, b := range draws {
		u.Draws[t] = p(b)
		u.P += u.Draws[t] / float64(len(draws))
	}
	u.P = min(1, u.P)
	return eval.Label{ID: id, Uncertain: u}
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func TestUncertainLabelsSimulated(t *testing.T) {
	for _, tt := range []struct {
		name      string
		documents []int
		model     labelModel
	}{
		{"sure", []int{50, 100, 200}, labelModel{sure: 8, spread: 0.1}},
		{"sure and alike", []int{50, 100, 200}, labelModel{sure: 8, spread: 0.1, alike: true}},
		{"unsure", []int{50, 100, 200}, labelModel{sure: 1, spread: 0.3}},
		{"unsure and alike", []int{50, 100}, labelModel{sure: 1, spread: 0.3, alike: true}},
		{"noise", []int{50}, labelModel{sure: 0.2, spread: 0.1}},
		{"noise alone", []int{50}, labelModel{sure: 0.2, alike: true}},
		{"coefficients above all", []int{10, 50}, labelModel{sure: 1, spread: 0.6}},
		{"few cases change", []int{50}, labelModel{sure: 2, spread: 0.3, unchanged: 0.8}},
		{"few clusters", []int{10}, labelModel{sure: 1, spread: 0.3}},
	} {
		for _, documents := range tt.documents {
			t.Run(fmt.Sprintf("%s/clusters=%d", tt.name, documents), func(t *testing.T) {
				t.Parallel()
				alarms, coverage := simulate(t, func(random *rand.Rand) (eval.CompareInput, float64) { return tt.model.set(random, documents) })
				checkCoverage(t, coverage)
				if tt.model.alike {
					checkAlarms(t, alarms)
				}
			})
		}
	}
}

// TestProbabilitiesReadAsCertain shows what is not to be done: with the mean of
// p_draws alone, or p cut at a half, intervals do not hold the truth.
func TestProbabilitiesReadAsCertain(t *testing.T) {
	for name, read := range map[string]func(l *eval.Label){
		"mean": func(l *eval.Label) { l.Uncertain = &eval.Probability{P: l.Uncertain.P} },
		"cut": func(l *eval.Label) {
			l.Grade, l.Uncertain = 3*int(math.Round(l.Uncertain.P)), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := labelModel{sure: 1, spread: 0.3}
			_, coverage := simulate(t, func(random *rand.Rand) (eval.CompareInput, float64) {
				in, truth := model.set(random, 50)
				for i := range in.Base.Cases {
					for j := range in.Base.Cases[i].Labels[:2] { // shared by both sides
						read(&in.Base.Cases[i].Labels[j])
					}
				}
				return in, truth
			})
			if coverage > 0.85 {
				t.Errorf("%.1f %% of the intervals hold the truth", 100*coverage)
			}
		})
	}
}

// TestGatesAtTheMargin simulates drops that are exactly the margin, where a
// gate should neither fail nor pass in more than 5 % of sets. A fail never does.
// Passes do where hardly a case changes: the bounds are what docs/gates.md says.
func TestGatesAtTheMargin(t *testing.T) {
	skipLong(t)
	for _, tt := range []struct {
		cases  int
		churn  float64 // share of cases that change besides the drop, half of them for the better
		passes float64 // at most
	}{{50, 0, 0.42}, {50, 0.05, 0.15}, {50, 0.3, 0.08}, {200, 0.05, 0.08}} {
		t.Run(fmt.Sprintf("cases=%d/churn=%v", tt.cases, tt.churn), func(t *testing.T) {
			t.Parallel()
			const sets = 400
			shares := map[string]float64{}
			for i := range sets {
				in := atTheMargin(seeded.Rand(2, t.Name(), strconv.Itoa(i)), tt.cases, tt.churn)
				in.Gates = gates(t, "recall@1 drop <= 0.02")
				shares[compare(t, in).Gates[0].Verdict] += 1.0 / sets
			}
			t.Logf("failed %.3f, passed %.3f", shares[eval.Fail], shares[eval.Pass])
			if shares[eval.Fail] > 0.075 || shares[eval.Pass] > tt.passes {
				t.Errorf("failed %.3f, passed %.3f, want at most .075 and %v", shares[eval.Fail], shares[eval.Pass], tt.passes)
			}
		})
	}
}

func atTheMargin(random *rand.Rand, cases int, churn float64) eval.CompareInput {
	base, candidate := input("recall@1"), input("recall@1")
	base.Trust, candidate.Trust = "reviewed", "reviewed"
	for i := range cases {
		id, before, after := fmt.Sprint("q", i), 1, 1
		switch u := random.Float64(); {
		case u < churn/2+0.02:
			after = 2
		case u < churn+0.02:
			before = 2
		}
		base.Cases = append(base.Cases, found(id, before, id))
		candidate.Cases = append(candidate.Cases, found(id, after, id))
	}
	return eval.CompareInput{Base: base, Candidate: candidate, Seed: 1}
}
