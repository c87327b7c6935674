package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/internal/seeded"
)

// Sample is the queries that people are shown, in the order of showing.
type Sample struct {
	N     int // as asked for; Items are fewer where there are fewer
	Seed  int64
	Items []Drawn
}

// Drawn is an item with the probability that the sample holds it.
type Drawn struct {
	Item
	Inclusion float64
}

// Name says which sample of a frame it is.
func (s *Sample) Name() string { return sampleName(s.N, s.Seed) }

func sampleName(n int, seed int64) string { return fmt.Sprintf("n=%d seed=%d", n, seed) }

// ParseName reads a sample's name.
func ParseName(name string) (n int, seed int64, ok bool) {
	read, err := fmt.Sscanf(name, "n=%d seed=%d", &n, &seed)
	return n, seed, err == nil && read == 2 && n > 0 && name == sampleName(n, seed)
}

// Of the sample, keptPart to refusedPart are kept cases to refused ones: kept
// ones are what a set is used for.
const (
	keptPart    = 2
	refusedPart = 1
)

// Draw makes a stratified sample of n. Strata are kept cases by type, and refused
// ones by gate and type within it. A stratum's expected share is equal among its
// like, as far as it has so many, and may be a fraction: then whether it gets one
// more is drawn systematically over the strata (Madow, Annals of Mathematical
// Statistics 20, 1949), so that each query, of however small a stratum, has a known
// probability above 0. Within a stratum each has the same. Numbers are a query's
// own: samples of other sizes and of the next version overlap as far as they can.
func Draw(f *Frame, n int, seed int64) Sample {
	s := Sample{N: n, Seed: seed}
	strata := stratify(f)
	allot(strata, min(float64(n), float64(len(f.Items))))
	at, start := 0.0, seeded.Rand(seed, "audit", "strata").Float64()
	for _, st := range strata {
		from := at
		at = math.Round((at+st.expected)*1e9) / 1e9 // sums of thirds that make whole numbers stay whole
		count := int(math.Floor(at+start) - math.Floor(from+start))
		for _, item := range st.first(count, seed) {
			s.Items = append(s.Items, Drawn{*item, st.expected / float64(len(st.items))})
		}
	}
	// The order tells nothing, and who stops early has seen a random part.
	mix(s.Items, seed, "audit order", func(d Drawn) string { return d.Key })
	return s
}

// class is what the queries of a stratum have in common.
type class struct {
	verdict    Verdict
	gate, kind string
}

func (i *Item) class() class { return class{i.Verdict, i.Gate, i.Type} }

// stratum is the queries of one class.
type stratum struct {
	class
	items    []*Item
	expected float64 // of them in the sample
}

func (s *stratum) kept() bool { return s.verdict == Kept }

// stratify sorts the frame into strata, kept ones first.
func stratify(f *Frame) []*stratum {
	at := map[class]*stratum{}
	var out []*stratum
	for i := range f.Items {
		item := &f.Items[i]
		c := item.class()
		if at[c] == nil {
			at[c] = &stratum{class: c}
			out = append(out, at[c])
		}
		at[c].items = append(at[c].items, item)
	}
	slices.SortFunc(out, func(a, b *stratum) int {
		return cmp.Or(cmp.Compare(place(a.verdict), place(b.verdict)), strings.Compare(a.gate, b.gate), strings.Compare(a.kind, b.kind))
	})
	return out
}

// place puts what was kept apart from what was not.
func place(v Verdict) int { return slices.Index([]Verdict{Kept, Held, Rejected}, v) }

// allot shares n out: between kept and refused, among the gates, among types.
func allot(strata []*stratum, n float64) {
	groups := grouped(strata, (*stratum).kept)
	for i, share := range fill(n, groups, keptOrRefused) {
		gates := grouped(groups[i], func(s *stratum) class { return class{verdict: s.verdict, gate: s.gate} })
		for j, part := range fill(share, gates, alike) {
			types := grouped(gates[j], func(s *stratum) string { return s.kind })
			for k, expected := range fill(part, types, alike) {
				types[k][0].expected = expected
			}
		}
	}
}

// Weights of groups.
func keptOrRefused(group []*stratum) float64 {
	if group[0].kept() {
		return keptPart
	}
	return refusedPart
}

func alike([]*stratum) float64 { return 1 }

// grouped cuts a sorted list where what they are grouped by changes.
func grouped[K comparable](strata []*stratum, by func(*stratum) K) (out [][]*stratum) {
	for i, s := range strata {
		if i == 0 || by(s) != by(strata[i-1]) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], s)
	}
	return out
}

// fill shares n out by weight, to none more than it has; what one cannot take goes
// to the others.
func fill(n float64, groups [][]*stratum, weight func([]*stratum) float64) []float64 {
	out, full := make([]float64, len(groups)), make([]bool, len(groups))
	for {
		left, total := n, 0.0
		for i, g := range groups {
			if full[i] {
				left -= out[i]
			} else {
				total += weight(g)
			}
		}
		again := false
		for i, g := range groups {
			if full[i] {
				continue
			}
			out[i] = left * weight(g) / total
			if size := float64(sizeOf(g)); out[i] >= size {
				out[i], full[i], again = size, true, true
			}
		}
		if !again {
			return out
		}
	}
}

func sizeOf(strata []*stratum) (n int) {
	for _, s := range strata {
		n += len(s.items)
	}
	return n
}

// first takes count items by their own random numbers.
func (s *stratum) first(count int, seed int64) []*Item {
	order := slices.Clone(s.items)
	mix(order, seed, "audit", func(i *Item) string { return i.Key })
	return order[:min(count, len(order))]
}

// mix sorts queries by random numbers, each its own.
func mix[T any](list []T, seed int64, stage string, key func(T) string) {
	numbers := map[string]uint64{}
	for _, x := range list {
		numbers[key(x)] = seeded.Rand(seed, stage, key(x)).Uint64()
	}
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(numbers[key(a)], numbers[key(b)]) })
}
