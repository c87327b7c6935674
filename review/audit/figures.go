package audit

import (
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/unionfind"
	"github.com/goldgen/goldgen/judge"
)

// Share is a share of a group's queries, estimated from the labelled ones: each
// counts by the inverse of the probability that it was drawn. Low and High are
// Wilson's 95 % bounds with an effective sample size in which queries that share a
// document count as one, and unequal weights as fewer (Kish, Survey Sampling, 1965).
// Value and bounds are nil without a label.
type Share struct {
	N         int      `json:"n"` // labelled
	Effective float64  `json:"n_effective"`
	Value     *float64 `json:"value"`
	Low       *float64 `json:"low"`
	High      *float64 `json:"high"`
}

// Figures are of a group of queries, or those of one type or gate in it.
type Figures struct {
	Name      string             `json:"name"`
	Cases     int                `json:"cases"` // that can be asked about
	Asked     int                `json:"asked"` // in the sample
	Valid     Share              `json:"valid"`
	Bad       Share              `json:"bad"`       // not valid: of what a gate refuses, its precision
	Questions map[Question]Share `json:"questions"` // share of yes
}

// Group is what labels say of the queries of one verdict.
type Group struct {
	All    Figures   `json:"all"`
	ByType []Figures `json:"by_type"`
	ByGate []Figures `json:"by_gate"` // empty for kept ones
}

// Audit is what labels say of a set and of its gates.
type Audit struct {
	Sample    string             `json:"sample"`
	Asked     int                `json:"asked"`     // queries in the sample
	Labelled  int                `json:"labelled"`  // of them, known to be valid or not
	Outside   int                `json:"outside"`   // labelled queries of the set that are not in the sample: not counted
	Kept      Group              `json:"kept"`      // what eval uses
	Held      Group              `json:"held"`      // waits for review
	Rejected  Group              `json:"rejected"`  // refused
	GoodLost  *datasets.Interval `json:"good_lost"` // of all valid queries, the share that was rejected
	People    []Tally            `json:"people"`
	Agreement []Agreement        `json:"agreement"`
	Conflicts []Conflict         `json:"conflicts"`
	NotAsked  []NotAsked         `json:"not_asked"`
}

// Tally is how much one person labelled.
type Tally struct {
	Name     string `json:"name"`
	Labelled int    `json:"labelled"` // queries of the sample with all questions answered
	Begun    int    `json:"begun"`    // with some
}

// observation is a drawn query with what people say of it, nil nothing yet.
type observation struct {
	*Drawn
	answers Answers
	cluster int32
}

// Figure reads labels as estimates.
func Figure(f *Frame, s *Sample, people []Person) Audit {
	obs := observe(s, joined(people))
	a := Audit{
		Sample: s.Name(), Asked: len(s.Items), NotAsked: orEmpty(f.NotAsked), People: tallies(s, people),
		Kept: group(f, obs, Kept), Held: group(f, obs, Held), Rejected: group(f, obs, Rejected),
		Agreement: agreements(s, people), Conflicts: conflicts(s, people), Outside: outside(f, s, people),
	}
	for _, o := range obs {
		if _, known := o.answers.Valid(); known {
			a.Labelled++
		}
	}
	a.GoodLost = lost(&a)
	return a
}

// observe joins drawn queries to labels and to the clusters of those that share a
// document.
func observe(s *Sample, said map[string]Answers) []observation {
	sets, first := unionfind.New(len(s.Items)), map[string]int32{}
	out := make([]observation, len(s.Items))
	for i := range s.Items {
		for _, doc := range s.Items[i].documents {
			if j, ok := first[doc]; ok {
				sets.Join(j, int32(i))
			} else {
				first[doc] = int32(i)
			}
		}
		out[i] = observation{Drawn: &s.Items[i], answers: said[s.Items[i].Key]}
	}
	for i := range out {
		out[i].cluster = sets.Root(int32(i))
	}
	return out
}

func group(f *Frame, obs []observation, v Verdict) Group {
	of := func(i *Item) bool { return i.Verdict == v }
	g := Group{All: figures("all", f, obs, of), ByGate: []Figures{}}
	g.ByType = split(f, obs, of, func(i *Item) string { return i.Type })
	if v != Kept {
		g.ByGate = split(f, obs, of, func(i *Item) string { return i.Gate })
	}
	return g
}

