package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/judge"
)

// JudgeEffects are the effects of form on the grades of one judge.
type JudgeEffects struct {
	Judge   string         `json:"judge"`
	Effects []judge.Effect `json:"effects"`
}

// EffectsReport is the answer of `goldgen calibrate --effects --json`.
type EffectsReport struct {
	Golden GoldenRef      `json:"golden"`
	Cases  int            `json:"cases"`
	Judges []JudgeEffects `json:"judges"`
}

// Effects measures on n cases of a set how far the configured judge, or each
// member of its panel, hangs on the order and length of what it reads, and on
// passages that ask for a grade. See judge.Effects.
func (p *Project) Effects(ctx context.Context, golden string, n int) (*EffectsReport, error) {
	if !p.Config.Judge.UsesModel() {
		return nil, hinted("judge: {provider: ollama, model: NAME} in goldgen.yaml", "%w: judge: no model to measure", ErrConfig)
	}
	set, err := p.Store().Load(cmp.Or(golden, p.Config.Name))
	if err != nil {
		return nil, err
	}
	b, err := p.pinnedBench(ctx, set.Manifest.Pins.Corpus, "golden set "+set.Ref().String())
	if err != nil {
		return nil, err
	}
	defer b.Close()
	probes := probesOf(set, b, n)
	if len(probes) == 0 {
		return nil, fmt.Errorf("golden set %s: no active case has both a chunk that answers it and others beside", set.Ref())
	}
	out := &EffectsReport{Golden: goldenRef(set), Cases: len(probes)}
	return out, p.effectsOn(ctx, out, probes, set.Manifest.Pins.Seed)
}

// effectsOn asks the judges one after the other.
func (p *Project) effectsOn(ctx context.Context, out *EffectsReport, probes []judge.Probe, seed int64) (err error) {
	plain, err := p.openMembers(ctx, seed, asItIs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plain.close()) }()
	reversed, err := p.openMembers(ctx, seed, judge.ReverseExamples)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reversed.close()) }()
	p.Progress.Begin("judge", len(plain.judges))
	defer p.Progress.End()
	for i, j := range plain.judges {
		effects, err := judge.Effects(ctx, j.Grader, reversed.judges[i].Grader, probes, p.concurrency(p.Config.Judge.ModelConfig))
		if err != nil {
			return fmt.Errorf("judge %s: %w", j.Name, err)
		}
		out.Judges = append(out.Judges, JudgeEffects{Judge: j.Name, Effects: effects})
		p.Progress.Step(Step{Done: 1})
	}
	return nil
}

// probesOf draws cases, and for each two chunks of other documents.
func probesOf(set *datasets.Set, b *bench, n int) []judge.Probe {
	seed := set.Manifest.Pins.Seed
	var out []judge.Probe
	for _, i := range seeded.Rand(seed, "effects", "").Perm(len(set.Cases)) {
		c := &set.Cases[i]
		chunk, ok := b.chunk(answering(c, set.Manifest.RelevantGrade))
		if c.Status != datasets.Active || !ok || len(out) == n {
			continue
		}
		rng := seeded.Rand(seed, "effects", c.ID)
		other, filler := elsewhere(b, rng, chunk.DocID), elsewhere(b, rng, chunk.DocID)
		if other == "" || filler == "" {
			continue
		}
		out = append(out, judge.Probe{Query: judge.Query{ID: c.ID, Text: c.Query, AsOf: c.AsOf}, Answer: chunk.Text, Other: other, Filler: filler})
	}
	return out
}

// answering is the chunk that a case's query was written from, else the first that
// a person found relevant, or "".
func answering(c *datasets.Case, relevantGrade int) string {
	if len(c.Source) > 0 {
		return c.Source[0]
	}
	for _, j := range c.Judgments {
		if j.By == datasets.ByHuman && j.Grade != nil && *j.Grade >= relevantGrade {
			return j.ChunkID
		}
	}
	return ""
}

// elsewhere is the text of a random chunk outside of a document; "" when a hundred
// draws found none.
func elsewhere(b *bench, rng *rand.Rand, docID string) string {
	for range 100 {
		if c := b.View.Chunk(rng.IntN(b.View.Len())); c.DocID != docID && c.Text != "" {
			return c.Text
		}
	}
	return ""
}
