// Package corpus owns what is retrieved: documents, the chunks cut from them,
// the scopes and validity that decide who may see them, and the snapshot that
// pins all of it. It knows nothing of queries or models: vectors of chunks are
// handed to it by the pipeline.
package corpus

import (
	"slices"
	"time"
)

// Document is one text of the corpus.
type Document struct {
	ID         string            `json:"id"` // slash path in Unicode NFC, or the user's id
	Text       string            `json:"text"`
	Title      string            `json:"title,omitempty"`
	Source     string            `json:"source,omitempty"` // where it was read from
	Category   string            `json:"category,omitempty"`
	Language   string            `json:"language,omitempty"` // ISO 639-1, "" unknown
	Unit       string            `json:"unit,omitempty"`     // of its chunks, where the source says; a snapshot keeps it with them alone
	Metadata   map[string]string `json:"metadata,omitempty"`
	Scope      Scope             `json:"scope,omitempty"`
	ValidFrom  *time.Time        `json:"valid_from,omitempty"`
	ValidTo    *time.Time        `json:"valid_to,omitempty"`
	UpdatedAt  *time.Time        `json:"updated_at,omitempty"`
	TextDigest string            `json:"text_digest,omitempty"` // hex SHA-256 of Text
}

// Units that a chunk can be.
const (
	UnitDocument     = "document"
	UnitChunk        = "chunk"
	UnitMemoryRecord = "memory_record"
	UnitToolResult   = "tool_result"
	UnitCodeSymbol   = "code_symbol"
)

// Units lists what a chunk can be.
func Units() []string {
	return []string{UnitDocument, UnitChunk, UnitMemoryRecord, UnitToolResult, UnitCodeSymbol}
}

// Flags that a chunk can carry. A flagged chunk is retrieved like any other but
// never asked about.
const (
	FlagEmpty       = "empty"
	FlagShort       = "short"
	FlagBoilerplate = "boilerplate"
	FlagDuplicate   = "duplicate" // not the first chunk of its exact group
)

// Chunk is what a retriever returns: a span of a document. Text equals the
// document's bytes [Start, End).
//
// Category, Language, Metadata, Scope and the validity dates are the
// document's, or the chunk's own where a chunk table gives them.
type Chunk struct {
	ID          string            `json:"chunk_id"`
	DocID       string            `json:"doc_id"`
	Ordinal     int               `json:"ordinal"` // n-th chunk of its document, from 0
	Start       int               `json:"start"`   // byte offset in the document's UTF-8 text
	End         int               `json:"end"`     // exclusive
	Text        string            `json:"text"`
	HeadingPath []string          `json:"heading_path,omitempty"`
	Unit        string            `json:"unit"`
	Tokens      int               `json:"tokens"`
	TextDigest  string            `json:"text_digest"` // hex SHA-256 of Text
	ExactGroup  string            `json:"exact_group"` // equal after white-space normalisation
	NearGroup   string            `json:"near_group"`  // near-duplicates; a chunk alone is its own group
	Flags       []string          `json:"flags,omitempty"`
	Category    string            `json:"category,omitempty"`
	Language    string            `json:"language,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	Scope       Scope             `json:"scope,omitempty"`
	ValidFrom   *time.Time        `json:"valid_from,omitempty"`
	ValidTo     *time.Time        `json:"valid_to,omitempty"`
	UpdatedAt   *time.Time        `json:"updated_at,omitempty"`
}

// Scope maps a key (tenant, team, user ...) to the values that may see a
// record, or that an asker holds. An empty scope on a record is public.
type Scope map[string][]string

// Visible reports whether a record with scope s is visible to an asker: for
// each key of the record the asker has that key and shares a value.
func (s Scope) Visible(asker Scope) bool {
	for key, values := range s {
		if !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(asker[key], v) }) {
			return false
		}
	}
	return true
}

// ValidAt reports whether t lies in [from, to); a nil bound is open.
func ValidAt(from, to *time.Time, t time.Time) bool {
	return (from == nil || !t.Before(*from)) && (to == nil || t.Before(*to))
}

// Filter is a condition that a retriever must apply: Op is one of eq, in, ne,
// lt, le, gt, ge, exists. Fields are category, language, unit, doc_id,
// updated_at, valid_from, valid_to, or a metadata key.
type Filter struct {
	Field  string   `json:"field" parquet:"field"`
	Op     string   `json:"op" parquet:"op"`
	Values []string `json:"values" parquet:"values,list"`
}
