package review

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
)

// Kinds of samples. Each but random takes a third of its pairs uniformly from
// the pool.
const (
	SampleDecisive     = "decisive"     // whose label would narrow the comparison most
	SampleRandom       = "random"       // uniform
	SampleUncertain    = "uncertain"    // p nearest one half
	SampleTop          = "top"          // what the retrievers of the pool rank first
	SampleDisagreement = "disagreement" // the model that judged against the label model, or a panel's members
	SampleNeedsReview  = "needs_review" // of the cases that a judge sent to review
	SampleFailing      = "failing"      // failing:RESULT, what failed cases were given and nobody has judged
)

// SampleNames lists the samples as they are typed.
func SampleNames() []string {
	return []string{SampleDecisive, SampleRandom, SampleUncertain, SampleTop, SampleDisagreement, SampleNeedsReview, SampleFailing + ":RESULT"}
}

// Worth is how much a pair's label would tell. Pairs of greater worth come
// first; of equal worth, in the order of their ids.
type Worth struct {
	Pair
	Worth float64
}

// Sample is the pairs that a person is shown, in order.
type Sample struct {
	Name  string
	Pool  int // pairs that it was drawn from
	Pairs []Drawn
}

// Drawn is a pair with the probability that the sample holds it.
type Drawn struct {
	Pair
	Inclusion float64
}

// ErrNothingToLabel says that a sample would be empty.
var ErrNothingToLabel = errors.New("no pair is left to label")

// Pool lists the pairs that samples are drawn from: the judged ones of cases
// that are not retired, of chunks that the corpus has, without a person's grade.
func Pool(set *datasets.Set, has func(chunkID string) bool) []Pair {
	var out []Pair
	for i := range set.Cases {
		c := &set.Cases[i]
		if c.Status == datasets.Retired {
			continue
		}
		for _, id := range openChunks(c) {
			if has(id) {
				out = append(out, Pair{c.ID, id})
			}
		}
	}
	return out
}

// openChunks lists, sorted, the judged chunks of a case that no person graded.
func openChunks(c *datasets.Case) []string {
	human := map[string]bool{}
	ids := []string{}
	for _, j := range c.Judgments {
		human[j.ChunkID] = human[j.ChunkID] || j.By == datasets.ByHuman && j.Grade != nil
		ids = append(ids, j.ChunkID)
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return human[id] })
}

// Draw makes a sample of n pairs. The most worthy ones are in it for certain;
// a third of n, and what the worthy ones leave, is drawn uniformly from the
// rest of the pool. So every pair of the pool has a known probability to be
// shown, and the inverse of it weighs what was learnt from its label. Who stops
// early has seen both kinds alike: two worthy pairs, a random one, and so on.
func Draw(name string, pool []Pair, worths []Worth, n int, seed int64) (Sample, error) {
	certain := worthiest(worths, n-(n+2)/3)
	taken := map[Pair]bool{}
	for _, p := range certain {
		taken[p] = true
	}
	rest := slices.DeleteFunc(slices.Clone(pool), func(p Pair) bool { return taken[p] })
	s := Sample{Name: name, Pool: len(rest) + len(certain)}
	random := min(n-len(certain), len(rest))
	if random+len(certain) == 0 {
		return s, ErrNothingToLabel
	}
	var drawn []Pair
	for _, at := range seeded.Rand(seed, "review", name).Perm(len(rest))[:random] {
		drawn = append(drawn, rest[at])
	}
	for len(certain)+len(drawn) > 0 {
		for range 2 {
			certain = s.take(certain, 1)
		}
		drawn = s.take(drawn, float64(random)/float64(len(rest)))
	}
	return s, nil
}

// take moves the first of the pairs into the sample.
func (s *Sample) take(pairs []Pair, inclusion float64) []Pair {
	if len(pairs) == 0 {
		return nil
	}
	s.Pairs = append(s.Pairs, Drawn{Pair: pairs[0], Inclusion: inclusion})
	return pairs[1:]
}

