package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/filedigest"
	"github.com/goldgen/goldgen/judge"
)

// AnswersOptions say which answers to judge and how; the judge is the
// project's.
type AnswersOptions struct {
	Golden          string // reference or folder of a golden set
	Answers         string // JSONL file of a system's answers
	Retrieval       string // result folder of eval to lay beside them, or ""
	Baseline        string // earlier answers result, for drops, or ""
	Gates           []string
	AcceptUntrusted bool // gates may rest on a judge or a set whose trust is none
	SliceBy         []string
	Include         []string // statuses besides active
	Snapshot        string
	Out             string // result folder; "" makes one under results/
}

// Answers judges a system's answers and keeps the result apart from those of
// retrieval. With DryRun it returns nil.
func (p *Project) Answers(ctx context.Context, o AnswersOptions) (*AnswersReport, error) {
	if len(p.Config.Judge.Panel) > 0 {
		return nil, hinted("--provider ollama --model NAME", "%w: judge.panel: answers are judged by one model", ErrConfig)
	}
	gates, err := answerGates(o)
	if err != nil {
		return nil, err
	}
	run, err := p.openAnswers(o)
	if err != nil {
		return nil, err
	}
	if err := run.readBaseline(o.Baseline); err != nil {
		return nil, err
	}
	if run.retrieval, err = run.readRetrieval(o.Retrieval); err != nil {
		return nil, err
	}
	if err := p.checkAnswers(run, gates, &o); err != nil {
		return nil, err
	}
	if err := p.judgeAnswers(ctx, run); err != nil || p.DryRun {
		return nil, err
	}
	report, err := p.reportAnswers(run, gates, o)
	if err != nil {
		return nil, err
	}
	return report, p.keepAnswers(run, report)
}

// checkAnswers refuses, before anything is asked, what would be refused after.
func (p *Project) checkAnswers(r *answersRun, gates []eval.AnswerGate, o *AnswersOptions) (err error) {
	builtin, trust := p.Config.Judge.Provider == ProviderBuiltin, r.set.Manifest.Trust.Level
	if len(gates) > 0 && (builtin || trust == datasets.TrustNone) && !o.AcceptUntrusted {
		return hinted("have a model judge, over a set that one wrote, or say --accept-untrusted if the gate is only to try the pipeline out",
			"%w: gates on a trust of none: set %s, judge %s", ErrConfig, trust, p.Config.Judge.Provider)
	}
	if r.dimensions, err = dimensionsOf(r.cases, p.answerSlices(*o, gates)); err != nil {
		return err
	}
	if o.Out == "" {
		name := fmt.Sprintf("%s-%s-v%d-answers", p.Now().UTC().Format("20060102T150405.000"), r.set.Manifest.Name, r.set.Manifest.Version)
		o.Out = filepath.Join(p.Dir, "results", name)
	}
	r.out = o.Out
	return nil
}

func answerGates(o AnswersOptions) ([]eval.AnswerGate, error) {
	var gates []eval.AnswerGate
	for _, text := range o.Gates {
		g, err := eval.ParseAnswerGate(text)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		if g.NeedsBaseline() && o.Baseline == "" {
			return nil, hinted("--baseline RESULT names an earlier result of goldgen eval answers", "%w: gate %q: compares with a baseline, and none is named", ErrConfig, g)
		}
		gates = append(gates, g)
	}
	return gates, nil
}

// answersRun is a set with a system's answers to it.
type answersRun struct {
	set        *datasets.Set
	cases      []datasets.Case // those that count, in the set's order
	lines      map[string]answerLine
	texts      answerTexts
	answers    []judge.Answer // of the cases that are answered, in the set's order
	problems   []AnswerProblem
	dimensions []eval.Dimension
	file       AnswersFile
	judge      judge.AnswerJudge
	pin        *datasets.ModelPin
	found      judge.AnswerReport
	base       *answersManifest // nil without --baseline
	out        string
	baseDir    string
	baseCases  eval.AnswerBaseline
	retrieval  *Kept
}

// openAnswers reads the set, the file, and the texts that it refers to.
func (p *Project) openAnswers(o AnswersOptions) (*answersRun, error) {
	if o.Golden == "" {
		o.Golden = p.Config.Name
	}
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, err
	}
	lines, err := readAnswers(o.Answers)
	if err != nil {
		return nil, err
	}
	digest, err := filedigest.SHA256(o.Answers)
	if err != nil {
		return nil, err
	}
	r := &answersRun{set: set, cases: activeCases(set, o.Include), lines: map[string]answerLine{}}
	r.file = AnswersFile{Path: filepath.ToSlash(o.Answers), Digest: "sha256:" + digest, Lines: len(lines)}
	if len(r.cases) == 0 {
		return nil, fmt.Errorf("golden set %s has no active case", set.Ref())
	}
	if err := r.match(lines); err != nil {
		return nil, err
	}
	snapshot, err := p.snapshotOf(set, o.Snapshot)
	if err != nil {
		return nil, err
	}
	r.texts, err = textsOf(snapshot, r.matched(lines))
	r.resolve()
	return r, err
}

