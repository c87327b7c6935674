package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/clip"
	"github.com/goldgen/goldgen/internal/seeded"
)

// Bounds of what is asked to test an assessor.
const (
	canaryPairs   = 40 // of each kind of question, where there is enough to make them of
	canaryAltered = 30
	mostShared    = 0.5 // of a foreign text's words that the own context may hold
	foreignTries  = 20
	leastWords    = 8 // of a sentence that makes a canary
	mostWords     = 45
	canaryPassage = 4000 // bytes of a passage, or of a reference, that canaries are made of
	canaryRounds  = 4    // sentences taken from the context of one answer
)

// AnswerVerdict is what the canaries say of an assessor for one kind of
// question. Own canaries must get a yes, foreign ones a no.
type AnswerVerdict struct {
	State    string  `json:"state"` // Passed, Blind or Untested
	AUC      float64 `json:"auc"`   // of P(yes), own against foreign
	Low      float64 `json:"low"`   // 95 % bounds
	High     float64 `json:"high"`
	OneShare float64 `json:"one_answer_share"` // of the commoner answer, both groups counted alike
	Own      int     `json:"own"`
	OwnYes   int     `json:"own_yes"`
	Foreign  int     `json:"foreign"`
	// ForeignYes counts foreign canaries that got a yes.
	ForeignYes int    `json:"foreign_yes"`
	Unknown    int    `json:"unknown"`
	Why        string `json:"why"`
}

// Altered counts sentences of a context in which one number was changed, and
// how many of these claims the assessor calls supported. It decides nothing:
// an assessor that passes its canaries may still overlook numbers.
type Altered struct {
	Asked     int `json:"asked"`
	Supported int `json:"supported"`
	Unknown   int `json:"unknown"`
}

// answerCanary is a question whose answer is known.
type answerCanary struct {
	question Question
	texts    []string // the context that a claim is held against, as the system was given it
	own      bool
	altered  bool
	finding  Finding
}

// canaries makes the questions for the kinds that are asked of these answers.
// They are a function of the answers and the seed.
func canaries(answers []Answer, seed int64, kinds map[QuestionKind]bool) []answerCanary {
	m := &canaryMaker{answers: answers, seed: seed}
	var all []answerCanary
	if kinds[Supported] {
		all = append(all, m.support()...)
	}
	for _, kind := range []QuestionKind{Correct, Relevant} {
		if kinds[kind] {
			all = append(all, m.references(kind)...)
		}
	}
	return all
}

type canaryMaker struct {
	answers []Answer
	seed    int64
}

// order is the answers in an order of their own for each use.
func (m *canaryMaker) order(use string) []int {
	return seeded.Rand(m.seed, "answers", use).Perm(len(m.answers))
}

// support makes claims that are taken word for word from the context, claims
// taken from the contexts of other cases, and claims of the own context with a
// number changed. Answers are gone through in rounds, so that every case gives
// one before any gives two.
func (m *canaryMaker) support() []answerCanary {
	var own, foreign, altered []answerCanary
	order := m.order("support")
	for round := range canaryRounds {
		for _, i := range order {
			a := &m.answers[i]
			if len(own) >= canaryPairs {
				break
			}
			sentence, ok := m.sentence(a, round)
			if !ok {
				continue
			}
			q, texts := Question{Kind: Supported, Query: a.Query, Text: sentence}, a.texts()
			own = append(own, answerCanary{question: q, texts: texts, own: true})
			context := strings.Join(texts, "\n\n")
			if claim, ok := alterNumber(sentence, context); ok && len(altered) < canaryAltered {
				altered = append(altered, answerCanary{question: with(q, claim), texts: texts, altered: true})
			}
			if claim, ok := m.foreignSentence(i, round, context); ok {
				foreign = append(foreign, answerCanary{question: with(q, claim), texts: texts})
			}
		}
	}
	return slices.Concat(own, foreign, altered)
}

func with(q Question, claim string) Question {
	q.Text = claim
	return q
}

// sentence picks a sentence of an answer's context, another one each round.
func (m *canaryMaker) sentence(a *Answer, round int) (string, bool) {
	if a.contextProblem() != "" {
		return "", false
	}
	r := seeded.Rand(m.seed, "answers sentence", a.CaseID)
	seen := 0
	for _, at := range r.Perm(len(a.Contexts)) {
		for _, s := range plainSentences(clip.Bytes(a.Contexts[at].Text, canaryPassage)) {
			if seen == round {
				return s, true
			}
			seen++
		}
	}
	return "", false
}

// plainSentences are those of a text that can stand alone: prose of some
// length that points at nothing before it.
func plainSentences(text string) []string {
	var out []string
	for _, s := range corpus.Sentences(text) {
		sentence := strings.Join(strings.Fields(text[s.Start:s.End]), " ")
		words := strings.Fields(sentence)
		if len(words) >= leastWords && len(words) <= mostWords && strings.HasSuffix(sentence, ".") && !strings.ContainsAny(sentence, "|`") {
			out = append(out, sentence)
		}
	}
	return out
}

