package eval

import (
	"errors"
	"fmt"
	"slices"
)

// Evaluate scores every case and sums up. An error names the case and the
// rank or label: NaN or infinite scores, a grade below Unknown, a probability
// outside [0, 1], an id labelled twice, a measure that the labels cannot give.
func Evaluate(in Input) (*Result, error) {
	s, err := newScores(in)
	if err != nil {
		return nil, err
	}
	s.scoreAll()
	return s.result(), nil
}

// newScores checks the input and makes everything ready for scoring.
func newScores(in Input) (*scores, error) {
	if err := in.validate(); err != nil {
		return nil, err
	}
	if err := errors.Join(CheckConditions(in.Measures, in.sliced()), in.checkGains()); err != nil {
		return nil, err
	}
	p, err := prepare(&in)
	if err != nil {
		return nil, err
	}
	s := &scores{in: in, prepared: p, clusters: newClusters(in.Cases), drawn: !in.bySpan() && uncertain(in.Cases), everyScore: hasEveryScore(in.Cases)}
	if s.drawn {
		if err := checkDrawn(in.Measures, in.MinGrade); err != nil {
			return nil, err
		}
	} else {
		settle(&in, p)
	}
	s.measures = withHidden(in.Measures, len(p.stale) > 0)
	s.groups = s.group()
	s.memoryOf = s.memoryGroups()
	return s, nil
}

func (in *Input) validate() error {
	if len(in.Cases) == 0 {
		return errors.New("no case to score")
	}
	if len(in.Measures) == 0 {
		return errors.New("no measure was asked for")
	}
	if in.MinGrade < 1 || in.MinGrade > maxGrade {
		return fmt.Errorf("least relevant grade %d: want 1 to %d", in.MinGrade, maxGrade)
	}
	for _, d := range in.sliced() {
		if d.len() != len(in.Cases) {
			return fmt.Errorf("slices by %s: %d values for %d cases", d.Name, d.len(), len(in.Cases))
		}
	}
	return errors.Join(in.checkTopics(), checkDistinct(in.Cases))
}

// checkDistinct reports a case that is there twice. Cases in the order of their
// ids, as most are, need no map.
func checkDistinct(cases []Case) error {
	ascending := true
	for i := 1; i < len(cases) && ascending; i++ {
		ascending = cases[i-1].ID < cases[i].ID
	}
	if ascending {
		return nil
	}
	seen := make(map[string]struct{}, len(cases))
	for i := range cases {
		if _, twice := seen[cases[i].ID]; twice {
			return fmt.Errorf("case %s: in the input twice", cases[i].ID)
		}
		seen[cases[i].ID] = struct{}{}
	}
	return nil
}

// scores is everything between the input and the result.
type scores struct {
	in         Input
	prepared   *prepared
	clusters   *clusters
	drawn      bool      // labels are uncertain
	everyScore bool      // no result is without a score
	measures   []Measure // those asked for, then the hidden ones
	groups     []group
	memoryOf   []group   // by kind of scope
	ties       *tieMoves // nil where no case has a tie
	values     *matrix   // by case; means over draws where labels are uncertain
	counted    Counts
}

// group is a list of cases that gets means: all of them, or a slice.
type group struct {
	dimension int // -1 for all
	value     int
	cases     []int32     // sorted by cluster
	moments   []moments   // by step
	ties      [][]tieMean // by step asked for, then draw; nil where no case has a tie
}

// Hidden measures that the hints need. They stand behind those that groups show;
// two counts of stale results may follow.
const (
	hiddenFirst = iota // success@1
	hiddenTen          // success@10
)

// withHidden adds what is computed unasked: a residual for each rbp, which
// groups show, and the hidden measures.
func withHidden(asked []Measure, stale bool) []Measure {
	out := slices.Clone(asked)
	for _, m := range asked {
		if m.kind == rbp {
			m.kind = rbpRest
			out = append(out, m)
		}
	}
	out = append(out, Measure{kind: success, k: 1}, Measure{kind: success, k: 10})
	if stale {
		out = append(out, Measure{kind: staleAbove}, Measure{kind: staleCase})
	}
	return out
}

// shown is how many of the measures groups show: those asked for, and the
// residuals of rbp.
func (s *scores) shown() int {
	n := len(s.in.Measures)
	for i := range s.in.Measures {
		n += btoi(s.in.Measures[i].kind == rbp)
	}
	return n
}

// group lists the cases of every group: first all, then the slices in order.
func (s *scores) group() []group {
	all := group{dimension: -1}
	for _, i := range s.clusters.order {
		if !s.in.Cases[i].Abstain {
			all.cases = append(all.cases, i)
		}
	}
	groups := []group{all}
	for d := range s.in.Dimensions {
		groups = append(groups, slicesOf(&s.in.Dimensions[d], d, all.cases)...)
	}
	return groups
}

// slicesOf distributes the cases over a dimension's values and keeps their
// order. A case that has a value twice counts once.
func slicesOf(dim *Dimension, d int, cases []int32) []group {
	sizes := make([]int, len(dim.values))
	for _, i := range cases {
		for _, code := range dim.of(int(i)) {
			sizes[code]++
		}
	}
	groups := make([]group, len(dim.values))
	for v := range groups {
		groups[v] = group{dimension: d, value: v, cases: make([]int32, 0, sizes[v])}
	}
	for _, i := range cases {
		for _, code := range dim.of(int(i)) {
			g := &groups[code]
			if n := len(g.cases); n == 0 || g.cases[n-1] != i {
				g.cases = append(g.cases, i)
			}
		}
	}
	return slices.DeleteFunc(groups, func(g group) bool { return len(g.cases) == 0 })
}

// scoreAll fills values and the groups' moments.
func (s *scores) scoreAll() {
	n := len(s.in.Cases)
	pl := newPlan(&s.in, s.measures, s.prepared, s.drawn)
	s.ties = newTieMoves(s.prepared, len(s.in.Measures))
	pl.ties = s.ties
	s.values = newMatrix(n, len(s.measures))
	if s.drawn {
		s.scoreDraws(pl)
		return
	}
	pl.score(s.prepared, s.prepared.grades, s.values)
	s.addMoments(s.values)
}

// addMoments gives every group its moments, dimension by dimension.
func (s *scores) addMoments(m *matrix) {
	dimensions := len(s.in.Dimensions)
	parallel(1+dimensions+len(s.memoryOf), func(task int) {
		if task > dimensions {
			g := &s.memoryOf[task-1-dimensions]
			s.give(g, m, momentsOf(m, g.cases, s.clusters.of)[:s.shown()])
			return
		}
		t := s.sumsBy(m, task-1)
		for g := range s.groups {
			if group := &s.groups[g]; group.dimension == task-1 {
				s.give(group, m, t.moments(int32(group.value)))
			}
		}
	})
}

func (s *scores) give(g *group, m *matrix, of []moments) {
	g.moments = of
	g.addTies(s.ties, m, of)
}
