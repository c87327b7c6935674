package judge

import (
	"fmt"
	"maps"

	"github.com/goldgen/goldgen/corpus"
)

// Keys of PoolOptions.Depth that are no retrievers.
const (
	DepthRandom     = "random"          // random chunks from outside the rest of the pool
	DepthNeighbours = "neighbours"      // chunks on each side of a source in its document
	DepthNear       = "near_duplicates" // near-duplicates of each source, at most
	DepthMax        = "max"             // items in all, random ones included; 0 or absent: no limit
)

// DefaultDepth is how many hits of a retriever are pooled that Depth does not
// name.
const DefaultDepth = 10

// PoolOptions say how deep each member is pooled. The keys of Depth are names
// of members and the Depth* constants; DefaultPool gives the defaults.
type PoolOptions struct {
	Depth map[string]int
	Seed  int64
}

// DefaultPool is the design's pool.
func DefaultPool(seed int64) PoolOptions {
	return PoolOptions{Seed: seed, Depth: map[string]int{
		"bm25": 10, "ngram": 10, "dense": 10, DepthRandom: 3, DepthNeighbours: 1, DepthNear: 5,
	}}
}

// Validate names the first depth that makes no sense.
func (o PoolOptions) Validate() error {
	for _, name := range sortedKeys(o.Depth) {
		if o.Depth[name] < 0 {
			return fmt.Errorf("judge.pool.%s: %d is negative", name, o.Depth[name])
		}
	}
	return nil
}

// with returns the options with another depth of one member.
func (o PoolOptions) with(member string, depth int) PoolOptions {
	o.Depth = maps.Clone(o.Depth)
	if o.Depth == nil {
		o.Depth = map[string]int{}
	}
	o.Depth[member] = depth
	return o
}

// Rank is where a member put a chunk.
type Rank struct {
	Rank  int // from 1
	Score float64
}

// Item is one chunk of a pool with what the pool knows of the pair.
type Item struct {
	ChunkID    string
	DocID      string
	ExactGroup string
	Ranks      map[string]Rank // by member, also where the rank lies below the member's depth
	Members    int             // members that hold it within their depth
	Source     bool            // the query was written from it
	Copy       bool            // of a source's exact group, but no source
	Near       bool            // of a source's near group, but neither of the above
	Neighbour  bool            // beside a source in its document
	Random     bool            // drawn; only then Inclusion may be below 1
	Draw       int             // order of the draw, from 1; 0 when not drawn
	Inclusion  float64         // probability that the chunk got into the pool
}

// CorpusView is the corpus as a pool sees it. Positions run from 0 to Len - 1 in
// table order. Chunks are shared: callers do not change them.
type CorpusView interface {
	Len() int
	Chunk(position int) *corpus.Chunk
	Position(chunkID string) (int, bool)
	DocChunks(docID string) []int      // positions in document order
	NearChunks(nearGroup string) []int // positions in table order
}
