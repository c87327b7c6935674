package eval

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// Worked by hand: variances .01 over clusters and .02 between draws, .015 of it
// common; 20 draws in 5 blocks, 50 clusters.
func TestTotalVariance(t *testing.T) {
	p := pooled{draws: 20, clusters: 50, cases: 0.01, common: 0.015, between: 0.02, betweenDF: 15}
	for _, tt := range []struct{ shift, variance, df float64 }{
		{0, 0.02575, 21.0892},       // .02575^2 / (.01^2/49 + .021^2/15)
		{0.004, 0.02975, 28.1502},   // .02975^2 over the same
		{-0.0247, 0.00105, leastDF}, // .04: fewer than there may be
	} {
		p.shift = tt.shift
		if variance, df := p.total(); math.Abs(variance-tt.variance) > 1e-12 || math.Abs(df-tt.df) > 1e-3 {
			t.Errorf("shift %v: variance %v, df %v, want %v and %v", tt.shift, variance, df, tt.variance, tt.df)
		}
	}
	variance, df := pool(moments{clusters: 50, variance: 0.01}).total()
	if variance != 0.01 || df != 49 {
		t.Errorf("certain labels: variance %v, df %v", variance, df)
	}
}

// drawnClusters are clusters of cases, some of which have no value in some
// draws.
func drawnClusters(random *rand.Rand, dropped float64) [][]*drawnCase {
	out := make([][]*drawnCase, 30)
	var common [drawCount]float64
	for t := range common {
		common[t] = 0.1 * random.NormFloat64()
	}
	for c := range out {
		for range 1 + random.IntN(3) {
			one := newDrawnCase(1)
			level := random.NormFloat64()
			for t := range common {
				if random.Float64() >= dropped {
					one.set(1<<t, []float64{0.5 + common[t] + level + 0.3*random.NormFloat64()})
				}
			}
			out[c] = append(out[c], one)
		}
	}
	return out
}

