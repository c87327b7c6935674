package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Measures of answers: each is a mean over cases of values in [0, 1]. They are
// kept apart from those of rankings.
const (
	Faithfulness      = "faithfulness"       // share of an answer's claims that the context supports
	AnswerRelevance   = "answer_relevance"   // the answer addresses the query
	CitationPrecision = "citation_precision" // share of an answer's citations that support a claim at which they stand
	CitationRecall    = "citation_recall"    // share of an answer's claims that their citations support
	Correctness       = "correctness"        // the answer says what the reference says; abstaining or no answer is 0
	RightAbstention   = "right_abstention"   // abstained where the case expects it, answered elsewhere
)

// AnswerMeasures lists the measures of answers in the order of the result.
func AnswerMeasures() []string {
	return []string{Faithfulness, AnswerRelevance, CitationPrecision, CitationRecall, Correctness, RightAbstention}
}

// Judged is one thing that was asked about an answer: a value in [0, 1], or the
// reason why there is none. Both are empty where it was not asked.
type Judged struct {
	Value   *float64
	Unknown string
}

// JudgedClaim is one claim of an answer.
type JudgedClaim struct {
	Support   Judged // by the context
	Cited     bool
	CitedWell Judged // by its citations together
}

// AnswerCase is one case with what was found about a system's answer to it.
type AnswerCase struct {
	ID         string
	Abstain    bool        // the case expects abstention
	Background *Background // clusters are made of it
	Given      bool        // there was an answer, an empty one included
	Reference  string      // what correctness was judged against, "" none
	Abstained  Judged
	Empty      bool // the system says that it answered, and the answer is blank
	Claims     []JudgedClaim
	Citations  []Judged
	Relevance  Judged
	Correct    Judged
}

// AnswersInput is everything that EvaluateAnswers looks at.
type AnswersInput struct {
	Cases      []AnswerCase
	Dimensions []Dimension // slices, each over all of Cases
}

// AnswerMetric is one measure's mean over the cases that have a value.
type AnswerMetric struct {
	Metric
	Unknown int `json:"unknown"` // cases for which it was asked and not found out
}

// NamedAnswerMetric is a metric under its measure's name.
type NamedAnswerMetric struct {
	Name string
	AnswerMetric
}

// AnswerMetrics is a JSON object whose keys keep their order.
type AnswerMetrics []NamedAnswerMetric

// Get returns the metric of that name.
func (m AnswerMetrics) Get(name string) (AnswerMetric, bool) {
	for _, x := range m {
		if x.Name == name {
			return x.AnswerMetric, true
		}
	}
	return AnswerMetric{}, false
}

// MarshalJSON writes an object with the keys in order.
func (m AnswerMetrics) MarshalJSON() ([]byte, error) {
	return marshalOrdered(len(m), func(i int) (string, any) { return m[i].Name, m[i].AnswerMetric })
}

// UnmarshalJSON reads an object and keeps the order of its keys.
func (m *AnswerMetrics) UnmarshalJSON(data []byte) error {
	*m = nil
	return unmarshalOrdered(data, func(key string, d *json.Decoder) error {
		x := NamedAnswerMetric{Name: key}
		err := d.Decode(&x.AnswerMetric)
		*m = append(*m, x)
		return err
	})
}

// AnswerSlice is one value of a dimension.
type AnswerSlice struct {
	N       int           `json:"n"` // cases
	Metrics AnswerMetrics `json:"metrics"`
}

// AnswerCounts are figures that stand beside the means.
type AnswerCounts struct {
	Cases         int            `json:"cases"`
	Answered      int            `json:"answered"`
	Abstained     int            `json:"abstained"`
	Undecided     int            `json:"undecided"` // whether it abstained is unknown
	Missing       int            `json:"missing"`   // cases without an answer
	ExpectAbstain int            `json:"expected_abstention"`
	Claims        int            `json:"claims"`
	Supported     int            `json:"supported"`
	NotSupported  int            `json:"not_supported"`
	UnknownClaims int            `json:"unknown_claims"`
	Citations     int            `json:"citations"`
	References    map[string]int `json:"references"` // cases by what correctness is judged against
	NoContext     int            `json:"no_context"` // answers that came without a context
}

