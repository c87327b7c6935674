package judge

import (
	"context"
	"strings"

	"github.com/goldgen/goldgen/internal/clip"
)

// assess asks all questions about one answer, those with a common beginning
// back to back.
func (r *answerRun) assess(ctx context.Context, i int) error {
	defer r.done()
	a, out := &r.answers[i], &r.judged[i]
	for _, step := range []func(context.Context, *Answer, *JudgedAnswer) error{
		r.abstained, r.relevance, r.correctness, r.faithfulness, r.citations,
	} {
		if err := step(ctx, a, out); err != nil {
			return err
		}
	}
	return nil
}

// abstained finds out whether the system declined to answer: by its own word,
// by an empty answer, or by asking.
func (r *answerRun) abstained(ctx context.Context, a *Answer, out *JudgedAnswer) error {
	switch {
	case a.Abstained != nil:
		out.Abstained, out.AbstainedBy = found(float64(oneIf(*a.Abstained))), ByGiven
		return nil
	case strings.TrimSpace(a.Text) == "":
		out.Abstained, out.AbstainedBy = found(1), ByEmpty
		return nil
	}
	var err error
	out.AbstainedBy = ByJudge
	out.Abstained, err = r.ofAnswer(ctx, a, Question{Kind: Declined, Query: a.Query, Text: a.Text})
	return err
}

// answered reports whether there is an answer to judge.
func answered(a *Answer, out *JudgedAnswer) bool {
	return !out.Abstained.yes() && strings.TrimSpace(a.Text) != ""
}

// ofAnswer asks about the whole answer.
func (r *answerRun) ofAnswer(ctx context.Context, a *Answer, q Question) (Finding, error) {
	if len(a.Text) > MaxAnswerBytes {
		return Finding{Unknown: UnknownAnswerTooLong}, nil
	}
	return r.ask(ctx, q)
}

func (r *answerRun) relevance(ctx context.Context, a *Answer, out *JudgedAnswer) (err error) {
	if answered(a, out) {
		out.Relevance, err = r.ofAnswer(ctx, a, Question{Kind: Relevant, Query: a.Query, Text: a.Text})
	}
	return err
}

func (r *answerRun) correctness(ctx context.Context, a *Answer, out *JudgedAnswer) (err error) {
	if answered(a, out) && a.Reference != "" {
		out.Correctness, err = r.ofAnswer(ctx, a, Question{Kind: Correct, Query: a.Query, Text: a.Text, Against: a.Reference})
	}
	return err
}

// faithfulness asks of every claim whether the context supports it.
func (r *answerRun) faithfulness(ctx context.Context, a *Answer, out *JudgedAnswer) error {
	if !answered(a, out) {
		out.Claims, out.Citations = []Claim{}, []Citation{}
		return nil
	}
	if len(a.Contexts) == 0 {
		return nil
	}
	texts, problem := a.texts(), a.contextProblem()
	for i := range out.Claims {
		c := &out.Claims[i]
		if problem != "" {
			c.Support = Finding{Unknown: problem}
			continue
		}
		var err error
		if c.Support, err = r.supportedBy(ctx, Question{Kind: Supported, Query: a.Query, Text: c.Text}, texts); err != nil {
			return err
		}
	}
	return nil
}

// supportedBy asks about the texts together, or in as many parts as the window
// needs: one part that supports the claim is enough.
func (r *answerRun) supportedBy(ctx context.Context, q Question, texts []string) (Finding, error) {
	parts := pack(texts, r.judge.Assessor.Window(q))
	if len(parts) == 0 {
		return found(0), nil // nothing states nothing
	}
	out := Finding{}
	for n := 0; n < len(parts); n++ {
		q.Against = parts[n]
		f, err := r.ask(ctx, q)
		if err != nil {
			return f, err
		}
		if f.Unknown == UnknownTooLong && len(q.Against) > leastPart {
			parts = append(parts, halves(q.Against)...)
			continue
		}
		out = either(out, f)
		if out.yes() {
			return out, nil
		}
	}
	return out, nil
}

// leastPart is the size in bytes below which a part is not halved again.
const leastPart = 400

// either joins the findings about two texts of which one is enough: the higher
// value; unknown where one is unknown and the other is no yes.
func either(a, b Finding) Finding {
	switch {
	case !a.asked(), b.yes() && a.Value == nil:
		return b
	case a.yes() && b.Value == nil, a.Unknown != "":
		return a
	case b.Unknown != "", *b.Value > *a.Value, *b.Value == *a.Value && b.p() > a.p():
		return b
	}
	return a
}

// pack joins texts into parts of at most size bytes, in order. A text that is
// longer is cut between sentences.
func pack(texts []string, size int) []string {
	var parts []string
	open := ""
	for _, text := range texts {
		for text != "" {
			head, cut := text, false
			if len(text) > size {
				head, cut = CutPassage(clip.Bytes(text, 2*size), size) // no more than it needs is split into sentences
			}
			if open != "" && len(open)+2+len(head) <= size {
				open += "\n\n" + head
			} else {
				if open != "" {
					parts = append(parts, open)
				}
				open = head
			}
			if !cut || head == "" {
				break
			}
			text = strings.TrimLeft(text[len(head):], " \t\r\n")
		}
	}
	if open != "" {
		parts = append(parts, open)
	}
	return parts
}

func halves(text string) []string { return pack([]string{text}, len(text)/2+1) }

// citations asks whether what is cited supports the claims at which it is. A
// citation supports when it does so alone, or when none of a claim's citations
// does but all of them together do.
func (r *answerRun) citations(ctx context.Context, a *Answer, out *JudgedAnswer) error {
	supports := make([]Finding, len(out.Citations))
	for i := range out.Claims {
		claim := &out.Claims[i]
		alone, err := r.eachCitation(ctx, a, claim, out.Citations)
		if err != nil {
			return err
		}
		for n, at := range claim.Citations {
			supports[at] = either(supports[at], alone[n])
		}
	}
	for at := range supports {
		out.Citations[at].Supports = supports[at]
		if out.Citations[at].Missing {
			out.Citations[at].Supports = found(0)
		}
	}
	return nil
}

// eachCitation asks about a claim's citations one by one and, where none
// supports it alone, together. It settles whether the claim is cited well.
func (r *answerRun) eachCitation(ctx context.Context, a *Answer, claim *Claim, citations []Citation) ([]Finding, error) {
	alone := make([]Finding, len(claim.Citations))
	q := Question{Kind: Supported, Query: a.Query, Text: claim.Text}
	var texts []string
	for n, at := range claim.Citations {
		c := &citations[at]
		if alone[n] = found(0); c.Missing {
			claim.CitedWell = either(claim.CitedWell, alone[n])
			continue
		}
		if c.text == "" && a.ContextProblem != "" { // it was there for the system, and cannot be read here
			alone[n] = Finding{Unknown: a.ContextProblem}
			claim.CitedWell = either(claim.CitedWell, alone[n])
			continue
		}
		texts = append(texts, c.text)
		var err error
		if alone[n], err = r.supportedBy(ctx, q, []string{c.text}); err != nil {
			return nil, err
		}
		claim.CitedWell = either(claim.CitedWell, alone[n])
	}
	if claim.CitedWell.yes() || len(texts) < 2 {
		return alone, nil
	}
	together, err := r.supportedBy(ctx, q, texts)
	if err != nil || !together.yes() {
		return alone, err
	}
	claim.CitedWell = together
	for n, at := range claim.Citations {
		if !citations[at].Missing {
			alone[n] = together
		}
	}
	return alone, nil
}
