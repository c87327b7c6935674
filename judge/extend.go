package judge

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/retrieve"
)

// ErrOtherJudge says that a set was judged by another judge than the one that
// is to extend it: the verdict on its canaries would not hold.
var ErrOtherJudge = errors.New("the set was judged by another judge")

// Ranking is what one retriever returned for a case, best first.
type Ranking struct {
	Name string // of the retriever
	Hits []retrieve.Hit
}

// Tops are the results that an extension adds to the pools: of each ranking, by
// case id, the first Depth hits.
type Tops struct {
	Rankings map[string][]Ranking
	Depth    int
	Only     func(chunkID string) bool // chunks that may be added; nil: any
}

func (t Tops) may(chunkID string) bool { return t.Only == nil || t.Only(chunkID) }

// Chunks lists the chunks of the tops, by case id.
func (t Tops) Chunks(view CorpusView) map[string][]string {
	out := map[string][]string{}
	for id, rankings := range t.Rankings {
		for _, ranking := range rankings {
			for _, hit := range ranking.Hits[:min(t.Depth, len(ranking.Hits))] {
				for _, pos := range positions(view, hit) {
					if chunk := view.Chunk(pos).ID; t.may(chunk) {
						out[id] = append(out[id], chunk)
					}
				}
			}
		}
	}
	return out
}

// Extension is the outcome of Extend.
type Extension struct {
	Cases   []datasets.Case // all cases, in their order
	Changed int             // cases whose judgments changed
	Pairs   int             // new pairs graded
	Unknown map[string]int  // of them, by reason
	Calls   int
	Verdict Verdict // on the set's canaries
	Missed  *datasets.Interval
}

// Extend adds the top hits of results to the pools of a set's cases and grades
// the new pairs only. Hits that the asker may not see are left out: they are
// leaks, not labels. The judge must be the set's own (ErrOtherJudge), since its
// verdict is read again from the canaries that the set holds; a set without a
// model's judgments takes any judge, as untested.
func Extend(ctx context.Context, cases []datasets.Case, tops Tops, deps Deps, o Options) (Extension, error) {
	if deps.Judge.Grader == nil {
		return Extension{}, errors.New("judge: none cannot extend a set: there is no judge to grade with")
	}
	if tops.Depth < 1 || o.Concurrency < 1 {
		return Extension{}, fmt.Errorf("extend: depth %d and concurrency %d must be at least 1", tops.Depth, o.Concurrency)
	}
	canaries, err := storedCanaries(cases, deps.Judge.Name)
	if err != nil {
		return Extension{}, err
	}
	out := Extension{Cases: make([]datasets.Case, len(cases)), Unknown: map[string]int{}}
	if deps.Judge.tested() {
		out.Verdict = Assess(canaries)
	}
	additions, err := gradeAdditions(ctx, cases, tops, deps, o)
	if err != nil {
		return Extension{}, err
	}
	for i := range cases {
		out.Cases[i] = cases[i]
		out.add(&out.Cases[i], additions[i], deps.Judge)
	}
	Negatives{View: deps.View, RelevantGrade: RelevantGrade, JudgePassed: out.Verdict.State == Passed, Tops: tops}.Fill(out.Cases)
	out.Missed = MissedIn(out.Cases, RelevantGrade, out.Verdict.State == Passed)
	return out, nil
}

// storedCanaries reads a judge's canaries from a set's judgments. Their
// features keep the grades also where the judge was blind.
func storedCanaries(cases []datasets.Case, judge string) ([]Canary, error) {
	var canaries []Canary
	for i := range cases {
		for _, j := range cases[i].Judgments {
			if j.By != datasets.ByLLM {
				continue
			}
			if j.Judge != judge {
				return nil, fmt.Errorf("case %s: %w: %s, not %s", cases[i].ID, ErrOtherJudge, j.Judge, judge)
			}
			f := j.Features
			source, random := f["source"] == 1, f["random"] == 1 && f["copy"] == 0 && f["near"] == 0
			if source || random {
				canaries = append(canaries, Canary{CaseID: cases[i].ID, ChunkID: j.ChunkID, Source: source, Grade: storedGrade(j)})
			}
		}
	}
	return canaries, nil
}

func storedGrade(j datasets.Judgment) Grade {
	var g Grade
	if v, ok := j.Features["grade"]; ok {
		grade := int(v)
		g.Grade = &grade
	}
	if v, ok := j.Features["expected_grade"]; ok {
		g.Expected = &v
	}
	return g
}

// addition is a chunk that an extension brings to a case.
type addition struct {
	item   Item
	votes  []Grade // of the judge's stages
	grade  Grade
	judged int // index of the judgment that the chunk has already, else -1
	twin   int // index of an addition before it with the same text, else -1
	shared int // index of a judgment of a chunk with the same text, else -1
}

func (a *addition) asks() bool { return a.judged < 0 && a.twin < 0 && a.shared < 0 }

