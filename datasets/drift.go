package datasets

// What became of a document between two corpora.
const (
	DocumentAdded   = "added"
	DocumentChanged = "changed"
	DocumentRemoved = "removed"
	DocumentRenamed = "renamed"
)

// DocumentChange is a document that is not what it was.
type DocumentChange struct {
	Kind   string
	Before string // id in the old corpus, "" of an added one
	Now    string // id in the new corpus, "" of a removed one
	Edited bool   // of a renamed one: its text is another one too
}

// Drift is how far a corpus has gone on between a version and the one that a
// refresh made of it, and what that did to the set.
type Drift struct {
	From      string          `json:"from"`              // digest of the corpus before
	Queries   string          `json:"queries,omitempty"` // digest of the query log, where it is another one than before
	Documents RebaseDocuments `json:"documents"`
	Strata    []StratumDrift  `json:"strata"` // those in which a document is not what it was, by name
	Kept      int             `json:"kept"`   // cases of the version before that are not retired now
	Regraded  int             `json:"regraded"`
	Retired   int             `json:"retired"` // for what is lost
	Reasons   map[string]int  `json:"reasons"` // of these
	Surplus   int             `json:"surplus"` // retired because the plan has fewer of their kind
	NewChunks int             `json:"new_chunks"`
	Pooled    int             `json:"pooled"` // judgments of new chunks that cases of the version before got
	Added     int             `json:"added"`  // cases
}

// StratumDrift counts the documents of one stratum. A document whose chunks lie in
// several strata counts in each; a renamed one counts where it is now.
type StratumDrift struct {
	Stratum string `json:"stratum"`
	Added   int    `json:"added"`
	Changed int    `json:"changed"`
	Removed int    `json:"removed"`
	Renamed int    `json:"renamed"`
}

// Count counts one document.
func (d *StratumDrift) Count(kind string) {
	switch kind {
	case DocumentAdded:
		d.Added++
	case DocumentChanged:
		d.Changed++
	case DocumentRemoved:
		d.Removed++
	case DocumentRenamed:
		d.Renamed++
	}
}

// changes says what became of a document, nothing of one that stayed.
func (m *moved) changes() []DocumentChange {
	c := DocumentChange{Before: m.id, Now: m.to, Edited: m.fate == rewritten}
	switch m.fate {
	case stayed:
		return nil
	case gone:
		c.Kind = DocumentRemoved
	case edited:
		c.Kind = DocumentChanged
	case renamed, rewritten:
		c.Kind = DocumentRenamed
	}
	return []DocumentChange{c}
}
