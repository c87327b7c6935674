package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/filedigest"
	"github.com/goldgen/goldgen/judge"
)

// CalibrateAnswersOptions say which judge of answers is held against whose
// verdicts.
type CalibrateAnswersOptions struct {
	Result string // folder that eval answers made
	Labels string // CSV file of people's verdicts; "" none yet: only Next
	Next   int    // questions to name that are worth a verdict
}

// CalibratedAnswers is what people's verdicts say of a judge of answers.
type CalibratedAnswers struct {
	Result      string                  `json:"result"`
	Golden      eval.GoldenRef          `json:"golden"`
	Judge       string                  `json:"judge"`
	Labels      AnswerLabelReport       `json:"labels"`
	Calibration judge.AnswerCalibration `json:"calibration"`
	Texts       []QuestionText          `json:"-"` // of the questions that Next names, in its order
	NoContext   string                  `json:"-"` // why contexts and references are missing from Texts, "" where they are not
}

// QuestionText is what a person needs to see to decide a question. Against is the
// context or the reference.
type QuestionText struct{ Query, Text, Against string }

// AnswerLabelReport says what became of the verdicts that were read.
type AnswerLabelReport struct {
	Read     int                `json:"read"`
	Used     int                `json:"used"` // questions
	Empty    int                `json:"empty"`
	Replaced int                `json:"replaced"` // by a later one of the same person for the same question
	Joined   int                `json:"joined"`   // questions that several people decided: the majority counts, no where they are even
	Left     []AnswerLabelFault `json:"left_out"`
}

// AnswerLabelFault is a verdict that could not be used.
type AnswerLabelFault struct {
	Where    string `json:"where"`
	CaseID   string `json:"case_id"`
	Question string `json:"question"` // with the claim's number
	Why      string `json:"why"`
}

// CalibrateAnswers holds the findings of a result of answers against people's
// verdicts about them.
func (p *Project) CalibrateAnswers(o CalibrateAnswersOptions) (*CalibratedAnswers, error) {
	m, err := readAnswersManifest(o.Result)
	if err != nil {
		return nil, fmt.Errorf("--answers: %w", err)
	}
	rows, err := readAnswerRows(o.Result, m)
	if err != nil {
		return nil, err
	}
	var asked []judge.AskedFinding
	for i := range rows {
		asked = append(asked, askedOf(&rows[i])...)
	}
	file := &labelFile{}
	if o.Labels != "" {
		if err := verdictTable().each(o.Labels, file.addVerdict); err != nil {
			return nil, err
		}
	}
	verdicts, report := file.verdicts(asked)
	switch {
	case o.Labels == "":
	case report.Read == 0:
		return nil, fmt.Errorf("labels %s: none in it; %d rows have no verdict yet", o.Labels, report.Empty)
	case report.Used == 0:
		return nil, fmt.Errorf("labels %s: none of %d is about a question of %s", o.Labels, report.Read, o.Result)
	}
	out := &CalibratedAnswers{Result: o.Result, Golden: m.Golden, Judge: m.Judge.Name, Labels: report}
	out.Calibration = judge.CalibrateAnswers(asked, verdicts, o.Next, m.Pins.Seed)
	p.textsFor(out, m, rows)
	return out, nil
}

// askedOf are the questions that the judge was asked about one answer.
func askedOf(row *answerRow) []judge.AskedFinding {
	var out []judge.AskedFinding
	add := func(kind judge.QuestionKind, claim int, f findingRow) {
		if f.Value != nil || f.Unknown != "" {
			out = append(out, judge.AskedFinding{
				AnswerQuestion: judge.AnswerQuestion{CaseID: row.CaseID, Kind: kind, Claim: claim},
				Finding:        judge.Finding{Value: f.Value, P: f.P, Unknown: f.Unknown},
			})
		}
	}
	for i, c := range row.Claims {
		add(judge.Supported, i+1, c.Support)
	}
	add(judge.Relevant, 0, row.Relevance)
	add(judge.Correct, 0, row.Correctness)
	if row.AbstainedBy == judge.ByJudge {
		add(judge.Declined, 0, row.Abstained)
	}
	return out
}

// questionName is how a question stands in a label's place of a chunk.
func questionName(q judge.AnswerQuestion) string {
	if q.Kind != judge.Supported {
		return string(q.Kind)
	}
	return fmt.Sprintf("%s %d", q.Kind, q.Claim)
}

