package pipeline

import (
	"context"
	"fmt"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// maxNeighbourChunks is the most chunks among which neighbours are looked for: their
// texts and vectors are in memory together.
const maxNeighbourChunks = 200_000

// neighbours finds neighbours by the snapshot's vectors, or by lsa where it has
// none, for plans with queries that join two chunks; nil for others. No model is
// asked.
func (p *Project) neighbours(s *corpus.Snapshot, o sample.Options) sample.Neighbours {
	if o.Mix[datasets.MultiHop] == 0 {
		return nil
	}
	if n := s.Manifest().Chunks; n > maxNeighbourChunks {
		p.Log.Info(fmt.Sprintf("multi_hop: of %d chunks, neighbours by vector are not looked for: that is done up to %d", n, maxNeighbourChunks))
		return nil
	}
	return func(ctx context.Context, rows []int) ([]sample.Neighbour, error) {
		b, err := p.openBench(ctx, s, false)
		if err != nil {
			return nil, err
		}
		defer b.Close()
		r, _, err := b.retriever(ctx, b.byMeaning())
		if err != nil {
			return nil, err
		}
		near, ok := r.(cosines)
		if !ok {
			return nil, fmt.Errorf("%s: a %T knows no cosines of chunks", b.byMeaning(), r)
		}
		return b.nearest(ctx, near, rows)
	}
}

// cosines gives the cosines of one chunk with others, NaN for one without a vector.
type cosines interface {
	Cosines(id string, ids []string) []float64
}

// nearest finds, for the chunk of each row, the nearest that may be joined with it: the
// one with the greatest cosine above 0, of equal ones the first.
func (b *bench) nearest(ctx context.Context, by cosines, rows []int) ([]sample.Neighbour, error) {
	ids := make([]string, len(b.chunks))
	for i := range b.chunks {
		ids[i] = b.chunks[i].ID
	}
	var found []sample.Neighbour
	for _, row := range rows {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, best, most := &b.chunks[row], -1, 0.0
		for i, cosine := range by.Cosines(c.ID, ids) {
			if cosine > most && mayJoin(c, &b.chunks[i]) {
				best, most = i, cosine
			}
		}
		if best >= 0 {
			found = append(found, sample.Neighbour{ChunkID: c.ID, Nearest: ids[best]})
		}
	}
	return found, nil
}

// mayJoin reports whether a query may need both chunks: they are of two documents,
// may be asked about, and do not say nearly the same.
func mayJoin(a, b *corpus.Chunk) bool {
	same := a.ExactGroup != "" && a.ExactGroup == b.ExactGroup || a.NearGroup != "" && a.NearGroup == b.NearGroup
	return a.DocID != b.DocID && len(b.Flags) == 0 && !same
}
