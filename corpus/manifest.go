package corpus

// SnapshotFormat is the version of the snapshot folder's layout.
const SnapshotFormat = 1

// DerivedVersion names the rules behind the derived columns (tokens, groups,
// flags). They are no part of a snapshot's digest; a snapshot made by other
// rules is made again under the same digest.
const DerivedVersion = "o200k_base,minhash64-1,flags-1"

// Manifest describes a snapshot; it is written last, so a folder without one
// is unfinished.
type Manifest struct {
	Format     int            `json:"format"`
	Digest     string         `json:"digest"` // hex SHA-256 over the rows of documents and chunks, without derived columns
	Documents  int            `json:"documents"`
	Chunks     int            `json:"chunks"`
	Bytes      int64          `json:"bytes"` // of all documents' texts
	Tokens     int64          `json:"tokens"`
	Chunking   Chunking       `json:"chunking"`
	Source     SourceInfo     `json:"source"`
	Derived    string         `json:"derived"`
	Flagged    map[string]int `json:"flagged,omitempty"` // chunks by flag
	ExactSets  int            `json:"exact_groups"`      // groups of equal chunks with more than one member
	NearSets   int            `json:"near_groups"`       // groups of similar chunks with more than one member
	SkippedBad []string       `json:"skipped_bad,omitempty"`
	Unparsed   []string       `json:"unparsed,omitempty"` // documents of code that do not parse, each with the place; left out
	Files      []FileInfo     `json:"files"`

	// Scopes counts, by key of scope, the records that name it: documents, or the
	// rows of a chunk table.
	Scopes map[string]ScopeCount `json:"scopes,omitempty"`

	Vectors []VectorSet `json:"vectors,omitempty"` // not covered by Digest
}

// SourceInfo says where a snapshot's documents came from.
type SourceInfo struct {
	Documents string   `json:"documents,omitempty"` // folder or file
	Chunks    string   `json:"chunks,omitempty"`    // chunk table
	Include   []string `json:"include,omitempty"`
	Exclude   []string `json:"exclude,omitempty"`
}

// FileInfo pins one file of a snapshot.
type FileInfo struct {
	Name   string `json:"name"` // slash path below the snapshot's folder
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// VectorSet records one embedding of a snapshot's chunks.
type VectorSet struct {
	Embedding Embedding `json:"embedding"`
	Key       string    `json:"key"` // Embedding.Key()
	Count     int       `json:"count"`
	Cut       int       `json:"cut"` // chunks shortened to fit the embedder
	File      FileInfo  `json:"file"`
}
