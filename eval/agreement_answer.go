package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
)

// figuresOf puts the rates into the answer, each with the interval that was
// found for it.
func figuresOf(r rates, interval func(figure int) (low, high float64)) AgreementFigures {
	values := r.list()
	share := func(figure int, of float64, why string) AgreementShare {
		e := estimate(values[figure], 0, 1, interval, figure)
		out := AgreementShare{Value: e.Value, Low: e.Low, High: e.High, Pairs: int(math.Round(of))}
		if out.Value == nil {
			out.Why = why
		}
		return out
	}
	rank := func(figure int, least, most float64, why string) AgreementEstimate {
		out := estimate(values[figure], least, most, interval, figure)
		if out.Value == nil {
			out.Why = why
		}
		return out
	}
	const noneKnown, noneFound, tied = "the reference separates no pair", "the tested set separates no pair", "all of these retrievers have the same mean"
	return AgreementFigures{
		Right: share(0, r.separated, noneFound), Reversed: share(1, r.reference, noneKnown), Power: share(2, r.reference, noneKnown),
		Tau: rank(3, -1, 1, tied), TauBest: rank(4, -1, 1, tied),
		Overlap: rank(5, 0, 1, fmt.Sprintf("it takes more than %d retrievers", firstFew)), Loss: rank(6, 0, math.Inf(1), "no mean"),
	}
}

// estimate is a figure whose interval is cut to what it can be.
func estimate(value, least, most float64, interval func(figure int) (low, high float64), figure int) AgreementEstimate {
	if math.IsNaN(value) {
		return AgreementEstimate{}
	}
	out := AgreementEstimate{Value: &value}
	if low, high := interval(figure); !math.IsNaN(low) {
		out.Low, out.High = ptr(min(most, max(least, low))), ptr(min(most, max(least, high)))
	}
	return out
}

// spreadOf sums draws up: shares over the pairs of all draws, other figures as
// means, and for each where the middle 95 % of the draws lie.
func spreadOf(draws []rates) AgreementFigures {
	var sum rates
	for _, d := range draws {
		sum.separated += d.separated / float64(len(draws))
		sum.reference += d.reference / float64(len(draws))
	}
	sum.right = weighted(draws, 0, func(r *rates) float64 { return r.separated })
	byReference := func(r *rates) float64 { return r.reference }
	sum.reversed, sum.power = weighted(draws, 1, byReference), weighted(draws, 2, byReference)
	equal := func(*rates) float64 { return 1 }
	sum.tau, sum.tauBest = weighted(draws, 3, equal), weighted(draws, 4, equal)
	sum.overlap, sum.loss = weighted(draws, 5, equal), weighted(draws, 6, equal)
	return figuresOf(sum, func(figure int) (low, high float64) { return middle(column(draws, figure)) })
}

// weighted is the mean of a figure over the draws that have it.
func weighted(draws []rates, figure int, weight func(*rates) float64) float64 {
	sum, all := 0.0, 0.0
	for i := range draws {
		if v := draws[i].list()[figure]; !math.IsNaN(v) {
			sum += float64(v * weight(&draws[i]))
			all += weight(&draws[i])
		}
	}
	return sum / all
}

