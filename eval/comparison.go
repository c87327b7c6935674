package eval

import "encoding/json"

// Verdicts of a gate and of a comparison.
const (
	Pass       = "pass"
	Fail       = "fail"
	CannotTell = "cannot_tell"
)

// Comparison is what compare knows of two results over the same cases: the
// answer of `goldgen compare --json`.
type Comparison struct {
	Comparable  bool             `json:"comparable"`
	Differs     []string         `json:"differs"` // why they are not comparable
	Golden      *GoldenRef       `json:"golden"`
	Trust       string           `json:"trust"`
	TrustDetail string           `json:"trust_detail"`
	Base        RetrieverRef     `json:"base"`
	Candidate   RetrieverRef     `json:"candidate"`
	Settings    []Setting        `json:"settings"` // in which the two retrievers differ
	Method      string           `json:"method"`   // of intervals and tests
	Judged      JudgedPair       `json:"judged"`
	Cases       int              `json:"cases"`
	Clusters    int              `json:"clusters"`
	Changed     int              `json:"changed"` // cases with a measure whose value differs, judged@k apart
	Metrics     Differences      `json:"metrics"`
	Labels      *LabelOutlook    `json:"labels,omitempty"` // nil where labels are certain
	Slices      DifferenceSlices `json:"slices"`
	Leaks       LeakPair         `json:"leaks"`
	Latency     LatencyPair      `json:"latency_ms"`
	Gates       []GateResult     `json:"gates"`
	Verdict     string           `json:"verdict"`
	Notes       []string         `json:"notes"` // what a reader must know of the numbers
	PerCase     []CaseDifference `json:"per_case,omitempty"`
}

// Setting is one setting in which two retrievers differ.
type Setting struct {
	Name      string `json:"name"`
	Base      string `json:"base"`
	Candidate string `json:"candidate"`
}

// JudgedPair is judged@K of both sides: the share of their top K results that
// has a label.
type JudgedPair struct {
	K         int      `json:"k"`
	Base      *float64 `json:"base"`
	Candidate *float64 `json:"candidate"`
}

// LeakPair counts the leaks of both sides.
type LeakPair struct {
	Base      int `json:"base"`
	Candidate int `json:"candidate"`
}

// LatencyPair is the latency of both sides, nil where unknown.
type LatencyPair struct {
	Base      *Latency `json:"base"`
	Candidate *Latency `json:"candidate"`
}

// Difference is one measure's two means and what lies between them, candidate
// less base. Low and High are a 95 % interval, P is two-sided. A nil pointer is
// a figure that cannot be given; Why says why.
type Difference struct {
	Base               *float64 `json:"base"`
	Candidate          *float64 `json:"candidate"`
	Difference         *float64 `json:"difference"`
	Low                *float64 `json:"low"`
	High               *float64 `json:"high"`
	P                  *float64 `json:"p"`
	PHolm              *float64 `json:"p_holm"`
	EffectSize         *float64 `json:"effect_size"` // mean difference of clusters over their standard deviation
	Better             int      `json:"better"`      // cases
	Worse              int      `json:"worse"`
	Same               int      `json:"same"`
	SmallestDetectable *float64 `json:"smallest_detectable"` // at power .8 and level .05, two-sided
	LabelShare         *float64 `json:"label_share"`         // of the variance that comes from labels; nil where they are certain
	N                  int      `json:"n"`
	Clusters           int      `json:"clusters"`
	Why                string   `json:"why,omitempty"`
}

// NamedDifference is a difference under its measure's name.
type NamedDifference struct {
	Name string
	Difference
}

// Differences is a JSON object whose keys keep their order.
type Differences []NamedDifference

// Get returns the difference of that name.
func (d Differences) Get(name string) (Difference, bool) {
	for _, x := range d {
		if x.Name == name {
			return x.Difference, true
		}
	}
	return Difference{}, false
}

// MarshalJSON writes an object with the keys in order.
func (d Differences) MarshalJSON() ([]byte, error) {
	return marshalOrdered(len(d), func(i int) (string, any) { return d[i].Name, d[i].Difference })
}

// UnmarshalJSON reads an object and keeps the order of its keys.
func (d *Differences) UnmarshalJSON(data []byte) (err error) {
	*d, err = listOf(data, func(key string, x *NamedDifference) any { x.Name = key; return &x.Difference })
	return err
}

// listOf reads an object's values in order. into names a new element by its key
// and says where its value goes.
func listOf[T any](data []byte, into func(key string, x *T) any) ([]T, error) {
	var out []T
	err := unmarshalOrdered(data, func(key string, d *json.Decoder) error {
		var x T
		err := d.Decode(into(key, &x))
		out = append(out, x)
		return err
	})
	return out, err
}

// DifferenceSlice is one value of a dimension.
type DifferenceSlice struct {
	Value   string      `json:"-"`
	N       int         `json:"n"`
	Metrics Differences `json:"metrics"`
}

// DifferenceSliceBy holds the slices of one dimension, ordered by value.
type DifferenceSliceBy struct {
	Name   string
	Slices []DifferenceSlice
}

// differenceValues is one dimension's JSON object.
type differenceValues []DifferenceSlice

func (v *differenceValues) UnmarshalJSON(data []byte) (err error) {
	*v, err = listOf(data, func(key string, x *DifferenceSlice) any { x.Value = key; return x })
	return err
}

// DifferenceSlices is a JSON object: dimension, then value.
type DifferenceSlices []DifferenceSliceBy

// Get returns the slices of one dimension.
func (s DifferenceSlices) Get(name string) []DifferenceSlice {
	for _, by := range s {
		if by.Name == name {
			return by.Slices
		}
	}
	return nil
}

// MarshalJSON writes an object of objects with the keys in order.
func (s DifferenceSlices) MarshalJSON() ([]byte, error) {
	return marshalOrdered(len(s), func(i int) (string, any) { return s[i].Name, s[i] })
}

// MarshalJSON writes one dimension's values as an object.
func (b DifferenceSliceBy) MarshalJSON() ([]byte, error) {
	return marshalOrdered(len(b.Slices), func(i int) (string, any) { return b.Slices[i].Value, b.Slices[i] })
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *DifferenceSlices) UnmarshalJSON(data []byte) (err error) {
	*s, err = listOf(data, func(key string, by *DifferenceSliceBy) any { by.Name = key; return (*differenceValues)(&by.Slices) })
	return err
}

// GateResult is a gate's verdict and the figures it rests on, in words.
type GateResult struct {
	Gate    string  `json:"gate"`            // as it was written
	Slice   string  `json:"slice,omitempty"` // dimension=value of a gate by slice
	Verdict string  `json:"verdict"`
	Why     string  `json:"why"`
	Waived  *Waiver `json:"waived,omitempty"` // the verdict does not count
}

// Waiver lets a gate, or one case of it, fail until a day. Both owner and
// reason are shown wherever the gate is.
type Waiver struct {
	Gate   string `json:"gate" yaml:"gate"`
	Case   string `json:"case,omitempty" yaml:"case,omitempty"`
	Reason string `json:"reason" yaml:"reason"`
	Owner  string `json:"owner" yaml:"owner"`
	Until  string `json:"until" yaml:"until"` // the last day, 2027-01-31
}

// CaseDifference is one case's values on both sides, by measure.
type CaseDifference struct {
	CaseID    string `json:"case_id"`
	Base      Values `json:"base"`
	Candidate Values `json:"candidate"`
}
