package judge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

func members(pairs ...any) map[string]retrieve.Retriever {
	out := map[string]retrieve.Retriever{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1].(retrieve.Retriever)
	}
	return out
}

func poolOf(ctx context.Context, c datasets.Case, o judge.PoolOptions, members map[string]retrieve.Retriever, view judge.CorpusView) ([]judge.Item, error) {
	return judge.NewPooler(o, members, view).Pool(ctx, c)
}

func TestPoolKnowsWhereEachItemComesFrom(t *testing.T) {
	chunks := handbook(4)
	twin := chunk("copy", 0, "Part  1 of the guide to topic 0.") // white space apart
	near := chunk("near", 0, "Part 1 of the guide to topic 0, second edition.")
	near.NearGroup = "n:doc00#1"
	chunks = append(chunks, twin, near)
	view := judge.NewView(chunks)
	c := caseOf("c1", "doc00#1")
	o := judge.PoolOptions{Depth: map[string]int{"bm25": 2, "mine": 1, "neighbours": 1, "near_duplicates": 5}}
	items, err := poolOf(t.Context(), c, o, members(
		"bm25", ranks{"doc02#0", "copy#0", "doc00#1", "doc03#2"},
		"mine", ranks{"doc02#0", "doc03#2"},
	), view)
	if err != nil {
		t.Fatal(err)
	}
	item := func(id, doc string, i judge.Item) judge.Item {
		pos, _ := view.Position(id)
		i.ChunkID, i.DocID, i.ExactGroup, i.Inclusion = id, doc, chunks[pos].ExactGroup, 1
		return i
	}
	want := []judge.Item{
		item("doc00#1", "doc00", judge.Item{Source: true, Ranks: map[string]judge.Rank{"bm25": {Rank: 3, Score: 2}}}),
		item("doc02#0", "doc02", judge.Item{Members: 2, Ranks: map[string]judge.Rank{"bm25": {Rank: 1, Score: 4}, "mine": {Rank: 1, Score: 2}}}),
		item("copy#0", "copy", judge.Item{Members: 1, Copy: true, Ranks: map[string]judge.Rank{"bm25": {Rank: 2, Score: 3}}}),
		item("doc00#0", "doc00", judge.Item{Neighbour: true}),
		item("doc00#2", "doc00", judge.Item{Neighbour: true}),
		item("near#0", "near", judge.Item{Near: true}),
	}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Errorf("pool (-want +got):\n%s", diff)
	}
}

func TestPoolHoldsOnlyWhatTheAskerMaySee(t *testing.T) {
	chunks := handbook(6)
	secret, old := &chunks[4], &chunks[9]
	secret.Scope = corpus.Scope{"team": {"sales"}}
	end := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	old.ValidTo = &end
	view := judge.NewView(chunks)
	o := judge.PoolOptions{Depth: map[string]int{"leaky": 20, "random": 100, "neighbours": 1}}
	all := members("leaky", ranks{secret.ID, old.ID, "doc05#0"})
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	c := caseOf("c1", "doc01#0")
	c.AsOf = &now
	items, err := poolOf(t.Context(), c, o, all, view)
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(items); slices.Contains(got, secret.ID) || slices.Contains(got, old.ID) || len(got) != len(chunks)-2 {
		t.Errorf("pool of %d chunks: %v", len(got), got)
	}
	c.Scope = corpus.Scope{"team": {"sales"}}
	if items, err = poolOf(t.Context(), c, o, all, view); err != nil || !slices.Contains(ids(items), secret.ID) {
		t.Errorf("a member of the team does not get %s: %v, %v", secret.ID, ids(items), err)
	}
}

func TestPoolResolvesSpansAndIgnoresStrangers(t *testing.T) {
	view := judge.NewView(handbook(3))
	spans := search(func(retrieve.Query) ([]retrieve.Hit, error) {
		return []retrieve.Hit{{ChunkID: "no such chunk"}, {DocID: "doc01", Start: 10, End: 101}, {DocID: "nowhere", Start: 0, End: 9}}, nil
	})
	items, err := poolOf(t.Context(), caseOf("c1", "doc00#0"), judge.PoolOptions{}, members("spans", spans), view)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"doc00#0", "doc01#0", "doc01#1"}, ids(items)); diff != "" {
		t.Errorf("pool (-want +got):\n%s", diff)
	}
}

