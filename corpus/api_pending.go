package corpus

import (
	"context"
	"errors"
	"iter"
)

var errPending = errors.New("corpus: not built yet")

// Span is a byte range [Start, End) of a text.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Sentences returns the spans of the sentences of a Markdown or plain text, in order.
func Sentences(text string) []Span { return nil }

// Language returns the ISO 639-1 code of the text's language, "" when unsure.
func Language(text string) string { return "" }

// CountTokens counts the text's tokens (o200k_base).
func CountTokens(text string) int { return 0 }

// Source says where documents or chunks come from.
type Source struct {
	Documents string            // folder, or a .jsonl / .parquet file of documents
	Chunks    string            // chunk table, .jsonl or .parquet
	Include   []string          // doublestar globs on slash paths; none means every known kind of text
	Exclude   []string          //
	Fields    map[string]string // our field name to theirs; dots reach into nested JSON
	Paths     []string          // path patterns such as {category}/{team}/**
	SkipBad   bool              // count and name files that are not UTF-8, and go on
}

// BuildOptions says what a snapshot is made of.
type BuildOptions struct {
	Source   Source
	Chunking Chunking
	Log      func(message string) // warnings; nil drops them
}

// Build makes the snapshot of a source under root, in a folder named by the
// first 16 digits of its digest, and records it as root's latest. changed is
// false when that snapshot was already there.
func Build(ctx context.Context, opts BuildOptions, root string) (s *Snapshot, changed bool, err error) {
	return nil, false, errPending
}

// Snapshot is a finished snapshot folder. Its methods may be called concurrently.
type Snapshot struct {
	dir      string
	manifest Manifest
}

// Open opens a snapshot folder, or the latest snapshot of a root that Build wrote to.
func Open(dir string) (*Snapshot, error) { return nil, errPending }

// Dir is the snapshot's folder.
func (s *Snapshot) Dir() string { return s.dir }

// Manifest is a copy of what the snapshot's manifest said when it was opened.
func (s *Snapshot) Manifest() Manifest { return s.manifest }

// Problem is one thing that Verify found wrong.
type Problem struct {
	Kind   string `json:"kind"`
	Where  string `json:"where"`
	Detail string `json:"detail"`
}

// Verify derives everything again and reports all problems, not the first; the
// error is for a folder that cannot be examined at all.
func (s *Snapshot) Verify(ctx context.Context) ([]Problem, error) { return nil, errPending }

// ChunkInfo is what sampling needs of a chunk, without its text.
//
// Its strings share memory with those of neighbouring rows: clone what is kept
// of a large snapshot.
type ChunkInfo struct {
	Row        int64 // ordinal in the snapshot, from 0
	ChunkID    string
	DocID      string
	Category   string
	Language   string
	Source     string   // the document's source, a slash path for a folder
	Tokens     int      //
	Flags      []string // shared: do not change
	ExactGroup string
	NearGroup  string
	TextDigest string
}

// Documents yields the documents in snapshot order.
func (s *Snapshot) Documents() iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) { yield(Document{}, errPending) }
}

// Chunks yields the chunks in snapshot order: by document, then ordinal.
func (s *Snapshot) Chunks() iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) { yield(Chunk{}, errPending) }
}

// ChunkInfos yields what sampling needs of each chunk, in snapshot order.
func (s *Snapshot) ChunkInfos() iter.Seq2[ChunkInfo, error] {
	return func(yield func(ChunkInfo, error) bool) { yield(ChunkInfo{}, errPending) }
}

// Load reads a small snapshot into memory.
func (s *Snapshot) Load() ([]Document, []Chunk, error) { return nil, nil, errPending }

// ChunksAt reads the chunks at the given rows, in the order asked.
func (s *Snapshot) ChunksAt(rows []int64) ([]Chunk, error) { return nil, errPending }

// ChunksByID reads the chunks with the given ids; an id that is not there is
// missing from the map.
func (s *Snapshot) ChunksByID(ids []string) (map[string]Chunk, error) { return nil, errPending }

// DocumentsByID reads the documents with the given ids; an id that is not there
// is missing from the map.
func (s *Snapshot) DocumentsByID(ids []string) (map[string]Document, error) { return nil, errPending }

// Vector is the embedding of one chunk.
type Vector struct {
	ChunkID string
	Values  []float32
}

// Key is the digest that names the embedding's file: 16 hex digits.
func (e Embedding) Key() string { return "" }

// HasVectors reports whether the snapshot holds the vectors of key.
func (s *Snapshot) HasVectors(key string) bool { return false }

// WriteVectors stores the vectors of every chunk that is not empty, in snapshot
// order, normalised to unit length; cut is how many texts were shortened.
func (s *Snapshot) WriteVectors(ctx context.Context, e Embedding, cut func() int, vectors iter.Seq2[Vector, error]) error {
	return errPending
}

// Vectors yields the vectors of key in snapshot order, each of unit length.
func (s *Snapshot) Vectors(key string) iter.Seq2[Vector, error] {
	return func(yield func(Vector, error) bool) { yield(Vector{}, errPending) }
}
