package judge

import (
	"cmp"
	"math"

	"github.com/goldgen/goldgen/datasets"
)

// Drawn is a random chunk from outside of a case's pool.
type Drawn struct {
	CaseID     string
	Unlabelled bool // nobody has said whether it is relevant
	Relevant   bool
	Inclusion  float64 // probability that it was drawn, in (0, 1]
	Shown      float64 // probability that it was labelled once drawn; 0 is read as 1
}

// Missed estimates how many chunks outside its pool are relevant to a query, from
// the chunks drawn there: each stands for 1 / inclusion of them (Horvitz-Thompson),
// averaged over the cases that drawn names. The share of relevant ones is that of
// the labelled, each weighed by the inverse of both its probabilities. The bounds
// are Wilson's 95 % interval for a proportion (JASA 22, 1927, 209-212) with Kish's
// effective sample size, times the mean number of chunks outside. Where everything
// outside was drawn and labelled the value is exact. It is nil without a label. The
// errors of who labelled are in it: with 0.5 % false positives and 10,000 chunks
// outside, it is 50 where nothing was missed.
func Missed(drawn []Drawn) *datasets.Interval {
	cases := map[string]bool{}
	var outside, weight, squares, hits float64
	sampled := false
	for _, d := range drawn {
		cases[d.CaseID] = true
		outside += 1 / d.Inclusion
		sampled = sampled || d.Inclusion < 1 || d.Unlabelled
		if d.Unlabelled {
			continue
		}
		w := 1 / (d.Inclusion * cmp.Or(d.Shown, 1))
		weight += w
		squares += float64(w * w)
		if d.Relevant {
			hits += w
		}
	}
	if weight == 0 {
		return nil
	}
	share, each := hits/weight, outside/float64(len(cases))
	out := datasets.Interval{Value: share * each, Low: share * each, High: share * each}
	if sampled {
		low, high := Wilson(share, weight*weight/squares)
		out.Low, out.High = low*each, high*each
	}
	return &out
}

// MissedIn estimates it from a set's random chunks, to 4 decimals: by the grades of
// the judge where it passed its canaries, else by people's alone. A person's grade
// counts before the judge's. A chunk is relevant from the grade relevant on.
func MissedIn(cases []datasets.Case, relevant int, passed bool) *datasets.Interval {
	var drawn []Drawn
	for i := range cases {
		people := judgmentsOfPeople(&cases[i])
		for _, j := range cases[i].Judgments {
			if j.By == datasets.ByLLM && j.Features["random"] == 1 && j.Inclusion > 0 { // an older set may hold a rounded 0
				d := drawnOf(j, people, relevant, passed)
				d.CaseID = cases[i].ID
				drawn = append(drawn, d)
			}
		}
	}
	m := Missed(drawn)
	if m != nil {
		m.Value, m.Low, m.High = datasets.Round(m.Value), datasets.Round(m.Low), datasets.Round(m.High)
	}
	return m
}

// drawnOf reads a random chunk. Where the judge labels every one, a person's grade
// takes the place of one that was there anyway, and is no sample of a sample.
func drawnOf(j datasets.Judgment, people map[string]datasets.Judgment, relevant int, passed bool) Drawn {
	d := Drawn{Inclusion: j.Inclusion}
	person, labelled := people[j.ChunkID]
	switch {
	case labelled:
		d.Relevant = *person.Grade >= relevant
		if !passed {
			d.Shown = person.Inclusion
		}
	case passed && j.Grade != nil:
		d.Relevant = *j.Grade >= relevant
	default:
		d.Unlabelled = true
	}
	return d
}

// judgmentsOfPeople are those with a grade, by chunk.
func judgmentsOfPeople(c *datasets.Case) map[string]datasets.Judgment {
	out := map[string]datasets.Judgment{}
	for _, j := range c.Judgments {
		if j.By == datasets.ByHuman && j.Grade != nil {
			out[j.ChunkID] = j
		}
	}
	return out
}

// Wilson is the 95 % score interval of a proportion p of n, which may be an
// effective sample size (Wilson, JASA 22, 1927, 209-212).
func Wilson(p, n float64) (low, high float64) {
	z2 := float64(normalQuant95 * normalQuant95)
	centre := p + z2/(2*n)
	half := normalQuant95 * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	scale := 1 + z2/n
	return max(0, (centre-half)/scale), min(1, (centre+half)/scale)
}
