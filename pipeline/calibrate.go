package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
)

// CalibrateOptions say whose labels a judge profile is fitted on.
type CalibrateOptions struct {
	Labels   string // file of labels (CSV, TREC qrels), or reference of a set with people's labels; "" none yet: only Next
	Golden   string // set whose pairs they are of; "" the configured one, or Labels where that is a set
	Profile  string // where to keep the profile; "" judge.profile
	MinGrade int    // a grade from here on is relevant; 0 the set's
	Next     int    // pairs to name that are worth a label
	Apply    bool   // write the next version of the set, with the labels and the fitted probabilities
}

// Calibrated is what a calibration gave.
type Calibrated struct {
	Golden      GoldenRef          `json:"golden"`
	Labels      LabelReport        `json:"labels"`
	Calibration *judge.Calibration `json:"calibration"`
	Path        string             `json:"profile_path,omitempty"` // "" where none was written
	Written     *GoldenRef         `json:"written,omitempty"`      // the version that Apply wrote
	Texts       []PairText         `json:"-"`                      // of the pairs that Next names, in its order
}

// PairText is what a person needs to see of a pair to label it.
type PairText struct{ Query, Passage string }

// Calibrate fits a judge profile on people's labels of a set's pairs, keeps it,
// and says how good it, the prior and the model that judged are.
func (p *Project) Calibrate(ctx context.Context, o CalibrateOptions) (*Calibrated, error) {
	set, labels, err := p.labelsOf(&o)
	if err != nil {
		return nil, err
	}
	b, err := p.pinnedBench(ctx, set.Manifest.Pins.Corpus, "golden set "+set.Ref().String())
	if err != nil {
		return nil, err
	}
	defer b.Close()
	c := calibrator{Project: p, o: o, set: set, bench: b, labels: labels}
	return c.run(ctx)
}

// labelsOf reads the labels and the set that they belong to.
func (p *Project) labelsOf(o *CalibrateOptions) (*datasets.Set, *labelFile, error) {
	if o.Labels == "" {
		set, err := p.Store().Load(cmp.Or(o.Golden, p.Config.Name))
		return set, &labelFile{}, err
	}
	if info, err := os.Stat(o.Labels); err == nil && !info.IsDir() {
		set, err := p.Store().Load(cmp.Or(o.Golden, p.Config.Name))
		if err != nil {
			return nil, nil, err
		}
		file, err := readLabels(o.Labels)
		return set, file, err
	}
	labelled, err := p.Store().Load(o.Labels)
	if err != nil {
		return nil, nil, fmt.Errorf("labels %s: neither a file nor a golden set: %w", o.Labels, err)
	}
	set := labelled
	if o.Golden != "" {
		if set, err = p.Store().Load(o.Golden); err != nil {
			return nil, nil, err
		}
	}
	return set, labelsIn(labelled), nil
}

// calibrator is one calibration in the making.
type calibrator struct {
	*Project
	o      CalibrateOptions
	set    *datasets.Set
	bench  *bench
	labels *labelFile
	deps   judgeDeps
}

func (c *calibrator) run(ctx context.Context) (*Calibrated, error) {
	var err error
	if c.deps, err = c.pool(ctx); err != nil {
		return nil, err
	}
	cases, usable, report := c.labels.match(c.set, c.bench)
	if report.Read == 0 && c.o.Labels != "" {
		return nil, fmt.Errorf("labels %s: none in it; %s no grade yet", c.o.Labels, wording.Count(report.Empty, "row")+wording.Pick(report.Empty, " has", " have"))
	}
	if len(usable) == 0 && c.o.Labels != "" {
		first := report.Left[0]
		return nil, fmt.Errorf("labels %s: none of %d can be used for %s: %s: %s", c.o.Labels, report.Read, c.set.Ref(), first.Where, first.Why)
	}
	options := c.judgeOptions(c.set.Manifest.Pins.Seed, c.deps.depth)
	observed, err := judge.Observe(ctx, cases, c.deps.Deps, options)
	if err != nil {
		return nil, err
	}
	prior, err := judge.Prior()
	if err != nil {
		return nil, err
	}
	calibration, err := judge.Calibrate(prior, cases, observed, usable, c.options(usable, &report))
	if err != nil {
		return nil, err
	}
	out := &Calibrated{Golden: goldenRef(c.set), Labels: report, Calibration: calibration, Texts: c.texts(calibration.Next)}
	if err := c.keep(out); err != nil || !c.o.Apply {
		return out, err
	}
	return out, c.apply(ctx, out, cases, options)
}

