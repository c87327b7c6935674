package datasets

import (
	"iter"

	"github.com/goldgen/goldgen/corpus"
)

// CorpusView is what Verify and the importers need of a corpus;
// *corpus.Snapshot satisfies it.
type CorpusView interface {
	// Manifest gives the digest that a set's pins must match, and the counts.
	Manifest() corpus.Manifest
	// ChunksByID and DocumentsByID read the rows with the given ids; an id that
	// is not there is missing from the map.
	ChunksByID(ids []string) (map[string]corpus.Chunk, error)
	DocumentsByID(ids []string) (map[string]corpus.Document, error)
	// ChunkInfos yields every chunk without its text.
	ChunkInfos() iter.Seq2[corpus.ChunkInfo, error]
}

var _ CorpusView = (*corpus.Snapshot)(nil)
