package main

import (
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// agreement is how a prior that never saw a collection orders the variants
// there, beside people: numbers of pairs of variants.
type agreement struct {
	collection, how string
	shift           float64 // variance that was allowed for; of several draws of labels, the sum
	draws           int

	people    int // that people separate
	both      int // of them, separated by the labels
	against   int // of these, the other way round
	separated int // by the labels
	right     int // of them, ordered by people the same
}

func (a *agreement) add(b agreement) {
	a.collection, a.how = b.collection, b.how
	a.shift += b.shift
	a.draws += b.draws
	a.people += b.people
	a.both += b.both
	a.against += b.against
	a.separated += b.separated
	a.right += b.right
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// metric is what agreement is looked at by.
const metric = "ndcg@10"

// verdict of a pair of variants: which is better, if that is significant, and by
// how much.
type verdict struct {
	difference float64
	sign       int // -1, 0 (cannot tell), 1
}

func (s *study) agree() error {
	for i, l := range s.left {
		fmt.Fprintf(s.progress, "%s: agreement\n", l.m.Name)
		n, err := s.nest(i)
		if err != nil {
			return err
		}
		rows, err := l.agree(n.shift)
		if err != nil {
			return fmt.Errorf("%s: %w", l.m.Name, err)
		}
		own, err := l.agreeFitted(n)
		if err != nil {
			return fmt.Errorf("%s: %w", l.m.Name, err)
		}
		s.agreement, s.fitted = append(s.agreement, rows...), append(s.fitted, own...)
		covered, err := l.cover(n.shift)
		if err != nil {
			return fmt.Errorf("%s: %w", l.m.Name, err)
		}
		s.covered = append(s.covered, covered...)
	}
	return nil
}

// nest measures the shift variance on the collections but i.
func (s *study) nest(i int) (nested, error) {
	others := without(s.all, i)
	var left []leftOut
	for j := range others {
		model, err := s.fitPrior(without(others, j), middlePenalty)
		if err != nil {
			return nested{}, err
		}
		shift, err := shiftOn(others[j], model, metric+",precision@10", modes()...)
		if err != nil {
			return nested{}, err
		}
		left = append(left, leftOut{shift: shift})
	}
	after, err := s.after(others)
	return nested{shipped(left), after}, err
}

// shiftIn is the shift variance of metric under a source mode.
func shiftIn(shift []judge.ShiftVariance, mode datasets.SourceMode) float64 {
	for _, v := range shift {
		if v.Metric == metric && v.Source == string(mode) {
			return v.Variance
		}
	}
	return 0
}

func (l *leftOut) agree(shift []judge.ShiftVariance) ([]agreement, error) {
	people, err := l.verdicts(func(q *pooled) []eval.Label { return l.humanLabels(q) }, "", 0)
	if err != nil {
		return nil, err
	}
	source, err := l.verdicts(func(q *pooled) []eval.Label { return l.sourceLabels(q) }, "", 0)
	if err != nil {
		return nil, err
	}
	rows := []agreement{compareVerdicts(people, source)}
	rows[0].how = "source only"
	probabilities := l.m.probabilities(l.model)
	for _, mode := range modes() {
		labels := func(q *pooled) []eval.Label { return q.uncertain(probabilities[q.id], mode) }
		if mode == datasets.SourceIn {
			found, err := l.verdicts(labels, mode, 0)
			if err != nil {
				return nil, err
			}
			rows = append(rows, compareVerdicts(people, found))
			rows[len(rows)-1].how = "prior, source in, without the shift variance"
		}
		found, err := l.verdicts(labels, mode, shiftIn(shift, mode))
		if err != nil {
			return nil, err
		}
		plain, ruled := compareVerdicts(people, found), compareVerdicts(people, sameSign(found, source))
		plain.shift, ruled.shift = shiftIn(shift, mode), shiftIn(shift, mode)
		plain.how = fmt.Sprintf("prior, source %s", mode)
		ruled.how = plain.how + ", and source-only agrees in sign"
		rows = append(rows, plain, ruled)
	}
	for i := range rows {
		rows[i].collection = l.m.Name
	}
	return rows, nil
}

func (l *leftOut) humanLabels(q *pooled) []eval.Label {
	c := l.m.caseOf(q, nil, l.m.Qrels[q.id], "", q.id)
	return c.Labels
}

func (l *leftOut) sourceLabels(q *pooled) []eval.Label {
	c := l.m.caseOf(q, nil, map[string]int{q.source: 1}, "", q.id)
	return c.Labels
}

func (q *pooled) uncertain(p []judge.Probability, mode datasets.SourceMode) []eval.Label {
	var out []eval.Label
	for i, id := range q.ids {
		switch {
		case id == q.source && mode == datasets.SourceOut:
		case id == q.source && mode == datasets.SourceIn:
			out = append(out, eval.Label{ID: id, Grade: 1})
		default:
			out = append(out, eval.Label{ID: id, Uncertain: &eval.Probability{P: p[i].P, Draws: p[i].Draws}})
		}
	}
	if _, pooled := q.at(q.source); !pooled && mode == datasets.SourceIn {
		out = append(out, eval.Label{ID: q.source, Grade: 1})
	}
	return out
}

// verdicts compares every two variants under labels.
func (l *leftOut) verdicts(labels func(*pooled) []eval.Label, mode datasets.SourceMode, shift float64) ([]verdict, error) {
	measures, err := eval.ParseMeasures(metric)
	if err != nil {
		return nil, err
	}
	inputs := make([]eval.Input, len(l.m.variants))
	for v := range inputs {
		inputs[v] = eval.Input{Cases: l.casesOf(v, labels, mode), Measures: measures, MinGrade: 1, Seed: seed}
	}
	out := make([]verdict, len(inputs)*(len(inputs)-1)/2)
	var group errgroup.Group
	group.SetLimit(2)
	n := 0
	for a := range inputs {
		for b := range a {
			at := n
			group.Go(func() (err error) {
				out[at], err = decide(inputs[b], inputs[a], shift)
				return err
			})
			n++
		}
	}
	return out, group.Wait()
}

func (l *leftOut) casesOf(variant int, labels func(*pooled) []eval.Label, mode datasets.SourceMode) []eval.Case {
	cases := make([]eval.Case, len(l.m.queries))
	for i := range l.m.queries {
		q := &l.m.queries[i]
		dropped := ""
		if mode == datasets.SourceOut {
			dropped = q.source
		}
		cases[i] = l.m.caseOf(q, l.m.rankings[variant][i], nil, dropped, q.id)
		cases[i].Labels = labels(q)
	}
	return cases
}

func decide(base, candidate eval.Input, shift float64) (verdict, error) {
	c, err := eval.Compare(eval.CompareInput{
		Base: base, Candidate: candidate, Seed: seed, Shift: func(eval.Measure) float64 { return shift },
	})
	if err != nil {
		return verdict{}, err
	}
	d, ok := c.Metrics.Get(metric)
	if !ok || d.Difference == nil {
		return verdict{}, fmt.Errorf("no difference: %v %s", c.Differs, d.Why)
	}
	v := verdict{difference: *d.Difference}
	if d.P != nil && *d.P < 0.05 {
		v.sign = int(math.Copysign(1, v.difference))
	}
	return v, nil
}

// sameSign takes back what source-only labels order the other way.
func sameSign(found, source []verdict) []verdict {
	out := make([]verdict, len(found))
	for i, v := range found {
		out[i] = v
		if v.difference*source[i].difference <= 0 {
			out[i].sign = 0
		}
	}
	return out
}

func compareVerdicts(people, labels []verdict) agreement {
	a := agreement{draws: 1}
	for i, v := range labels {
		if people[i].sign != 0 {
			a.people++
		}
		if v.sign == 0 {
			continue
		}
		a.separated++
		if float64(v.sign)*people[i].difference > 0 {
			a.right++
		}
		if people[i].sign != 0 {
			a.both++
			if people[i].sign != v.sign {
				a.against++
			}
		}
	}
	return a
}
