package sample

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/goldgen/goldgen/corpus"
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
	Path       string // the document's slash path; its id when empty
	Tokens     int
	Flags      []string
	Metadata   map[string]string // read for strata over metadata only
}

// Input is a corpus to draw from.
type Input struct {
	// Infos gives every chunk once, in the snapshot's order: rows ascending, a
	// document's chunks one after another. It is ranged over once, and a second
	// time if Lookup is nil. Nothing of what it gives is kept. An error ends the
	// draw.
	Infos iter.Seq2[Info, error]
	// Lookup gives the infos of rows (ascending) in their order.
	Lookup func(ctx context.Context, rows []int) ([]Info, error)
	// Chunks gives the chunks of Infos whole, in the same order. It is ranged over
	// twice, and only for query types that any chunk does not serve.
	Chunks iter.Seq2[corpus.Chunk, error]
	// Neighbours finds chunks near others by vector, for query types that join two;
	// nil where there is nothing to find them by.
	Neighbours Neighbours
	// Topics is the topic of each row; nil without vectors, -1 is no topic.
	Topics []int
	// Personas are who asks, each as often as the others; nil is nobody special.
	Personas []Persona
	// Examples are queries of the team's own; each row gets a few.
	Examples []string
}

// Draw plans o.Cases queries over the chunks of in. It gives fewer main rows
// only when the corpus cannot give more, and then names the shortfall, which is
// no error. The plan depends on nothing but o and the chunks; a chunk keeps its
// place in the draw, its query type as far as the mix allows, and its case ids
// while other documents change.
//
// Memory: 16 bytes for each eligible chunk and some 200 for each stratum. Types
// that planners serve add 64 bytes a chunk (64 MB at most) to count with, and
// some 24 chunks' texts for each of 512 bundles, or of 8 a case if that is more.
func Draw(ctx context.Context, in Input, o Options) (*Plan, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s, err := scan(ctx, in, o)
	if err != nil {
		return nil, err
	}
	f := s.f
	if f.eligible == 0 {
		return nil, fmt.Errorf("%w: all %d are flagged", ErrNoChunks, f.chunks)
	}
	if need := o.MinPerStratum * len(f.strata); need > o.Cases {
		return nil, fmt.Errorf("sample.min_per_stratum: %d for each of %d strata needs %d cases, sample.cases is %d",
			o.MinPerStratum, len(f.strata), need, o.Cases)
	}
	typed, left := typeQuotas(&o)
	if len(typed) > 0 {
		if err := s.findCandidates(ctx, typed); err != nil {
			return nil, err
		}
	}
	d := newDraw(f, o, typed, left)
	d.personas = in.Personas
	d.pickMain()
	d.pickReserves()
	d.assignTypes()
	return d.plan(ctx, in)
}
