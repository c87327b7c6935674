package generate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/prompts"
)

// ModelOptions say how a model is asked.
type ModelOptions struct {
	Model    llm.Model
	Options  llm.Options // of every call; NumPredict and TopLogprobs are set per prompt where smaller
	Evidence string      // EvidencePick or EvidenceQuote; "" is pick
	Seed     int64       // of the run, for provenance
	Ask      llm.AskOptions
	// MinAnswered is the least P(yes) with which the check that sees only the
	// evidence must say that it answers the query, where the server gives
	// log-probabilities. 0 means DefaultMinAnswered.
	MinAnswered float64
	Prompts     *prompts.Library // nil: the embedded ones
	Types       []string         // query types to write beside factual, keyword and reformulated
}

// Validate names the option that cannot be.
func (o ModelOptions) Validate() error {
	switch {
	case o.Model.Name == "":
		return errors.New("generate: model: no name")
	case o.Options.NumCtx <= 0:
		return fmt.Errorf("generate: num_ctx: %d is not positive", o.Options.NumCtx)
	case o.Options.NumPredict <= 0:
		return fmt.Errorf("generate: num_predict: %d is not positive", o.Options.NumPredict)
	case o.Evidence != "" && o.Evidence != EvidencePick && o.Evidence != EvidenceQuote:
		return fmt.Errorf("generate: evidence: %q is none of %s, %s", o.Evidence, EvidencePick, EvidenceQuote)
	case o.MinAnswered < 0 || o.MinAnswered >= 1:
		return fmt.Errorf("generate: min_answered: %g is not in [0, 1)", o.MinAnswered)
	}
	return nil
}

// Model writes queries with a language model.
type Model struct {
	client  llm.Client
	stats   Stats
	options ModelOptions
	prompts map[string]*compiled // by id
}

type compiled struct {
	*prompts.Prompt
	schema *llm.Schema
}

// PromptIDs are the prompts that factual, keyword, reformulated and the types
// given use in a mode of evidence. A type that is not known has none.
func PromptIDs(evidence string, types ...string) []string {
	ids := []string{promptAnswered, promptAnsweredKeywords, promptSelfContained}
	for _, t := range append([]string{datasets.Factual, datasets.Keyword, datasets.Reformulated}, types...) {
		k, ok := kindOf(t)
		id := k.writePrompt(evidence, t)
		if !ok || slices.Contains(ids, id) {
			continue
		}
		ids = append(append(ids, id), k.asks...)
	}
	return ids
}

const (
	promptAnswered         = "check-answered"
	promptAnsweredKeywords = "check-answered-keywords"
	promptSelfContained    = "check-self-contained"
	promptReading          = "check-reading"
)

func (k kind) writePrompt(evidence, queryType string) string {
	if evidence == EvidenceQuote && k.quotes {
		return "quote-" + queryType
	}
	return "write-" + queryType
}

// NewModel returns a writer that asks client. stats are of the corpus.
func NewModel(client llm.Client, stats Stats, options ModelOptions) (*Model, error) {
	if options.Evidence == "" {
		options.Evidence = EvidencePick
	}
	if options.MinAnswered == 0 {
		options.MinAnswered = DefaultMinAnswered
	}
	if err := options.Validate(); err != nil {
		return nil, err
	}
	m := &Model{client: client, stats: stats, options: options, prompts: map[string]*compiled{}}
	for _, id := range PromptIDs(options.Evidence, options.Types...) {
		c, err := compile(options.Prompts, id)
		if err != nil {
			return nil, err
		}
		m.prompts[id] = c
	}
	return m, nil
}

func compile(library *prompts.Library, id string) (*compiled, error) {
	p, err := library.Get(id)
	if err != nil {
		return nil, err
	}
	c := &compiled{Prompt: p}
	if p.Schema == nil {
		return c, nil
	}
	if c.schema, err = llm.CompileSchema(p.Schema); err != nil {
		return nil, fmt.Errorf("prompt %s: %w", p.Where(), err)
	}
	return c, nil
}

// Prompts returns id@version and digest of every prompt that the model is
// asked with, for the pins.
func (m *Model) Prompts() map[string]string {
	pins := map[string]string{}
	for _, p := range m.prompts {
		pins[p.Ref()] = p.Digest
	}
	return pins
}

// Write asks for the unit's query and lets the gates look at it: the cheap ones
// first, then those that ask the model again.
func (m *Model) Write(ctx context.Context, u Unit) (Outcome, error) {
	outcomes, err := m.WriteAll(ctx, []Unit{u})
	if err != nil {
		return Outcome{}, err
	}
	return outcomes[0], nil
}

// WriteAll does what Write does for each of several units of one chunk, step by
// step over all of them, so that prompts with the same beginning follow each
// other.
func (m *Model) WriteAll(ctx context.Context, units []Unit) ([]Outcome, error) {
	list := make([]*writing, len(units))
	proofs := 0 // the most of any
	for i, u := range units {
		if err := checkUnit(u); err != nil {
			return nil, err
		}
		k, _ := kindOf(u.Row.QueryType)
		list[i] = &writing{m: m, u: u, kind: k, language: language(u)}
		proofs = max(proofs, len(k.proofs))
	}
	steps := []step{(*writing).write, (*writing).cheapGates}
	for n := range proofs {
		steps = append(steps, proof(n))
	}
	for _, step := range steps {
		if err := each(ctx, list, step); err != nil {
			return nil, err
		}
	}
	outcomes := make([]Outcome, len(list))
	for i, w := range list {
		outcomes[i] = w.outcome()
	}
	return outcomes, nil
}

