package judge

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
)

// AnswerQuestion names one question that was asked about an answer.
type AnswerQuestion struct {
	CaseID string       `json:"case_id"`
	Kind   QuestionKind `json:"question"`
	Claim  int          `json:"claim,omitempty"` // of Supported, from 1; else 0
}

// AnswerVerdictLabel is a person's yes or no to a question.
type AnswerVerdictLabel struct {
	AnswerQuestion
	Yes       bool
	Inclusion float64 // probability that the question was chosen to be labelled; 1 unless sampled
}

// AskedFinding is what a judge found, with its question.
type AskedFinding struct {
	AnswerQuestion
	Finding Finding
}

// value is P(yes), else the value, else NaN.
func (f *Finding) value() float64 {
	switch {
	case f.Value == nil:
		return math.NaN()
	case f.P != nil:
		return *f.P
	}
	return *f.Value
}

// AnswerCalibration is what people's verdicts say of a judge of answers.
type AnswerCalibration struct {
	Kinds []KindCalibration `json:"questions"`
	Next  []NextQuestion    `json:"next"`
}

// KindCalibration is how the judge agrees with people on one kind of question.
// Confusion counts questions; in the figures a question counts by the inverse of
// the probability that it was labelled.
type KindCalibration struct {
	Kind      QuestionKind      `json:"question"`
	Labels    int               `json:"labels"`    // questions that a person and the judge decided
	Unknown   int               `json:"unknown"`   // labelled ones that the judge did not decide; not counted below
	OneClass  bool              `json:"one_class"` // people said the same to all: sensitivity or specificity, AUC and kappa say nothing
	Confusion [2][2]int         `json:"confusion"` // [person's][judge's], no before yes
	Kappa     float64           `json:"kappa"`     // Cohen's
	Figures   Figures           `json:"figures"`   // of P(yes), of the value without log-probabilities
	Asked     int               `json:"asked"`     // questions of this kind that the judge decided, labelled or not
	Yes       float64           `json:"yes"`       // share of them that it said yes to
	Corrected datasets.Interval `json:"corrected"` // the share that people would say yes to
}

// NextQuestion is a question that is worth a person's verdict.
type NextQuestion struct {
	AnswerQuestion
	Why       string  `json:"why"` // uncertain, or random
	Inclusion float64 `json:"inclusion"`
}

// CalibrateAnswers holds a judge's findings against people's verdicts, of which
// there is one a question. Labels of questions that were not asked are left out.
//
// Corrected is the judge's share of yes over all questions, plus the weighted mean
// of what people say more or less than it on the labelled ones (the difference
// estimator; Angelopoulos et al., Science 382, 2023, "prediction-powered"), with a
// 95 % percentile bootstrap that draws cases.
func CalibrateAnswers(findings []AskedFinding, labels []AnswerVerdictLabel, next int, seed int64) AnswerCalibration {
	said := map[AnswerQuestion]*AnswerVerdictLabel{}
	for i := range labels {
		said[labels[i].AnswerQuestion] = &labels[i]
	}
	out := AnswerCalibration{Kinds: []KindCalibration{}, Next: nextQuestions(findings, said, next, seed)}
	for _, kind := range []QuestionKind{Supported, Relevant, Correct, Declined} {
		k := kindSheet{kind: kind, seed: seed}
		for _, f := range findings {
			if f.Kind == kind {
				k.add(f, said[f.AnswerQuestion])
			}
		}
		if k.labels > 0 {
			out.Kinds = append(out.Kinds, k.calibration())
		}
	}
	return out
}

// kindSheet gathers the questions of one kind.
type kindSheet struct {
	kind     QuestionKind
	seed     int64
	labels   int
	unknown  int
	labelled []Predicted
	answers  map[string]*tally // by case
	order    []string          // cases
	counts   [2][2]int
	weights  [4][4]float64
}

// tally is what one case adds to the corrected share.
type tally struct {
	asked, yes     float64 // the judge's
	weight, excess float64 // of the labelled: sum of weights, and of weight times (person - judge)
}

