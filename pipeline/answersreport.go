package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// KindAnswers marks a result of answers: it is no result of retrieval.
const KindAnswers = "answers"

// AnswersReport is the answer of `goldgen eval answers --json`, and the most
// part of result.json.
type AnswersReport struct {
	*eval.AnswersResult
	Kind        string            `json:"kind"`
	Golden      eval.GoldenRef    `json:"golden"`
	GoldenTrust string            `json:"golden_trust"`
	Trust       string            `json:"trust"` // of the judge: judged where it passed all canaries, else none
	TrustDetail string            `json:"trust_detail"`
	Judge       AnswersJudge      `json:"judge"`
	Answers     AnswersFile       `json:"answers"`
	Unknown     map[string]int    `json:"unknown"`  // findings that were asked for and not given, by reason
	Problems    []AnswerProblem   `json:"problems"` // of the file and of what it names
	Join        *eval.AnswerJoin  `json:"retrieval,omitempty"`
	Baseline    string            `json:"baseline,omitempty"`
	Gates       []eval.GateResult `json:"gates"`
	Verdict     string            `json:"verdict"` // "" without a gate
	Calls       AnswersCalls      `json:"calls"`
	Notes       []string          `json:"notes"`
	Cases       []AnswersCase     `json:"cases,omitempty"`
	Path        string            `json:"path,omitempty"` // of the result's folder
}

// AnswersJudge says who judged, and what the canaries say of it.
type AnswersJudge struct {
	Name     string                                     `json:"name"`
	Pin      *datasets.ModelPin                         `json:"pin"`
	Canaries map[judge.QuestionKind]judge.AnswerVerdict `json:"canaries"` // empty for the builtin judge
	Altered  judge.Altered                              `json:"altered_numbers"`
}

// AnswersFile names the file that was read.
type AnswersFile struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
	Lines  int    `json:"lines"`
}

// AnswersCalls are what the run cost.
type AnswersCalls struct {
	Made      int `json:"made"`
	Cached    int `json:"cached"`
	Failed    int `json:"failed"`
	TokensIn  int `json:"tokens_in"`
	TokensOut int `json:"tokens_out"`
}

// AnswersCase is one case: its values, and what they are made of.
type AnswersCase struct {
	CaseID    string             `json:"case_id"`
	Query     string             `json:"query"`
	Answer    string             `json:"answer"`
	Given     bool               `json:"given"`
	Reference string             `json:"reference"`
	Metrics   eval.Values        `json:"metrics"`
	Unknown   []string           `json:"unknown"` // measures that were asked for and not found out
	Judged    judge.JudgedAnswer `json:"judged"`
}

// reportAnswers makes the numbers of what was found.
func (p *Project) reportAnswers(r *answersRun, gates []eval.AnswerGate, o AnswersOptions) (*AnswersReport, error) {
	result, err := eval.EvaluateAnswers(eval.AnswersInput{Cases: r.evalCases(), Dimensions: r.dimensions})
	if err != nil {
		return nil, err
	}
	ref := r.set.Ref()
	out := &AnswersReport{
		Kind:        KindAnswers,
		Golden:      eval.GoldenRef{Name: ref.Name, Version: ref.Version, Ref: ref.String(), Path: r.set.Dir, Digest: ref.Digest},
		GoldenTrust: r.set.Manifest.Trust.Level,
		Judge:       AnswersJudge{Name: r.judge.Name, Pin: r.pin, Canaries: r.found.Verdicts, Altered: r.found.Altered},
		Answers:     r.file, AnswersResult: result, Unknown: r.unknown(), Problems: orEmpty(r.problems),
		Baseline: o.Baseline, Calls: p.answersCalls(), Notes: []string{}, Gates: []eval.GateResult{}, Cases: r.caseReports(result),
	}
	out.Trust, out.TrustDetail = r.trust()
	out.Notes = append(out.Notes, r.notes()...)
	if r.retrieval != nil {
		join := r.join(result, o.Retrieval)
		out.Join = &join
	}
	if err := r.decide(out, gates, o, p.Config.Gate); err != nil || len(gates) == 0 {
		return out, err
	}
	more := p.setGates(&out.Golden)
	out.Gates, out.Verdict = slices.Concat(more, out.Gates), p.lowered(out.Verdict, more)
	return out, nil
}

