package judge

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/retrieve"
)

// Deps are what a run works with.
type Deps struct {
	Judge   Judge
	Members map[string]retrieve.Retriever
	View    CorpusView
}

// Progress is how far a run is.
type Progress struct {
	Cases   int // decided so far
	Total   int // known so far; spares that are needed add to it
	Pairs   int // graded so far
	Unknown int // of them
}

// Options of a run.
type Options struct {
	Pool        PoolOptions
	Concurrency int            // pairs graded at once; at least 1
	Progress    func(Progress) // may be nil; called by one goroutine at a time
	Built       bool           // the queries were made without a model: trust is none

	// Beside are cases that the same judge graded before (else ErrOtherJudge): the
	// verdict rests on their canaries too.
	Beside []datasets.Case

	// Extra are chunks, by case id, that are taken into the pool besides.
	Extra map[string][]string
	// Finish labels a settled set. Then ProveAbstention looks at its cases that
	// expect abstention, and spares make good what it refuses. nil does neither.
	Finish func(Result) (Result, error)
}

// Result is a judged set, without its place on disk.
type Result struct {
	Cases     []datasets.Case   // plan order, unused spares left out
	Rejects   []datasets.Reject // cases that expect abstention and were refused, by ProveAbstention
	Shortfall []datasets.Shortfall
	Verdict   Verdict // its State is "" where there is no model to test
	Trust     datasets.Trust
	Missed    *datasets.Interval // nil unless the judge passed
	Pairs     int                // pairs graded; copies of one exact group are one pair
	Unknown   map[string]int     // of them, by reason
	CutPairs  int                // of them, those whose passage was shortened
	Calls     int                // cached ones included
	Notes     []string
}

// Run pools, grades and settles the candidates, case after case in plan order.
// The result does not depend on concurrency.
func Run(ctx context.Context, candidates []Candidate, deps Deps, o Options) (Result, error) {
	r, err := newRunner(candidates, deps, o)
	if err != nil {
		return Result{}, err
	}
	if err := r.gradeAll(ctx, r.firstJobs()); err != nil {
		return Result{}, err
	}
	verdict := r.verdict()
	for {
		settled, err := r.settle(ctx, verdict)
		if err != nil {
			return Result{}, err
		}
		result := r.result(settled, verdict)
		if o.Finish == nil {
			return result, nil
		}
		if result, err = o.Finish(result); err != nil {
			return Result{}, err
		}
		promoted := r.prove(&result, candidates)
		if len(promoted) == 0 {
			return result, nil
		}
		if err := r.gradeAll(ctx, promoted); err != nil {
			return Result{}, err
		}
	}
}

// settle decides which candidates are the set, and grades the spares that it needs.
func (r *runner) settle(ctx context.Context, verdict Verdict) (Settlement, error) {
	for {
		settled := Settle(r.candidates, verdict, r.bestSources())
		if len(settled.Need) == 0 {
			return settled, nil
		}
		var jobs []job
		for _, id := range settled.Need {
			jobs = append(jobs, job{index: r.index[id]})
		}
		if err := r.gradeAll(ctx, jobs); err != nil {
			return Settlement{}, err
		}
	}
}

// job is one case to grade: the whole pool, or its canaries only.
type job struct {
	index        int // in candidates
	canariesOnly bool
}

// work is one case's pool and the grades so far, one for each item.
type work struct {
	items  []Item
	votes  [][]Grade // of the judge's stages so far
	grades []*Grade  // nil: not graded by all stages
	full   bool      // the whole pool was asked for
	left   int       // pairs in flight or waiting, in the last stage
}

type runner struct {
	candidates []Candidate
	deps       Deps
	o          Options
	pooler     *Pooler
	index      map[string]int // case id -> candidate
	known      []Canary       // of the cases beside

	mu       sync.Mutex
	works    map[int]*work // by candidate
	progress Progress
	unknown  map[string]int
	cut      int
	calls    int
}

func newRunner(candidates []Candidate, deps Deps, o Options) (*runner, error) {
	if err := o.Pool.Validate(); err != nil {
		return nil, err
	}
	if o.Concurrency < 1 {
		return nil, fmt.Errorf("judge.concurrency: %d, must be at least 1", o.Concurrency)
	}
	if deps.Judge.tested() && o.Pool.Depth[DepthRandom] == 0 {
		o.Pool = o.Pool.with(DepthRandom, 1) // a judge is tested in every run
	}
	r := &runner{
		candidates: candidates, deps: deps, o: o, pooler: NewPooler(o.Pool, deps.Members, deps.View),
		index: map[string]int{}, works: map[int]*work{}, unknown: map[string]int{},
	}
	if deps.Judge.tested() {
		var err error
		if r.known, err = storedCanaries(o.Beside, deps.Judge.Name); err != nil {
			return nil, err
		}
	}
	for i := range candidates {
		id := candidates[i].Case.ID
		if _, ok := r.index[id]; ok {
			return nil, fmt.Errorf("case %s: duplicate id among the candidates", id)
		}
		r.index[id] = i
	}
	return r, nil
}

// firstJobs are all cases that are no spares. Where these are too few canaries
// and spares can make up for it, the canaries of spares are graded too.
func (r *runner) firstJobs() []job {
	var jobs []job
	var spares []int
	for i := range r.candidates {
		if r.candidates[i].Spare {
			spares = append(spares, i)
		} else {
			jobs = append(jobs, job{index: i})
		}
	}
	missing := MinCanaries - len(jobs) - len(r.known)/2
	if r.deps.Judge.tested() && missing > 0 && missing <= len(spares) {
		for _, i := range spares[:missing] {
			jobs = append(jobs, job{index: i, canariesOnly: true})
		}
	}
	return jobs
}

