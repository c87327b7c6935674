package corpus

import (
	"cmp"
	"slices"
)

// Resemblance of whole texts: two are alike from leastAlike on, by the estimated
// Jaccard similarity of their word triples (see minhash.go). With 64 values its
// standard error is at most 0.06. A likeness is clear where no other text comes
// within clearly of it.
const (
	leastAlike = 0.5
	clearly    = 0.1
)

// Sketch stands for a text when it is compared with others; it takes 128 bytes.
type Sketch struct{ values signature }

// Sketcher makes sketches. It may be used concurrently.
type Sketcher struct{ minhasher *minhasher }

// NewSketcher makes one; sketches of different ones can be compared.
func NewSketcher() Sketcher { return Sketcher{newMinhasher()} }

// Sketch reads a text.
func (s Sketcher) Sketch(text string) Sketch { return Sketch{s.minhasher.signature(text)} }

// Resemblance estimates the Jaccard similarity of the word triples of two texts.
func (s *Sketch) Resemblance(o *Sketch) float64 {
	same := 0
	for i := range s.values {
		if s.values[i] == o.values[i] {
			same++
		}
	}
	return float64(same) / hashes
}

// Alike is a text of one list that resembles one of another clearly.
type Alike struct {
	Old, New    int // positions in the lists
	Resemblance float64
}

// FindAlike finds which of the new texts each old one has become, where that is
// clear: they resemble each other, and neither resembles another text nearly as
// much. The answer is in the order of old. Candidates are those that agree in two
// values in a row of a signature: of pairs at 0.5 that finds all but one in
// 10,000.
func FindAlike(old, now []Sketch) []Alike {
	pairs := resembling(old, now)
	firsts, seconds := make([]Alike, len(old)), make([]float64, len(old))
	firstsNow, secondsNow := make([]Alike, len(now)), make([]float64, len(now))
	for _, m := range pairs {
		rank(&firsts[m.Old], &seconds[m.Old], m)
		rank(&firstsNow[m.New], &secondsNow[m.New], m)
	}
	var out []Alike
	for i, m := range firsts {
		if m.Resemblance >= leastAlike && m == firstsNow[m.New] &&
			m.Resemblance-seconds[i] >= clearly && m.Resemblance-secondsNow[m.New] >= clearly {
			out = append(out, m)
		}
	}
	return out
}

// rank keeps the best match and the second one's resemblance.
func rank(first *Alike, second *float64, m Alike) {
	if m.Resemblance > first.Resemblance {
		*first, m = m, *first
	}
	*second = max(*second, m.Resemblance)
}

// resembling lists the pairs that share a band, each once, by old and new.
func resembling(old, now []Sketch) []Alike {
	buckets := map[uint64][]int{}
	band := func(s *Sketch, b int) uint64 {
		return uint64(b)<<32 | uint64(s.values[b])<<16 | uint64(s.values[b+1])
	}
	for j := range now {
		for b := 0; b < hashes; b += 2 {
			key := band(&now[j], b)
			buckets[key] = append(buckets[key], j)
		}
	}
	var out []Alike
	for i := range old {
		var candidates []int
		for b := 0; b < hashes; b += 2 {
			candidates = append(candidates, buckets[band(&old[i], b)]...)
		}
		slices.Sort(candidates)
		for _, j := range slices.Compact(candidates) {
			out = append(out, Alike{i, j, old[i].Resemblance(&now[j])})
		}
	}
	slices.SortFunc(out, func(a, b Alike) int { return cmp.Or(a.Old-b.Old, a.New-b.New) })
	return out
}
