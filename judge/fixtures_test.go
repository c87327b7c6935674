package judge_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

// chunk makes the n-th chunk of a document; groups default to the chunk's own.
func chunk(doc string, n int, text string) corpus.Chunk {
	id := fmt.Sprintf("%s#%d", doc, n)
	return corpus.Chunk{
		ID: id, DocID: doc, Ordinal: n, Start: 100 * n, End: 100*n + len(text), Text: text,
		ExactGroup: "x:" + strings.Join(strings.Fields(text), " "), NearGroup: "n:" + id,
	}
}

// handbook is docs documents of three chunks, no two alike.
func handbook(docs int) []corpus.Chunk {
	var chunks []corpus.Chunk
	for d := range docs {
		for n := range 3 {
			chunks = append(chunks, chunk(fmt.Sprintf("doc%02d", d), n, fmt.Sprintf("Part %d of the guide to topic %d.", n, d)))
		}
	}
	return chunks
}

// ranks is a retriever that always returns the same chunks, with falling scores.
type ranks []string

func (r ranks) Retrieve(_ context.Context, q retrieve.Query) (retrieve.Result, error) {
	var result retrieve.Result
	for i, id := range r[:min(q.K, len(r))] {
		result.Hits = append(result.Hits, retrieve.Hit{ChunkID: id, Score: float64(len(r) - i)})
	}
	return result, nil
}

// search is a retriever made of a function.
type search func(q retrieve.Query) ([]retrieve.Hit, error)

func (s search) Retrieve(_ context.Context, q retrieve.Query) (retrieve.Result, error) {
	hits, err := s(q)
	return retrieve.Result{Hits: hits}, err
}

func caseOf(id string, source ...string) datasets.Case {
	return datasets.Case{ID: id, Query: "query " + id, QueryType: "factual", Source: source, Provenance: datasets.Provenance{Stratum: "all"}}
}

func ids(items []judge.Item) []string {
	var out []string
	for _, i := range items {
		out = append(out, i.ChunkID)
	}
	return out
}

func hitOf(id string, score float64) retrieve.Hit { return retrieve.Hit{ChunkID: id, Score: score} }

func hitsOf(ids ...string) []retrieve.Hit {
	var out []retrieve.Hit
	for i, id := range ids {
		out = append(out, hitOf(id, float64(len(ids)-i)))
	}
	return out
}
