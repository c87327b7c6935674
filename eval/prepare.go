package eval

import (
	"fmt"
	"math"
	"slices"
)

// prepared holds all rankings as indexes into labels, so that measures and
// draws never look at an id again. Case i owns hits from hitStart[i], as many
// as its facts say, and grades[labelStart[i]:labelStart[i+1]].
type prepared struct {
	cases      []Case
	hits       []int32 // index of the label within its case, or -1
	hitStart   []int
	grades     []int16 // one a label: as read, Unknown, or Unlabelled for one taken out
	labelStart []int
	facts      []caseFacts

	cuts     []int     // of span measures
	overlaps []overlap // case after case, one for each cut

	stale map[int][]int // by case with a chunk labelled stale: indexes of such results
}

// caseFacts is what scoring needs to know of a case besides its labels.
type caseFacts struct {
	state      state
	rising     bool // scores rise somewhere along the ranking
	tied       bool // two results in a row have the same score
	results    int32
	duplicates int32
	kept       []int32 // indexes into the ranking; nil means all
}

type state uint8

const (
	scored  state = iota
	missing       // no result
	failed        // the retriever gave an error
	dropped       // nothing relevant, and such cases do not count
	abstain
)

var stateNames = [...]string{scored: "scored", missing: "missing", failed: "failed", dropped: "nothing_relevant", abstain: "abstain"}

// Marks in a case's index from id to label.
const (
	excludedID = -1 // in neither ranking nor labels
	returnedID = -2 // in the ranking, further up
)

// prepare checks the input and matches rankings with labels.
func prepare(in *Input) (*prepared, error) {
	p := newPrepared(in.Cases)
	errs := make([]error, blocks(len(in.Cases)))
	eachBlock(len(in.Cases), func(block, from, to int) {
		errs[block] = p.matchCases(in.Cases, from, to)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	p.addSpans(in)
	p.addStale()
	return p, nil
}

func newPrepared(cases []Case) *prepared {
	p := &prepared{
		cases:      cases,
		hitStart:   make([]int, len(cases)+1),
		labelStart: make([]int, len(cases)+1),
		facts:      make([]caseFacts, len(cases)),
	}
	for i := range cases {
		p.hitStart[i+1] = p.hitStart[i] + len(cases[i].Ranking)
		p.labelStart[i+1] = p.labelStart[i] + len(cases[i].Labels)
	}
	p.hits = make([]int32, p.hitStart[len(cases)])
	p.grades = make([]int16, p.labelStart[len(cases)])
	return p
}

func (p *prepared) matchCases(cases []Case, from, to int) error {
	index := map[string]int32{}
	for i := from; i < to; i++ {
		clear(index)
		err := p.readLabels(i, &cases[i], index)
		if err == nil {
			err = p.readRanking(i, &cases[i], index)
		}
		if err != nil {
			return fmt.Errorf("case %s: %w", cases[i].ID, err)
		}
	}
	return nil
}

func (p *prepared) readLabels(i int, c *Case, index map[string]int32) error {
	for _, id := range c.about().Exclude {
		index[id] = excludedID
	}
	grades := p.grades[p.labelStart[i]:p.labelStart[i+1]]
	for j := range c.Labels {
		l := &c.Labels[j]
		at, seen := index[l.ID]
		if seen && at == excludedID {
			grades[j] = Unlabelled
			continue
		}
		if seen {
			return fmt.Errorf("two labels for %q", l.ID)
		}
		if err := checkLabel(l); err != nil {
			return fmt.Errorf("label of %q: %w", l.ID, err)
		}
		index[l.ID] = int32(j)
		grades[j] = int16(l.Grade)
		if l.Uncertain != nil {
			grades[j] = int16(max(l.Grade, 0)) // known: draws or settle say what
		}
	}
	return nil
}

func (p *prepared) readRanking(i int, c *Case, index map[string]int32) error {
	f := &p.facts[i]
	f.state = firstState(c)
	hits := p.hits[p.hitStart[i]:p.hitStart[i+1]]
	if err := f.readScores(c); err != nil {
		return err
	}
	if c.Spans != nil && len(c.Spans) != len(c.Ranking) {
		return fmt.Errorf("%d spans for %d results", len(c.Spans), len(c.Ranking))
	}
	if c.Sources != nil && len(c.Sources) != len(c.Ranking) {
		return fmt.Errorf("%d sources for %d results", len(c.Sources), len(c.Ranking))
	}
	for rank, id := range c.Ranking {
		at, known := index[id]
		if !known {
			at = unlabelledHit
		} else if at < 0 {
			f.drop(rank, at == returnedID)
			continue
		}
		index[id] = returnedID
		hits[f.results] = at
		f.keep(rank)
		f.tied = f.tied || p.tiedWithNext(i, int(f.results)-2)
	}
	return nil
}

// readScores checks the scores of a case, if it has any.
func (f *caseFacts) readScores(c *Case) error {
	if c.Scores == nil {
		return nil
	}
	if len(c.Scores) != len(c.Ranking) {
		return fmt.Errorf("%d scores for %d results", len(c.Scores), len(c.Ranking))
	}
	for rank, score := range c.Scores {
		if math.IsNaN(score) || math.IsInf(score, 0) {
			return fmt.Errorf("rank %d: %q: score is %v", rank+1, c.Ranking[rank], score)
		}
		f.rising = f.rising || (rank > 0 && score > c.Scores[rank-1])
	}
	return nil
}

// position is the index into the ranking of case i's kept result n.
func (p *prepared) position(i, n int) int {
	if kept := p.facts[i].kept; kept != nil {
		return int(kept[n])
	}
	return n
}

// unlabelledHit stands in hits for a result without a label.
const unlabelledHit = -1

// drop takes a result out; from the first one on, kept is written.
func (f *caseFacts) drop(rank int, duplicate bool) {
	if duplicate {
		f.duplicates++
	}
	if f.kept == nil {
		f.kept = make([]int32, rank, rank+8)
		for i := range f.kept {
			f.kept[i] = int32(i)
		}
	}
}

func (f *caseFacts) keep(rank int) {
	f.results++
	if f.kept != nil {
		f.kept = append(f.kept, int32(rank))
	}
}

func checkLabel(l *Label) error {
	if l.Grade < Unknown || l.Grade > math.MaxInt16 {
		return fmt.Errorf("grade %d: want 0 to %d, or %d for unknown", l.Grade, math.MaxInt16, Unknown)
	}
	if l.Uncertain == nil {
		return nil
	}
	outside := func(p float64) bool { return !(p >= 0 && p <= 1) }
	if outside(l.Uncertain.P) || slices.ContainsFunc(l.Uncertain.Draws, outside) {
		return fmt.Errorf("probability outside 0 to 1: %v %v", l.Uncertain.P, l.Uncertain.Draws)
	}
	return nil
}

func firstState(c *Case) state {
	switch {
	case c.Abstain:
		return abstain
	case c.Failed != "":
		return failed
	case len(c.Ranking) == 0:
		return missing
	}
	return scored
}
