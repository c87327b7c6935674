package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/review"
)

// FinishedReview is the version that people's labels gave, and what became of
// them.
type FinishedReview struct {
	review.Finished
	Of        string            `json:"of"` // the version that was labelled
	Trust     string            `json:"trust"`
	Imported  bool              `json:"imported"` // no query was written from a chunk: its pools are people's, and no label model's
	Reviews   []datasets.Review `json:"reviews"`
	Conflicts []review.Conflict `json:"conflicts"`
	Left      []review.Left     `json:"left_out"`
	Notes     []string          `json:"notes"`
}

// FinishReview writes what everybody said of a version as the set's next one.
// Where the set has later versions over the same corpus, they are what it is
// added to.
func (p *Project) FinishReview(ctx context.Context, golden string) (*FinishedReview, error) {
	ref, err := p.Store().Resolve(golden)
	if err != nil {
		return nil, err
	}
	m, err := datasets.ReadManifest(ref.Path)
	if err != nil {
		return nil, err
	}
	return p.finishReview(ctx, ref, m.Pins.Corpus)
}

func (p *Project) finishReview(ctx context.Context, of datasets.Ref, corpus datasets.CorpusPin) (*FinishedReview, error) {
	stands, notes, err := p.stands(of)
	if err != nil {
		return nil, err
	}
	if len(stands) == 0 {
		return nil, p.unlabelled(of)
	}
	set, err := p.Store().Load(of.Name)
	if err != nil {
		return nil, err
	}
	if set.Manifest.Pins.Corpus.Digest != corpus.Digest {
		return nil, fmt.Errorf("%w: the labels are of %s, and %s is over another corpus", ErrNotComparable, of, set.Ref())
	}
	v, err := p.reviewView(set)
	if err != nil {
		return nil, err
	}
	outcome := review.Apply(set, stands, v)
	m := manifestAfter(set, of, stands, &outcome)
	negatives(v.View, m.RelevantGrade, m.Trust).Fill(outcome.Cases)
	m.Why = "labels of " + reviewersOf(stands) + " on " + of.String()
	committed, err := p.write(ctx, of.Name, datasets.Draft{Cases: outcome.Cases, Rejects: set.Rejects, Manifest: m, From: new(set.Ref())})
	if err != nil {
		return nil, err
	}
	return &FinishedReview{
		Finished: review.Finished{Golden: committed.Ref, Labels: outcome.Labels, Written: committed.Changed},
		Of:       of.String(), Trust: committed.Manifest.Trust.Level, Imported: imported(outcome.Cases), Reviews: outcome.Reviews,
		Conflicts: outcome.Conflicts, Left: outcome.Left, Notes: notes,
	}, nil
}

// reviewersOf names who labelled.
func reviewersOf(stands []review.Stand) string {
	names := make([]string, len(stands))
	for i := range stands {
		names[i] = stands[i].Reviewer
	}
	return strings.Join(names, ", ")
}

// imported reports a set whose labels came with it: no case has a source, and no
// label model has labelled one.
func imported(cases []datasets.Case) bool {
	return !fromLabelModel(cases) && !slices.ContainsFunc(cases, func(c datasets.Case) bool { return len(c.Source) > 0 })
}

// stands reads what everybody said of a version.
func (p *Project) stands(of datasets.Ref) (stands []review.Stand, notes []string, err error) {
	reads, err := review.ReadJournals(p.journals(of))
	if err != nil {
		return nil, nil, err
	}
	notes = []string{}
	for _, r := range reads {
		for _, n := range r.Notes {
			notes = append(notes, fmt.Sprintf("%s: %s", r.Path, n))
		}
		if s := review.StandOf(r.Head.Reviewer, r.Events); len(r.Events) > 0 {
			stands = append(stands, s)
		}
	}
	return stands, notes, nil
}