func worthiest(worths []Worth, n int) []Pair {
	order := slices.Clone(worths)
	slices.SortFunc(order, func(a, b Worth) int {
		return cmp.Or(cmp.Compare(b.Worth, a.Worth), strings.Compare(a.CaseID, b.CaseID), strings.Compare(a.ChunkID, b.ChunkID))
	})
	var out []Pair
	for _, w := range order[:min(max(n, 0), len(order))] {
		out = append(out, w.Pair)
	}
	return out
}

// Worths weighs the pool for the samples that the set alone decides: random
// (nothing is worth more), uncertain, top, disagreement and needs_review.
func Worths(name string, set *datasets.Set, pool []Pair) []Worth {
	weigh := map[string]func(*datasets.Case, string) (float64, bool){
		SampleUncertain: uncertainty, SampleTop: topRanked, SampleDisagreement: disagreement, SampleNeedsReview: reviewNeeded(set.Manifest.RelevantGrade),
	}[name]
	if weigh == nil {
		return nil
	}
	cases := map[string]*datasets.Case{}
	for i := range set.Cases {
		cases[set.Cases[i].ID] = &set.Cases[i]
	}
	var out []Worth
	for _, p := range pool {
		if worth, ok := weigh(cases[p.CaseID], p.ChunkID); ok {
			out = append(out, Worth{p, worth})
		}
	}
	return out
}

// uncertainty is the variance of a label whose probability is known.
func uncertainty(c *datasets.Case, chunkID string) (float64, bool) {
	l := datasets.EffectiveLabel(c, chunkID, datasets.SourceJudged)
	if l.P == nil || *l.P <= 0 || *l.P >= 1 {
		return 0, false
	}
	return float64(*l.P * (1 - *l.P)), true
}

// topRanked is how high the retrievers of the pool rank a chunk, by reciprocal rank
// fusion (Cormack, Clarke and Buettcher, SIGIR 2009).
func topRanked(c *datasets.Case, chunkID string) (float64, bool) {
	const rrf = 60
	ranks := map[string]float64{}
	for _, j := range c.Judgments {
		for name, rank := range j.Features {
			if j.ChunkID == chunkID && strings.HasPrefix(name, "rank_") {
				ranks[name] = rank
			}
		}
	}
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(ranks)) {
		sum += 1 / (rrf + ranks[name])
	}
	return sum, sum > 0
}

// disagreement is how far the model that judged and the label model are apart,
// both as probabilities, or else how far a panel's members are.
func disagreement(c *datasets.Case, chunkID string) (float64, bool) {
	var p, judged *float64
	apart, known := 0.0, false
	for _, j := range c.Judgments {
		if j.ChunkID != chunkID {
			continue
		}
		switch j.By {
		case datasets.ByLabelModel:
			p = j.P
		case datasets.ByLLM:
			judged = judgedP(j)
			apart, known = j.Features[judge.FeatureDisagreement]
		}
	}
	if p != nil && judged != nil {
		return max(math.Abs(*p-*judged), apart), true
	}
	return apart, known
}

// judgedP reads a model's judgment as a probability: its own, that of a yes, or
// its expected grade as a share of the highest.
func judgedP(j datasets.Judgment) *float64 {
	if j.P != nil {
		return j.P
	}
	if p, ok := j.Features["p_yes"]; ok {
		return &p
	}
	expected, ok := j.Features["expected_grade"]
	if !ok && j.Grade != nil {
		expected, ok = float64(*j.Grade), true
	}
	if !ok {
		return nil
	}
	share := expected / 3
	return &share
}

// reviewNeeded puts the chunks that a query was written from first, then what
// may be relevant.
func reviewNeeded(relevant int) func(*datasets.Case, string) (float64, bool) {
	return func(c *datasets.Case, chunkID string) (float64, bool) {
		if c.Status != datasets.NeedsReview {
			return 0, false
		}
		if slices.Contains(c.Source, chunkID) {
			return 2, true
		}
		l := datasets.EffectiveLabel(c, chunkID, datasets.SourceJudged)
		switch {
		case l.P != nil:
			return *l.P, true
		case l.Grade != nil && *l.Grade >= relevant:
			return 1, true
		}
		return 0, true
	}
}
