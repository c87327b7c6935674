package judge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
)

// Predicted is a labelled pair with what a model that did not see it says.
type Predicted struct {
	Query    string
	Chunk    string
	P        float64
	Relevant bool
	Weight   float64 // the inverse of the probability that the pair was labelled
}

// Figures say how good probabilities are. Intervals are 95 % percentile
// bootstraps that draw queries.
type Figures struct {
	Pairs       int               `json:"pairs"`
	Queries     int               `json:"queries"`
	Share       float64           `json:"share"`       // of relevant pairs
	AUC         datasets.Interval `json:"auc"`         // of p
	Brier       datasets.Interval `json:"brier"`       // mean squared error of p
	Sensitivity datasets.Interval `json:"sensitivity"` // share of the relevant with p of 0.5 or more
	Specificity datasets.Interval `json:"specificity"` // share of the others with p under 0.5
	Reliability []Bin             `json:"reliability"`
}

// Bin is a part of the reliability curve: pairs with neighbouring p.
type Bin struct {
	P        float64 `json:"p"`        // mean
	Observed float64 `json:"observed"` // share of relevant pairs
	Pairs    int     `json:"pairs"`
}

const (
	reliabilityBins  = 10
	figureResamples  = 200
	figureFewQueries = 5 // under which intervals say nothing
)

// FiguresOf measures predictions. Where a figure cannot be had, as an AUC of one
// class, it is 0 with an interval from 0 to 1.
func FiguresOf(predicted []Predicted, seed int64) Figures {
	f := Figures{Pairs: len(predicted), Reliability: reliability(predicted)}
	byQuery := groupPredicted(predicted)
	f.Queries = len(byQuery)
	f.Share = datasets.Round(weightedShare(predicted, func(p *Predicted) bool { return p.Relevant }, always))
	measures := []func([]Predicted) float64{AUC, Brier, sensitivity, specificity}
	samples := make([][]float64, len(measures))
	rng := seeded.Rand(seed, "figures", "")
	for range figureResamples {
		var sample []Predicted
		for range byQuery {
			sample = append(sample, byQuery[rng.IntN(len(byQuery))]...)
		}
		for i, measure := range measures {
			if v := measure(sample); !math.IsNaN(v) {
				samples[i] = append(samples[i], v)
			}
		}
	}
	for i, to := range []*datasets.Interval{&f.AUC, &f.Brier, &f.Sensitivity, &f.Specificity} {
		*to = percentiles(measures[i](predicted), samples[i], len(byQuery))
	}
	return f
}

// percentiles is the interval of a bootstrap's central 95 %.
func percentiles(value float64, sample []float64, queries int) datasets.Interval {
	if math.IsNaN(value) {
		return datasets.Interval{High: 1}
	}
	out := datasets.Interval{Value: datasets.Round(value), High: 1}
	if queries < figureFewQueries || len(sample) < figureResamples/2 {
		return out
	}
	slices.Sort(sample)
	out.Low = datasets.Round(stat.Quantile(0.025, stat.Empirical, sample, nil))
	out.High = datasets.Round(stat.Quantile(0.975, stat.Empirical, sample, nil))
	return out
}

// groupPredicted lists the pairs by query, in the order of their first.
func groupPredicted(predicted []Predicted) [][]Predicted {
	at := map[string]int{}
	var groups [][]Predicted
	for _, p := range predicted {
		n, ok := at[p.Query]
		if !ok {
			n = len(groups)
			at[p.Query] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], p)
	}
	return groups
}

// AUC is the chance that a relevant pair has a greater p than another,
// ties counting one half; NaN where all are of one class.
func AUC(predicted []Predicted) float64 {
	sorted := slices.Clone(predicted)
	slices.SortFunc(sorted, func(a, b Predicted) int { return cmp.Compare(a.P, b.P) })
	p, relevant, weight := make([]float64, len(sorted)), make([]bool, len(sorted)), make([]float64, len(sorted))
	positive := 0
	for i, s := range sorted {
		p[i], relevant[i], weight[i] = s.P, s.Relevant, s.Weight
		if s.Relevant {
			positive++
		}
	}
	if positive == 0 || positive == len(sorted) {
		return math.NaN()
	}
	tpr, fpr, _ := stat.ROC(nil, p, relevant, weight)
	return integrate.Trapezoidal(fpr, tpr)
}

