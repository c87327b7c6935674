// Package sample decides which chunks are asked about: an exact, seeded,
// stratified plan with reserves. It asks no model.
package sample

// Row is one planned query: the record of a plan file.
type Row struct {
	CaseID    string   `json:"case_id"`
	ChunkIDs  []string `json:"chunk_ids"`
	DocIDs    []string `json:"doc_ids"`
	QueryType string   `json:"query_type"`
	Style     string   `json:"style"`
	Stratum   string   `json:"stratum"`
	Slot      int      `json:"slot"`
	Reserve   bool     `json:"reserve"` // used, in plan order, when a row of its stratum and type is rejected
}
