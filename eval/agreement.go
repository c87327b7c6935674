package eval

import (
	"errors"
	"fmt"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
)

// AgreementInput is two sets of labels and the retrievers that both rank. The
// reference is the set that is believed, people's for instance; the tested one
// is held against it.
type AgreementInput struct {
	Reference, Tested AgreementSide
	Measures          []Measure // the first is the one looked at; the others stand in ByMeasure
	Seed              int64     // of resampling
}

// AgreementSide is one set, scored with every retriever.
type AgreementSide struct {
	// Retrievers holds an Input for each retriever, all with the same cases in
	// the same order. Both sides have the same retrievers in the same order.
	Retrievers []Input

	// Shift is as in CompareInput.
	Shift func(m Measure, level float64) float64
}

// Agreement says whether a set orders retrievers as a reference does: the answer
// of `goldgen agreement --json`.
type Agreement struct {
	Reference  AgreementSet         `json:"reference"`
	Tested     AgreementSet         `json:"tested"`
	Measure    string               `json:"measure"`
	Source     string               `json:"source,omitempty"`
	Says       string               `json:"says"` // the first figures, in a sentence
	Compared   int                  `json:"compared"`
	Retrievers []AgreementRetriever `json:"retrievers"`
	AgreementFigures
	Ceiling   AgreementFigures   `json:"ceiling"` // random halves of the reference, one held against the other
	Placebo   AgreementFigures   `json:"placebo"` // the tested set's pools with labels by the toss of a coin
	ByMeasure []AgreementMeasure `json:"by_measure,omitempty"`
	Pairs     []AgreementPair    `json:"pairs,omitempty"`
	Method    string             `json:"method"`
	Notes     []string           `json:"notes"`
	Hints     []string           `json:"hints"`
}

// AgreementSet is what is known of one of the two sets.
type AgreementSet struct {
	Golden       *GoldenRef `json:"golden"`
	Trust        string     `json:"trust"`
	TrustDetail  string     `json:"trust_detail"`
	Cases        int        `json:"cases"`
	Clusters     int        `json:"clusters"`
	Labels       string     `json:"labels"`        // certain or uncertain
	OnlyRelevant bool       `json:"only_relevant"` // all labels say relevant: what has none is taken as not relevant
	SignRule     bool       `json:"sign_rule"`     // a pair counts as separated only where source-only labels agree in sign
	Separated    int        `json:"separated"`     // pairs of retrievers
}

// AgreementFigures are the figures of one set held against another. A nil value
// is a figure that cannot be given; Why says why.
type AgreementFigures struct {
	Right    AgreementShare    `json:"right"`    // of the pairs that the tested set separates: those that the reference orders the same
	Reversed AgreementShare    `json:"reversed"` // of the pairs that the reference separates: those that the tested set separates the other way round
	Power    AgreementShare    `json:"power"`    // of the pairs that the reference separates: those that the tested set separates, either way
	Tau      AgreementEstimate `json:"tau"`      // Kendall's tau-b of the means
	TauBest  AgreementEstimate `json:"tau_best"` // of the reference's best fifteen retrievers
	Overlap  AgreementEstimate `json:"overlap"`  // share of the reference's best five that are among the tested set's best five
	Loss     AgreementEstimate `json:"loss"`     // the reference's mean of its best retriever, less that of the tested set's first
}

// AgreementShare is a share of pairs with a 95 % interval.
type AgreementShare struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Pairs int      `json:"pairs"` // of which it is a share; of ceiling and placebo, a mean over draws
	Why   string   `json:"why,omitempty"`
}

// AgreementEstimate is a figure with a 95 % interval.
type AgreementEstimate struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
	Why   string   `json:"why,omitempty"`
}

// AgreementMeasure is the figures by one measure.
type AgreementMeasure struct {
	Measure string `json:"measure"`
	AgreementFigures
	Ceiling AgreementFigures `json:"ceiling"`
	Placebo AgreementFigures `json:"placebo"`
}

// AgreementRetriever is one retriever's mean under both sets.
type AgreementRetriever struct {
	Name       string        `json:"name"`
	OwnFeature bool          `json:"own_feature,omitempty"` // its score is a feature of the label model of a set
	Reference  AgreementMean `json:"reference"`
	Tested     AgreementMean `json:"tested"`
}

