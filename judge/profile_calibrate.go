package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
)

// HumanLabel is a person's grade of a pooled pair.
type HumanLabel struct {
	CaseID    string
	ChunkID   string
	Grade     int     // 0-3
	Inclusion float64 // probability that the pair was chosen to be labelled; 1 unless sampled
	By        string  // who labelled it, "" where nobody said
}

// CalibrateOptions say how a calibration is made.
type CalibrateOptions struct {
	RelevantGrade int    // a grade from here on is relevant
	Embedder      string // digest of the embedding of dense, "" none
	Judge         string // whose grades the pairs have, "" none
	From          []string
	Seed          int64
	ProfileOnly   bool // leave out the learning curve and the pairs to label next
	Next          int  // how many pairs to name that are worth a label
}

// Calibration is what people's labels say of a judge and of the label model.
type Calibration struct {
	Profile    *Profile           `json:"profile"`
	Kept       bool               `json:"prior_kept"` // there were no labels, or all of one class, so the prior stays
	Prior      Figures            `json:"prior"`      // of the prior, on the labelled pairs
	Judge      *JudgeAgreement    `json:"judge"`      // nil where no model judged the labelled pairs
	FeatureAUC map[string]float64 `json:"feature_auc"`
	Curve      []CurvePoint       `json:"curve"`
	Next       []NextPair         `json:"next"`
}

// CurvePoint is what a number of labels buys: means over draws of labels, on the
// pairs that were not drawn.
type CurvePoint struct {
	Labels int     `json:"labels"` // 0: the prior
	AUC    float64 `json:"auc"`
	Brier  float64 `json:"brier"`
}

// NextPair is a pair that is worth a label.
type NextPair struct {
	CaseID    string  `json:"case_id"`
	ChunkID   string  `json:"chunk_id"`
	P         float64 `json:"p"`
	Why       string  `json:"why"`       // uncertain, or random
	Inclusion float64 `json:"inclusion"` // of a random one, the probability that it was drawn
}

// Calibrate fits a label model on people's labels and says how good it, the
// prior and the model that judged are. cases and observed are those of Observe;
// labels of pairs that were not observed are left out.
func Calibrate(prior *Profile, cases []datasets.Case, observed [][]Observed, labels []HumanLabel, o CalibrateOptions) (*Calibration, error) {
	s := newSheet(cases, observed, labels, o)
	s.features = s.usableFeatures(prior.Model.Features)
	s.vectors()
	out := &Calibration{Kept: oneClass(s.pairs), Prior: FiguresOf(prior.Model.Predict(s.narrow(len(prior.Model.Features))), o.Seed)}
	out.Judge, out.FeatureAUC = s.judgeAgreement(), s.featureAUC()
	if out.Kept {
		out.Profile = prior
		out.Next = s.next(&prior.Model)
		return out, nil
	}
	var err error
	if out.Profile, err = s.profile(prior); err != nil {
		return nil, err
	}
	if o.ProfileOnly {
		return out, nil
	}
	if out.Curve, err = s.curve(&prior.Model); err != nil {
		return nil, err
	}
	out.Next = s.next(&out.Profile.Model)
	return out, nil
}

// sheet is the labelled pairs beside all observed ones.
type sheet struct {
	o        CalibrateOptions
	cases    []datasets.Case
	observed [][]Observed
	features []string
	pairs    []LabelledPair
	grades   []int // of pairs
	places   [][2]int
	labelled map[[2]int]bool // case and item
}

func newSheet(cases []datasets.Case, observed [][]Observed, labels []HumanLabel, o CalibrateOptions) *sheet {
	s := &sheet{o: o, cases: cases, observed: observed, labelled: map[[2]int]bool{}}
	at := map[[2]string][2]int{}
	for i := range observed {
		for j := range observed[i] {
			at[[2]string{cases[i].ID, observed[i][j].Item.ChunkID}] = [2]int{i, j}
		}
	}
	for _, l := range labels {
		place, ok := at[[2]string{l.CaseID, l.ChunkID}]
		if !ok || s.labelled[place] {
			continue
		}
		s.labelled[place] = true
		s.places, s.grades = append(s.places, place), append(s.grades, l.Grade)
		s.pairs = append(s.pairs, LabelledPair{
			Query: l.CaseID, Chunk: l.ChunkID, Relevant: l.Grade >= o.RelevantGrade, Weight: 1 / l.Inclusion,
		})
	}
	return s
}

// usableFeatures are the prior's and those of the others that at least half of
// the labelled pairs have.
func (s *sheet) usableFeatures(base []string) []string {
	features := slices.Clone(base)
	for _, name := range ExtraFeatures() {
		known := 0
		for _, x := range s.column(name) {
			if !math.IsNaN(x) {
				known++
			}
		}
		if 2*known >= len(s.pairs) && !slices.Contains(features, name) && s.allowed(name) {
			features = append(features, name)
		}
	}
	return features
}

