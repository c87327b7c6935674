package judge

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
)

// AnswerOptions of a run.
type AnswerOptions struct {
	Seed        int64
	Concurrency int // answers judged at once; at least 1
	// Lookup gives the text of a chunk that an answer cites without having been
	// given it.
	Lookup   func(chunkID string) (text string, ok bool)
	Progress func(AnswerProgress) // may be nil; called by one goroutine at a time
}

// AnswerProgress is how far a run is.
type AnswerProgress struct {
	Done    int // answers and canaries
	Total   int
	Unknown int // findings asked for and not given
}

// AnswerReport is what a run found.
type AnswerReport struct {
	Answers  []JudgedAnswer                 // in the order of the input
	Verdicts map[QuestionKind]AnswerVerdict // of the kinds that were asked and can be tested
	Altered  Altered
	Findings int            // questions, those of canaries left out
	Unknown  map[string]int // of them, by reason
	Calls    int            // cached ones included
}

// RunAnswers judges answers, and tests the assessor on canaries where it is a
// model. For a kind of question that it is blind to, all findings are unknown.
// The result does not depend on concurrency.
func RunAnswers(ctx context.Context, answers []Answer, j AnswerJudge, o AnswerOptions) (AnswerReport, error) {
	r := &answerRun{judge: j, o: o, answers: answers, judged: make([]JudgedAnswer, len(answers))}
	if o.Lookup == nil {
		r.o.Lookup = func(string) (string, bool) { return "", false }
	}
	r.prepare()
	if err := r.askAll(ctx); err != nil {
		return AnswerReport{}, err
	}
	return r.report(), nil
}

// answerRun is the state of a run.
type answerRun struct {
	judge    AnswerJudge
	o        AnswerOptions
	answers  []Answer
	judged   []JudgedAnswer
	canaries []answerCanary

	mu       sync.Mutex
	progress AnswerProgress
	calls    int
}

// prepare splits the answers and makes the canaries.
func (r *answerRun) prepare() {
	kinds := map[QuestionKind]bool{}
	for i := range r.answers {
		a := &r.answers[i]
		out := JudgedAnswer{CaseID: a.CaseID, Claims: []Claim{}, Citations: []Citation{}}
		if len(a.Text) <= MaxAnswerBytes {
			out.Claims, out.Citations = newCiting(a, r.o.Lookup).claims()
		}
		r.judged[i] = out
		kinds[Supported] = kinds[Supported] || len(a.Contexts) > 0 || len(out.Citations) > 0
		kinds[Relevant] = kinds[Relevant] || a.Text != ""
		kinds[Correct] = kinds[Correct] || a.Reference != ""
	}
	if !r.judge.Builtin {
		r.canaries = canaries(r.answers, r.o.Seed, kinds)
	}
	r.progress.Total = len(r.answers) + len(r.canaries)
}

func (r *answerRun) askAll(ctx context.Context) error {
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, r.o.Concurrency))
	for i := range r.canaries {
		group.Go(func() error { return r.askCanary(gctx, &r.canaries[i]) })
	}
	for i := range r.answers {
		group.Go(func() error {
			if err := r.assess(gctx, i); err != nil {
				return fmt.Errorf("case %s: judge: %w", r.answers[i].CaseID, err)
			}
			return nil
		})
	}
	err := group.Wait()
	// With the parent gone before the workers began, Wait returns nil.
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

func (r *answerRun) askCanary(ctx context.Context, c *answerCanary) error {
	var f Finding
	var err error
	if c.question.Kind == Supported {
		f, err = r.supportedBy(ctx, c.question, c.texts)
	} else {
		f, err = r.ask(ctx, c.question)
	}
	if err != nil {
		return fmt.Errorf("canary: judge: %w", err)
	}
	c.finding = f
	r.done()
	return nil
}

func (r *answerRun) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Done++
	if r.o.Progress != nil {
		r.o.Progress(r.progress)
	}
}

// ask puts one question.
func (r *answerRun) ask(ctx context.Context, q Question) (Finding, error) {
	if ctx.Err() != nil {
		return Finding{}, context.Cause(ctx)
	}
	f, err := r.judge.Assessor.Ask(ctx, q)
	if err == nil && !f.asked() {
		err = errors.New("an assessor gave neither a value nor a reason")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls += f.Calls
	if f.Unknown != "" && f.Unknown != UnknownNoModel {
		r.progress.Unknown++
	}
	return f, err
}

// report settles the findings: those of a kind that the assessor is blind to
// are unknown.
func (r *answerRun) report() AnswerReport {
	out := AnswerReport{Answers: r.judged, Verdicts: map[QuestionKind]AnswerVerdict{}, Unknown: map[string]int{}, Calls: r.calls}
	asked := map[QuestionKind]bool{}
	eachFinding(r.judged, func(kind QuestionKind, _ *Finding) { asked[kind] = true })
	for _, kind := range []QuestionKind{Supported, Relevant, Correct} {
		if asked[kind] && !r.judge.Builtin {
			out.Verdicts[kind] = assessAnswers(kind, r.canaries)
		}
	}
	eachFinding(r.judged, func(kind QuestionKind, f *Finding) {
		if out.Verdicts[kind].State == Blind {
			f.Value, f.Unknown = nil, UnknownBlind
		}
		out.Findings++
		if f.Unknown != "" {
			out.Unknown[f.Unknown]++
		}
	})
	out.Altered = alteredOf(r.canaries)
	return out
}

// eachFinding visits all findings that an assessor made.
func eachFinding(answers []JudgedAnswer, visit func(QuestionKind, *Finding)) {
	for i := range answers {
		a := &answers[i]
		one := func(kind QuestionKind, f *Finding) {
			if f.asked() {
				visit(kind, f)
			}
		}
		for c := range a.Claims {
			one(Supported, &a.Claims[c].Support)
			one(Supported, &a.Claims[c].CitedWell)
		}
		for c := range a.Citations {
			if !a.Citations[c].Missing {
				one(Supported, &a.Citations[c].Supports)
			}
		}
		one(Relevant, &a.Relevance)
		one(Correct, &a.Correctness)
		if a.AbstainedBy == ByJudge {
			one(Declined, &a.Abstained)
		}
	}
}

func alteredOf(all []answerCanary) Altered {
	var out Altered
	for i := range all {
		c := &all[i]
		if !c.altered {
			continue
		}
		out.Asked++
		out.Supported += oneIf(c.finding.yes())
		out.Unknown += oneIf(c.finding.Value == nil)
	}
	return out
}
