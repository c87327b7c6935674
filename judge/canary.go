package judge

// States of a verdict.
const (
	Passed   = "passed"
	Blind    = "blind"
	Untested = "untested"
)

// MinCanaries is the least number of source chunks, and of random chunks, on
// which a judge can pass.
const MinCanaries = 30

// Canary is a graded pair whose answer is known well enough: a chunk that the
// query was written from, or a random one.
type Canary struct {
	CaseID  string
	ChunkID string
	Source  bool
	Grade   Grade
}

// Verdict is what the canaries say of a judge.
type Verdict struct {
	State         string  `json:"state"`
	AUC           float64 `json:"auc"` // of the expected grade, sources against random chunks
	Low           float64 `json:"low"` // 95 % bounds
	High          float64 `json:"high"`
	OneGradeShare float64 `json:"one_grade_share"` // of the commonest grade, both groups counted alike
	Sources       int     `json:"sources"`
	Randoms       int     `json:"randoms"`
	Unknown       int     `json:"unknown"` // canaries without a grade: they count as ties
	Why           string  `json:"why"`
}
