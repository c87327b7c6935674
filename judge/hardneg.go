package judge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

const (
	// hardRank is how high a retriever must put a chunk for it to be a hard
	// negative.
	hardRank = 10
	// hardP is the probability below which a label model calls a chunk wrong,
	// and likelyP that from which it calls one right.
	hardP, likelyP = 0.1, 0.5
)

// Negatives says what a hard negative of a set's cases is: a chunk among the
// first ten of a retriever, near the query in wording, and wrong. Wrong is what a
// person, or a judge that passed its canaries, graded below RelevantGrade, or
// whose p is below 0.1, unless one of them finds it relevant; a person's grade
// decides alone. A chunk that holds evidence, or whose text is that of a relevant
// one or nearly so, is none: it would teach a reranker the opposite. Near in
// wording is a chunk with at least half as many of the query's terms as the best
// of the relevant ones, and with one at least. A rival, which is wrong by the way
// in which the query was made, is one whatever its rank and wording, unless a
// person finds it relevant.
type Negatives struct {
	View          CorpusView
	RelevantGrade int
	JudgePassed   bool
	Tops          Tops // further rankings that count, such as those of an extension
}

// Fill sets the hard negatives of all cases that are not retired. A chunk that was
// one stays one while it is wrong, however it is ranked now.
func (n Negatives) Fill(cases []datasets.Case) {
	for i := range cases {
		if c := &cases[i]; c.Status != datasets.Retired {
			c.HardNegatives = n.of(c)
		}
	}
}

// judgedChunk is a judged chunk of a case.
type judgedChunk struct {
	id      string
	rank    int
	chunk   *corpus.Chunk
	overlap float64 // share of the query's terms that its text has
	label   joined
}

// joined is what the judgments of one chunk say together.
type joined struct {
	right, wrong bool
	rival        bool // wrong by the way in which the query was made
}

func (n Negatives) of(c *datasets.Case) []string {
	all := n.candidates(c)
	most := 0.0
	var relevant []*corpus.Chunk
	for _, x := range all {
		if x.label.right {
			most, relevant = max(most, x.overlap), append(relevant, x.chunk)
		}
	}
	var hard []judgedChunk
	for _, x := range all {
		high := x.rank <= hardRank && x.overlap > 0 && 2*x.overlap >= most
		if x.label.rival || (high || slices.Contains(c.HardNegatives, x.id)) && x.label.wrong && !mayAnswer(c, x.chunk, relevant) {
			hard = append(hard, x)
		}
	}
	slices.SortFunc(hard, func(a, b judgedChunk) int { return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.id, b.id)) })
	ids := []string{}
	for _, x := range hard {
		ids = append(ids, x.id)
	}
	return ids
}

// candidates are the judged chunks that the corpus has, in the order of their
// first judgment.
func (n Negatives) candidates(c *datasets.Case) []judgedChunk {
	query, at := distinctTerms(c.Query), map[string]int{}
	var all []judgedChunk
	var judgments [][]datasets.Judgment
	for _, j := range c.Judgments {
		i, known := at[j.ChunkID]
		if !known {
			pos, ok := n.View.Position(j.ChunkID)
			if !ok {
				continue
			}
			i, at[j.ChunkID] = len(all), len(all)
			chunk := n.View.Chunk(pos)
			all = append(all, judgedChunk{id: j.ChunkID, rank: unranked, chunk: chunk, overlap: overlap(query, chunk.Text)})
			judgments = append(judgments, nil)
		}
		all[i].rank = min(all[i].rank, rankIn(j.Features))
		judgments[i] = append(judgments[i], j)
	}
	for i := range all {
		all[i].label = n.read(c, all[i].id, judgments[i])
	}
	for id, rank := range n.Tops.ranks(c.ID, n.View) {
		if i, ok := at[id]; ok {
			all[i].rank = min(all[i].rank, rank)
		}
	}
	return all
}

// rankIn is the best rank among a pair's features.
func rankIn(features map[string]float64) int {
	best := unranked
	for name, v := range features {
		if strings.HasPrefix(name, "rank_") {
			best = min(best, int(v))
		}
	}
	return best
}

// ranks are the best ranks of a case's chunks in the tops.
func (t Tops) ranks(caseID string, view CorpusView) map[string]int {
	out := map[string]int{}
	for _, ranking := range t.Rankings[caseID] {
		for i, hit := range ranking.Hits[:min(t.Depth, len(ranking.Hits))] {
			for _, pos := range positions(view, hit) {
				id := view.Chunk(pos).ID
				out[id] = min(i+1, cmp.Or(out[id], unranked))
			}
		}
	}
	return out
}

// read joins the judgments of one chunk. A source is right whatever is said of it.
// What a person calls stale or out of scope is neither: it may well answer.
func (n Negatives) read(c *datasets.Case, id string, judgments []datasets.Judgment) joined {
	if slices.ContainsFunc(judgments, func(j datasets.Judgment) bool { return j.OfRival() }) {
		return n.readRival(judgments)
	}
	out := joined{right: slices.Contains(c.Source, id)}
	for _, j := range judgments {
		relevant := j.Grade != nil && *j.Grade >= n.RelevantGrade
		switch {
		case j.Label == datasets.LabelStale, j.Label == datasets.LabelOutOfScope:
			return joined{}
		case j.By == datasets.ByHuman && j.Grade != nil:
			return joined{right: relevant, wrong: !relevant}
		case j.P != nil:
			out.right, out.wrong = out.right || *j.P >= likelyP, out.wrong || *j.P < hardP
		case j.Grade != nil && (j.By == datasets.BySynthetic || n.JudgePassed):
			out.right, out.wrong = out.right || relevant, out.wrong || !relevant
		}
	}
	out.wrong = out.wrong && !out.right
	return out
}

// readRival joins the judgments of a rival: a person alone can make it right.
func (n Negatives) readRival(judgments []datasets.Judgment) joined {
	for _, j := range judgments {
		if j.By == datasets.ByHuman && j.Grade != nil && *j.Grade >= n.RelevantGrade {
			return joined{right: true}
		}
	}
	return joined{wrong: true, rival: true}
}

// mayAnswer reports whether a chunk holds evidence, or is a copy or nearly so of one
// that is relevant.
func mayAnswer(c *datasets.Case, chunk *corpus.Chunk, relevant []*corpus.Chunk) bool {
	for _, e := range c.Evidence {
		if e.ChunkID == chunk.ID || e.DocID == chunk.DocID && e.Start < chunk.End && chunk.Start < e.End {
			return true
		}
	}
	return slices.ContainsFunc(relevant, func(r *corpus.Chunk) bool {
		return sameText(r, chunk) || r.NearGroup != "" && r.NearGroup == chunk.NearGroup
	})
}
