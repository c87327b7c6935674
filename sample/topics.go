package sample

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	topicRounds = 25
	topicSample = 20_000 // vectors that the centres are fitted on
)

// Topics puts unit-norm vectors of one length into at most k clusters by
// spherical k-means and gives each one's cluster, from 0; -1 for a vector that
// is empty, zero or of another length than the first. Centres start as in
// k-means++ and are fitted on a seeded sample of 20,000 vectors. The same
// vectors, k and seed give the same clusters.
func Topics(vectors [][]float32, k int, seed int64) []int {
	out := make([]int, len(vectors))
	usable := usableVectors(vectors)
	centres := fitCentres(vectors, trainingSet(usable, seed), k, seed)
	for i := range out {
		out[i] = -1
	}
	for _, i := range usable {
		out[i], _ = nearest(centres, vectors[i])
	}
	return out
}

// usableVectors gives the indexes of vectors that have a direction.
func usableVectors(vectors [][]float32) []int {
	var usable []int
	size := 0
	for i, v := range vectors {
		if dot(v, v) == 0 {
			continue
		}
		if size == 0 {
			size = len(v)
		}
		if len(v) == size {
			usable = append(usable, i)
		}
	}
	return usable
}

func topicRand(seed int64, step string) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed)^hashString(fnvOffset, "topics"), hashString(fnvOffset, step)))
}

func trainingSet(usable []int, seed int64) []int {
	if len(usable) <= topicSample {
		return usable
	}
	chosen := topicRand(seed, "sample").Perm(len(usable))[:topicSample]
	slices.Sort(chosen)
	for i, c := range chosen {
		chosen[i] = usable[c]
	}
	return chosen
}

func fitCentres(vectors [][]float32, training []int, k int, seed int64) [][]float32 {
	centres := firstCentres(vectors, training, k, seed)
	member := make([]int, len(training))
	for range topicRounds {
		changed := false
		for i, t := range training {
			c, _ := nearest(centres, vectors[t])
			changed = changed || c != member[i]
			member[i] = c
		}
		if !changed {
			break
		}
		moveCentres(centres, vectors, training, member)
	}
	return centres
}

// firstCentres draws up to k vectors, each with a probability in proportion to
// its cosine distance from the nearest one so far (k-means++, Arthur and
// Vassilvitskii 2007).
func firstCentres(vectors [][]float32, training []int, k int, seed int64) [][]float32 {
	if len(training) == 0 {
		return nil
	}
	random := topicRand(seed, "centres")
	centres := [][]float32{slices.Clone(vectors[training[random.IntN(len(training))]])}
	far := make([]float64, len(training))
	for i := range far {
		far[i] = 2
	}
	for len(centres) < k {
		total := 0.0
		for i, t := range training {
			far[i] = min(far[i], distance(centres[len(centres)-1], vectors[t]))
			total += far[i]
		}
		if total == 0 {
			break
		}
		centres = append(centres, slices.Clone(vectors[training[pickBy(far, random.Float64()*total)]]))
	}
	return centres
}

// pickBy gives the index at which the running sum of weights passes target.
func pickBy(weights []float64, target float64) int {
	last := 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		last = i
		if target -= w; target < 0 {
			break
		}
	}
	return last
}

// distance is 1 - cosine of unit vectors; what is below rounding is 0.
func distance(a, b []float32) float64 {
	if d := 1 - dot(a, b); d > 1e-6 {
		return d
	}
	return 0
}

// moveCentres puts each centre at the direction of its members' sum; one
// without members, or whose members cancel out, stays.
func moveCentres(centres, vectors [][]float32, training, member []int) {
	sums := make([][]float64, len(centres))
	for c := range sums {
		sums[c] = make([]float64, len(centres[c]))
	}
	for i, t := range training {
		sum := sums[member[i]]
		for j, x := range vectors[t] {
			sum[j] += float64(x)
		}
	}
	for c, sum := range sums {
		if norm := norm(sum); norm > 0 {
			for j, x := range sum {
				centres[c][j] = float32(x / norm)
			}
		}
	}
}

// nearest gives the centre with the largest cosine, the first among equals.
func nearest(centres [][]float32, v []float32) (int, float64) {
	best, most := -1, 0.0
	for c, centre := range centres {
		if d := dot(centre, v); best < 0 || d > most {
			best, most = c, d
		}
	}
	return best, most
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range min(len(a), len(b)) {
		sum += float64(float64(a[i]) * float64(b[i]))
	}
	return sum
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x * x)
	}
	return math.Sqrt(sum)
}
