package generate

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/sample"
)

// logName stands in provenance of a query that people asked.
const logName = "query log"

// ReasonUnconfirmed is the reason of a logged query that needs review: where it
// is answered, no person has said yet.
const ReasonUnconfirmed = "from the query log: no person has confirmed an answer"

const promptTag = "tag-query"

// maxTagTokens is enough for the reply of tag-query.
const maxTagTokens = 24

// Logged lets the rows of a query log past a writer: their wording stays as
// people typed it, no gate looks at it, and nothing is written. What they are is
// tagged by rules, or by a model where tagger is not nil.
func Logged(writer Writer, tagger *Tagger, seed int64) BatchWriter {
	return &logged{writer, tagger, seed}
}

type logged struct {
	writer Writer
	tagger *Tagger
	seed   int64
}

// Write implements Writer.
func (l *logged) Write(ctx context.Context, u Unit) (Outcome, error) {
	if u.Row.Origin != datasets.OriginLog {
		return l.writer.Write(ctx, u)
	}
	c := loggedCase(u, l.seed)
	if l.tagger == nil {
		return Outcome{Case: c}, nil
	}
	return l.tagger.tag(ctx, u, c)
}

// WriteAll implements BatchWriter. Rows of a log are about no chunk, so that
// each is a batch of its own.
func (l *logged) WriteAll(ctx context.Context, units []Unit) ([]Outcome, error) {
	if w, ok := l.writer.(BatchWriter); ok && len(units) > 0 && units[0].Row.Origin != datasets.OriginLog {
		return w.WriteAll(ctx, units)
	}
	outcomes := make([]Outcome, len(units))
	for i, u := range units {
		var err error
		if outcomes[i], err = l.Write(ctx, u); err != nil {
			return nil, err
		}
	}
	return outcomes, nil
}

func loggedCase(u Unit, seed int64) *datasets.Case {
	query := u.Row.Query
	return &datasets.Case{
		ID: u.Row.CaseID, Query: query, QueryType: tagQuery(query), Style: cmp.Or(u.Row.Style, styleOf(query)),
		Language: corpus.Language(query), Tags: []string{}, Origin: datasets.OriginLog, Scope: corpus.Scope{},
		Filters: []corpus.Filter{}, Source: []string{}, Judgments: []datasets.Judgment{}, Evidence: []datasets.Evidence{},
		Forbidden: []string{}, HardNegatives: []string{}, Checks: []datasets.Check{},
		Provenance: datasets.Provenance{Generator: logName, Seed: seed, Stratum: u.Row.Stratum},
		Status:     datasets.NeedsReview, Reason: ReasonUnconfirmed,
	}
}

var (
	asksSomething = regexp.MustCompile(`(?i)[?？]\s*$|^\W*(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|may|will|` +
		`wie|was|wer|wann|wo|warum|wieso|weshalb|welche[rsmn]?|kann|darf|muss|gibt es|comment|quel(?:le)?s?|qui|quand|où|pourquoi|combien|est-ce|` +
		`cómo|qué|quién|cuándo|dónde|por qué|cuánt[oa]s?|cuál(?:es)?)\b|(?:什么|怎么|如何|为什么|吗|哪|いつ|どこ|なぜ|どう|ですか|ますか)`)
	hangsOnTime  = regexp.MustCompile(`(?i)\b(?:currently|current|latest|as of|since (?:19|20)\d\d|in (?:19|20)\d\d|until (?:19|20)\d\d|aktuell\w*|derzeit|seit (?:19|20)\d\d)\b`)
	tellsTrouble = regexp.MustCompile(`(?i)\b(?:error|fails?|failed|failing|failure|crash\w*|broken|cannot|can't|won't|doesn't|does not|not working|stuck|timeout|timed out|denied|fehler|geht nicht|erreur|no funciona)\b`)
)

// startsDenied matches openings that make no question: "can't log in".
var startsDenied = regexp.MustCompile(`(?i)^\W*(?:is|are|was|were|do|does|did|can|could|should|may|will)(?:n['’]?t|['’]t| not)\b`)

// asks reports whether a query is put as a question.
func asks(query string) bool {
	return asksSomething.MatchString(query) && (strings.ContainsAny(query, "?？") || !startsDenied.MatchString(query))
}

// fewWords is the most words of a query that counts as keywords.
const fewWords = 6

// tagQuery says by rules what kind of query people typed: time_sensitive,
// keyword or factual. What else it may be cannot be seen from its words alone.
func tagQuery(query string) string {
	switch {
	case hangsOnTime.MatchString(query):
		return datasets.TimeSensitive
	case !asks(query) && wordCount(query) <= fewWords:
		return datasets.Keyword
	}
	return datasets.Factual
}

// styleOf says by rules how a query is put.
func styleOf(query string) string {
	switch {
	case asks(query):
		return sample.FormQuestion
	case tellsTrouble.MatchString(query):
		return sample.FormProblem
	}
	return sample.FormKeywords
}

// Tagger tags logged queries with a language model.
type Tagger struct {
	m      *Model
	prompt *compiled
}

// Tagger returns a tagger that asks the writer's model.
func (m *Model) Tagger() (*Tagger, error) {
	prompt, err := compile(m.options.Prompts, promptTag)
	if err != nil {
		return nil, err
	}
	return &Tagger{m, prompt}, nil
}

// Prompts returns id@version and digest of what is asked, for the pins.
func (t *Tagger) Prompts() map[string]string {
	return map[string]string{t.prompt.Ref(): t.prompt.Digest}
}

// tag sets the case's query type. Where the model says nothing of use, that of
// the rules stays.
func (t *Tagger) tag(ctx context.Context, u Unit, c *datasets.Case) (Outcome, error) {
	w := &writing{m: t.m, u: u}
	parse := func(reply llm.Reply) (string, error) {
		v, err := llm.ParseWith[struct{ Type string }](reply, t.prompt.schema)
		return strings.TrimSpace(v.Type), err
	}
	tag, refused, err := ask(ctx, w, question[string]{t.prompt, map[string]string{"query": c.Query}, upTo(maxTagTokens), parse})
	if err != nil {
		return Outcome{}, fmt.Errorf("case %s: %w", c.ID, err)
	}
	if refused == nil {
		c.QueryType = tag
		c.Provenance.Prompt = t.prompt.Ref() + " " + t.prompt.Digest
	}
	c.Provenance.Calls = w.calls
	return Outcome{Case: c, Calls: w.calls}, nil
}
