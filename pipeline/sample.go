package pipeline

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// Sample draws the plan over a snapshot: dir, or the project's latest.
func (p *Project) Sample(ctx context.Context, dir string) (Header, []sample.Row, error) {
	s, err := p.latestSnapshot(dir)
	if err != nil {
		return Header{}, nil, err
	}
	plan, err := p.drawAll(ctx, s)
	if err != nil {
		return Header{}, nil, err
	}
	header, err := p.planHeader(s, plan)
	return header, plan.Rows, err
}

func (p *Project) draw(ctx context.Context, s *corpus.Snapshot, o sample.Options) (*sample.Plan, error) {
	p.Progress.Begin("sample", 0)
	defer p.Progress.End()
	in := sample.Input{Infos: infos(ctx, s), Lookup: func(_ context.Context, rows []int) ([]sample.Info, error) {
		return lookupInfos(s, rows)
	}}
	if p.needsChunkFields() {
		in = sample.Input{Infos: fullInfos(ctx, s)}
	}
	in.Chunks, in.Neighbours = s.Chunks(), p.neighbours(s, o)
	if err := p.readStyles(&in); err != nil {
		return nil, err
	}
	if slices.Contains(p.Config.Sample.Strata, sample.ByTopic) {
		topics, err := p.topics(s)
		if err != nil {
			return nil, err
		}
		in.Topics = topics
	}
	return sample.Draw(ctx, in, o)
}

// needsChunkFields reports strata over fields that the cheap pass lacks.
func (p *Project) needsChunkFields() bool {
	return slices.ContainsFunc(p.Config.Sample.Strata, func(f string) bool {
		return f == sample.ByUnit || len(f) > len("metadata.") && f[:len("metadata.")] == "metadata."
	})
}

func infos(ctx context.Context, s *corpus.Snapshot) iter.Seq2[sample.Info, error] {
	return func(yield func(sample.Info, error) bool) {
		for c, err := range s.ChunkInfos() {
			if err == nil {
				err = context.Cause(ctx)
			}
			info := sample.Info{
				Row: int(c.Row), ChunkID: c.ChunkID, DocID: c.DocID, TextDigest: c.TextDigest,
				Category: c.Category, Language: c.Language, Path: c.DocID, Tokens: c.Tokens, Flags: c.Flags,
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

func lookupInfos(s *corpus.Snapshot, rows []int) ([]sample.Info, error) {
	at := make([]int64, len(rows))
	for i, row := range rows {
		at[i] = int64(row)
	}
	chunks, err := s.ChunksAt(at)
	if err != nil {
		return nil, err
	}
	out := make([]sample.Info, len(chunks))
	for i := range chunks {
		out[i] = infoOf(&chunks[i], rows[i])
	}
	return out, nil
}

func fullInfos(ctx context.Context, s *corpus.Snapshot) iter.Seq2[sample.Info, error] {
	return func(yield func(sample.Info, error) bool) {
		row := 0
		for c, err := range s.Chunks() {
			if err == nil {
				err = context.Cause(ctx)
			}
			if !yield(infoOf(&c, row), err) {
				return
			}
			row++
		}
	}
}

func infoOf(c *corpus.Chunk, row int) sample.Info {
	return sample.Info{
		Row: row, ChunkID: c.ID, DocID: c.DocID, TextDigest: c.TextDigest, Category: c.Category, Language: c.Language,
		Unit: c.Unit, Path: c.DocID, Tokens: c.Tokens, Flags: c.Flags, Metadata: c.Metadata,
	}
}

// topics clusters the vectors of the configured embedder.
func (p *Project) topics(s *corpus.Snapshot) ([]int, error) {
	key, err := p.vectorKey(s)
	if err != nil {
		return nil, err
	}
	rows := map[string]int{}
	n := 0
	for info, err := range s.ChunkInfos() {
		if err != nil {
			return nil, err
		}
		rows[info.ChunkID] = n
		n++
	}
	vectors := make([][]float32, n)
	for v, err := range s.Vectors(key) {
		if err != nil {
			return nil, err
		}
		vectors[rows[v.ChunkID]] = v.Values
	}
	return sample.Topics(vectors, p.Config.Sample.Topics, p.Config.Sample.Seed), nil
}

func (p *Project) planHeader(s *corpus.Snapshot, plan *sample.Plan) (Header, error) {
	options, err := json.Marshal(p.Config.Sample)
	if err != nil {
		return Header{}, err
	}
	coverage, err := json.Marshal(plan.Coverage)
	if err != nil {
		return Header{}, err
	}
	pins := datasets.Pins{
		Corpus: corpusPin(s), Chunking: s.Manifest().Chunking, Sample: options,
		Seed: p.Config.Sample.Seed, Goldgen: p.Version,
	}
	if plan.Coverage.Log != nil {
		pins.Queries = plan.Coverage.Log.Digest
	}
	if pins.Plan, err = digestLines(plan.Rows); err != nil {
		return Header{}, err
	}
	if p.Config.Embedding != nil {
		if pins.Embedding, err = p.embeddingPin(s); err != nil && !p.DryRun {
			return Header{}, err
		}
	}
	return Header{
		Kind: KindPlan, Format: StageFormat, Pins: pins, Name: p.Config.Name, Cases: p.Config.Sample.Cases,
		Coverage: coverage, Shortfall: plan.Shortfall,
	}, nil
}
