package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// Kinds of problem of an answers file.
const (
	ProblemUnknownCase     = "unknown_case"     // the set has no such case; the answer is left out
	ProblemNotActive       = "not_active"       // retired, or waiting for review; the answer is left out
	ProblemNoAnswer        = "no_answer"        // a case of the set that the file does not answer
	ProblemUnknownChunk    = "unknown_chunk"    // a context names a chunk or document that the corpus does not have
	ProblemBadSpan         = "bad_span"         // a context's span is not within its document
	ProblemUnknownCitation = "unknown_citation" // a citation names nothing that there is: it supports nothing
	ProblemTooLong         = "too_long"         // an answer or context that is not judged for its length
)

// AnswerProblem is something that is wrong with an answers file or an answer.
type AnswerProblem struct {
	Kind   string `json:"kind"`
	CaseID string `json:"case_id"`
	Line   int    `json:"line,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// answerTexts are the texts that answers refer to.
type answerTexts struct {
	chunks map[string]corpus.Chunk
	docs   map[string]corpus.Document
}

// textsOf reads the chunks and documents that the lines name, and no others.
func textsOf(s *corpus.Snapshot, lines []answerLine) (answerTexts, error) {
	var chunkIDs, docIDs []string
	for _, a := range lines {
		for _, c := range a.Contexts {
			if c.Text == "" && c.ChunkID != "" {
				chunkIDs = append(chunkIDs, c.ChunkID)
			} else if c.Text == "" {
				docIDs = append(docIDs, c.DocID)
			}
		}
		for _, ref := range a.Citations {
			chunkIDs = append(chunkIDs, strings.TrimSpace(string(ref)))
		}
		if len(*a.Answer) <= judge.MaxAnswerBytes {
			chunkIDs = append(chunkIDs, judge.Bracketed(*a.Answer)...)
		}
	}
	var t answerTexts
	var err error
	if t.chunks, err = s.ChunksByID(chunkIDs); err != nil {
		return t, err
	}
	t.docs, err = s.DocumentsByID(docIDs)
	return t, err
}

// chunkText is what cited chunks are looked up in.
func (t answerTexts) chunkText(id string) (string, bool) {
	c, ok := t.chunks[id]
	return c.Text, ok
}

// passage resolves one context; the problem says why it has no text.
func (t answerTexts) passage(c contextLine) (judge.Passage, *AnswerProblem) {
	p := judge.Passage{ChunkID: c.ChunkID, Text: c.Text}
	if c.Text != "" {
		return p, nil
	}
	if c.ChunkID != "" {
		chunk, ok := t.chunks[c.ChunkID]
		if !ok {
			return p, &AnswerProblem{Kind: ProblemUnknownChunk, Detail: "chunk " + c.ChunkID}
		}
		p.Text = chunk.Text
		return p, nil
	}
	doc, ok := t.docs[c.DocID]
	if !ok {
		return p, &AnswerProblem{Kind: ProblemUnknownChunk, Detail: "document " + c.DocID}
	}
	if *c.End > len(doc.Text) {
		return p, &AnswerProblem{Kind: ProblemBadSpan, Detail: fmt.Sprintf("%s [%d,%d) of %d bytes", c.DocID, *c.Start, *c.End, len(doc.Text))}
	}
	p.Text = strings.ToValidUTF8(doc.Text[*c.Start:*c.End], "")
	return p, nil
}

// answerOf makes what the judge sees of one line.
func (t answerTexts) answerOf(c *datasets.Case, line answerLine) (judge.Answer, []AnswerProblem) {
	about, _ := eval.FromGolden(c, datasets.SourceIn, nil)
	out := judge.Answer{
		CaseID: c.ID, Query: c.Query, Text: *line.Answer, Abstained: line.Abstained,
		Groups: slices.Concat(about.Background.Documents, about.Background.Chunks),
	}
	out.Reference, _ = referenceOf(c)
	for _, ref := range line.Citations {
		out.Citations = append(out.Citations, string(ref))
	}
	var found []AnswerProblem
	size := 0
	for _, context := range line.Contexts {
		p, problem := t.passage(context)
		if problem != nil {
			out.ContextProblem = judge.UnknownContext
			found = append(found, *problem)
		}
		size += len(p.Text)
		out.Contexts = append(out.Contexts, p)
	}
	if size > judge.MaxContextBytes {
		found = append(found, AnswerProblem{Kind: ProblemTooLong, Detail: fmt.Sprintf("contexts of %d bytes, at most %d are judged", size, judge.MaxContextBytes)})
	}
	if n := len(out.Text); n > judge.MaxAnswerBytes {
		found = append(found, AnswerProblem{Kind: ProblemTooLong, Detail: fmt.Sprintf("an answer of %d bytes, at most %d are judged", n, judge.MaxAnswerBytes)})
	}
	for i := range found {
		found[i].CaseID, found[i].Line = c.ID, line.line
	}
	return out, found
}

// referenceOf is what an answer's correctness is judged against: the case's
// reference answer, else its evidence.
func referenceOf(c *datasets.Case) (text, kind string) {
	if c.ReferenceAnswer != nil && strings.TrimSpace(*c.ReferenceAnswer) != "" {
		return *c.ReferenceAnswer, judge.ReferenceAnswer
	}
	var quotes []string
	for _, e := range c.Evidence {
		quotes = append(quotes, e.Quote)
	}
	if text = strings.Join(quotes, "\n\n"); strings.TrimSpace(text) == "" {
		return "", ""
	}
	return text, judge.ReferenceEvidence
}
