package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// noValue is how a slice without a name is shown.
const noValue = "(none)"

// result puts the answer together.
func (s *scores) result() *Result {
	in := &s.in
	s.counted = s.counts()
	r := &Result{
		Golden: in.Golden, Trust: in.Trust, TrustDetail: in.TrustDetail, Retriever: in.Retriever,
		Conventions:  s.conventions(),
		Metrics:      s.metricsOf(&s.groups[0]),
		Slices:       s.sliceResults(),
		Leaks:        nonNil(findLeaks(in)),
		FilterErrors: nonNil(collect(in, filterErrorsOf)),
		Abstention:   s.abstention(),
		Memory:       s.memory(),
		Failed:       s.failures(),
		Latency:      latencyOf(in.Cases),
		Counts:       s.counted,
		scores:       s,
	}
	for _, st := range s.values.states {
		if st == missing || st == failed {
			r.Missing++
		}
	}
	r.Saturated = s.saturated()
	r.Hints = nonNil(s.hints())
	r.Notes = nonNil(s.notes())
	return r
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func (s *scores) metricsOf(g *group) Metrics {
	out := make(Metrics, len(s.in.Measures))
	residual := len(s.in.Measures)
	for j := range s.in.Measures {
		m := &s.in.Measures[j]
		out[j] = NamedMetric{Name: m.Name, Metric: metric(m, g.moments[j])}
		if out[j].Mean == nil {
			out[j].Why = s.whyNone(m)
		}
		s.addTieBounds(&out[j].Metric, g, j)
		if m.kind == rbp {
			out[j].Residual = metric(m, g.moments[residual]).Mean
			residual++
		}
	}
	return out
}

// whyNone says why a measure has no mean.
func (s *scores) whyNone(m *Measure) string {
	switch {
	case isSpanKind(m.kind) && s.in.Source == sourceOut:
		return "the evidence stands in the source, which --source out takes out"
	case isSpanKind(m.kind):
		return "no case has evidence and results whose place is known"
	case s.in.bySpan():
		return "the rankings are spans, and labels are of chunks: ask for span_recall@k, span_precision@k or span_iou@k"
	}
	return "no case has a value"
}

func (s *scores) sliceResults() Slices {
	out := make(Slices, len(s.in.Dimensions))
	for d := range s.in.Dimensions {
		out[d].Name = s.in.Dimensions[d].Name
		out[d].Slices = []Slice{}
	}
	for i := range s.groups[1:] {
		g := &s.groups[i+1]
		value := s.in.Dimensions[g.dimension].values[g.value]
		by := &out[g.dimension]
		by.Slices = append(by.Slices, Slice{Value: cmp.Or(value, noValue), N: s.scoredIn(g), Metrics: s.metricsOf(g)})
	}
	return out
}

func (s *scores) scoredIn(g *group) int {
	n := 0
	for _, i := range g.cases {
		if s.values.states[i] != dropped {
			n++
		}
	}
	return n
}

func (s *scores) conventions() Conventions {
	c := Conventions{
		MinGrade: s.in.MinGrade, Source: s.in.Source, SourceOnly: s.in.SourceOnly, K: s.in.K, Unit: s.in.Unit,
		Order:       "as given; later occurrences of an id dropped",
		Empty:       "dropped",
		NDCG:        "linear gain, ideal from the judgments cut at k",
		Labels:      "certain",
		Cluster:     s.clusters.what,
		Clusters:    s.groups[0].clusters(s),
		Interval:    "95 % t over clusters",
		Percentiles: "nearest rank",
		Pins:        s.in.Pins,
	}
	if s.in.KeepEmpty {
		c.Empty = "scores 0"
	}
	if s.in.bySpan() {
		c.NDCG, c.Labels = "none", "none: rankings are spans, scored against the evidence"
	}
	if HasSpanMeasure(s.in.Measures) {
		c.SpanUnit = cmp.Or(s.in.SpanUnit, SpanBytes)
	}
	if s.drawn {
		c.NDCG = "gains 1 and 0, ideal from the labels of the draw cut at k"
		c.Labels = fmt.Sprintf("%d draws, seed %d", drawCount, s.in.Seed)
		c.Interval = "95 % t over clusters and label draws, W + (1 + 1/m) B, Satterthwaite's degrees of freedom"
	}
	return c
}

// clusters counts those that have a case in the group.
func (g *group) clusters(s *scores) int {
	n, last := 0, int32(-1)
	for _, i := range g.cases {
		if of := s.clusters.of[i]; of != last {
			n, last = n+1, of
		}
	}
	return n
}

func (s *scores) counts() Counts {
	n := Counts{Cases: len(s.in.Cases), Duplicates: s.in.Duplicates, Unplaced: Unplaced(s.in.Cases)}
	p := s.prepared
	for i := range p.facts {
		f := &p.facts[i]
		switch s.values.states[i] {
		case abstain:
			n.Abstain++
		case dropped:
			n.Dropped++
		default:
			n.Scored++
		}
		n.Duplicates += int(f.duplicates)
		if f.rising {
			n.Nonmonotone++
		}
		if s.values.states[i] != abstain {
			s.countResults(i, &n)
		}
	}
	return n
}

func (s *scores) countResults(i int, n *Counts) {
	p := s.prepared
	for _, at := range p.hits[p.hitStart[i] : p.hitStart[i]+int(p.facts[i].results)] {
		n.Results++
		switch {
		case at == unlabelledHit:
			n.Unjudged++
		case p.grades[p.labelStart[i]+int(at)] == Unknown:
			n.Unknown++
		default:
			n.Judged++
		}
	}
}

func (s *scores) failures() []Failure {
	out := []Failure{}
	for i := range s.in.Cases {
		if c := &s.in.Cases[i]; c.Failed != "" {
			out = append(out, Failure{Case: c.ID, Error: c.Failed})
		}
	}
	return out
}

func (s *scores) notes() []string {
	var notes []string
	if s.clusters.note != "" {
		notes = append(notes, s.clusters.note)
	}
	if s.in.SourceOnly > 0 {
		notes = append(notes, casesWord(s.in.SourceOnly)+" read as --source in: nobody else judged their source")
	}
	switch {
	case s.counted.Scored > 0:
	case s.in.bySpan() && !slices.ContainsFunc(s.in.Cases, func(c Case) bool { return len(c.Background.Evidence) > 0 }):
		notes = append(notes, "no case has evidence, which spans are scored against: nothing could be scored; answer with chunk ids, or import the cases with evidence")
	default:
		notes = append(notes, "no case has a relevant label: nothing could be scored")
	}
	return notes
}

// latencyOf takes nearest-rank percentiles of the known times.
func latencyOf(cases []Case) *Latency {
	var took []time.Duration
	for i := range cases {
		if cases[i].Took > 0 {
			took = append(took, cases[i].Took)
		}
	}
	if len(took) == 0 {
		return nil
	}
	slices.Sort(took)
	at := func(share float64) float64 {
		rank := max(1, int(math.Ceil(float64(share*float64(len(took))))))
		return float64(took[rank-1]) / float64(time.Millisecond)
	}
	return &Latency{P50: at(0.50), P95: at(0.95), P99: at(0.99), N: len(took)}
}
