package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/goldgen/goldgen/corpus"
)

// Header says what was scored. Evaluate passes it on.
type Header struct {
	Golden       *GoldenRef     `json:"golden"`       // nil for TREC files
	Trust        string         `json:"trust"`        // datasets.TrustNone ...
	TrustDetail  string         `json:"trust_detail"` // the figures behind it, in words
	Retriever    RetrieverRef   `json:"retriever"`
	Source       string         `json:"-"` // in, judged, out; "" where there is none
	SourceOnly   int            `json:"-"` // cases read as `in` because nobody else judged their source
	K            []int          `json:"-"`
	Corpus       string         `json:"-"` // digest of the corpus rows, "" unknown
	Unit         string         `json:"-"` // of what is ranked: document, chunk ...
	SpanUnit     string         `json:"-"` // that span measures count in: SpanTokens, or SpanBytes (also "")
	FalseAnswers *float64       `json:"-"` // rate that the abstention threshold meets; nil means DefaultFalseAnswers
	Pins         map[string]any `json:"-"` // further conventions, shown as they stand
}

// GoldenRef names the set that was scored.
type GoldenRef struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Ref     string `json:"ref"` // handbook@v3
	Path    string `json:"path"`
	Digest  string `json:"digest"`
}

// RetrieverRef names what made the rankings.
type RetrieverRef struct {
	Spec   string         `json:"spec"`
	Name   string         `json:"name"`
	Kind   string         `json:"kind,omitempty"` // bm25, dense, http ...; "" means that Spec begins with it
	Config map[string]any `json:"config,omitempty"`
}

// Result is what eval knows after scoring one retriever: the answer of
// `goldgen eval --json`.
type Result struct {
	Golden       *GoldenRef      `json:"golden"`
	Trust        string          `json:"trust"`
	TrustDetail  string          `json:"trust_detail"`
	Retriever    RetrieverRef    `json:"retriever"`
	Conventions  Conventions     `json:"conventions"`
	Metrics      Metrics         `json:"metrics"`
	BySource     []SourceMetrics `json:"metrics_by_source,omitempty"` // under the other source modes, see AddSources
	Slices       Slices          `json:"slices"`
	Leaks        []Leak          `json:"leaks"`
	FilterErrors []FilterError   `json:"filter_errors"`
	Abstention   *Abstention     `json:"abstention"`
	Memory       *Memory         `json:"memory,omitempty"` // nil where no case is about memory
	Missing      int             `json:"missing"`          // cases with no result; they score 0
	Failed       []Failure       `json:"failed"`           // queries that the retriever answered with an error
	Latency      *Latency        `json:"latency_ms"`       // nil where no times are known
	Counts       Counts          `json:"counts"`
	Saturated    bool            `json:"saturated"` // so near 1 that the set cannot show a regression
	Hints        []string        `json:"hints"`
	Notes        []string        `json:"notes"`               // what a reader must know of the numbers
	Diagnosis    *Diagnosis      `json:"diagnosis,omitempty"` // where it was asked for
	Cases        []CaseScore     `json:"cases,omitempty"`

	scores *scores
}

// Conventions are the choices that two results must share to be comparable.
type Conventions struct {
	MinGrade    int            `json:"min_grade"`
	Source      string         `json:"source,omitempty"`
	SourceOnly  int            `json:"source_only_cases,omitempty"`
	K           []int          `json:"k,omitempty"`
	Unit        string         `json:"unit,omitempty"`      // of what is ranked; see UnitSpans
	SpanUnit    string         `json:"span_unit,omitempty"` // of span measures, where any was asked for
	Order       string         `json:"order"`
	Empty       string         `json:"nothing_relevant"` // zero or dropped
	NDCG        string         `json:"ndcg"`
	Labels      string         `json:"labels"`
	Cluster     string         `json:"cluster"`
	Clusters    int            `json:"clusters"`
	Interval    string         `json:"interval"`
	Percentiles string         `json:"percentiles"`
	Pins        map[string]any `json:"pins,omitempty"`
}