// answer is everything but the other measures, with what was found by this one.
func (a *agreementRun) answer(found AgreementMeasure) *Agreement {
	out := &Agreement{
		Reference: a.reference.describe(), Tested: a.tested.describe(),
		Measure: found.Measure, Source: a.tested.inputs[0].Source,
		Compared: len(a.reference.pairs), AgreementFigures: found.AgreementFigures, Ceiling: found.Ceiling, Placebo: found.Placebo,
		Method: agreementMethod(a.seed), Notes: []string{},
	}
	drawn := a.reference.drawn || a.tested.drawn
	for i := range a.reference.inputs {
		ref := a.reference.inputs[i].Retriever
		out.Retrievers = append(out.Retrievers, AgreementRetriever{
			Name: cmp.Or(ref.Name, ref.Spec), OwnFeature: drawn && ref.ownFeature(),
			Reference: a.reference.means[i], Tested: a.tested.means[i],
		})
	}
	eachPair(len(out.Retrievers), func(pair, x, y int) {
		p := AgreementPair{A: x, B: y, Reference: a.reference.pairs[pair], Tested: a.tested.pairs[pair]}
		p.Outcome = outcomeOf(a.reference.exact.signs[pair], a.tested.exact.signs[pair], direction(p.Reference.Difference))
		out.Pairs = append(out.Pairs, p)
	})
	out.Says = out.sentence()
	out.Notes = append(out.Notes, out.remarks()...)
	out.Hints = out.advice()
	return out
}

func (r *ranked) describe() AgreementSet {
	in := &r.inputs[0]
	set := AgreementSet{
		Golden: in.Golden, Trust: in.Trust, TrustDetail: in.TrustDetail, Cases: len(in.Cases), Clusters: len(r.units.cases),
		Labels: "certain", OnlyRelevant: onlyRelevant(in), SignRule: r.source != nil, Separated: r.exact.separated(),
	}
	if r.drawn {
		set.Labels = "uncertain"
	}
	return set
}

// outcomeOf names what became of a pair: who the reference and the tested set
// say is significantly better, and which mean is higher in the reference.
func outcomeOf(reference, tested, higher int8) string {
	switch {
	case tested == 0 && reference == 0:
		return PairUndecided
	case tested == 0:
		return PairMissed
	case tested == higher:
		return PairRight
	case reference == -tested:
		return PairReversed
	}
	return PairOther
}

func agreementMethod(seed int64) string {
	return fmt.Sprintf("pairs separated by the tests of compare at p < %.2f two-sided, not corrected for their number; 95 %% intervals by bootstrap over clusters of both sets (%d, seed %d), moved onto the value; ceiling: %d random halvings of the reference; placebo: %d tosses of a coin for each label; both with a cluster t, and the middle 95 %% of draws beside them",
		significance, agreementDraws, seed, halvings, tosses)
}

// sentence says the first figures to whom they are for.
func (a *Agreement) sentence() string {
	orders := a.Reference.orders()
	set := a.Tested.name("the tested set")
	switch {
	case a.Tested.Separated == 0:
		return fmt.Sprintf("%s separates none of %s of retrievers by %s, so it says nothing yet: it takes more cases, more labels or less similar retrievers", set, wording.Count(a.Compared, "pair"), a.Measure)
	case a.Right.Low == nil:
		return fmt.Sprintf("of the %s of retrievers that %s separates by %s, %s %s the same", wording.Count(a.Right.Pairs, "pair"), set, a.Measure, orders, percent(a.Right.Value))
	}
	return fmt.Sprintf("of the %s of retrievers that %s separates by %s, %s %s the same (95 %% interval %s to %s)",
		wording.Count(a.Right.Pairs, "pair"), set, a.Measure, orders, percent(a.Right.Value), percent(a.Right.Low), percent(a.Right.High))
}

func percent(v *float64) string { return fmt.Sprintf("%.1f %%", 100**v) }

// remarks are what a reader must know of the figures.
func (a *Agreement) remarks() (notes []string) {
	for _, side := range []struct {
		set  *AgreementSet
		role string
		of   func(*AgreementRetriever) *AgreementMean
	}{
		{&a.Reference, "reference", func(r *AgreementRetriever) *AgreementMean { return &r.Reference }},
		{&a.Tested, "tested set", func(r *AgreementRetriever) *AgreementMean { return &r.Tested }},
	} {
		if n := side.set.Clusters; n < minClusters {
			notes = append(notes, side.role+": "+tooFew(n, "a test"))
		}
		if n := side.set.Clusters; side.set == &a.Reference && n >= minClusters && n < 2*minClusters {
			notes = append(notes, fmt.Sprintf("reference: halves of %d clusters are too small for a test, so right, reversed and power have no ceiling", n))
		}
		notes = append(notes, a.labelRemarks(side.role, side.set, side.of)...)
	}
	if x, y := a.Reference.Golden, a.Tested.Golden; x != nil && y != nil && x.Digest != "" && x.Digest == y.Digest {
		notes = append(notes, "both are the same set: the figures show how the two ends of the scale look, and nothing of the set")
	}
	if same := a.sameMeans(); same != "" {
		notes = append(notes, same)
	}
	return notes
}