// gradeAll works through jobs in order, with the pairs of one case back to back
// so that a server can reuse the prompt's beginning; once for each stage of the
// judge, so that a server need not change models in between.
func (r *runner) gradeAll(ctx context.Context, jobs []job) error {
	r.mu.Lock()
	r.progress.Total += len(jobs)
	r.mu.Unlock()
	stages := r.deps.Judge.stages()
	for n := range stages {
		if err := r.gradeStage(ctx, stage{grader: stages[n], n: n, last: n == len(stages)-1}, jobs); err != nil {
			return err
		}
	}
	return nil
}

// stage is one grader of the judge.
type stage struct {
	grader Grader
	n      int
	last   bool
}

func (r *runner) gradeStage(ctx context.Context, s stage, jobs []job) error {
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(r.o.Concurrency)
	submitErr := r.submit(gctx, group, s, jobs)
	waitErr := group.Wait()
	// With the parent gone before the workers began, Wait returns nil.
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if waitErr != nil {
		return waitErr
	}
	return submitErr
}

func (r *runner) submit(ctx context.Context, group *errgroup.Group, s stage, jobs []job) error {
	for _, j := range jobs {
		w, err := r.prepare(ctx, j)
		if err != nil {
			return err
		}
		pending := r.pending(w, s, j)
		for _, members := range pending {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			group.Go(func() error { return r.gradeGroup(ctx, s, j, w, members) })
		}
		if len(pending) == 0 && s.last {
			r.caseDone()
		}
	}
	return nil
}

// prepare makes the case's pool, once.
func (r *runner) prepare(ctx context.Context, j job) (*work, error) {
	if w, ok := r.works[j.index]; ok {
		return w, nil
	}
	c := r.candidates[j.index].Case
	items, err := r.pooler.PoolWith(ctx, c, r.o.Extra[c.ID])
	if err != nil {
		return nil, err
	}
	w := &work{items: items, votes: make([][]Grade, len(items)), grades: make([]*Grade, len(items))}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.works[j.index] = w
	return w, nil
}

// pending lists the groups of items that share a grade and have none of the stage
// yet.
func (r *runner) pending(w *work, s stage, j job) [][]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.full = w.full || !j.canariesOnly
	if r.deps.Judge.Grader == nil {
		return nil
	}
	var groups [][]int
	for _, members := range exactGroups(w.items) {
		if len(w.votes[members[0]]) <= s.n && (!j.canariesOnly || holdsCanary(w.items, members)) {
			groups = append(groups, members)
		}
	}
	w.left = len(groups)
	return groups
}

func holdsCanary(items []Item, members []int) bool {
	for _, i := range members {
		if items[i].Source || items[i].Random {
			return true
		}
	}
	return false
}

// exactGroups lists the items, by index and in order, that hold the same text.
func exactGroups(items []Item) [][]int {
	var groups [][]int
	at := map[string]int{}
	for i := range items {
		key := items[i].ExactGroup
		if n, ok := at[key]; ok && key != "" {
			groups[n] = append(groups[n], i)
			continue
		}
		at[key] = len(groups)
		groups = append(groups, []int{i})
	}
	return groups
}

// gradeGroup asks for the one grade that the members share, by the text of the
// member with the least id.
func (r *runner) gradeGroup(ctx context.Context, s stage, j job, w *work, members []int) error {
	least := members[0]
	for _, i := range members {
		if w.items[i].ChunkID < w.items[least].ChunkID {
			least = i
		}
	}
	c := &r.candidates[j.index].Case
	grade, err := gradeChunk(ctx, r.deps.View, s.grader, c, w.items[least].ChunkID)
	if err != nil {
		return err
	}
	if r.vote(w, members, grade, s) {
		r.caseDone()
	}
	return nil
}

// vote records a stage's grade and reports whether it was the case's last.
func (r *runner) vote(w *work, members []int, grade Grade, s stage) (done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range members {
		w.votes[i] = append(w.votes[i], grade)
	}
	w.left--
	if !s.last {
		return false
	}
	joined := r.deps.Judge.join(w.votes[members[0]])
	for _, i := range members {
		w.grades[i] = &joined
	}
	r.count(joined)
	return w.left == 0
}

// gradeChunk asks a grader about one chunk for a case.
func gradeChunk(ctx context.Context, view CorpusView, grader Grader, c *datasets.Case, chunkID string) (Grade, error) {
	pos, ok := view.Position(chunkID)
	if !ok {
		return Grade{}, fmt.Errorf("case %s: chunk %s is not in the corpus", c.ID, chunkID)
	}
	q := Query{ID: c.ID, Text: c.Query, AsOf: c.AsOf}
	for _, id := range c.Source {
		if at, ok := view.Position(id); ok {
			q.SourceGroups = append(q.SourceGroups, view.Chunk(at).ExactGroup)
		}
	}
	grade, err := grader.Grade(ctx, q, view.Chunk(pos))
	if err != nil {
		return Grade{}, fmt.Errorf("case %s: chunk %s: judge: %w", c.ID, chunkID, err)
	}
	if grade.Grade == nil && grade.Unknown == "" {
		return Grade{}, errors.New("judge: a grader gave neither a grade nor a reason")
	}
	return grade, nil
}

func (r *runner) count(g Grade) {
	r.progress.Pairs++
	r.calls += g.Calls
	if g.Cut {
		r.cut++
	}
	if g.Grade == nil {
		r.progress.Unknown++
		r.unknown[g.Unknown]++
	}
}

func (r *runner) caseDone() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Cases++
	if r.o.Progress != nil {
		r.o.Progress(r.progress)
	}
}
