package pipeline

import (
	"iter"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/judge"
)

// view is a snapshot in memory with the look-ups that stages need.
type view struct {
	*judge.View
	docs   []corpus.Document
	chunks []corpus.Chunk
	docAt  map[string]int
}

func loadView(s *corpus.Snapshot) (*view, error) {
	docs, chunks, err := s.Load()
	if err != nil {
		return nil, err
	}
	v := &view{View: judge.NewView(chunks), docs: docs, chunks: chunks, docAt: make(map[string]int, len(docs))}
	for i := range docs {
		v.docAt[docs[i].ID] = i
	}
	return v, nil
}

// all yields the chunks in table order, as an index wants them.
func (v *view) all() iter.Seq2[corpus.Chunk, error] {
	return func(yield func(corpus.Chunk, error) bool) {
		for i := range v.chunks {
			if !yield(v.chunks[i], nil) {
				return
			}
		}
	}
}

func (v *view) chunk(id string) (*corpus.Chunk, bool) {
	i, ok := v.Position(id)
	if !ok {
		return nil, false
	}
	return v.Chunk(i), true
}

// HasChunk implements retrieve.Lookup.
func (v *view) HasChunk(id string) bool {
	_, ok := v.Position(id)
	return ok
}

// ChunksOf implements retrieve.Lookup.
func (v *view) ChunksOf(docID string) []string {
	var ids []string
	for _, i := range v.DocChunks(docID) {
		ids = append(ids, v.chunks[i].ID)
	}
	return ids
}
