package judge

import "context"

// QuestionKind is one of the yes-no questions that are asked about an answer.
type QuestionKind string

// What an assessor is asked.
const (
	Supported QuestionKind = "supported" // does the context state the claim?
	Relevant  QuestionKind = "relevant"  // does the answer address the query?
	Correct   QuestionKind = "correct"   // does the answer say what the reference says?
	Declined  QuestionKind = "declined"  // does the answer decline to answer?
)

// Question is one yes-no question about an answer to a query.
type Question struct {
	Kind    QuestionKind
	Query   string
	Text    string // the claim, or the whole answer
	Against string // the context or the reference; "" for Relevant and Declined
}

// Finding is the reply to one question. Value is nil when unknown, and Unknown
// then says why; both are empty where nothing was asked. A model's value is 0
// or 1; the builtin assessor's is a share of words.
type Finding struct {
	Value   *float64 `json:"value"`
	P       *float64 `json:"p,omitempty"`       // P(yes), where the server gave log-probabilities
	Unknown string   `json:"unknown,omitempty"` // reason code
	Calls   int      `json:"-"`                 // requests made, cached ones included
}

// asked reports whether there is a value or a reason for having none.
func (f *Finding) asked() bool { return f.Value != nil || f.Unknown != "" }

// yes reports a value that counts as a yes.
func (f *Finding) yes() bool { return f.Value != nil && *f.Value >= 0.5 }

// p is P(yes), 0 where unknown.
func (f *Finding) p() float64 {
	if f.P == nil {
		return 0
	}
	return *f.P
}

func found(value float64) Finding { return Finding{Value: &value} }

// Further reasons for an unknown finding, beside those of grades.
const (
	UnknownBlind          = "blind"           // the assessor failed its canaries for this kind of question
	UnknownContext        = "context_missing" // the context names chunks or spans that the corpus does not have
	UnknownAnswerTooLong  = "answer_too_long"
	UnknownContextTooLong = "context_too_long"
)

// Bounds of what is asked about; more is unknown, and said.
const (
	MaxAnswerBytes  = 64 << 10 // some thirty pages
	MaxContextBytes = 1 << 20  // of all passages of one answer together
)

// Assessor answers questions about answers. Concurrent calls are allowed. An
// error ends the run; what could not be decided is a Finding with Unknown set.
type Assessor interface {
	Ask(ctx context.Context, q Question) (Finding, error)
	// Window is how many bytes of context surely fit beside a question.
	Window(q Question) int
}

// AnswerJudge is an assessor with its name.
type AnswerJudge struct {
	Assessor Assessor
	Name     string // "provider/model answer-supported@1"
	Builtin  bool   // no model: nothing to test on canaries
}

// Passage is a piece of the context that a system was given.
type Passage struct {
	ChunkID string // "" where the system named none
	Text    string
}

// Kinds of reference.
const (
	ReferenceAnswer   = "reference_answer" // the case's own
	ReferenceEvidence = "evidence"         // the spans that answer the query
)

// Answer is a system's answer to one case, with all that it is judged by.
type Answer struct {
	CaseID    string
	Query     string
	Text      string
	Abstained *bool // as the system says; nil: found out
	Contexts  []Passage
	Citations []string // chunk ids or numbers, as the system wrote them
	Reference string   // "" where the set has none
	// Groups name what the case was written from: canaries for this answer are
	// taken from answers that share none of them.
	Groups []string
	// ContextProblem is a reason code why the context cannot be read in full.
	ContextProblem string
}

// texts are the passages' texts, in order.
func (a *Answer) texts() []string {
	out := make([]string, len(a.Contexts))
	for i, p := range a.Contexts {
		out[i] = p.Text
	}
	return out
}

// contextProblem is a reason code why claims cannot be held against the
// context, or "".
func (a *Answer) contextProblem() string {
	size := 0
	for _, p := range a.Contexts {
		size += len(p.Text)
	}
	if a.ContextProblem == "" && size > MaxContextBytes {
		return UnknownContextTooLong
	}
	return a.ContextProblem
}

// Claim is one sentence of an answer, without its citation markers.
type Claim struct {
	Text      string  `json:"text"`
	Support   Finding `json:"support"`    // by the context; nothing where there is none
	Citations []int   `json:"citations"`  // indexes into JudgedAnswer.Citations
	CitedWell Finding `json:"cited_well"` // by its citations together; nothing where it has none
}

// Citation is one use of a source: at one claim, or for the whole answer.
type Citation struct {
	Ref       string  `json:"ref"`      // as the system wrote it
	ChunkID   string  `json:"chunk_id"` // "" where the cited passage has no id or is not there
	Whole     bool    `json:"whole"`    // for the answer as a whole
	InContext bool    `json:"in_context"`
	Missing   bool    `json:"missing"`  // there is no such chunk or passage: it supports nothing
	Supports  Finding `json:"supports"` // a claim that it stands at
	text      string
	target    string // what it names: two citations of one target are the same
}

// JudgedAnswer is what was found about one answer.
type JudgedAnswer struct {
	CaseID      string     `json:"case_id"`
	Abstained   Finding    `json:"abstained"`
	AbstainedBy string     `json:"abstained_by"` // given, empty or judge
	Claims      []Claim    `json:"claims"`
	Citations   []Citation `json:"citations"`
	Relevance   Finding    `json:"relevance"`
	Correctness Finding    `json:"correctness"`
}

// How it was found out whether a system abstained.
const (
	ByGiven = "given"
	ByEmpty = "empty"
	ByJudge = "judge"
)