func (k *kindSheet) add(f AskedFinding, label *AnswerVerdictLabel) {
	if label != nil {
		k.labels++
	}
	if f.Finding.Value == nil {
		k.unknown += oneIf(label != nil)
		return
	}
	if k.answers == nil {
		k.answers = map[string]*tally{}
	}
	t := k.answers[f.CaseID]
	if t == nil {
		t = &tally{}
		k.answers[f.CaseID] = t
		k.order = append(k.order, f.CaseID)
	}
	judged := oneIf(f.Finding.yes())
	t.asked, t.yes = t.asked+1, t.yes+float64(judged)
	if label == nil {
		return
	}
	person, weight := oneIf(label.Yes), 1/label.Inclusion
	k.counts[person][judged]++
	k.weights[person][judged] += weight
	t.weight, t.excess = t.weight+weight, t.excess+float64(weight*float64(person-judged))
	k.labelled = append(k.labelled, Predicted{Query: f.CaseID, P: f.Finding.value(), Relevant: label.Yes, Weight: weight})
}

func (k *kindSheet) calibration() KindCalibration {
	out := KindCalibration{
		Kind: k.kind, Labels: len(k.labelled), Unknown: k.unknown, Confusion: k.counts,
		OneClass: k.counts[0][0]+k.counts[0][1] == 0 || k.counts[1][0]+k.counts[1][1] == 0,
		Figures:  Figures{Reliability: []Bin{}},
	}
	var all []*tally
	for _, id := range k.order {
		all = append(all, k.answers[id])
	}
	total := sum(all)
	out.Asked = int(total.asked)
	if len(k.labelled) == 0 {
		return out
	}
	out.Kappa = datasets.Round(Kappa(k.weights, func(i, j int) float64 { return disagree(i != j) }))
	out.Figures, out.Yes = FiguresOf(k.labelled, k.seed), datasets.Round(total.yes/total.asked)
	out.Corrected = k.corrected(all)
	return out
}

// corrected estimates the share that people would say yes to.
func (k *kindSheet) corrected(all []*tally) datasets.Interval {
	rng := seeded.Rand(k.seed, "answers", string(k.kind))
	var sample []float64
	for range figureResamples {
		drawn := make([]*tally, len(all))
		for i := range drawn {
			drawn[i] = all[rng.IntN(len(all))]
		}
		if v := sum(drawn).share(); !math.IsNaN(v) {
			sample = append(sample, v)
		}
	}
	return percentiles(sum(all).share(), sample, len(all))
}

func sum(all []*tally) tally {
	var out tally
	for _, t := range all {
		out.asked, out.yes = out.asked+t.asked, out.yes+t.yes
		out.weight, out.excess = out.weight+t.weight, out.excess+t.excess
	}
	return out
}

// share is the judge's share of yes, corrected, within 0 and 1; NaN where nothing
// is labelled.
func (t tally) share() float64 {
	v := t.yes/t.asked + t.excess/t.weight
	if math.IsNaN(v) {
		return v
	}
	return min(1, max(0, v))
}

// nextQuestions names the open questions that are worth a verdict: a third drawn
// uniformly, the rest those whose P(yes) is nearest one half, two of a case at
// most. A judge without log-probabilities is never uncertain: then all are drawn.
func nextQuestions(findings []AskedFinding, said map[AnswerQuestion]*AnswerVerdictLabel, n int, seed int64) []NextQuestion {
	var open []AskedFinding
	unsure := false
	for _, f := range findings {
		if said[f.AnswerQuestion] == nil && f.Finding.Value != nil {
			open = append(open, f)
			unsure = unsure || f.Finding.P != nil
		}
	}
	random := min(n, len(open))
	if unsure {
		random = min((n+2)/3, len(open))
	}
	out, taken := []NextQuestion{}, map[AnswerQuestion]bool{}
	for _, i := range seeded.Rand(seed, "next answers", "").Perm(len(open))[:random] {
		q := open[i].AnswerQuestion
		taken[q] = true
		out = append(out, NextQuestion{AnswerQuestion: q, Why: NextRandom, Inclusion: max(1e-4, datasets.Round(float64(random)/float64(len(open))))})
	}
	slices.SortStableFunc(open, func(a, b AskedFinding) int {
		return cmp.Or(cmp.Compare(math.Abs(a.Finding.value()-0.5), math.Abs(b.Finding.value()-0.5)), strings.Compare(a.CaseID, b.CaseID))
	})
	perCase := map[string]int{}
	for _, f := range open {
		if len(out) >= n || taken[f.AnswerQuestion] || perCase[f.CaseID] >= nextPerCase {
			continue
		}
		perCase[f.CaseID]++
		out = append(out, NextQuestion{AnswerQuestion: f.AnswerQuestion, Why: NextUncertain, Inclusion: 1})
	}
	return out
}