// labelRemarks say where a set did not judge what was returned, and where
// queries failed.
func (a *Agreement) labelRemarks(role string, set *AgreementSet, of func(*AgreementRetriever) *AgreementMean) (notes []string) {
	unjudged, failed := 0, 0
	least := 1.0
	for i := range a.Retrievers {
		m := of(&a.Retrievers[i])
		if m.Judged != nil && *m.Judged < leastJudged {
			unjudged++
			least = min(least, *m.Judged)
		}
		failed += m.Failed
	}
	switch {
	case unjudged == 0:
	case set.OnlyRelevant:
		notes = append(notes, role+": it lists relevant chunks only, so all others are taken as not relevant")
	default:
		notes = append(notes, fmt.Sprintf("%s: of %d of %s less than %.0f %% of the results are judged, down to %.0f %%; the rest counts as not relevant, which favours what was in its pools",
			role, unjudged, wording.Count(len(a.Retrievers), "retriever"), 100*leastJudged, 100*least))
	}
	if failed > 0 {
		notes = append(notes, fmt.Sprintf("%s: queries that failed and score 0: %d", role, failed))
	}
	if set.SignRule {
		notes = append(notes, fmt.Sprintf("%s: trust is below fitted, so a pair counts as separated only where source-only labels have the same sign", role))
	}
	return notes
}

// sameMeans names retrievers that no set can tell apart.
func (a *Agreement) sameMeans() string {
	var same []string
	for _, p := range a.Pairs {
		if direction(p.Reference.Difference) == 0 && direction(p.Tested.Difference) == 0 {
			same = append(same, a.Retrievers[p.A].Name+" and "+a.Retrievers[p.B].Name)
		}
	}
	if len(same) == 0 {
		return ""
	}
	shown := same[:min(len(same), someShown)]
	more := ""
	if len(same) > someShown {
		more = ", ..."
	}
	return fmt.Sprintf("%s of retrievers with equal means under both sets: %s%s", wording.Count(len(same), "pair"), strings.Join(shown, ", "), more)
}

// advice is what to do next: where the two sets seem swapped, and where results
// that nobody judged decide.
func (a *Agreement) advice() []string {
	hints := []string{}
	trust := func(set *AgreementSet) int { return slices.Index(trustLevels, set.Trust) }
	if trust(&a.Reference) < trust(&a.Tested) {
		hints = append(hints, fmt.Sprintf("the reference (%s, trust %s) is trusted less than the tested set (%s, trust %s): the reference is named first; were the two swapped?",
			a.Reference.name("reference"), a.Reference.Trust, a.Tested.name("tested set"), a.Tested.Trust))
	}
	unjudged := slices.ContainsFunc(a.Retrievers, func(r AgreementRetriever) bool { return r.Tested.Judged != nil && *r.Tested.Judged < leastJudged })
	if unjudged && !a.Tested.OnlyRelevant && a.Tested.Golden != nil && trust(&a.Tested) > trust(&AgreementSet{Trust: datasets.TrustSourceOnly}) {
		hints = append(hints, fmt.Sprintf("goldgen judge --extend %s --from RESULT... labels what retrievers return beyond the pools; RESULT is a folder of goldgen eval", a.Tested.Golden.Ref))
	}
	return hints
}