// pool builds the members that features come from. The judge is the one whose
// grades the set holds.
func (c *calibrator) pool(ctx context.Context) (judgeDeps, error) {
	deps := judgeDeps{Deps: judge.Deps{View: c.bench.View}}
	var err error
	if deps.Members, deps.depth, err = c.poolMembers(ctx, c.bench); err != nil {
		return deps, err
	}
	deps.Judge.Name, err = judgeOf(c.set.Cases)
	if err != nil {
		return deps, err
	}
	return deps, addVoters(ctx, c.bench, &deps)
}

// judgeOf is the name of the model whose grades the cases hold, "" for none.
func judgeOf(cases []datasets.Case) (string, error) {
	name := ""
	for i := range cases {
		for _, j := range cases[i].Judgments {
			if j.By != datasets.ByLLM {
				continue
			}
			if name != "" && j.Judge != name {
				return "", fmt.Errorf("the set holds grades of two judges, %s and %s", name, j.Judge)
			}
			name = j.Judge
		}
	}
	return name, nil
}

// options settles from which grade on a pair is relevant: where nobody gave more
// than 1, the labels are read as yes and no.
func (c *calibrator) options(labels []judge.HumanLabel, report *LabelReport) judge.CalibrateOptions {
	report.MinGrade = cmp.Or(c.o.MinGrade, c.set.Manifest.RelevantGrade)
	highest := 0
	for _, l := range labels {
		highest = max(highest, l.Grade)
	}
	if c.o.MinGrade == 0 && highest == 1 && report.MinGrade > 1 {
		report.MinGrade, report.Binary = 1, true
	}
	return judge.CalibrateOptions{
		RelevantGrade: report.MinGrade, Embedder: c.deps.embedder, Judge: c.deps.Judge.Name,
		From: []string{filepath.Base(c.o.Labels)}, Seed: c.set.Manifest.Pins.Seed, Next: c.o.Next,
	}
}

// goldenRef names a version that was read.
func goldenRef(set *datasets.Set) GoldenRef {
	r := set.Ref()
	return GoldenRef{Name: r.Name, Version: r.Version, Ref: r.String(), Path: set.Dir, Digest: r.Digest}
}

// keep writes the profile, unless the labels could not teach anything.
func (c *calibrator) keep(out *Calibrated) error {
	if out.Calibration.Kept {
		return nil
	}
	data, err := out.Calibration.Profile.JSON()
	if err != nil {
		return err
	}
	out.Path = c.Path(cmp.Or(c.o.Profile, c.Config.Judge.Profile))
	return atomicfile.Write(out.Path, 0o644, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// apply writes the next version of the set: with people's labels, which stay as
// they are, and the profile's probabilities of all pooled pairs.
func (c *calibrator) apply(ctx context.Context, out *Calibrated, cases []datasets.Case, options judge.Options) error {
	if out.Labels.MinGrade != c.set.Manifest.RelevantGrade {
		return fmt.Errorf("%w: --apply: the labels say relevant from grade %d on, the set from %d", ErrConfig, out.Labels.MinGrade, c.set.Manifest.RelevantGrade)
	}
	profile := out.Calibration.Profile
	labels, err := judge.Label(ctx, cases, c.deps.Deps, options, profile)
	if err != nil {
		return err
	}
	m := c.set.Manifest
	m.Trust, m.Costs = unsettledTrust(profile.TrustIn(m.Trust, labels), profile, labels.Cases), datasets.Costs{}
	m.Missed = judge.MissedIn(labels.Cases, m.RelevantGrade, m.Trust.Judge == judge.Passed)
	negatives(c.deps.View, m.RelevantGrade, m.Trust).Fill(labels.Cases)
	committed, err := c.write(ctx, m.Name, datasets.Draft{Cases: labels.Cases, Rejects: c.set.Rejects, Manifest: m})
	if err != nil {
		return err
	}
	r := committed.Ref
	out.Written = &GoldenRef{Name: r.Name, Version: r.Version, Ref: r.String(), Path: r.Path, Digest: r.Digest}
	return nil
}

func (c *calibrator) texts(pairs []judge.NextPair) []PairText {
	queries := map[string]string{}
	for i := range c.set.Cases {
		queries[c.set.Cases[i].ID] = c.set.Cases[i].Query
	}
	out := make([]PairText, len(pairs))
	for i, pair := range pairs {
		out[i].Query = queries[pair.CaseID]
		if chunk, ok := c.bench.chunk(pair.ChunkID); ok {
			out[i].Passage = chunk.Text
		}
	}
	return out
}

// errLabels marks a label file that cannot be read.
var errLabels = errors.New("labels")
