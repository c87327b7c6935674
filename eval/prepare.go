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

// prepare checks the input and matches rankings with labels. It lets go of
// topics.
func prepare(in *Input) (*prepared, error) {
	p := newPrepared(in)
	errs := make([]error, blocks(len(in.Cases)))
	eachBlock(len(in.Cases), func(block, from, to int) {
		m := matcher{prepared: p, in: in, index: newIDIndex()}
		errs[block] = m.match(from, to)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	p.addSpans(in)
	p.addStale()
	in.Topics = nil // what is left of them is in p
	return p, nil
}

func newPrepared(in *Input) *prepared {
	cases := in.Cases
	p := &prepared{
		cases:      cases,
		hitStart:   make([]int, len(cases)+1),
		labelStart: make([]int, len(cases)+1),
		facts:      make([]caseFacts, len(cases)),
	}
	for i := range cases {
		p.hitStart[i+1] = p.hitStart[i] + in.returned(i)
		p.labelStart[i+1] = p.labelStart[i] + in.labelCount(i)
	}
	p.hits = make([]int32, p.hitStart[len(cases)])
	p.grades = make([]int16, p.labelStart[len(cases)])
	return p
}

// matcher matches rankings with labels, case after case.
type matcher struct {
	*prepared
	in     *Input
	index  *idIndex // of the case at hand: from id to label, or a mark
	labels []Label  // room for those of a case
	ids    []string // likewise for a ranking
}

func (m *matcher) match(from, to int) error {
	for i := from; i < to; i++ {
		m.index.clear()
		err := m.readLabels(i, &m.cases[i])
		if err == nil {
			err = m.readRanking(i, &m.cases[i])
		}
		if err != nil {
			return fmt.Errorf("case %s: %w", m.cases[i].ID, err)
		}
	}
	return nil
}

func (m *matcher) readLabels(i int, c *Case) error {
	for _, id := range c.about().Exclude {
		at, _ := m.index.value(id)
		*at = excludedID
	}
	grades := m.grades[m.labelStart[i]:m.labelStart[i+1]]
	m.labels = m.in.labels(i, m.labels)
	for j := range m.labels {
		l := &m.labels[j]
		at, seen := m.index.value(l.ID)
		if seen && *at == excludedID {
			grades[j] = Unlabelled
			continue
		}
		if seen {
			return fmt.Errorf("two labels for %q", l.ID)
		}
		if err := checkLabel(l); err != nil {
			return fmt.Errorf("label of %q: %w", l.ID, err)
		}
		*at = int32(j)
		grades[j] = int16(l.Grade)
		if l.Uncertain != nil {
			grades[j] = int16(max(l.Grade, 0)) // known: draws or settle say what
		}
	}
	return nil
}

func (m *matcher) readRanking(i int, c *Case) error {
	m.ids = m.in.ranking(i, m.ids)
	f := &m.facts[i]
	f.state = firstState(c, len(m.ids))
	if err := f.readScores(c, m.ids); err != nil {
		return err
	}
	if c.Spans != nil && len(c.Spans) != len(m.ids) {
		return fmt.Errorf("%d spans for %d results", len(c.Spans), len(m.ids))
	}
	if c.Sources != nil && len(c.Sources) != len(m.ids) {
		return fmt.Errorf("%d sources for %d results", len(c.Sources), len(m.ids))
	}
	hits := m.hits[m.hitStart[i]:m.hitStart[i+1]]
	for rank, id := range m.ids {
		at, known := m.index.value(id)
		hit := *at
		switch {
		case !known:
			hit = unlabelledHit
		case hit < 0:
			f.drop(rank, hit == returnedID)
			continue
		}
		*at = returnedID
		hits[f.results] = hit
		f.keep(rank)
		f.tied = f.tied || m.tiedWithNext(i, int(f.results)-2)
	}
	return nil
}

// readScores checks the scores of a case, if it has any.
func (f *caseFacts) readScores(c *Case, ranking []string) error {
	if c.Scores == nil {
		return nil
	}
	if len(c.Scores) != len(ranking) {
		return fmt.Errorf("%d scores for %d results", len(c.Scores), len(ranking))
	}
	for rank, score := range c.Scores {
		if math.IsNaN(score) || math.IsInf(score, 0) {
			return fmt.Errorf("rank %d: %q: score is %v", rank+1, ranking[rank], score)
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

func firstState(c *Case, results int) state {
	switch {
	case c.Abstain:
		return abstain
	case c.Failed != "":
		return failed
	case results == 0:
		return missing
	}
	return scored
}
