package judge

import "github.com/goldgen/goldgen/corpus"

// View is a CorpusView over chunks in memory.
type View struct {
	chunks   []corpus.Chunk
	position map[string]int
	docs     map[string][]int
	near     map[string][]int
}

// NewView indexes chunks, which must be in snapshot order (by document, then
// ordinal) and are not copied. Groups of one chunk cost nothing.
func NewView(chunks []corpus.Chunk) *View {
	v := &View{chunks: chunks, position: make(map[string]int, len(chunks)), docs: map[string][]int{}, near: map[string][]int{}}
	size := map[string]int{}
	for i := range chunks {
		size[chunks[i].NearGroup]++
	}
	for i := range chunks {
		c := &chunks[i]
		v.position[c.ID] = i
		v.docs[c.DocID] = append(v.docs[c.DocID], i)
		if c.NearGroup != "" && size[c.NearGroup] > 1 {
			v.near[c.NearGroup] = append(v.near[c.NearGroup], i)
		}
	}
	return v
}

// Len is the number of chunks.
func (v *View) Len() int { return len(v.chunks) }

// Chunk is the chunk at a position.
func (v *View) Chunk(position int) *corpus.Chunk { return &v.chunks[position] }

// Position finds a chunk by its id.
func (v *View) Position(chunkID string) (int, bool) {
	i, ok := v.position[chunkID]
	return i, ok
}

// DocChunks are the positions of a document's chunks.
func (v *View) DocChunks(docID string) []int { return v.docs[docID] }

// NearChunks are the positions of a near group of two chunks or more.
func (v *View) NearChunks(nearGroup string) []int { return v.near[nearGroup] }