// AgreementMean is a retriever's mean under one set.
type AgreementMean struct {
	Mean   *float64 `json:"mean"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Rank   float64  `json:"rank"`   // 1 is the best; equal ones share the mean of their ranks
	Judged *float64 `json:"judged"` // share of the results at the measure's cut that have a label
	Failed int      `json:"failed,omitempty"`
}

// Outcomes of a pair.
const (
	PairRight     = "right"     // the tested set separates it, and the reference orders it the same
	PairOther     = "other"     // the tested set separates it, the reference orders it the other way, not significantly
	PairReversed  = "reversed"  // both separate it, the two ways round
	PairMissed    = "missed"    // the reference separates it and the tested set does not
	PairUndecided = "undecided" // neither separates it
)

// AgreementPair is two retrievers under both sets. Differences are those of B
// less A, as indexes into Retrievers.
type AgreementPair struct {
	A         int            `json:"a"`
	B         int            `json:"b"`
	Reference PairDifference `json:"reference"`
	Tested    PairDifference `json:"tested"`
	Outcome   string         `json:"outcome"`
}

// PairDifference is how two retrievers differ under one set.
type PairDifference struct {
	Difference float64  `json:"difference"`
	P          *float64 `json:"p"`
	Separated  bool     `json:"separated"`
}

// Agree scores the retrievers under both sets, compares every two of them with
// the tests of Compare, and says how far the tested set agrees with the
// reference. Pairs are separated at a two-sided p below 0.05, without a
// correction for their number; where trust is below fitted, only if source-only
// labels agree in sign.
//
// An error is a *MeasureError of a measure that has no test, one of Evaluate's,
// or says what of the input does not fit.
func Agree(in AgreementInput) (*Agreement, error) {
	return NewAgreementReference(in.Reference, in.Measures, in.Seed).Agree(in.Tested)
}

// AgreementReference is a reference that several sets are held against: what is
// known of it alone is computed once, by the first. It is not for concurrent use.
type AgreementReference struct {
	in    AgreementInput // without a tested set
	flips *flipper
	runs  []agreementRun // likewise, by measure; those that were asked for
}

// NewAgreementReference is Agree's reference, with its measures and seed.
func NewAgreementReference(side AgreementSide, measures []Measure, seed int64) *AgreementReference {
	return &AgreementReference{
		in: AgreementInput{Reference: side, Measures: measures, Seed: seed}, flips: newFlipper(seed, flipDraws),
	}
}

// Agree is eval.Agree of a tested set and the reference.
func (r *AgreementReference) Agree(tested AgreementSide) (*Agreement, error) {
	in := r.in
	in.Tested = tested
	if err := in.check(); err != nil {
		return nil, err
	}
	var out *Agreement
	for i, m := range in.Measures {
		run, err := r.run(&in.Tested, i)
		if err != nil {
			return nil, err
		}
		found := AgreementMeasure{Measure: m.Name, AgreementFigures: run.figures(), Ceiling: run.ceiling, Placebo: run.placebo()}
		if i == 0 {
			out = run.answer(found)
		}
		if len(in.Measures) > 1 {
			out.ByMeasure = append(out.ByMeasure, found)
		}
	}
	return out, nil
}

func (in *AgreementInput) check() error {
	a, b := in.Reference.Retrievers, in.Tested.Retrievers
	switch {
	case len(in.Measures) == 0:
		return errors.New("no measure was asked for")
	case len(a) < 2:
		return fmt.Errorf("%s: a pair needs two", wording.Count(len(a), "retriever"))
	case len(a) != len(b):
		return fmt.Errorf("%s under the reference and %d under the tested set", wording.Count(len(a), "retriever"), len(b))
	}
	for i := range a {
		if x, y := a[i].Retriever.Name, b[i].Retriever.Name; x != y {
			return fmt.Errorf("retriever %d is %s under the reference and %s under the tested set", i+1, x, y)
		}
	}
	for i := range in.Measures {
		if m := &in.Measures[i]; m.aggregate() != mean || m.aboutLabels() {
			return m.fail(0, "it has no test by which a set could separate two retrievers")
		}
	}
	if err := in.Reference.check(); err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	if err := in.Tested.check(); err != nil {
		return fmt.Errorf("tested set: %w", err)
	}
	return nil
}

// check refuses retrievers that were not asked the same cases.
func (s *AgreementSide) check() error {
	first := s.Retrievers[0].Cases
	for _, in := range s.Retrievers[1:] {
		if len(in.Cases) != len(first) {
			return fmt.Errorf("%s: %s where %s has %d", in.Retriever.Name, wording.Count(len(in.Cases), "case"), s.Retrievers[0].Retriever.Name, len(first))
		}
		for i := range in.Cases {
			if in.Cases[i].ID != first[i].ID || caseDiffers(&first[i], &in.Cases[i]) != "" {
				return fmt.Errorf("%s: case %s is not that of %s", in.Retriever.Name, in.Cases[i].ID, s.Retrievers[0].Retriever.Name)
			}
		}
	}
	return nil
}

// name is a set's reference, or what it is here.
func (s *AgreementSet) name(role string) string {
	if s.Golden != nil {
		return s.Golden.Ref
	}
	return role
}

// orders is the reference with its verb: people only where they made its labels.
func (s *AgreementSet) orders() string {
	if s.Trust == datasets.TrustReviewed {
		return "people would order"
	}
	return s.name("the reference") + " orders"
}