// step takes a unit further: it may refuse it, or end the run.
type step func(*writing, context.Context) (*refusal, error)

func each(ctx context.Context, list []*writing, do step) error {
	for _, w := range list {
		if w.refused != nil {
			continue
		}
		r, err := do(w, ctx)
		if err != nil {
			return err
		}
		w.refused = r
	}
	return nil
}

// writing is one unit on its way to an outcome.
type writing struct {
	m        *Model
	u        Unit
	kind     kind
	language string
	prompt   *compiled
	evidence []datasets.Evidence
	// candidate is the query with what it stands on, once one is written.
	candidate Candidate
	checks    []datasets.Check
	calls     int
	refused   *refusal // what ended it without a case
}

// refusal ends a unit without a case.
type refusal struct{ reason, detail string }

func refuse(reason, format string, args ...any) *refusal {
	return &refusal{reason, fmt.Sprintf(format, args...)}
}

func (w *writing) write(ctx context.Context) (*refusal, error) {
	w.prompt = w.m.prompts[w.kind.writePrompt(w.m.options.Evidence, w.u.Row.QueryType)]
	if w.prompt == nil {
		return refuse(ReasonTypeUnknown, "query type %s has no prompt", w.u.Row.QueryType), nil
	}
	write := w.pick
	if w.m.options.Evidence == EvidenceQuote && w.kind.quotes {
		write = w.quote
	}
	query, r, err := write(ctx)
	w.candidate = candidateOf(w.u, query, w.language, w.evidence, w.m.options.Seed)
	return r, err
}

func (w *writing) outcome() Outcome {
	if w.refused != nil {
		reject := newReject(w.u, w.candidate.Query, w.refused, w.checks, w.evidence)
		reject.Calls = w.calls
		return Outcome{Reject: reject, Calls: w.calls}
	}
	return Outcome{Case: w.accepted(), Calls: w.calls}
}

func (w *writing) cheapGates(context.Context) (*refusal, error) {
	checks, failed := runGates(w.candidate, append(Gates(), w.kind.gates...))
	w.checks = append(w.checks, checks...)
	if failed != nil {
		return &refusal{failed.Reason, failed.Detail}, nil
	}
	return nil, nil
}

// candidateOf is a unit's query as the gates see it: as it was written, and as it
// is kept (see Worded). There is no other place where a query gets its final form.
func candidateOf(u Unit, written, language string, evidence []datasets.Evidence, seed int64) Candidate {
	return Candidate{
		Query: Worded(written, u.Row, seed), Clean: written,
		Type: u.Row.QueryType, Language: language, Chunk: u.Chunks[0], Evidence: evidence,
		Term: u.Row.Term, OtherForm: u.Row.OtherForm, Readings: readingsOf(u.Chunks),
		Rivals: u.Rivals, AsOf: u.Row.AsOf,
	}
}

func (w *writing) check(name string, passed bool, value float64) {
	w.checks = append(w.checks, datasets.Check{Name: name, Passed: passed, Value: datasets.Round(value)})
}

func (w *writing) accepted() *datasets.Case {
	c := newCase(w.u, w.candidate, w.checks)
	c.Provenance = provenanceOf(w.u, modelName(w.m.options.Model), w.m.options.Seed)
	c.Provenance.Prompt, c.Provenance.Calls = w.prompt.Ref()+" "+w.prompt.Digest, w.calls
	w.kind.finish(c, w.u, c.Provenance.Generator)
	return c
}

// modelName reads provider/model@digest, or the revision where there is none.
func modelName(m llm.Model) string {
	name := m.Provider + "/" + m.Name
	if version := m.Digest + m.Revision; version != "" {
		name += "@" + strings.TrimPrefix(version, "sha256:")
	}
	return name
}

// language is the one asked for, else the chunk's, or what its text looks like.
func language(u Unit) string {
	for _, l := range []string{u.Row.Language, u.Chunks[0].Language, u.Doc.Language} {
		if l != "" {
			return l
		}
	}
	return corpus.Language(u.Chunks[0].Text)
}

// checkUnit refuses units whose chunks are not what their documents say: offsets
// of evidence would be wrong.
func checkUnit(u Unit) error {
	if len(u.Chunks) == 0 {
		return fmt.Errorf("case %s: no chunk", u.Row.CaseID)
	}
	for i := range u.Chunks {
		one := u.at(i)
		c, doc := &one.Chunks[0], &one.Doc
		if c.DocID != doc.ID {
			return fmt.Errorf("case %s: chunk %s is of document %s, not %s", u.Row.CaseID, c.ID, c.DocID, doc.ID)
		}
		if c.Start < 0 || c.End > len(doc.Text) || c.Start > c.End || doc.Text[c.Start:c.End] != c.Text {
			return fmt.Errorf("case %s: chunk %s is not the bytes %d-%d of document %s", u.Row.CaseID, c.ID, c.Start, c.End, c.DocID)
		}
	}
	return nil
}