// answerSlices are the slices asked for, and those that gates look at.
func (p *Project) answerSlices(o AnswersOptions, gates []eval.AnswerGate) []string {
	names := slices.Clone(o.SliceBy)
	if len(names) == 0 {
		names = slices.Clone(p.Config.Eval.SliceBy)
	}
	for _, g := range gates {
		if d := g.Dimension(); d != "" && !slices.Contains(names, d) {
			names = append(names, d)
		}
	}
	return names
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (p *Project) answersCalls() AnswersCalls {
	c := p.Calls()
	return AnswersCalls{Made: c.Made, Cached: c.Cached, Failed: c.Failed, TokensIn: c.TokensIn, TokensOut: c.TokensOut}
}

// unknown leaves out what the builtin judge was never able to tell.
func (r *answersRun) unknown() map[string]int {
	out := maps.Clone(r.found.Unknown)
	delete(out, judge.UnknownNoModel)
	return out
}

// evalCases are all cases, those without an answer included.
func (r *answersRun) evalCases() []eval.AnswerCase {
	judged := r.judgedByID()
	out := make([]eval.AnswerCase, len(r.cases))
	for i := range r.cases {
		c := &r.cases[i]
		golden, _ := eval.FromGolden(c, datasets.SourceIn, nil)
		_, reference := referenceOf(c)
		out[i] = eval.AnswerCase{ID: c.ID, Abstain: c.ExpectedAbstention, Background: golden.Background, Reference: reference}
		if found, ok := judged[c.ID]; ok {
			fillAnswerCase(&out[i], found, *r.lines[c.ID].Answer)
		}
	}
	return out
}

func (r *answersRun) judgedByID() map[string]*judge.JudgedAnswer {
	out := map[string]*judge.JudgedAnswer{}
	for i := range r.found.Answers {
		out[r.found.Answers[i].CaseID] = &r.found.Answers[i]
	}
	return out
}

func fillAnswerCase(c *eval.AnswerCase, found *judge.JudgedAnswer, text string) {
	c.Given, c.Empty = true, strings.TrimSpace(text) == ""
	c.Abstained, c.Relevance, c.Correct = judgedOf(found.Abstained), judgedOf(found.Relevance), judgedOf(found.Correctness)
	if found.Abstained.Unknown == judge.UnknownNoModel { // the builtin judge takes what is not blank for an answer
		no := 0.0
		c.Abstained = eval.Judged{Value: &no}
	}
	for _, claim := range found.Claims {
		c.Claims = append(c.Claims, eval.JudgedClaim{
			Support: judgedOf(claim.Support), Cited: len(claim.Citations) > 0, CitedWell: judgedOf(claim.CitedWell),
		})
	}
	for _, citation := range found.Citations {
		c.Citations = append(c.Citations, judgedOf(citation.Supports))
	}
}

// judgedOf reads a finding; what the builtin judge cannot tell counts as not
// asked.
func judgedOf(f judge.Finding) eval.Judged {
	if f.Unknown == judge.UnknownNoModel {
		return eval.Judged{}
	}
	return eval.Judged{Value: f.Value, Unknown: f.Unknown}
}

func (r *answersRun) caseReports(result *eval.AnswersResult) []AnswersCase {
	judged := r.judgedByID()
	out := make([]AnswersCase, len(r.cases))
	for i, score := range result.Cases() {
		c := &r.cases[i]
		_, reference := referenceOf(c)
		out[i] = AnswersCase{CaseID: c.ID, Query: c.Query, Reference: reference, Metrics: score.Metrics, Unknown: []string{}}
		for _, name := range eval.AnswerMeasures() {
			if result.Unknown(i, name) {
				out[i].Unknown = append(out[i].Unknown, name)
			}
		}
		if found, ok := judged[c.ID]; ok {
			out[i].Given, out[i].Answer, out[i].Judged = true, *r.lines[c.ID].Answer, *found
		}
	}
	return out
}

// trust is that of the judge: it has to have passed the canaries of every kind
// of question that was asked.
func (r *answersRun) trust() (level, why string) {
	if r.judge.Builtin {
		return datasets.TrustNone, judge.LexicalNote
	}
	level = datasets.TrustJudged
	var passed, not []string
	for _, kind := range slices.Sorted(maps.Keys(r.found.Verdicts)) {
		v := r.found.Verdicts[kind]
		if v.State == judge.Passed {
			passed = append(passed, v.Why)
			continue
		}
		level = datasets.TrustNone
		not = append(not, "the judge is "+v.State+": "+v.Why)
	}
	if len(not) > 0 {
		return level, strings.Join(not, "; ")
	}
	return level, strings.Join(passed, "; ")
}

// notes are what a reader must know of the numbers.
func (r *answersRun) notes() []string {
	notes := []string{"answers and retrieval are two reports: no number here is one of retrieval"}
	if a := r.found.Altered; a.Asked > 0 {
		notes = append(notes, fmt.Sprintf("of %d sentences of the context in which a number was changed, the judge took %d for supported (%d unknown)", a.Asked, a.Supported, a.Unknown))
	}
	notes = append(notes, r.biases()...)
	switch byJudge := r.abstainedByJudge(); {
	case byJudge > 0 && r.judge.Builtin:
		notes = append(notes, fmt.Sprintf("%d answers do not say whether they abstain: the builtin judge takes every one that is not blank for an answer", byJudge))
	case byJudge > 0:
		notes = append(notes, fmt.Sprintf("%d answers do not say whether they abstain: the judge was asked, and no canaries test it for that", byJudge))
	}
	return notes
}

func (r *answersRun) abstainedByJudge() int {
	n := 0
	for _, a := range r.found.Answers {
		if a.AbstainedBy == judge.ByJudge {
			n++
		}
	}
	return n
}

// mostWrong is the share of canaries of one side above which a judge that can
// tell them apart still draws its line at the wrong place.
const mostWrong = 0.2

// biases say of judges that passed in which direction they err.
func (r *answersRun) biases() []string {
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(r.found.Verdicts)) {
		v := r.found.Verdicts[kind]
		if v.State != judge.Passed {
			continue
		}
		if float64(v.ForeignYes) > mostWrong*float64(v.Foreign) {
			out = append(out, fmt.Sprintf("%s: the judge says yes to %d of %d foreign texts: what rests on it is too high", kind, v.ForeignYes, v.Foreign))
		}
		if float64(v.OwnYes) < (1-mostWrong)*float64(v.Own) {
			out = append(out, fmt.Sprintf("%s: the judge says yes to only %d of %d own texts: what rests on it is too low", kind, v.OwnYes, v.Own))
		}
	}
	return out
}

