package eval

// CaseRow is one case of a result in full, for a table of results a case.
type CaseRow struct {
	CaseID     string
	Query      string
	Status     string // scored, missing, failed, nothing_relevant, abstain
	Slices     []SliceValue
	Metrics    Values
	Ranking    []RankedHit // duplicates dropped
	TookMS     float64     // 0 unknown
	Missing    bool
	Error      string
	Duplicates int
	Leaks      []Leak
}

// SliceValue is one slice that a case belongs to.
type SliceValue struct {
	Name  string
	Value string
}

// RankedHit is a result with its label: Grade is Unknown for one not given,
// Unlabelled for one that nobody asked about.
type RankedHit struct {
	ID    string
	Score float64
	Grade int
}

// Unlabelled is the grade of a result that has no label at all.
const Unlabelled = -2