// Brier is the mean squared error of the probabilities.
func Brier(predicted []Predicted) float64 {
	sum, weight := 0.0, 0.0
	for _, p := range predicted {
		d := p.P
		if p.Relevant {
			d = 1 - p.P
		}
		sum += float64(p.Weight * d * d)
		weight += p.Weight
	}
	return sum / weight
}

func always(*Predicted) bool { return true }

// weightedShare is the share of those that are counted for which yes holds.
func weightedShare(predicted []Predicted, yes, counted func(*Predicted) bool) float64 {
	hits, all := 0.0, 0.0
	for i := range predicted {
		if p := &predicted[i]; counted(p) {
			all += p.Weight
			if yes(p) {
				hits += p.Weight
			}
		}
	}
	return hits / all
}

func sensitivity(predicted []Predicted) float64 {
	return weightedShare(predicted, func(p *Predicted) bool { return p.P >= 0.5 }, func(p *Predicted) bool { return p.Relevant })
}

func specificity(predicted []Predicted) float64 {
	return weightedShare(predicted, func(p *Predicted) bool { return p.P < 0.5 }, func(p *Predicted) bool { return !p.Relevant })
}

// reliability cuts the pairs, by p, into parts of about the same number.
func reliability(predicted []Predicted) []Bin {
	sorted := slices.Clone(predicted)
	slices.SortStableFunc(sorted, func(a, b Predicted) int { return cmp.Compare(a.P, b.P) })
	bins := []Bin{}
	n := min(reliabilityBins, len(sorted)/5)
	for i := range n {
		part := sorted[i*len(sorted)/n : (i+1)*len(sorted)/n]
		sum, weight := 0.0, 0.0
		for _, p := range part {
			sum += float64(p.Weight * p.P)
			weight += p.Weight
		}
		observed := weightedShare(part, func(p *Predicted) bool { return p.Relevant }, always)
		bins = append(bins, Bin{P: datasets.Round(sum / weight), Observed: datasets.Round(observed), Pairs: len(part)})
	}
	return bins
}

// Predict says what a model gives for pairs.
func (m *LabelModel) Predict(pairs []LabelledPair) []Predicted {
	out := make([]Predicted, len(pairs))
	for i, p := range pairs {
		out[i] = Predicted{Query: p.Query, Chunk: p.Chunk, P: m.Probability(p.X).P, Relevant: p.Relevant, Weight: p.Weight}
	}
	return out
}

// folds is how many parts of the queries cross-validation makes.
const folds = 5

// CrossValidate predicts each pair by a model fitted on the pairs of other
// queries.
func CrossValidate(pairs []LabelledPair, seed int64, fit func([]LabelledPair) (*LabelModel, error)) ([]Predicted, error) {
	var queries []string
	for _, p := range pairs {
		queries = append(queries, p.Query)
	}
	slices.Sort(queries)
	queries = slices.Compact(queries)
	fold := map[string]int{}
	for i, n := range seeded.Rand(seed, "folds", "").Perm(len(queries)) {
		fold[queries[n]] = i % folds
	}
	var out []Predicted
	for k := range min(folds, len(queries)) {
		var train, test []LabelledPair
		for _, p := range pairs {
			if fold[p.Query] == k {
				test = append(test, p)
			} else {
				train = append(train, p)
			}
		}
		m, err := fit(train)
		if err != nil {
			return nil, err
		}
		out = append(out, m.Predict(test)...)
	}
	return out, nil
}

// TrainingOf describes pairs.
func TrainingOf(from []string, pairs []LabelledPair) (Training, error) {
	t := Training{From: from, Pairs: len(pairs)}
	hash, queries := sha256.New(), map[string]bool{}
	for _, p := range pairs {
		queries[p.Query] = true
		if p.Relevant {
			t.Relevant++
		}
		x := make([]*float64, len(p.X))
		for j, v := range p.X {
			if !math.IsNaN(v) {
				rounded := datasets.Round(v)
				x[j] = &rounded
			}
		}
		line, err := json.Marshal([]any{p.Query, p.Chunk, p.Relevant, p.Weight, x})
		if err != nil {
			return t, err
		}
		hash.Write(line)
	}
	t.Queries, t.Digest = len(queries), datasets.DigestPrefix+hex.EncodeToString(hash.Sum(nil))
	return t, nil
}
