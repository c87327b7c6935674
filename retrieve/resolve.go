package retrieve

import "fmt"

// Lookup finds chunks of a snapshot.
type Lookup interface {
	// HasChunk reports whether a chunk id exists.
	HasChunk(id string) bool
	// ChunksOf returns the chunk ids of a document, none if it is unknown.
	ChunksOf(docID string) []string
}

// Resolve names the hit's chunk where the hit only names its document and that
// has one chunk. A hit with a span of a document stays as it is; a chunk or
// document that the snapshot lacks, or a document alone with several chunks, is
// an error.
func Resolve(h Hit, snapshot Lookup) (Hit, error) {
	if h.ChunkID != "" {
		if snapshot.HasChunk(h.ChunkID) {
			return h, nil
		}
		h.DocID = h.ChunkID // a document's id where its only chunk is meant
	}
	chunks := snapshot.ChunksOf(h.DocID)
	switch {
	case len(chunks) == 0:
		return Hit{}, fmt.Errorf("hit %s: no such chunk or document in the snapshot", h.DocID)
	case h.IsSpan():
		return h, nil
	case len(chunks) > 1:
		return Hit{}, fmt.Errorf("hit %s: document has %d chunks, so a hit must name one", h.DocID, len(chunks))
	}
	return Hit{ChunkID: chunks[0], Score: h.Score}, nil
}

// IsSpan reports whether the hit is a byte span of a document.
func (h Hit) IsSpan() bool { return h.ChunkID == "" && h.End > h.Start }
