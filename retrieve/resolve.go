package retrieve

import "fmt"

// Lookup finds chunks of a snapshot.
type Lookup interface {
	// HasChunk reports whether a chunk id exists.
	HasChunk(id string) bool
	// ChunksOf returns the chunk ids of a document, none if it is unknown.
	ChunksOf(docID string) []string
}

// Settle takes of a hit that names a chunk and a place the one that counts: the
// chunk where the snapshot has it, else the span, or the document where that is
// one chunk, so that a retriever's own ids hide nothing of what it returned.
func Settle(h Hit, snapshot Lookup) Hit {
	known := h.ChunkID != "" && snapshot.HasChunk(h.ChunkID)
	placed := h.DocID != "" && (h.End > h.Start || len(snapshot.ChunksOf(h.DocID)) == 1)
	switch {
	case h.ChunkID == "":
		return h
	case known || !placed:
		return Hit{ChunkID: h.ChunkID, Score: h.Score}
	}
	h.ChunkID = ""
	return h
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
