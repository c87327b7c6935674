package judge

import (
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
)

// ObservedIn reads from a case's own judgments what Observe would find: its label
// model left with each pair what it saw of it. It is not ok for a case with a
// judged chunk that the label model has not seen, which has to be looked up; one
// whose judgment was carried over from another chunk is such a chunk.
func ObservedIn(c *datasets.Case) (pool []Observed, ok bool) {
	seen := map[string]bool{}
	for _, j := range c.Judgments {
		if j.By != datasets.ByLabelModel || j.Features == nil || j.Carried() {
			continue
		}
		seen[j.ChunkID] = true
		pool = append(pool, Observed{Item: itemOf(j), Seen: j.Features})
	}
	unseen := func(j datasets.Judgment) bool { return !seen[j.ChunkID] }
	return pool, len(pool) > 0 && !slices.ContainsFunc(c.Judgments, unseen)
}

// itemOf is as much of a pool's item as its features tell.
func itemOf(j datasets.Judgment) Item {
	item := Item{ChunkID: j.ChunkID, DocID: j.DocID, Inclusion: j.Inclusion, Ranks: map[string]Rank{}}
	for name, rank := range j.Features {
		if member, ranked := strings.CutPrefix(name, "rank_"); ranked {
			item.Ranks[member] = Rank{Rank: int(rank), Score: j.Features["score_"+member]}
		}
	}
	return item
}