// verdictTable is a file of people's verdicts on what a judge found.
func verdictTable() labelTable {
	return labelTable{[]string{"case_id", "question", "claim", "verdict"}, []string{"by", "inclusion"}}
}

// addVerdict takes a row in; one without a verdict has not been decided yet.
func (f *labelFile) addVerdict(r row) {
	name := strings.TrimSpace(r.cell("question") + " " + r.cell("claim"))
	l := label{where: r.where, caseID: r.cell("case_id"), chunkID: name, by: r.cell("by")}
	verdict := strings.ToLower(r.cell("verdict"))
	if verdict == "" {
		f.empty++
		return
	}
	if verdict != "yes" && verdict != "no" {
		f.fault(l, fmt.Sprintf("verdict %q: want yes or no", verdict))
		return
	}
	if verdict == "yes" {
		l.grade = 1
	}
	var err error
	if l.inclusion, err = r.inclusion(); err != nil {
		f.fault(l, err.Error())
		return
	}
	f.add(l)
}

// verdicts joins the labels to the questions, one a question.
func (f *labelFile) verdicts(asked []judge.AskedFinding) ([]judge.AnswerVerdictLabel, AnswerLabelReport) {
	at := map[[2]string]judge.AnswerQuestion{}
	for _, a := range asked {
		at[[2]string{a.CaseID, questionName(a.AnswerQuestion)}] = a.AnswerQuestion
	}
	r := LabelReport{Left: slices.Clone(f.faults)}
	m := &matcher{report: &r, byPair: map[[2]string][]label{}}
	for _, l := range f.labels {
		if _, ok := at[[2]string{l.caseID, l.chunkID}]; !ok {
			m.left(l, "the judge was not asked that")
			continue
		}
		m.take(l)
	}
	var out []judge.AnswerVerdictLabel
	for _, l := range m.settled() {
		out = append(out, judge.AnswerVerdictLabel{
			AnswerQuestion: at[[2]string{l.CaseID, l.ChunkID}], Yes: l.Grade == 1, Inclusion: l.Inclusion,
		})
	}
	report := AnswerLabelReport{
		Read: len(f.labels) + len(f.faults), Used: len(out), Empty: f.empty, Replaced: r.Replaced, Joined: r.Joined, Left: []AnswerLabelFault{},
	}
	for _, l := range r.Left {
		report.Left = append(report.Left, AnswerLabelFault{Where: l.Where, CaseID: l.CaseID, Question: l.ChunkID, Why: l.Why})
	}
	return out, report
}

// textsFor looks up what a person needs to see of the questions to decide next.
func (p *Project) textsFor(out *CalibratedAnswers, m answersManifest, rows []answerRow) {
	if len(out.Calibration.Next) == 0 {
		return
	}
	byCase := map[string]*answerRow{}
	for i := range rows {
		byCase[rows[i].CaseID] = &rows[i]
	}
	answers, err := p.judgedAnswers(m)
	if err != nil {
		out.NoContext = err.Error()
	}
	for _, q := range out.Calibration.Next {
		row := byCase[q.CaseID]
		text := QuestionText{Query: row.Query, Text: row.Answer}
		switch q.Kind {
		case judge.Supported:
			text.Text, text.Against = row.Claims[q.Claim-1].Text, answers[q.CaseID].context()
		case judge.Correct:
			text.Against = answers[q.CaseID].Reference
		}
		out.Texts = append(out.Texts, text)
	}
}

// judgedAnswer is an answer as it was judged.
type judgedAnswer struct{ judge.Answer }

// context is all that the system was given.
func (a judgedAnswer) context() string {
	var texts []string
	for _, c := range a.Contexts {
		texts = append(texts, c.Text)
	}
	return strings.Join(texts, "\n\n")
}

// judgedAnswers reads a result's answers from their file again, by case.
func (p *Project) judgedAnswers(m answersManifest) (map[string]judgedAnswer, error) {
	path := filepath.FromSlash(m.Answers.Path)
	digest, err := filedigest.SHA256(path)
	if err != nil {
		return nil, err
	}
	if "sha256:"+digest != m.Answers.Digest {
		return nil, fmt.Errorf("%s is no longer what was judged", path)
	}
	run, err := p.openAnswers(AnswersOptions{Golden: m.Golden.Ref, Answers: path, Include: []string{datasets.NeedsReview}})
	if err != nil {
		return nil, err
	}
	out := map[string]judgedAnswer{}
	for _, a := range run.answers {
		out[a.CaseID] = judgedAnswer{a}
	}
	return out, nil
}