func (s *sheet) allowed(feature string) bool {
	switch {
	case strings.HasPrefix(feature, "dense_"):
		return s.o.Embedder != ""
	case feature == FeatureExpected, feature == FeaturePYes:
		return s.o.Judge != ""
	}
	return true
}

// column is one feature of the labelled pairs.
func (s *sheet) column(name string) []float64 {
	x := s.table([]string{name})
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i][0]
	}
	return out
}

// table is the named features of the labelled pairs.
func (s *sheet) table(names []string) [][]float64 {
	byCase := map[int][][]float64{}
	out := make([][]float64, len(s.places))
	for n, place := range s.places {
		if byCase[place[0]] == nil {
			byCase[place[0]] = Vectors(names, seenOf(s.observed[place[0]]))
		}
		out[n] = byCase[place[0]][place[1]]
	}
	return out
}

func (s *sheet) vectors() {
	for n, x := range s.table(s.features) {
		s.pairs[n].X = x
	}
}

// narrow is the labelled pairs with their first k features.
func (s *sheet) narrow(k int) []LabelledPair {
	out := slices.Clone(s.pairs)
	for i := range out {
		out[i].X = out[i].X[:k]
	}
	return out
}

func (s *sheet) fitter(prior *LabelModel) func([]LabelledPair) (*LabelModel, error) {
	return func(pairs []LabelledPair) (*LabelModel, error) {
		if oneClass(pairs) {
			return prior.extended(s.features, s.pairs), nil
		}
		return FitOwn(prior, pairs, OwnOptions{Features: s.features, Seed: s.o.Seed})
	}
}

func (s *sheet) profile(prior *Profile) (*Profile, error) {
	own, err := s.fitter(&prior.Model)(s.pairs)
	if err != nil {
		return nil, err
	}
	predicted, err := CrossValidate(s.pairs, s.o.Seed, s.fitter(&prior.Model))
	if err != nil {
		return nil, err
	}
	training, err := TrainingOf(s.o.From, s.pairs)
	if err != nil {
		return nil, err
	}
	p := &Profile{
		Format: ProfileFormat, Level: LevelFitted, FeatureVersion: FeatureVersion, Model: *own.Rounded(), Penalty: prior.Penalty,
		Training: training, Figures: FiguresOf(predicted, s.o.Seed), Shift: s.shift(prior, predicted), ShiftAfter: prior.ShiftAfter, ShiftFrom: prior.ShiftFrom,
	}
	if NeedsEmbedder(s.features) {
		p.Embedder = s.o.Embedder
	}
	if p.needsJudge() {
		p.Judge = s.o.Judge
	}
	return p, nil
}

// featureAUC is the AUC of each feature alone over the labelled pairs that have
// it; a feature that none has, or only pairs of one class, is left out.
func (s *sheet) featureAUC() map[string]float64 {
	out := map[string]float64{}
	for _, name := range LabelFeatures() {
		var known []Predicted
		for n, x := range s.column(name) {
			if strings.HasSuffix(name, FeatureLogRank) {
				x = -x
			}
			if !math.IsNaN(x) {
				known = append(known, Predicted{Query: s.pairs[n].Query, P: x, Relevant: s.pairs[n].Relevant, Weight: s.pairs[n].Weight})
			}
		}
		if auc := AUC(known); !math.IsNaN(auc) {
			out[name] = datasets.Round(auc)
		}
	}
	return out
}

// curveSizes are the numbers of labels that a learning curve shows, and
// curveDraws how often labels are drawn for each.
func curveSizes() []int { return []int{50, 100, 200} }

const curveDraws = 20

// curve draws labels and looks at the others. Sizes that would leave under a
// quarter of the labels to look at are left out.
func (s *sheet) curve(prior *LabelModel) ([]CurvePoint, error) {
	points := []CurvePoint{}
	for _, n := range curveSizes() {
		if 4*n > 3*len(s.pairs) {
			break
		}
		var auc, brier []float64
		for draw := range curveDraws {
			order := seeded.Rand(s.o.Seed, "curve", fmt.Sprint(n, " ", draw)).Perm(len(s.pairs))
			own, err := s.fitter(prior)(pick(s.pairs, order[:n]))
			if err != nil {
				return nil, err
			}
			rest := own.Predict(pick(s.pairs, order[n:]))
			if v := AUC(rest); !math.IsNaN(v) {
				auc, brier = append(auc, v), append(brier, Brier(rest))
			}
		}
		if len(auc) > 0 {
			a, _ := meanVariance(auc)
			b, _ := meanVariance(brier)
			points = append(points, CurvePoint{Labels: n, AUC: datasets.Round(a), Brier: datasets.Round(b)})
		}
	}
	return points, nil
}

func pick(pairs []LabelledPair, at []int) []LabelledPair {
	out := make([]LabelledPair, len(at))
	for i, n := range at {
		out[i] = pairs[n]
	}
	return out
}
