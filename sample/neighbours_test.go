package sample_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// nextTo are neighbours as given.
func nextTo(pairs ...sample.Neighbour) sample.Neighbours {
	return func(context.Context, []int) ([]sample.Neighbour, error) { return pairs, nil }
}

// Two chunks that are each other's nearest make one row. What is not fit to be joined
// makes none, whatever it is near to.
func TestHopsBetweenNeighbours(t *testing.T) {
	flagged := func(c *corpus.Chunk) { c.Flags = []string{"boilerplate"} }
	chunks := []corpus.Chunk{
		passage("a", "The lamp in the hall burns all night."), passage("b", "A light needs a new bulb each year."),
		passage("c", "The door is shut at ten.", near("door")), passage("d", "The door is shut at six.", near("door")),
		passage("e", "All rights are kept.", flagged), passage("f", "No right is kept."),
		passage("g", "Water is turned off in winter."),
	}
	second := passage("g", "Heating is turned on in winter.")
	second.ID = "g#1"
	in := whole(append(chunks, second))
	in.Neighbours = nextTo(
		sample.Neighbour{ChunkID: "a#0", Nearest: "b#0"}, sample.Neighbour{ChunkID: "b#0", Nearest: "a#0"},
		sample.Neighbour{ChunkID: "c#0", Nearest: "d#0"}, sample.Neighbour{ChunkID: "f#0", Nearest: "e#0"},
		sample.Neighbour{ChunkID: "g#0", Nearest: "g#1"}, sample.Neighbour{ChunkID: "g#0", Nearest: "g#0"},
	)
	p, err := sample.Draw(t.Context(), in, onlyType(datasets.MultiHop, 2))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]need{{Chunks: []string{"a#0", "b#0"}, Link: sample.LinkNeighbour}}, needs(p)); diff != "" {
		t.Errorf("needs (-want +got):\n%s", diff)
	}
	want := []datasets.Shortfall{{Stratum: "all", QueryType: datasets.MultiHop, Wanted: 2, Got: 1, Reason: p.Shortfall[0].Reason}}
	if diff := cmp.Diff(want, p.Shortfall); diff != "" {
		t.Errorf("shortfall (-want +got):\n%s", diff)
	}
}

func TestNeighboursThatCannotBeFound(t *testing.T) {
	in := whole([]corpus.Chunk{passage("a", "The lamp burns."), passage("b", "A light shines.")})
	in.Neighbours = nextTo()
	p, err := sample.Draw(t.Context(), in, onlyType(datasets.MultiHop, 1))
	if err != nil {
		t.Fatal(err)
	}
	want := "the corpus has no two documents that share a rare term or links from one document to another or sections under one heading or chunks of two documents that are near each other by vector"
	if got := p.Shortfall[0].Reason; got != want {
		t.Errorf("reason %q", got)
	}
	gone := errors.New("gone")
	in.Neighbours = func(context.Context, []int) ([]sample.Neighbour, error) { return nil, gone }
	if _, err := sample.Draw(t.Context(), in, onlyType(datasets.MultiHop, 1)); !errors.Is(err, gone) || err.Error() != "neighbours by vector: gone" {
		t.Errorf("error %v", err)
	}
	if _, err := sample.Draw(t.Context(), in, onlyType(datasets.OutOfScope, 1)); err != nil {
		t.Errorf("neighbours were looked for where no type joins any: %v", err)
	}
}

// Neighbours are looked for of a sample of the corpus that does not depend on its
// order and has no chunk that may not be asked about.
func TestWhoseNeighboursAreLookedFor(t *testing.T) {
	var chunks []corpus.Chunk
	for i := range 4000 {
		chunks = append(chunks, passage(fmt.Sprintf("d%04d", i), fmt.Sprintf("sentence %d", i)))
		if i%2 == 1 {
			chunks[i].Flags = []string{"boilerplate"}
		}
	}
	looked := func(chunks []corpus.Chunk) (ids []string) {
		in := whole(chunks)
		in.Neighbours = func(_ context.Context, rows []int) ([]sample.Neighbour, error) {
			if !slices.IsSorted(rows) {
				t.Errorf("rows %v are not in order", rows)
			}
			for _, row := range rows {
				ids = append(ids, chunks[row].ID)
			}
			return nil, nil
		}
		if _, err := sample.Draw(t.Context(), in, onlyType(datasets.MultiHop, 3)); err != nil {
			t.Fatal(err)
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	ids := looked(chunks)
	early := 0
	for _, id := range ids {
		if n := int(id[4] - '0'); n%2 == 1 {
			t.Errorf("%s may not be asked about", id)
		}
		if id < "d2000" {
			early++
		}
	}
	if len(ids) != 512 || early < 200 || early > 312 { // 5 standard deviations
		t.Errorf("%d chunks were looked at, %d of them from the first half", len(ids), early)
	}
	slices.Reverse(chunks)
	if diff := cmp.Diff(ids, looked(chunks)); diff != "" {
		t.Errorf("another order of the corpus (-want +got):\n%s", diff)
	}
}
