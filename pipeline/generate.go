package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/sample"
)

// Generated is what the generate stage hands on.
type Generated struct {
	Header  Header
	Records []generate.Record
	Summary generate.Summary
}

// Generate writes the queries of a plan.
func (p *Project) Generate(ctx context.Context, plan Header, rows []sample.Row) (*Generated, error) {
	return p.generateBeside(ctx, plan, rows, nil)
}

// generateBeside writes queries that repeat none of the kept cases.
func (p *Project) generateBeside(ctx context.Context, plan Header, rows []sample.Row, kept []datasets.Case) (*Generated, error) {
	s, err := p.pinnedSnapshot("", plan.Pins.Corpus, "the plan")
	if err != nil {
		return nil, err
	}
	v, err := loadView(s)
	if err != nil {
		return nil, err
	}
	writer, pin, closeWriter, err := p.openWriter(ctx, v, plan.Pins.Seed, typesOf(rows))
	if err != nil {
		return nil, err
	}
	defer closeWriter()
	difficulty, closeBench, err := p.openDifficulty(ctx, s, v)
	if err != nil {
		return nil, err
	}
	defer closeBench()
	if writer, err = p.besideLog(writer, pin, rows, plan.Pins.Seed); err != nil {
		return nil, err
	}
	main := mainRows(rows)
	p.Progress.Begin("generate", main)
	defer p.Progress.End()
	opts := generate.Options{
		Concurrency: p.writerConcurrency(), Spare: p.Config.Generate.Spare, SpareTypes: p.spareTypes(), Difficulty: difficulty, Progress: p.generateProgress(main),
		Beside: kept,
	}
	records, summary, err := generate.Run(ctx, rows, v.unit, writer, opts)
	if err != nil {
		return nil, err
	}
	header := plan
	header.Kind = KindCandidates
	header.Pins.Generator = pin
	header.Pins.Goldgen = p.Version
	header.Difficulty = summary.Difficulty
	header.Shortfall = append(append([]datasets.Shortfall{}, plan.Shortfall...), summary.Shortfall...)
	return &Generated{Header: header, Records: records, Summary: summary}, nil
}

// mainRows is how many rows are no reserves.
func mainRows(rows []sample.Row) (n int) {
	for i := range rows {
		if !rows[i].Reserve {
			n++
		}
	}
	return n
}

// spareTypes are the query types whose cases judging may refuse, nil for all, and none
// where nothing is judged. It hangs on goldgen.yaml alone, so that generate in a pipe
// decides as run does. Without a judge a label model refuses cases that expect
// abstention and are answered: those alone are replaced.
func (p *Project) spareTypes() []string {
	c := p.Config.Judge
	switch {
	case c.Provider != ProviderNone:
		return nil
	case c.labelModel(!p.Config.Generate.UsesModel(), datasets.Draft{}) == LabelsNone:
		return []string{}
	}
	return []string{datasets.OutOfScope}
}

func (p *Project) writerConcurrency() int {
	c := p.Config.Generate
	if !c.UsesModel() {
		return 1
	}
	return max(1, p.concurrency(c.ModelConfig))
}

// concurrency is how many units are in work at once: as many calls as all
// endpoints take.
func (p *Project) concurrency(m ModelConfig) int {
	perEndpoint := m.Concurrency
	if perEndpoint == 0 {
		perEndpoint = 2
	}
	endpoints, err := p.endpoints(m.Endpoints, m.Provider)
	if err != nil {
		return perEndpoint
	}
	return perEndpoint * max(1, len(endpoints))
}

// typesOf lists the query types of a plan, sorted.
func typesOf(rows []sample.Row) []string {
	types := map[string]bool{}
	for i := range rows {
		types[rows[i].QueryType] = true
	}
	return slices.Sorted(maps.Keys(types))
}

// openWriter makes the writer of the configured provider, for queries of the
// given types.
func (p *Project) openWriter(ctx context.Context, v *view, seed int64, types []string) (generate.Writer, *datasets.ModelPin, func() error, error) {
	stats, err := retrieve.NewBM25(v.all(), retrieve.DefaultBM25())
	if err != nil {
		return nil, nil, nil, err
	}
	c := p.Config.Generate
	if !c.UsesModel() {
		p.Log.Info("generate: no model configured, provider builtin: it shows the pipeline, not quality; the set's trust is none")
		pin := &datasets.ModelPin{Provider: ProviderBuiltin, Model: generate.BuiltinName}
		return generate.NewBuiltin(stats, seed), pin, func() error { return nil }, nil
	}
	stack, err := p.openModel(ctx, c.ModelConfig)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("generate: %w", err)
	}
	model, err := generate.NewModel(stack.Client, stats, generate.ModelOptions{
		Model: stack.Model, Options: c.options(seed), Evidence: c.Evidence, Seed: seed, Ask: p.ask(), Types: types,
		Prompts: p.Prompts,
	})
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("%w: %w", ErrConfig, err), stack.Close())
	}
	pin, err := pinOf(stack.Model, c.options(seed), model.Prompts())
	if err != nil {
		return nil, nil, nil, errors.Join(err, stack.Close())
	}
	return model, pin, stack.Close, nil
}

// unit fetches what a row is about.
func (v *view) unit(_ context.Context, row sample.Row) (generate.Unit, error) {
	u := generate.Unit{Row: row}
	if row.Origin == datasets.OriginLog {
		return u, nil
	}
	var err error
	if u.Chunks, err = v.chunksOf(row, row.ChunkIDs); err != nil {
		return u, err
	}
	if u.Rivals, err = v.chunksOf(row, row.Rivals); err != nil {
		return u, err
	}
	if len(u.Chunks) == 0 {
		return u, fmt.Errorf("case %s: names no chunk", row.CaseID)
	}
	for i := range u.Chunks {
		at, ok := v.docAt[u.Chunks[i].DocID]
		if !ok {
			return u, fmt.Errorf("%w: case %s: document %s is not in the snapshot", ErrNotComparable, row.CaseID, u.Chunks[i].DocID)
		}
		u.Docs = append(u.Docs, v.docs[at])
	}
	u.Doc = u.Docs[0]
	return u, nil
}

// chunksOf fetches chunks that a row names.
func (v *view) chunksOf(row sample.Row, ids []string) ([]corpus.Chunk, error) {
	var chunks []corpus.Chunk
	for _, id := range ids {
		c, ok := v.chunk(id)
		if !ok {
			return nil, fmt.Errorf("%w: case %s: chunk %s is not in the snapshot", ErrNotComparable, row.CaseID, id)
		}
		chunks = append(chunks, *c)
	}
	return chunks, nil
}

func (p *Project) generateProgress(total int) func(generate.Progress) {
	var last generate.Progress
	calls := p.callSteps()
	return func(now generate.Progress) {
		if now.Asked > total {
			p.Progress.Grow(now.Asked - total)
			total = now.Asked
		}
		step := calls()
		step.Done, step.Rejected = now.Done-last.Done, now.Rejected-last.Rejected
		p.Progress.Step(step)
		last = now
	}
}

// callSteps gives steps that hold the calls since the one before.
func (p *Project) callSteps() func() Step {
	last := p.Calls()
	return func() Step {
		now := p.Calls()
		step := Step{Calls: now.Made + now.Cached - last.Made - last.Cached, Cached: now.Cached - last.Cached}
		last = now
		return step
	}
}