func TestPoolErrorsNameTheThing(t *testing.T) {
	view := judge.NewView(handbook(1))
	down := errors.New("connection refused")
	_, err := poolOf(t.Context(), caseOf("c1", "doc00#0"), judge.PoolOptions{}, members("mine", search(func(retrieve.Query) ([]retrieve.Hit, error) {
		return nil, down
	})), view)
	if !errors.Is(err, down) || !strings.Contains(err.Error(), "case c1: pool member mine") {
		t.Errorf("error %v", err)
	}
	_, err = poolOf(t.Context(), caseOf("c2", "gone#7"), judge.PoolOptions{}, nil, view)
	if err == nil || !strings.Contains(err.Error(), "case c2: source chunk gone#7") {
		t.Errorf("error %v", err)
	}
	if err := (judge.PoolOptions{Depth: map[string]int{"bm25": -1}}).Validate(); err == nil || !strings.Contains(err.Error(), "bm25") {
		t.Errorf("error %v", err)
	}
}

func TestPoolLimitCutsMembersAlike(t *testing.T) {
	view := judge.NewView(handbook(10))
	o := judge.PoolOptions{Depth: map[string]int{"a": 10, "b": 10, "neighbours": 1, "random": 1, "max": 6}}
	items, err := poolOf(t.Context(), caseOf("c1", "doc00#0"), o, members(
		"a", ranks{"doc01#0", "doc02#0", "doc03#0", "doc04#0"},
		"b", ranks{"doc05#0", "doc06#0", "doc07#0", "doc08#0"},
	), view)
	if err != nil {
		t.Fatal(err)
	}
	got := ids(items)
	if diff := cmp.Diff([]string{"doc00#0", "doc01#0", "doc05#0", "doc02#0", "doc06#0"}, got[:5]); diff != "" || len(got) != 6 || !items[5].Random {
		t.Errorf("pool %v (-want +got):\n%s", got, diff)
	}
}

func TestPoolRandomChunks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		view := judge.NewView(handbook(rapid.IntRange(1, 12).Draw(t, "docs")))
		want := rapid.IntRange(0, 12).Draw(t, "random")
		o := judge.PoolOptions{Seed: rapid.Int64().Draw(t, "seed"), Depth: map[string]int{"random": want, "neighbours": 1}}
		c := caseOf(rapid.StringMatching(`[0-9a-f]{16}`).Draw(t, "case"), "doc00#0")
		items, err := poolOf(t.Context(), c, o, nil, view)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := poolOf(t.Context(), c, o, nil, view)
		if diff := cmp.Diff(items, again); diff != "" {
			t.Fatalf("two pools of one case differ:\n%s", diff)
		}
		outside := view.Len() - 2 // the source and its neighbour
		drawn, seen := 0, map[string]bool{}
		for _, item := range items {
			if seen[item.ChunkID] {
				t.Fatalf("%s is in the pool twice", item.ChunkID)
			}
			seen[item.ChunkID] = true
			if !item.Random {
				continue
			}
			drawn++
			if p := float64(min(want, outside)) / float64(outside); math.Abs(item.Inclusion-p) > 1e-12 || item.Draw != drawn {
				t.Fatalf("item %+v, want inclusion %g and draw %d", item, p, drawn)
			}
		}
		if drawn != min(want, outside) {
			t.Fatalf("%d drawn of %d wanted and %d outside", drawn, want, outside)
		}
	})
}

// Each chunk outside is drawn about as often as its inclusion probability says.
func TestPoolRandomChunksAreUniform(t *testing.T) {
	view := judge.NewView(handbook(7))
	p := judge.NewPooler(judge.PoolOptions{Seed: 7, Depth: map[string]int{"random": 4}}, nil, view)
	const cases = 2000
	count := map[string]int{}
	for i := range cases {
		items, err := p.Pool(t.Context(), caseOf(fmt.Sprint(i), "doc00#0"))
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items[1:] {
			count[item.ChunkID]++
		}
	}
	want := cases * 4. / 20
	for id, n := range count {
		if math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
			t.Errorf("%s drawn %d times, want about %g", id, n, want)
		}
	}
	if len(count) != 20 {
		t.Errorf("%d chunks drawn at all, want 20", len(count))
	}
}