// AnswersResult is what eval knows of a system's answers. It bears no number of
// retrieval.
type AnswersResult struct {
	Metrics  AnswerMetrics                      `json:"metrics"`
	Slices   map[string]map[string]*AnswerSlice `json:"slices"`
	Counts   AnswerCounts                       `json:"counts"`
	Cluster  string                             `json:"cluster"`
	Clusters int                                `json:"clusters"`
	Interval string                             `json:"interval"`

	values   *matrix
	unknown  [][]bool
	clusters *clusters
	groups   []group
	in       *AnswersInput
}

// share is how the measures of answers become one: a mean of values in [0, 1].
var share = Measure{Name: "share", kind: success, k: 1}

// EvaluateAnswers makes means with cluster t intervals of what was found about
// answers, over all cases and by slice.
func EvaluateAnswers(in AnswersInput) (*AnswersResult, error) {
	if len(in.Cases) == 0 {
		return nil, fmt.Errorf("no case to evaluate")
	}
	r := &AnswersResult{in: &in, Interval: "95 % t over clusters", Slices: map[string]map[string]*AnswerSlice{}}
	r.fill()
	r.cluster()
	r.Metrics = r.metricsOf(&r.groups[0])
	for i := range r.groups[1:] {
		g := &r.groups[i+1]
		d := &in.Dimensions[g.dimension]
		if r.Slices[d.Name] == nil {
			r.Slices[d.Name] = map[string]*AnswerSlice{}
		}
		r.Slices[d.Name][cmp.Or(d.values[g.value], noValue)] = &AnswerSlice{N: len(g.cases), Metrics: r.metricsOf(g)}
	}
	r.Counts = countAnswers(in.Cases)
	return r, nil
}

// fill computes every case's values.
func (r *AnswersResult) fill() {
	n, width := len(r.in.Cases), len(AnswerMeasures())
	r.values, r.unknown = newMatrix(n, width), make([][]bool, n)
	cites := slices.ContainsFunc(r.in.Cases, func(c AnswerCase) bool { return len(c.Citations) > 0 })
	for i := range r.in.Cases {
		r.unknown[i] = make([]bool, width)
		for j, v := range r.in.Cases[i].values(cites) {
			r.values.row(i)[j] = math.NaN()
			if v.Value != nil {
				r.values.row(i)[j] = *v.Value
			}
			r.unknown[i][j] = v.Unknown != ""
		}
	}
}

func (r *AnswersResult) cluster() {
	cases := make([]Case, len(r.in.Cases))
	for i := range cases {
		cases[i] = Case{ID: r.in.Cases[i].ID, Background: r.in.Cases[i].Background}
	}
	r.clusters = newClusters(cases)
	r.Cluster, r.Clusters = r.clusters.what, r.clusters.n
	r.groups = []group{{dimension: -1, cases: r.clusters.order}}
	for d := range r.in.Dimensions {
		r.groups = append(r.groups, slicesOf(&r.in.Dimensions[d], d, r.clusters.order)...)
	}
}

func (r *AnswersResult) metricsOf(g *group) AnswerMetrics {
	var out AnswerMetrics
	for j, m := range momentsOf(r.values, g.cases, r.clusters.of) {
		x := NamedAnswerMetric{Name: AnswerMeasures()[j], AnswerMetric: AnswerMetric{Metric: metric(&share, m)}}
		for _, i := range g.cases {
			x.Unknown += btoi(r.unknown[i][j])
		}
		if x.N == 0 && x.Unknown > 0 {
			x.Why = fmt.Sprintf("unknown for all %d cases that have one", x.Unknown)
		}
		out = append(out, x)
	}
	return out
}

// Cases are the values of each case; a measure without a value is left out.
func (r *AnswersResult) Cases() []CaseScore {
	out := make([]CaseScore, len(r.in.Cases))
	for i := range out {
		out[i] = CaseScore{CaseID: r.in.Cases[i].ID, Metrics: Values{}}
		for j, v := range r.values.row(i) {
			if v == v {
				out[i].Metrics = append(out[i].Metrics, Value{Name: AnswerMeasures()[j], Value: v})
			}
		}
	}
	return out
}

// Unknown reports whether a case's value was asked for and not found out.
func (r *AnswersResult) Unknown(i int, measure string) bool {
	j := slices.Index(AnswerMeasures(), measure)
	return j >= 0 && r.unknown[i][j]
}