// The parts of the variance are those of the formulas in docs/gates.md, written
// down one by one.
func TestPartsOfTheVariance(t *testing.T) {
	for _, dropped := range []float64{0, 0.2} {
		t.Run(fmt.Sprint("dropped=", dropped), func(t *testing.T) {
			clusters := drawnClusters(rand.New(rand.NewPCG(1, 2)), dropped)
			sums := newDrawSums(1, 1, nil)
			parts := make([]clusterParts, 1)
			for _, members := range clusters {
				for range members {
					sums.expect(0)
				}
				for _, one := range members {
					partsOf(one, parts)
					sums.add(0, one, parts)
				}
				sums.close()
			}
			got, want := sums.cell(0, 0).pooled(), plainly(clusters)
			for name, pair := range map[string][2]float64{
				"mean": {got.mean, want.mean}, "cases": {got.cases, want.cases}, "common": {got.common, want.common},
				"between": {got.between, want.between}, "within": {got.within, want.within}, "df": {got.betweenDF, 15},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-12 {
					t.Errorf("%s = %v, want %v", name, pair[0], pair[1])
				}
			}
			if got.common <= 0 || got.n != want.n || got.clusters != want.clusters {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// sumsOf are each cluster's sums S and counts N in each draw, and how many
// clusters have a value, as a mean over draws.
func sumsOf(clusters [][]*drawnCase) (S, N [30][drawCount]float64, g float64) {
	for c, members := range clusters {
		for t := range drawCount {
			for _, one := range members {
				if one.valid[0]>>t&1 == 1 {
					S[c][t] += one.of(0)[t]
					N[c][t]++
				}
			}
			if N[c][t] > 0 {
				g += 1. / drawCount
			}
		}
	}
	return S, N, g
}

// plainly computes what pooled does.
func plainly(clusters [][]*drawnCase) pooled {
	S, N, g := sumsOf(clusters)
	var means, n [drawCount]float64
	for c := range clusters {
		for t := range means {
			means[t] += S[c][t]
			n[t] += N[c][t]
		}
	}
	p := pooled{draws: drawCount, clusters: int(math.Round(g))}
	cases := 0.0
	for t := range means {
		means[t] /= n[t]
		p.mean += means[t] / drawCount
		cases += n[t] / drawCount
	}
	p.n = int(math.Round(cases))
	off, own, share := 0.0, 0.0, 0.0
	for t := range means {
		off += (means[t] - p.mean) * (means[t] - p.mean)
	}
	p.between, _ = betweenDraws(&means)
	for c := range clusters {
		kept := 0.0
		var rest [drawCount]float64
		for t := range means {
			rest[t] = S[c][t] - p.mean*N[c][t]
			kept += rest[t] / drawCount
			p.within += rest[t] * rest[t] / drawCount
			share += N[c][t] * N[c][t] / drawCount / cases / cases
		}
		p.cases += kept * kept
		v, df := betweenDraws(&rest)
		own += v * df / 15 / cases / cases
	}
	p.within = (p.within - off/drawCount*share*cases*cases) * g / (g - 1) / cases / cases
	p.cases *= g / (g - 1) / cases / cases
	p.common = max(0, (p.between-own)/(1-share))
	return p
}

// drawnInput has cases whose labels are certain, nearly so, and not at all; tied
// scores, unknown labels and cases without anything relevant in some draws.
func drawnInput(random *rand.Rand) Input {
	in := Input{MinGrade: 2, Seed: 11}
	for i := range 60 {
		c := Case{ID: fmt.Sprint("q", i), Background: &Background{Documents: []string{fmt.Sprint("doc", i/2)}}}
		for j := range 3 + random.IntN(8) {
			l := Label{ID: fmt.Sprint("c", j), Grade: random.IntN(4) - 1}
			if random.IntN(4) > 0 {
				l.Uncertain = &Probability{P: float64(random.IntN(5)) / 4}
				for range drawCount * random.IntN(2) {
					l.Uncertain.Draws = append(l.Uncertain.Draws, random.Float64())
				}
			}
			c.Labels = append(c.Labels, l)
		}
		for n, j := range random.Perm(12) {
			c.Ranking, c.Scores = append(c.Ranking, fmt.Sprint("c", j)), append(c.Scores, float64((12-n)/2))
		}
		c.Abstain = i == 7
		in.Cases = append(in.Cases, c)
	}
	in.Dimensions = []Dimension{
		NewDimension("third", len(in.Cases), func(i int) []string { return []string{fmt.Sprint(i % 3)} }),
		NewDimension("several", len(in.Cases), func(i int) []string { return []string{fmt.Sprint(i % 2), "all", "all"}[i%3:] }),
	}
	return in
}

// certainly is the input under draw t, without a probability.
func certainly(in Input, t int) Input {
	masks, starts := masksOf(&in)
	cases := make([]Case, len(in.Cases))
	for i, c := range in.Cases {
		cases[i] = c
		cases[i].Labels = make([]Label, len(c.Labels))
		for j, l := range c.Labels {
			grade := int(masks[starts[i]+j] >> t & 1)
			if l.Uncertain == nil && l.Grade < 0 {
				grade = Unknown
			}
			cases[i].Labels[j] = Label{ID: l.ID, Grade: grade}
		}
	}
	in.Cases, in.MinGrade = cases, 1
	return in
}

// masksOf draws the labels of an input, case after case.
func masksOf(in *Input) (masks []uint32, starts []int) {
	p, err := prepare(in)
	if err != nil {
		panic(err)
	}
	return drawLabels(in, p), p.labelStart
}

// everyMeasure is what drawn labels can give.
const everyMeasure = "recall@1,recall@5,precision@5,mrr,mrr@3,map,map@5,ndcg,ndcg@5,success@1,success@5,judged@5,unj_5,rprec,Rprec_mult_0.4,bpref,infap," +
	"rbp(p=0.8),gm_map,gm_bpref,set_P,set_recall,set_relative_P,set_F,set_map,relative_P_5,iprec_at_recall_0.5,11pt_avg,binG,utility,num_q,num_ret,num_rel,num_rel_ret,num_nonrel_judged_ret"

// Scoring all draws at once gives what scoring each draw as certain labels and
// taking means gives: by case, over all, and by slice.
func TestDrawsAreScoredAsCertainLabels(t *testing.T) {
	in := drawnInput(rand.New(rand.NewPCG(3, 4)))
	measures, err := ParseMeasures(everyMeasure)
	if err != nil {
		t.Fatal(err)
	}
	in.Measures = measures
	got := scoredOf(t, in)
	if !got.drawn {
		t.Fatal("labels are not uncertain")
	}
	draws := make([]*scores, drawCount)
	for n := range draws {
		draws[n] = scoredOf(t, certainly(in, n))
	}
	for i := range in.Cases {
		for j, x := range got.values.row(i) {
			want := meanOver(draws, func(s *scores) float64 { return s.values.row(i)[j] })
			same(t, fmt.Sprint("case ", i, " step ", j), x, want)
		}
	}
	for g := range got.groups {
		of := &got.groups[g]
		for j := range of.moments {
			want := meanOver(draws, func(s *scores) float64 { return s.groups[g].moments[j].mean })
			same(t, fmt.Sprint("group ", g, " step ", j), pool(of.moments[j]).mean, want)
		}
		for j := range of.ties {
			want := meanOver(draws, func(s *scores) float64 { return meanMove(s.groups[g].ties[j]).expected })
			same(t, fmt.Sprint("ties of group ", g, " step ", j), meanMove(of.ties[j]).expected, want)
		}
	}
}

func scoredOf(t *testing.T, in Input) *scores {
	t.Helper()
	s, err := newScores(in)
	if err != nil {
		t.Fatal(err)
	}
	s.scoreAll()
	return s
}

// meanOver is the mean of what is not NaN.
func meanOver(draws []*scores, of func(*scores) float64) float64 {
	total, n := 0.0, 0.0
	for _, s := range draws {
		if x := of(s); x == x {
			total += x
			n++
		}
	}
	return total / n
}

func same(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-12 {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// A label is relevant in about 20 p of 20 draws whatever the chance, as its
// random numbers are spread; every draw by itself has it with chance p.
func TestDrawsOfALabelAreSpread(t *testing.T) {
	const p, labels = 0.3, 4000
	in := Input{MinGrade: 1, Cases: make([]Case, labels)}
	for i := range in.Cases {
		in.Cases[i] = Case{ID: fmt.Sprint(i), Labels: []Label{{ID: "a", Uncertain: &Probability{P: p}}}}
	}
	masks, _ := masksOf(&in)
	var perDraw [drawCount]float64
	for i, mask := range masks {
		if n := bits.OnesCount32(mask); n != 4 && n != 8 { // of 6: one or two blocks of five
			t.Fatalf("label %d is relevant in %d draws", i, n)
		}
		for n := range perDraw {
			perDraw[n] += float64(mask>>n&1) / labels
		}
	}
	for n, share := range perDraw { // four standard errors
		if math.Abs(share-p) > 4*math.Sqrt(p*(1-p)/labels) {
			t.Errorf("draw %d: %v, want %v", n, share, p)
		}
	}
}