// Counts are figures about the input that stand beside the means.
type Counts struct {
	Cases       int `json:"cases"`            // all, abstention included
	Scored      int `json:"scored"`           // in the means
	Dropped     int `json:"nothing_relevant"` // left out, or scoring 0: see conventions
	Abstain     int `json:"abstain"`
	Results     int `json:"results"`     // after duplicates were dropped
	Judged      int `json:"judged"`      // of Results
	Unknown     int `json:"unknown"`     // of Results: a label asked for and not given
	Unjudged    int `json:"unjudged"`    // of Results: no label at all
	Unplaced    int `json:"unplaced"`    // results that stand nowhere that is known: no leak can be seen among them
	Duplicates  int `json:"duplicates"`  // results dropped because their id came before
	Nonmonotone int `json:"nonmonotone"` // cases whose scores rise along the ranking
}

// Metric is one measure's mean. Low and High are nil where there is no
// interval; Why says why. Residual belongs to rbp. Least and Most are the least
// and the greatest mean that reordering results of equal score can give, and
// Expected the mean over all such orders; they are nil where the retriever
// gives no scores, and where the measure has no such bound or expectation.
// TiedAtCut counts the cases whose ranks k and k+1 have the same score.
type Metric struct {
	Mean      *float64 `json:"mean"` // nil where no case has a value
	N         int      `json:"n"`
	Low       *float64 `json:"low"`
	High      *float64 `json:"high"`
	Least     *float64 `json:"tie_low"`
	Most      *float64 `json:"tie_high"`
	Expected  *float64 `json:"tie_expected"`
	TiedAtCut int      `json:"tied_at_cut"`
	Residual  *float64 `json:"residual,omitempty"`
	Why       string   `json:"why,omitempty"`
}

// NamedMetric is a metric under the name that was asked for.
type NamedMetric struct {
	Name string
	Metric
}

// Metrics is a JSON object whose keys keep their order.
type Metrics []NamedMetric

// Get returns the metric of that name.
func (m Metrics) Get(name string) (Metric, bool) {
	for _, x := range m {
		if x.Name == name {
			return x.Metric, true
		}
	}
	return Metric{}, false
}

// MarshalJSON writes an object with the keys in order.
func (m Metrics) MarshalJSON() ([]byte, error) {
	return marshalOrdered(len(m), func(i int) (string, any) { return m[i].Name, m[i].Metric })
}

// UnmarshalJSON reads an object and keeps the order of its keys.
func (m *Metrics) UnmarshalJSON(data []byte) error {
	*m = nil
	return unmarshalOrdered(data, func(key string, d *json.Decoder) error {
		x := NamedMetric{Name: key}
		err := d.Decode(&x.Metric)
		*m = append(*m, x)
		return err
	})
}

// Slice is one value of a dimension.
type Slice struct {
	Value   string  `json:"-"`
	N       int     `json:"n"` // cases, abstention left out
	Metrics Metrics `json:"metrics"`
}

// SliceBy holds the slices of one dimension, ordered by value.
type SliceBy struct {
	Name   string
	Slices []Slice
}

// Slices is a JSON object: dimension, then value.
type Slices []SliceBy

// Get returns the slices of one dimension.
func (s Slices) Get(name string) []Slice {
	for _, by := range s {
		if by.Name == name {
			return by.Slices
		}
	}
	return nil
}

// MarshalJSON writes an object of objects with the keys in order.
func (s Slices) MarshalJSON() ([]byte, error) {
	return marshalOrdered(len(s), func(i int) (string, any) { return s[i].Name, s[i] })
}

// MarshalJSON writes one dimension's values as an object.
func (b SliceBy) MarshalJSON() ([]byte, error) {
	return marshalOrdered(len(b.Slices), func(i int) (string, any) { return b.Slices[i].Value, b.Slices[i] })
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Slices) UnmarshalJSON(data []byte) error {
	*s = nil
	return unmarshalOrdered(data, func(key string, d *json.Decoder) error {
		by := SliceBy{Name: key}
		err := d.Decode(&by)
		*s = append(*s, by)
		return err
	})
}