// foreignSentence picks a sentence from the context of an unrelated answer,
// most of whose words the context lacks: near-duplicates would state it too.
func (m *canaryMaker) foreignSentence(i, round int, context string) (string, bool) {
	r := seeded.Rand(m.seed, "answers foreign", fmt.Sprint(m.answers[i].CaseID, round))
	for range foreignTries {
		other := &m.answers[r.IntN(len(m.answers))]
		if related(&m.answers[i], other) {
			continue
		}
		sentence, ok := m.sentence(other, round)
		if share, has := termShare(sentence, context); ok && has && share <= mostShared {
			return sentence, true
		}
	}
	return "", false
}

// related answers are about the same case, document or section.
func related(a, b *Answer) bool {
	return a.CaseID == b.CaseID || slices.ContainsFunc(a.Groups, func(g string) bool { return slices.Contains(b.Groups, g) })
}

// references makes answers that are the reference itself, and answers that are
// the reference of another case.
func (m *canaryMaker) references(kind QuestionKind) []answerCanary {
	var own, foreign []answerCanary
	for _, i := range m.order(string(kind)) {
		a := &m.answers[i]
		if a.Reference == "" || len(a.Reference) > canaryPassage || len(own) >= canaryPairs {
			continue
		}
		q := Question{Kind: kind, Query: a.Query, Text: a.Reference}
		if kind == Correct {
			q.Against = a.Reference
		}
		own = append(own, answerCanary{question: q, own: true})
		if text, ok := m.foreignReference(i, kind); ok {
			foreign = append(foreign, answerCanary{question: with(q, text)})
		}
	}
	return slices.Concat(own, foreign)
}

func (m *canaryMaker) foreignReference(i int, kind QuestionKind) (string, bool) {
	a := &m.answers[i]
	r := seeded.Rand(m.seed, "answers foreign "+string(kind), a.CaseID)
	for range foreignTries {
		other := &m.answers[r.IntN(len(m.answers))]
		if other.Reference == "" || len(other.Reference) > canaryPassage || related(a, other) {
			continue
		}
		share, ok := termShare(other.Reference, a.Reference)
		if toQuery, _ := termShare(a.Query, other.Reference); ok && share <= mostShared && toQuery <= mostShared {
			return other.Reference, true
		}
	}
	return "", false
}

// alterNumber changes the first digit of a sentence that can be changed so that
// the context does not hold the new number.
func alterNumber(sentence, context string) (string, bool) {
	for at := range len(sentence) {
		d := sentence[at]
		if d < '0' || d > '9' {
			continue
		}
		for step := byte(3); step < 10; step += 2 {
			changed := sentence[:at] + string('0'+(d-'0'+step)%10) + sentence[at+1:]
			if !strings.Contains(context, digitsAround(changed, at)) && changed[at] != '0' {
				return changed, true
			}
		}
	}
	return "", false
}

// digitsAround is the run of digits that holds an offset.
func digitsAround(s string, at int) string {
	from, to := at, at
	for from > 0 && s[from-1] >= '0' && s[from-1] <= '9' {
		from--
	}
	for to < len(s) && s[to] >= '0' && s[to] <= '9' {
		to++
	}
	return s[from:to]
}

// assessAnswers says whether an assessor can be believed for one kind of
// question, by the rule for judges of passages (see Assess).
func assessAnswers(kind QuestionKind, all []answerCanary) AnswerVerdict {
	var graded []Canary
	out := AnswerVerdict{}
	for i := range all {
		c := &all[i]
		if c.question.Kind != kind || c.altered {
			continue
		}
		graded = append(graded, Canary{Source: c.own, Grade: c.finding.grade()})
		if c.finding.yes() {
			out.OwnYes += oneIf(c.own)
			out.ForeignYes += oneIf(!c.own)
		}
	}
	v := Assess(graded)
	out.State, out.AUC, out.Low, out.High, out.OneShare = v.State, v.AUC, v.Low, v.High, v.OneGradeShare
	out.Own, out.Foreign, out.Unknown = v.Sources, v.Randoms, v.Unknown
	out.Why = out.why(kind)
	return out
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// grade is a finding as Assess reads it.
func (f *Finding) grade() Grade {
	if f.Value == nil {
		return Grade{Unknown: f.Unknown}
	}
	yes := oneIf(f.yes())
	return Grade{Grade: &yes, Expected: f.P}
}

func (v *AnswerVerdict) why(kind QuestionKind) string {
	seen := fmt.Sprintf("AUC %.2f [%.2f, %.2f], yes to %d of %d own texts and to %d of %d foreign ones",
		v.AUC, v.Low, v.High, v.OwnYes, v.Own, v.ForeignYes, v.Foreign)
	switch {
	case v.State == Untested:
		return fmt.Sprintf("%s: %d own and %d foreign canaries could be made, %d of each are needed", kind, v.Own, v.Foreign, MinCanaries)
	case v.State == Blind && v.Low < leastAUC:
		return fmt.Sprintf("%s: %s: the lower bound is under %.2f", kind, seen, leastAUC)
	case v.State == Blind:
		return fmt.Sprintf("%s: %s: one answer for %.0f %% of them", kind, seen, 100*v.OneShare)
	}
	return fmt.Sprintf("%s: %s", kind, seen)
}
