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
	shuffle(s.Items, seed)
	return s
}

// stratum is the queries of one verdict, gate and type.
type stratum struct {
	verdict    Verdict
	gate, kind string
	items      []*Item
	expected   float64 // of them in the sample
}

func (s *stratum) kept() bool { return s.verdict == Kept }

// stratify sorts the frame into strata, kept ones first.
func stratify(f *Frame) []*stratum {
	type key struct {
		verdict    Verdict
		gate, kind string
	}
	at := map[key]*stratum{}
	var out []*stratum
	for i := range f.Items {
		item := &f.Items[i]
		k := key{item.Verdict, item.Gate, item.Type}
		if at[k] == nil {
			at[k] = &stratum{verdict: item.Verdict, gate: item.Gate, kind: item.Type}
			out = append(out, at[k])
		}
		at[k].items = append(at[k].items, item)
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
	groups := grouped(strata, func(s *stratum) string { return fmt.Sprint(s.kept()) })
	weights := make([]float64, len(groups))
	for i, g := range groups {
		weights[i] = refusedPart
		if g[0].kept() {
			weights[i] = keptPart
		}
	}
	for i, share := range fill(n, groups, weights) {
		gates := grouped(groups[i], func(s *stratum) string { return string(s.verdict) + "\x00" + s.gate })
		for j, part := range fill(share, gates, nil) {
			types := grouped(gates[j], func(s *stratum) string { return s.kind })
			for k, expected := range fill(part, types, nil) {
				types[k][0].expected = expected
			}
		}
	}
}

// grouped cuts a sorted list where the name changes.
func grouped(strata []*stratum, name func(*stratum) string) (out [][]*stratum) {
	for i, s := range strata {
		if i == 0 || name(s) != name(strata[i-1]) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], s)
	}
	return out
}

// fill shares n out by weight (nil: equal ones), to none more than it has; what
// one cannot take goes to the others.
func fill(n float64, groups [][]*stratum, weights []float64) []float64 {
	out, full := make([]float64, len(groups)), make([]bool, len(groups))
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	for {
		left, total := n, 0.0
		for i := range groups {
			if full[i] {
				left -= out[i]
			} else {
				total += weight(i)
			}
		}
		again := false
		for i, g := range groups {
			if full[i] {
				continue
			}
			out[i] = left * weight(i) / total
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
	numbers := map[*Item]uint64{}
	for _, item := range s.items {
		numbers[item] = seeded.Rand(seed, "audit", item.Key).Uint64()
	}
	order := slices.Clone(s.items)
	slices.SortStableFunc(order, func(a, b *Item) int { return cmp.Compare(numbers[a], numbers[b]) })
	return order[:min(count, len(order))]
}

// shuffle mixes verdicts, gates and types: the order tells nothing, and who stops
// early has seen a random part.
func shuffle(items []Drawn, seed int64) {
	numbers := map[string]uint64{}
	for i := range items {
		numbers[items[i].Key] = seeded.Rand(seed, "audit order", items[i].Key).Uint64()
	}
	slices.SortStableFunc(items, func(a, b Drawn) int { return cmp.Compare(numbers[a.Key], numbers[b.Key]) })
}