// UnmarshalJSON reads one dimension's values; the name is the caller's.
func (b *SliceBy) UnmarshalJSON(data []byte) error {
	b.Slices = nil
	return unmarshalOrdered(data, func(key string, d *json.Decoder) error {
		x := Slice{}
		err := d.Decode(&x)
		x.Value = key
		b.Slices = append(b.Slices, x)
		return err
	})
}

// Kinds of leaks.
const (
	LeakForbidden = "forbidden" // the case names the chunk
	LeakScope     = "scope"     // the chunk's scope excludes the asker
	LeakValidity  = "validity"  // the chunk does not hold at the case's date
)

// Leak is a chunk that the asker must not see and got.
type Leak struct {
	Case  string       `json:"case"`
	Query string       `json:"query"`
	Scope corpus.Scope `json:"scope"`
	Chunk string       `json:"chunk"`
	Rank  int          `json:"rank"`
	Kind  string       `json:"kind"`
}

// FilterError is a returned chunk that does not satisfy a filter which the case
// requires of the retriever.
type FilterError struct {
	Case   string        `json:"case"`
	Query  string        `json:"query"`
	Filter corpus.Filter `json:"filter"` // the first one that the chunk violates
	Chunk  string        `json:"chunk"`
	Rank   int           `json:"rank"`
}

// Failure is a query that the retriever did not answer.
type Failure struct {
	Case  string `json:"case"`
	Error string `json:"error"`
}

// Abstention is the block of cases that no allowed record answers. A rate or
// the AUROC is nil where it is undefined; Why says why.
type Abstention struct {
	Cases       int        `json:"cases"`        // that expect abstention
	Answerable  int        `json:"answerable"`   // that expect an answer
	AnswerRate  *float64   `json:"answer_rate"`  // answerable cases with a result
	FalseAnswer *float64   `json:"false_answer"` // abstention cases with a result
	AUROC       *float64   `json:"auroc"`        // of the top score, answerable against abstention
	Threshold   *Threshold `json:"threshold"`    // of the top score; nil where AUROC is
	Why         string     `json:"why,omitempty"`
}

// Latency in milliseconds: nearest-rank percentiles over the cases with a
// known time.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	N   int     `json:"n"`
}

// CaseScore is one case's values; a measure without a value for it is left
// out.
type CaseScore struct {
	CaseID  string `json:"case_id"`
	Metrics Values `json:"metrics"`
}

// Values is a JSON object from measure to value, in the measures' order.
type Values []Value

// Value is one measure's value for one case.
type Value struct {
	Name  string
	Value float64
}

// Get returns the value of that name.
func (v Values) Get(name string) (float64, bool) {
	for _, x := range v {
		if x.Name == name {
			return x.Value, true
		}
	}
	return math.NaN(), false
}

// MarshalJSON writes an object with the keys in order.
func (v Values) MarshalJSON() ([]byte, error) {
	return marshalOrdered(len(v), func(i int) (string, any) { return v[i].Name, v[i].Value })
}

// UnmarshalJSON reads an object and keeps the order of its keys.
func (v *Values) UnmarshalJSON(data []byte) error {
	*v = nil
	return unmarshalOrdered(data, func(key string, d *json.Decoder) error {
		x := Value{Name: key}
		err := d.Decode(&x.Value)
		*v = append(*v, x)
		return err
	})
}

func marshalOrdered(n int, at func(i int) (string, any)) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range n {
		key, value := at(i)
		k, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func unmarshalOrdered(data []byte, each func(key string, d *json.Decoder) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	open, err := d.Token()
	if err != nil {
		return err
	}
	if open == nil {
		return nil
	}
	if open != json.Delim('{') {
		return fmt.Errorf("found %v where an object was expected", open)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := each(key.(string), d); err != nil {
			return fmt.Errorf("%v: %w", key, err)
		}
	}
	return nil
}