// gradeAdditions grades what is new, case after case, once for each stage of the
// judge.
func gradeAdditions(ctx context.Context, cases []datasets.Case, tops Tops, deps Deps, o Options) ([][]addition, error) {
	all := make([][]addition, len(cases))
	for i := range cases {
		if cases[i].Status != datasets.Retired {
			all[i] = additionsTo(&cases[i], tops, deps.View)
		}
	}
	for _, grader := range deps.Judge.stages() {
		if err := voteOn(ctx, cases, all, deps.View, grader, o.Concurrency); err != nil {
			return nil, err
		}
	}
	for i := range all {
		for n := range all[i] {
			if a := &all[i][n]; a.asks() {
				a.grade = deps.Judge.join(a.votes)
			}
		}
	}
	return all, nil
}

// voteOn asks one grader about all additions that have to be asked about.
func voteOn(ctx context.Context, cases []datasets.Case, all [][]addition, view CorpusView, grader Grader, concurrency int) error {
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for i := range all {
		for n := range all[i] {
			a := &all[i][n]
			if !a.asks() || gctx.Err() != nil {
				continue
			}
			group.Go(func() error {
				grade, err := gradeChunk(gctx, view, grader, &cases[i], a.item.ChunkID)
				a.votes = append(a.votes, grade)
				return err
			})
		}
	}
	err := group.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// additionsTo lists the chunks of the rankings' tops, best first and ranking by
// ranking.
func additionsTo(c *datasets.Case, tops Tops, view CorpusView) []addition {
	at := map[int]int{}
	var found []addition
	for _, ranking := range tops.Rankings[c.ID] {
		for i, hit := range ranking.Hits[:min(tops.Depth, len(ranking.Hits))] {
			for _, pos := range positions(view, hit) {
				if !tops.may(view.Chunk(pos).ID) || !corpus.Match(view.Chunk(pos), c.Scope, c.Filters, c.AsOf) {
					continue
				}
				n, ok := at[pos]
				if !ok {
					n = len(found)
					at[pos] = n
					found = append(found, newAddition(c, view, pos, found))
				}
				item := &found[n].item
				if _, again := item.Ranks[ranking.Name]; !again {
					item.Ranks[ranking.Name] = Rank{Rank: i + 1, Score: hit.Score}
					item.Members++
				}
			}
		}
	}
	return found
}

func newAddition(c *datasets.Case, view CorpusView, pos int, before []addition) addition {
	chunk := view.Chunk(pos)
	b := builder{p: &Pooler{view: view}, c: c}
	item := Item{ChunkID: chunk.ID, DocID: chunk.DocID, ExactGroup: chunk.ExactGroup, Inclusion: 1, Ranks: map[string]Rank{}}
	for _, id := range c.Source {
		item.Source = item.Source || id == chunk.ID
	}
	b.relate(&item, chunk)
	a := addition{item: item, judged: -1, twin: -1, shared: -1}
	for n := range c.Judgments {
		j := &c.Judgments[n]
		if j.By != datasets.ByLLM {
			continue
		}
		if j.ChunkID == chunk.ID {
			a.judged = n
		} else if other, ok := view.Position(j.ChunkID); ok && sameText(view.Chunk(other), chunk) {
			a.shared = n
		}
	}
	for n := range before {
		if chunk.ExactGroup != "" && before[n].item.ExactGroup == chunk.ExactGroup && before[n].twin < 0 {
			a.twin = n
		}
	}
	return a
}

func sameText(a, b *corpus.Chunk) bool { return a.ExactGroup != "" && a.ExactGroup == b.ExactGroup }

// add writes a case's additions into it. A chunk that was drawn at random and
// is now in a ranking's top is in the pool for certain.
func (e *Extension) add(c *datasets.Case, additions []addition, j Judge) {
	if len(additions) == 0 {
		return
	}
	old := c.Judgments
	c.Judgments = append([]datasets.Judgment(nil), old...)
	changed := false
	for n := range additions {
		a := &additions[n]
		if a.judged >= 0 {
			changed = pooled(&c.Judgments[a.judged]) || changed
			continue
		}
		grade := a.grade
		switch {
		case a.shared >= 0:
			grade = storedGrade(old[a.shared])
		case a.twin >= 0:
			grade = additions[a.twin].grade
		default:
			e.count(grade)
		}
		a.grade = grade
		c.Judgments = append(c.Judgments, judgmentOf(a.item, grade, j, e.Verdict.State == Blind))
		changed = true
	}
	if changed {
		e.Changed++
	}
}

// pooled marks a judgment's pair as pooled for certain and says whether it was
// not before.
func pooled(j *datasets.Judgment) bool {
	if j.Features["random"] != 1 {
		return false
	}
	j.Features = maps.Clone(j.Features)
	delete(j.Features, "random")
	j.Inclusion = 1
	return true
}

func (e *Extension) count(g Grade) {
	e.Pairs++
	e.Calls += g.Calls
	if g.Grade == nil {
		e.Unknown[g.Unknown]++
	}
}
