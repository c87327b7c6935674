package datasets

// Review says who labelled what on the way to a version, and when.
type Review struct {
	Of       string   `json:"of"` // the version that was labelled, name@vN
	Reviewer string   `json:"reviewer"`
	Labels   int      `json:"labels"` // pairs
	Reworded int      `json:"reworded,omitempty"`
	Rejected int      `json:"rejected,omitempty"`
	Samples  []string `json:"samples,omitempty"`
	First    string   `json:"first"` // RFC 3339, UTC
	Last     string   `json:"last"`
}

// Disagreement is a pair that people graded differently, and the grade that
// counts.
type Disagreement struct {
	CaseID  string         `json:"case_id"`
	ChunkID string         `json:"chunk_id"`
	Grades  map[string]int `json:"grades"` // by person
	Kept    int            `json:"kept"`
}
