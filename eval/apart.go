package eval

import "math"

// apartDepth is how much of two rankings is looked at where a measure has no
// cut.
const apartDepth = 10

// Apart is how far two rankings of the same cases lie apart in their first k
// results (ten where k is 0): the sum over results of the difference of their
// discounts, 1/log2(1+rank) and 0 for a result that is not there, over the sum of
// all discounts, as a mean over the cases. It is 0 where the rankings are the
// same and 1 where they have nothing in common. Case i of a and of b are the
// same case.
func Apart(a, b []Case, k int) float64 {
	sum := 0.0
	for i := range a {
		sum += apart(a[i].Ranking, b[i].Ranking, k)
	}
	return sum / float64(max(1, len(a)))
}

func apart(a, b []string, k int) float64 {
	if k == 0 {
		k = apartDepth
	}
	a, b = a[:min(k, len(a))], b[:min(k, len(b))]
	at := make(map[string]int, len(a))
	for i, id := range a {
		at[id] = i
	}
	both, all := 0.0, 0.0 // all discounts, and twice the smaller one of what both have
	for i := range a {
		all += rankDiscount(i)
	}
	for i, id := range b {
		all += rankDiscount(i)
		if j, ok := at[id]; ok {
			both += 2 * rankDiscount(max(i, j))
		}
	}
	if all == 0 {
		return 0
	}
	return max(0, all-both) / all
}

// rankDiscount is that of the result at index i.
func rankDiscount(i int) float64 { return 1 / math.Log2(float64(i+2)) }

// apart is Apart of both sides over the cases of a group.
func (p *pairing) apart(g, k int) float64 {
	cases, sum := p.base.groups[g].cases, 0.0
	for _, i := range cases {
		sum += apart(p.base.in.Cases[i].Ranking, p.candidate.in.Cases[i].Ranking, k)
	}
	return sum / float64(max(1, len(cases)))
}

// shiftIn is the label model's shift variance of a measure's difference in a
// group, where level is the mean of both sides' means. Its error grows with how far
// the rankings lie apart: of one that both have at the same rank nothing is seen in
// a difference.
func (d *differ) shiftIn(g, j int, level float64) float64 {
	if d.shift == nil || !d.base.drawn {
		return 0
	}
	m := d.base.in.Measures[j]
	apart := d.apart(g, m.k)
	return float64(d.shift(m, level) * apart * apart)
}