// match finds the case of every line. A file of which no line is about the set
// is another set's.
func (r *answersRun) match(lines []answerLine) error {
	active := map[string]bool{}
	for i := range r.cases {
		active[r.cases[i].ID] = true
	}
	for _, line := range lines {
		switch {
		case active[line.CaseID]:
			r.lines[line.CaseID] = line
		case r.set.Case(line.CaseID) != nil:
			r.problem(ProblemNotActive, line.CaseID, line.line, "status "+r.set.Case(line.CaseID).Status)
		default:
			r.problem(ProblemUnknownCase, line.CaseID, line.line, "")
		}
	}
	if len(r.lines) == 0 {
		return hinted("goldgen datasets show "+r.set.Ref().String()+" --json lists the cases",
			"%w: %s: none of its %d answers is about an active case of %s", ErrNotComparable, r.file.Path, len(lines), r.set.Ref())
	}
	return nil
}

func (r *answersRun) problem(kind, caseID string, line int, detail string) {
	r.problems = append(r.problems, AnswerProblem{Kind: kind, CaseID: caseID, Line: line, Detail: detail})
}

func (r *answersRun) matched(lines []answerLine) []answerLine {
	return slices.DeleteFunc(slices.Clone(lines), func(a answerLine) bool { _, ok := r.lines[a.CaseID]; return !ok })
}

// resolve makes what the judge sees, in the set's order.
func (r *answersRun) resolve() {
	for i := range r.cases {
		c := &r.cases[i]
		line, ok := r.lines[c.ID]
		if !ok {
			r.problem(ProblemNoAnswer, c.ID, 0, "")
			continue
		}
		a, found := r.texts.answerOf(c, line)
		r.answers = append(r.answers, a)
		r.problems = append(r.problems, found...)
	}
}

// judgeAnswers asks the configured judge.
func (p *Project) judgeAnswers(ctx context.Context, r *answersRun) error {
	seed := r.set.Manifest.Pins.Seed
	done, err := p.openAnswerJudge(ctx, r, seed)
	if err != nil {
		return err
	}
	defer done()
	if err := r.sameJudge(); err != nil {
		return err
	}
	if !p.DryRun {
		if err := r.checkPlace(); err != nil {
			return err
		}
	}
	p.Progress.Begin("answers", 0)
	defer p.Progress.End()
	concurrency := 1
	if p.Config.Judge.UsesModel() {
		concurrency = p.concurrency(p.Config.Judge.ModelConfig)
	}
	r.found, err = judge.RunAnswers(ctx, r.answers, r.judge, judge.AnswerOptions{
		Seed: seed, Concurrency: concurrency, Lookup: r.texts.chunkText, Progress: p.answersProgress(),
	})
	if err != nil {
		return err
	}
	if failed := r.found.Unknown[judge.UnknownCallFailed]; failed > 0 && failed == r.found.Findings && !p.DryRun {
		return fmt.Errorf("judge: every call failed: none of %d questions was answered", failed)
	}
	r.addCitationProblems()
	return nil
}

func (p *Project) answersProgress() func(judge.AnswerProgress) {
	var last judge.AnswerProgress
	calls := p.callSteps()
	return func(now judge.AnswerProgress) {
		if now.Total > last.Total {
			p.Progress.Grow(now.Total - last.Total)
		}
		step := calls()
		step.Done, step.Unknown = now.Done-last.Done, now.Unknown-last.Unknown
		p.Progress.Step(step)
		last = now
	}
}

func (p *Project) openAnswerJudge(ctx context.Context, r *answersRun, seed int64) (func() error, error) {
	c := p.Config.Judge
	switch c.Provider {
	case ProviderNone:
		return nil, hinted("--provider builtin, or --provider ollama --model NAME", "%w: judge: none: answers need a judge", ErrConfig)
	case ProviderBuiltin:
		p.Log.Info("judge: provider builtin: " + judge.LexicalNote)
		r.judge = judge.NewLexical()
		r.pin = &datasets.ModelPin{Provider: ProviderBuiltin, Model: r.judge.Name}
		return func() error { return nil }, nil
	}
	stack, err := p.openModel(ctx, c.ModelConfig)
	if err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	model, err := judge.NewAnswerModel(stack.Client, judge.ModelOptions{
		Model: stack.Model, NumCtx: c.NumCtx, NumThread: c.NumThread, Seed: seed, Temperature: c.Temperature, RetryUnknown: p.RetryUnknown,
		Prompts: p.Prompts,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrConfig, err), stack.Close())
	}
	r.judge = judge.AnswerJudge{Assessor: model, Name: model.Name()}
	if r.pin, err = pinOf(stack.Model, c.options(seed), model.Prompts()); err != nil {
		return nil, errors.Join(err, stack.Close())
	}
	return stack.Close, nil
}

// addCitationProblems lists citations of nothing.
func (r *answersRun) addCitationProblems() {
	for _, a := range r.found.Answers {
		var missing []string
		for _, c := range a.Citations {
			if c.Missing {
				missing = append(missing, c.Ref)
			}
		}
		if len(missing) > 0 {
			r.problem(ProblemUnknownCitation, a.CaseID, r.lines[a.CaseID].line, strings.Join(missing, ", "))
		}
	}
}

// stamp is the time of a result, as it is written.
func (p *Project) stamp() string { return p.Now().UTC().Format(time.RFC3339) }
