package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/judge"
)

// Values of judge.labels. The others are judge.LevelPrior and judge.LevelFitted.
const (
	LabelsNone = "none" // no label model
	LabelsAuto = "auto" // the prior, where nothing says better what is relevant
)

// labelModel is which label model labels cases that are made, which join those
// beside them. Left to goldgen it is the prior where no model grades; queries that
// were built without a model prove nothing, whatever labels them.
func (c JudgeConfig) labelModel(built bool, beside datasets.Draft) string {
	switch {
	case c.Labels != LabelsAuto:
		return c.Labels
	case len(beside.Cases) > 0:
		return c.labelModelOf(beside.Manifest.Trust, beside.Cases)
	case built || c.UsesModel():
		return LabelsNone
	}
	return judge.LevelPrior
}

// labelModelOf is which label model labels what is added to a set. Left to goldgen
// it is the one that labelled the set before.
func (c JudgeConfig) labelModelOf(trust datasets.Trust, cases []datasets.Case) string {
	if c.Labels != LabelsAuto {
		return c.Labels
	}
	byModel := func(j datasets.Judgment) bool { return j.By == datasets.ByLabelModel }
	if !slices.ContainsFunc(cases, func(c datasets.Case) bool { return slices.ContainsFunc(c.Judgments, byModel) }) {
		return LabelsNone
	}
	if trust.Level == datasets.TrustFitted {
		return judge.LevelFitted
	}
	return judge.LevelPrior
}

// sayLabels says what was chosen where judge.labels leaves it to goldgen.
func (p *Project) sayLabels(labels string) {
	if labels == judge.LevelPrior {
		p.Log.Info("labels: the label model that goldgen ships gives each pooled chunk its chance of being relevant (judge.labels: prior)")
		return
	}
	p.Log.Info("judge: nothing says yet how far its grades are people's: goldgen calibrate measures it, and judge: {labels: prior} takes the chances of a label model in their place")
}

// ProfileFile is where calibrate keeps the judge profile of a project, beside
// goldgen.yaml.
const ProfileFile = "judge-profile.json"

// openPool builds what judging pools, and the label model where one is
// labels asks for one.
func (p *Project) openPool(ctx context.Context, b *bench, labels string, deps *judgeDeps) (err error) {
	if deps.Members, deps.depth, err = p.poolMembers(ctx, b); err != nil {
		return err
	}
	if labels == LabelsNone {
		return nil
	}
	if deps.profile, err = p.profile(labels); err != nil {
		return err
	}
	if err := addVoters(ctx, b, deps); err != nil {
		return err
	}
	if p.Config.Judge.Provider == ProviderNone {
		return deps.checkProfile()
	}
	return nil
}

// addVoters adds the members that a label model's features come from, where the
// pool lacks them.
func addVoters(ctx context.Context, b *bench, deps *judgeDeps) error {
	names := judge.Voters()
	if b.hasVectors {
		names, deps.embedder = append(names, "dense"), b.embeddingKey()
	}
	for _, name := range names {
		if deps.Members[name] != nil {
			continue
		}
		r, _, err := b.retriever(ctx, name)
		if err != nil {
			return fmt.Errorf("judge.labels: %w", err)
		}
		deps.Members[name], deps.depth[name] = r, judge.DefaultDepth
	}
	return nil
}

// profile reads the label model that labels names.
func (p *Project) profile(labels string) (*judge.Profile, error) {
	if labels == judge.LevelPrior {
		return judge.Prior()
	}
	return p.readProfile(p.Config.Judge.Profile)
}

func (p *Project) readProfile(path string) (*judge.Profile, error) {
	f, err := os.Open(p.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hinted("goldgen calibrate --labels FILE", "%w: judge.labels: fitted: there is no judge profile %s", ErrConfig, path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	profile, err := judge.ParseProfile(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return profile, nil
}

func (d *judgeDeps) checkProfile() error {
	if d.profile == nil {
		return nil
	}
	if err := d.profile.CheckUse(d.embedder, d.Judge.Name); err != nil {
		return hinted("goldgen calibrate --labels FILE fits one for this project", "%w: judge.labels: %w", ErrConfig, err)
	}
	return nil
}

// label gives every pooled pair its probability, where a label model is
// configured, and says what the set can be trusted for then.
func (p *Project) label(ctx context.Context, deps judgeDeps, o judge.Options, cases []datasets.Case, trust datasets.Trust) ([]datasets.Case, datasets.Trust, error) {
	if deps.profile == nil || p.DryRun {
		return cases, trust, nil
	}
	labels, err := judge.Label(ctx, cases, deps.Deps, o, deps.profile)
	if err != nil {
		return nil, trust, err
	}
	return labels.Cases, deps.profile.TrustIn(trust, labels), nil
}

// sayOutside says once of the labels that are kept how many the label model gave
// beyond what it was fitted on; where spares stood in, pairs were labelled before.
func (p *Project) sayOutside(deps judgeDeps, trust datasets.Trust) {
	pairs, outside := trust.Figures["label_pairs"], trust.Figures["label_outside"]
	if deps.profile == nil || p.DryRun || outside == 0 {
		return
	}
	p.Log.Info(fmt.Sprintf("labels: %.0f of %.0f pairs have a feature outside of what the label model was fitted on; it is read as the nearest value that was", outside, pairs))
}

// shiftOf is the shift variance that a comparison of two results takes in: the
// greater of what the label models of both sets brought.
func shiftOf(base, candidate *Kept) func(eval.Measure, float64) float64 {
	return func(m eval.Measure, level float64) float64 {
		name := m.Canonical()
		return max(judge.ShiftOf(base.Scoring.Shift, name, level), judge.ShiftOf(candidate.Scoring.Shift, name, level))
	}
}