// split makes a row of figures for each value, in their order.
func split(f *Frame, obs []observation, of func(*Item) bool, by func(*Item) string) []Figures {
	var names []string
	for i := range f.Items {
		if of(&f.Items[i]) {
			names = append(names, by(&f.Items[i]))
		}
	}
	slices.Sort(names)
	out := []Figures{}
	for _, name := range slices.Compact(names) {
		out = append(out, figures(name, f, obs, func(i *Item) bool { return of(i) && by(i) == name }))
	}
	return out
}

func figures(name string, f *Frame, all []observation, of func(*Item) bool) Figures {
	out := Figures{Name: name, Questions: map[Question]Share{}}
	for i := range f.Items {
		if of(&f.Items[i]) {
			out.Cases++
		}
	}
	var obs []observation
	for _, o := range all {
		if of(&o.Item) {
			obs = append(obs, o)
		}
	}
	out.Asked = len(obs)
	out.Valid = share(obs, Answers.Valid)
	out.Bad = share(obs, func(a Answers) (bool, bool) {
		valid, known := a.Valid()
		return !valid, known
	})
	for _, q := range Questions() {
		out.Questions[q] = share(obs, to(q))
	}
	return out
}

// share estimates how many of the queries that obs stand for a person says yes to.
// Labelled queries stand for those of their stratum that are not labelled yet
// (weighting classes); a stratum without a label is left out.
func share(obs []observation, says func(Answers) (yes, known bool)) Share {
	drawn, labelled := map[class]float64{}, map[class]float64{}
	for _, o := range obs {
		drawn[o.class()]++
		if _, known := says(o.answers); known {
			labelled[o.class()]++
		}
	}
	var n int
	var weight, hits float64
	clusters := map[int32]float64{}
	var order []int32 // sums are the same each time
	for _, o := range obs {
		yes, known := says(o.answers)
		if !known {
			continue
		}
		n++
		w := drawn[o.class()] / labelled[o.class()] / o.Inclusion
		weight += w
		if clusters[o.cluster] == 0 {
			order = append(order, o.cluster)
		}
		clusters[o.cluster] += w
		if yes {
			hits += w
		}
	}
	if n == 0 {
		return Share{}
	}
	effective := kish(weight, clusters, order)
	low, high := judge.Wilson(min(hits/weight, 1), effective)
	return rounded(n, effective, hits/weight, low, high)
}

// kish is the effective number of clusters of unequal weights.
func kish(weight float64, clusters map[int32]float64, order []int32) float64 {
	squares := 0.0
	for _, c := range order {
		squares += float64(clusters[c] * clusters[c])
	}
	return weight * weight / squares
}

func rounded(n int, effective, value, low, high float64) Share {
	value, low, high = datasets.Round(value), datasets.Round(low), datasets.Round(high)
	return Share{N: n, Effective: datasets.Round(effective), Value: &value, Low: &low, High: &high}
}

// lost is the share of valid queries that were rejected: each group's share of
// valid ones times its size. For a bound each group is taken at that of its own
// bounds which lowers or raises the share most, so it is wide. Nil where nothing
// was rejected, or a group has no label.
func lost(a *Audit) *datasets.Interval {
	if a.Rejected.All.Cases == 0 {
		return nil
	}
	var valid [3]datasets.Interval // rejected, kept, held: queries
	for i, g := range []*Figures{&a.Rejected.All, &a.Kept.All, &a.Held.All} {
		if g.Cases == 0 {
			continue
		}
		if g.Valid.N == 0 {
			return nil
		}
		size := float64(g.Cases)
		valid[i] = datasets.Interval{Value: size * *g.Valid.Value, Low: size * *g.Valid.Low, High: size * *g.Valid.High}
	}
	if valid[0].Value+valid[1].Value+valid[2].Value == 0 {
		return nil
	}
	part := func(rejected, others float64) float64 { return datasets.Round(rejected / (rejected + others)) }
	return &datasets.Interval{
		Value: part(valid[0].Value, valid[1].Value+valid[2].Value),
		Low:   part(valid[0].Low, valid[1].High+valid[2].High),
		High:  part(valid[0].High, valid[1].Low+valid[2].Low),
	}
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// outside counts labelled queries of the set that the sample does not hold.
func outside(f *Frame, s *Sample, people []Person) (n int) {
	in := map[string]bool{}
	for i := range s.Items {
		in[s.Items[i].Key] = true
	}
	for i := range f.Items {
		key := f.Items[i].Key
		said := func(p Person) bool { return len(p.Said[key]) > 0 }
		if !in[key] && slices.ContainsFunc(people, said) {
			n++
			in[key] = true
		}
	}
	return n
}