// manifestAfter is the set's manifest with who labelled what, where they
// disagree, what the pools missed by people's word, and what the labels can be
// trusted for then.
func manifestAfter(set *datasets.Set, of datasets.Ref, stands []review.Stand, outcome *review.Outcome) datasets.Manifest {
	m := set.Manifest
	m.Costs = datasets.Costs{}
	m.Reviews = slices.DeleteFunc(slices.Clone(m.Reviews), func(r datasets.Review) bool { return r.Of == of.String() })
	for i := range outcome.Reviews {
		outcome.Reviews[i].Of = of.String()
	}
	m.Reviews = append(m.Reviews, outcome.Reviews...)
	m.Disagreements = slices.DeleteFunc(slices.Clone(m.Disagreements), func(d datasets.Disagreement) bool {
		return slices.ContainsFunc(stands, func(s review.Stand) bool {
			_, said := s.Labels[review.Pair{CaseID: d.CaseID, ChunkID: d.ChunkID}]
			return said
		})
	})
	for _, c := range outcome.Conflicts {
		m.Disagreements = append(m.Disagreements, datasets.Disagreement{CaseID: c.CaseID, ChunkID: c.ChunkID, Grades: c.Grades, Kept: c.Kept})
	}
	m.Missed = judge.MissedIn(outcome.Cases, m.RelevantGrade, m.Trust.Judge == judge.Passed)
	if m.Trust.Level != datasets.TrustNone && review.AllByPeople(outcome.Cases) {
		m.Trust.Level, m.Trust.Why = datasets.TrustReviewed, "people graded every judged chunk of every active case"
	}
	return m
}

// ReviewReport is how far people are with a version, and how they agree.
type ReviewReport struct {
	Golden     GoldenRef          `json:"golden"`
	Reviewers  []datasets.Review  `json:"reviewers"`
	Agreements []review.Agreement `json:"agreement"`
	Conflicts  []review.Conflict  `json:"conflicts"`
	Notes      []string           `json:"notes"`

	Labels []ReviewLabel `json:"-"` // everybody's
}

// ReviewLabel is one person's last word on a pair.
type ReviewLabel struct {
	review.Event
	Reviewer string
}

// ReviewReport reads everybody's labels of a version, also while they are
// given.
func (p *Project) ReviewReport(golden string) (*ReviewReport, error) {
	set, err := p.Store().Load(golden)
	if err != nil {
		return nil, err
	}
	r := set.Ref()
	stands, notes, err := p.stands(r)
	if err != nil {
		return nil, err
	}
	if len(stands) == 0 {
		other, err := p.labelledElsewhere(r)
		if err != nil {
			return nil, err
		}
		if other != "" {
			notes = append(notes, "people labelled "+other+": name that version to see it")
		}
	}
	v, err := p.reviewView(set)
	if err != nil {
		return nil, err
	}
	relevant := set.Manifest.RelevantGrade
	out := &ReviewReport{
		Golden:    GoldenRef{Name: r.Name, Version: r.Version, Ref: r.String(), Path: set.Dir, Digest: r.Digest},
		Reviewers: review.Apply(set, stands, v).Reviews, Agreements: review.Agreements(stands, relevant),
		Conflicts: review.Conflicts(stands, relevant), Notes: notes,
	}
	for i := range out.Reviewers {
		out.Reviewers[i].Of = r.String()
	}
	for i := range stands {
		for _, e := range stands[i].Given() {
			out.Labels = append(out.Labels, ReviewLabel{Event: e, Reviewer: stands[i].Reviewer})
		}
	}
	return out, nil
}

// unlabelled is the error of a version that nobody labelled. After --finish the
// newest version is such a one.
func (p *Project) unlabelled(of datasets.Ref) error {
	other, err := p.labelledElsewhere(of)
	switch {
	case err != nil:
		return err
	case other != "":
		return hinted(fmt.Sprintf("goldgen review %s --finish", other), "nobody has labelled anything of %s; labelled was %s", of, other)
	}
	return hinted("goldgen review "+of.String(), "nobody has labelled anything of %s", of)
}

// labelledElsewhere is the newest other version of a set that people labelled,
// or empty.
func (p *Project) labelledElsewhere(of datasets.Ref) (ref string, err error) {
	reads, err := p.journalsElsewhere(of)
	if err != nil || len(reads) == 0 {
		return "", err
	}
	return reads[len(reads)-1].Head.Set, nil
}

// journalsElsewhere reads what people said of the other versions of a set, by
// version.
func (p *Project) journalsElsewhere(of datasets.Ref) ([]review.Read, error) {
	dirs, err := journalDirs(p.state("reviews", of.Name))
	if err != nil {
		return nil, err
	}
	var out []review.Read
	for _, dir := range dirs {
		if dir == p.journals(of) {
			continue
		}
		reads, err := review.ReadJournals(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(reads, func(r review.Read) bool { return len(r.Events) == 0 })...)
	}
	return out, nil
}

// journalDirs lists the folders of a set's journals, one for each version that
// was labelled, in order.
func journalDirs(home string) ([]string, error) {
	entries, err := os.ReadDir(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(home, e.Name()))
		}
	}
	return out, nil
}
