package datasets

import "github.com/goldgen/goldgen/corpus"

// CorpusView looks up a snapshot's rows. It is what Verify and the importers
// need of a corpus. Calls need not be safe for concurrent use.
type CorpusView interface {
	// Digest is that of the snapshot's rows, as in CorpusPin.Digest.
	Digest() string
	// Chunk and Document give a row by its id, and false when there is none.
	Chunk(id string) (corpus.Chunk, bool)
	Document(id string) (corpus.Document, bool)
	// ChunksOf lists the ids of a document's chunks, in the document's order.
	ChunksOf(docID string) []string
}