// kindOf is the kind of question that a measure rests on.
func kindOf(measure string) judge.QuestionKind {
	switch measure {
	case eval.AnswerRelevance:
		return judge.Relevant
	case eval.Correctness:
		return judge.Correct
	case eval.RightAbstention:
		return judge.Declined
	}
	return judge.Supported
}

// decide decides the gates. One that rests on a judge who did not pass needs
// AcceptUntrusted.
func (r *answersRun) decide(out *AnswersReport, gates []eval.AnswerGate, o AnswersOptions, c GateConfig) error {
	if len(gates) == 0 {
		return nil
	}
	decided, err := out.AnswersResult.Gates(gates, r.baseCases, c.Alpha)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	for i := range decided {
		measure, _, _ := strings.Cut(decided[i].Gate, " ")
		if why := r.undecidable(measure); why != "" && !o.AcceptUntrusted && decided[i].Verdict != eval.CannotTell {
			decided[i].Verdict, decided[i].Why = eval.CannotTell, decided[i].Why+", but "+why
		}
	}
	out.Gates, out.Verdict = decided, eval.AnswerVerdict(decided)
	if out.Verdict == eval.CannotTell && c.CannotTell == "pass" {
		out.Verdict = eval.Pass
	}
	return nil
}

// undecidable says why the judge's word on a measure decides nothing.
func (r *answersRun) undecidable(measure string) string {
	if measure == eval.RightAbstention && r.abstainedByJudge() > 0 {
		return "the judge is untested for whether an answer declines: have the system say so (abstained)"
	}
	v, ok := r.found.Verdicts[kindOf(measure)]
	if !ok || v.State == judge.Passed {
		return ""
	}
	return "the judge is " + v.State + ": " + v.Why
}

// join lays the answers beside a retrieval result at its largest k.
func (r *answersRun) join(result *eval.AnswersResult, name string) eval.AnswerJoin {
	k := 10
	if ks := r.retrieval.Result.Conventions.K; len(ks) > 0 {
		k = slices.Max(ks)
	}
	return result.Join(name, r.retrieval.Input.Cases, k, r.retrieval.Input.MinGrade)
}
