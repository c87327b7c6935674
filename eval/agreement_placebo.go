package eval

import "slices"

// placebo labels the tested set's pools by the toss of a coin. What such labels
// separate is chance, and the pools themselves: results that are in none count
// as not relevant.
func (a *agreementRun) placebo() AgreementFigures {
	coins, err := a.tested.coins()
	if err != nil {
		return AgreementFigures{} // the same cases were scored before, with other grades
	}
	return spreadOf(eachDraw(tosses, func(draw int) rates {
		placebo := coins.toss(a.random("placebo", draw).Uint64)
		known := a.reference.stand(a.reference.units.once(), 1)
		a.reference.keepSourceSigns(&known, a.reference.units.once())
		return ratesOf(&known, &placebo)
	}))
}

// coins is a set ready to be scored under labels that are tossed.
type coins struct {
	*ranked
	scores []*scores // by retriever
	plans  []*plan
}

func (r *ranked) coins() (*coins, error) {
	out := &coins{ranked: r}
	cases := withCertain(r.inputs[0].Cases)
	for _, in := range r.inputs {
		own := slices.Clone(in.Cases)
		for i := range own {
			own[i].Labels = cases[i].Labels
		}
		in.Cases = own
		s, err := newScores(in)
		if err != nil {
			return nil, err
		}
		out.scores, out.plans = append(out.scores, s), append(out.plans, newPlan(&s.in, s.measures, s.prepared, false))
	}
	return out, nil
}

// withCertain takes labels that are uncertain as known.
func withCertain(cases []Case) []Case {
	out := slices.Clone(cases)
	for i := range out {
		out[i].Labels = slices.Clone(out[i].Labels)
		for j := range out[i].Labels {
			if l := &out[i].Labels[j]; l.Uncertain != nil {
				l.Grade, l.Uncertain = 0, nil
			}
		}
	}
	return out
}

// toss makes every pooled item relevant or not, whatever is known of it, the
// same for all retrievers, and says what the set would then say.
func (c *coins) toss(random func() uint64) standing {
	known := c.scores[0].prepared.grades
	grades := slices.Clone(known)
	for j, g := range known {
		if g != Unlabelled { // else it is taken out
			grades[j] = int16(int(random()>>63) * c.scores[0].in.MinGrade)
		}
	}
	all := make([]*scores, len(c.scores))
	for i, s := range c.scores {
		tossed := *s
		tossed.values = newMatrix(len(s.in.Cases), len(s.measures))
		c.plans[i].score(s.prepared, grades, tossed.values)
		all[i] = &tossed
	}
	placebo := ranked{units: unitsUnder(all), pairs: c.pairs, widened: make([]float64, len(c.pairs))}
	return placebo.stand(placebo.units.once(), 1)
}
