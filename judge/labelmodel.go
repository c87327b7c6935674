package judge

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/goldgen/goldgen/datasets"
)

// DrawCount is how many coefficient vectors a label model has.
const DrawCount = 20

// LabelModel gives the probability that a (query, chunk) pair is relevant: a
// logistic regression on standardised features, with an indicator for each
// feature that is missing. It holds DrawCount coefficient vectors, which stand
// for what is not known of the coefficients. A vector is the intercept, then a
// slope for each feature, then the indicators' coefficients.
type LabelModel struct {
	Features []string    `json:"features"`
	Mean     []float64   `json:"mean"`  // of the training pairs, by feature
	Scale    []float64   `json:"scale"` // their standard deviation
	Low      []float64   `json:"low"`   // the range of the training pairs
	High     []float64   `json:"high"`
	Draws    [][]float64 `json:"draws"`
}

// Probability is what a label model says of a pair.
type Probability struct {
	P       float64   // mean of Draws
	Draws   []float64 // under each coefficient vector, to 4 decimals
	Outside int       // features outside of the training range, read as its nearest end
}

// Validate names what does not fit together.
func (m *LabelModel) Validate() error {
	k := len(m.Features)
	for name, list := range map[string][]float64{"mean": m.Mean, "scale": m.Scale, "low": m.Low, "high": m.High} {
		if len(list) != k {
			return fmt.Errorf("%s: %d numbers for %d features", name, len(list), k)
		}
		if slices.ContainsFunc(list, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			return fmt.Errorf("%s: not finite", name)
		}
	}
	if slices.ContainsFunc(m.Scale, func(x float64) bool { return x <= 0 }) {
		return errors.New("scale: must be above 0")
	}
	if len(m.Draws) != DrawCount {
		return fmt.Errorf("draws: %d coefficient vectors, want %d", len(m.Draws), DrawCount)
	}
	for _, draw := range m.Draws {
		if len(draw) != 1+2*k {
			return fmt.Errorf("draws: %d coefficients for %d features, want %d", len(draw), k, 1+2*k)
		}
	}
	return nil
}

// Rounded is the model with its numbers to 6 decimals, as a profile keeps them.
func (m *LabelModel) Rounded() *LabelModel {
	out := &LabelModel{
		Features: m.Features, Mean: rounded(m.Mean), Scale: rounded(m.Scale), Low: rounded(m.Low), High: rounded(m.High),
	}
	for _, draw := range m.Draws {
		out.Draws = append(out.Draws, rounded(draw))
	}
	return out
}

func rounded(list []float64) []float64 {
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = math.Round(x*1e6)/1e6 + 0 // no negative zero
	}
	return out
}

// Probability reads one pair's features, NaN where missing.
func (m *LabelModel) Probability(x []float64) Probability {
	row, outside := m.row(x)
	out := Probability{Draws: make([]float64, len(m.Draws)), Outside: outside}
	for t, draw := range m.Draws {
		out.Draws[t] = datasets.Round(logistic(dotProduct(draw, row)))
		out.P += out.Draws[t]
	}
	out.P = datasets.Round(out.P / float64(len(m.Draws)))
	return out
}

// row is a pair's row of the design matrix and how many features it had to
// bring back into the training range.
func (m *LabelModel) row(x []float64) (row []float64, outside int) {
	k := len(m.Features)
	row = make([]float64, 1+2*k)
	row[0] = 1
	for j, v := range x {
		if math.IsNaN(v) {
			row[1+k+j] = 1
			continue
		}
		if v < m.Low[j] || v > m.High[j] {
			outside++
			v = min(max(v, m.Low[j]), m.High[j])
		}
		row[1+j] = (v - m.Mean[j]) / m.Scale[j]
	}
	return row, outside
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func dotProduct(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// LabelledPair is a pair whose answer is known. Pairs of one query are not
// independent: they are left out and drawn together.
type LabelledPair struct {
	Query    string
	Chunk    string
	X        []float64 // features in the model's order, NaN where missing
	Relevant bool
	// Weight is the inverse of the probability that the pair was labelled. It
	// counts in figures, not in a fit: given its features, that a pair was chosen
	// says nothing of its label.
	Weight float64
}

// standardise fills in mean, scale and range of the features over the pairs. A
// feature that never varies, or is never known, has scale 1.
func (m *LabelModel) standardise(pairs []LabelledPair) {
	k := len(m.Features)
	m.Mean, m.Scale = make([]float64, k), slices.Repeat([]float64{1}, k)
	m.Low, m.High = make([]float64, k), make([]float64, k)
	for j := range m.Features {
		var known []float64
		for i := range pairs {
			if v := pairs[i].X[j]; !math.IsNaN(v) {
				known = append(known, v)
			}
		}
		if len(known) == 0 {
			continue
		}
		m.Low[j], m.High[j] = slices.Min(known), slices.Max(known)
		mean, variance := meanVariance(known)
		m.Mean[j] = mean
		if variance > 1e-12 {
			m.Scale[j] = math.Sqrt(variance)
		}
	}
}

// regression is a logistic regression with a normal prior on its
// coefficients.
type regression struct {
	rows     [][]float64
	relevant []bool
	penalty
}

// penalty is half of precision times the squared distance from centre, and half
// of alike times the squared distance of the coefficients of a group from their
// mean.
type penalty struct {
	centre    []float64
	precision []float64
	groups    [][]int
	alike     float64
}

// regressionOf lays out pairs for a model that is standardised.
func (m *LabelModel) regressionOf(pairs []LabelledPair, p penalty) *regression {
	r := &regression{penalty: p}
	for i := range pairs {
		row, _ := m.row(pairs[i].X)
		r.rows = append(r.rows, row)
		r.relevant = append(r.relevant, pairs[i].Relevant)
	}
	return r
}

// fit finds the coefficients that are likeliest, by Newton's method from the
// centre. The penalty makes the function strictly convex.
func (r *regression) fit() ([]float64, error) {
	problem := optimize.Problem{Func: r.loss, Grad: r.gradient, Hess: r.hessian}
	result, err := optimize.Minimize(problem, r.centre, &optimize.Settings{GradientThreshold: 1e-8}, &optimize.Newton{})
	if err != nil && (result == nil || floatsNorm(result.Gradient) > 1e-4) {
		return nil, fmt.Errorf("label model: fit: %w", err)
	}
	return result.X, nil
}

func floatsNorm(x []float64) float64 { return math.Sqrt(dotProduct(x, x)) }

func (r *regression) loss(beta []float64) float64 {
	sum := r.penalty.loss(beta)
	for i, row := range r.rows {
		sum += logLoss(dotProduct(beta, row), r.relevant[i])
	}
	return sum
}

// logLoss is -ln P(relevant or not) at log-odds eta.
func logLoss(eta float64, relevant bool) float64 {
	if relevant {
		eta = -eta
	}
	if eta > 30 {
		return eta
	}
	return math.Log1p(math.Exp(eta))
}

func (r *regression) gradient(grad, beta []float64) {
	r.penalty.gradient(grad, beta)
	for i, row := range r.rows {
		residual := logistic(dotProduct(beta, row))
		if r.relevant[i] {
			residual--
		}
		for j, v := range row {
			grad[j] += float64(residual * v)
		}
	}
}

func (r *regression) hessian(hess *mat.SymDense, beta []float64) {
	r.penalty.hessian(hess)
	for _, row := range r.rows {
		p := logistic(dotProduct(beta, row))
		hess.SymRankOne(hess, p*(1-p), mat.NewVecDense(len(row), row))
	}
}
