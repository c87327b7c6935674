package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// How a panel's grades are joined.
const (
	Median = "median" // of an even number the lower of the two in the middle
	Mean   = "mean"   // rounded half up
)

// Panel is several judges that grade the same pairs. A run asks them one after
// the other, each about all pairs at hand, so that a server with room for one
// model loads each once.
type Panel struct {
	Members []Judge
	Combine string // Median or Mean
}

// NewPanel makes a judge of at least two others with different names.
func NewPanel(p Panel) (Judge, error) {
	if len(p.Members) < 2 {
		return Judge{}, fmt.Errorf("judge.panel: %d members, want at least 2", len(p.Members))
	}
	if p.Combine != Median && p.Combine != Mean {
		return Judge{}, fmt.Errorf("judge.combine: %q, valid are %s, %s", p.Combine, Median, Mean)
	}
	names := make([]string, len(p.Members))
	for i, m := range p.Members {
		if m.Grader == nil || m.Builtin {
			return Judge{}, errors.New("judge.panel: a member without a model")
		}
		if slices.Contains(names, m.Name) {
			return Judge{}, fmt.Errorf("judge.panel: %s twice", m.Name)
		}
		names[i] = m.Name
	}
	return Judge{Grader: &p, Name: fmt.Sprintf("%s of %s", p.Combine, strings.Join(names, ", "))}, nil
}

// Grade asks all members about one pair.
func (p *Panel) Grade(ctx context.Context, q Query, chunk *corpus.Chunk) (Grade, error) {
	votes := make([]Grade, len(p.Members))
	for i, m := range p.Members {
		var err error
		if votes[i], err = m.Grader.Grade(ctx, q, chunk); err != nil {
			return Grade{}, err
		}
	}
	return p.Join(votes), nil
}

// Join makes one grade of the members' grades, in the members' order. It is known
// where more than half of the members gave one. The grade is the median or mean of
// theirs, the expected grade that of what they expect; P(yes) is the mean of
// theirs.
func (p *Panel) Join(votes []Grade) Grade {
	out := Grade{Votes: votes}
	var grades, expected, yes []float64
	for i := range votes {
		v := &votes[i]
		out.Calls += v.Calls
		out.Cut = out.Cut || v.Cut
		if v.Grade == nil {
			out.Unknown = cmp.Or(out.Unknown, v.Unknown)
			continue
		}
		grades, expected = append(grades, float64(*v.Grade)), append(expected, v.value())
		if v.PYes != nil {
			yes = append(yes, *v.PYes)
		}
	}
	if 2*len(grades) <= len(votes) {
		return out
	}
	grade, value := int(math.Floor(p.combine(grades)+0.5)), p.combine(expected)
	out.Grade, out.Expected, out.Unknown = &grade, &value, ""
	if len(yes) > 0 {
		mean, _ := meanVariance(yes)
		out.PYes = &mean
	}
	return out
}

func (p *Panel) combine(values []float64) float64 {
	if p.Combine == Mean {
		mean, _ := meanVariance(values)
		return mean
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// stages are the graders that are asked about each pair, one after the other.
func (j *Judge) stages() []Grader {
	panel, ok := j.Grader.(*Panel)
	if !ok {
		return []Grader{j.Grader}
	}
	out := make([]Grader, len(panel.Members))
	for i, m := range panel.Members {
		out[i] = m.Grader
	}
	return out
}

// join makes one grade of what the stages gave.
func (j *Judge) join(votes []Grade) Grade {
	if panel, ok := j.Grader.(*Panel); ok {
		return panel.Join(votes)
	}
	return votes[0]
}

// highestGrade is the end of the scale of grades.
const highestGrade = 3

// Features of a judgment by a panel. Those of a member end with its number, from 1.
const (
	FeatureDisagreement = "disagreement"    // between the members furthest apart: the difference of what they expect, as a share of the scale
	memberGrade         = "panel_grade_"    // a member's grade
	memberExpected      = "panel_expected_" // what a member expects
)

// panelFeatures adds what the members of a panel said.
func panelFeatures(f map[string]float64, votes []Grade) {
	var known []float64
	for i := range votes {
		if g := votes[i].Grade; g != nil {
			expected := votes[i].value()
			f[fmt.Sprint(memberGrade, i+1)], f[fmt.Sprint(memberExpected, i+1)] = float64(*g), datasets.Round(expected)
			known = append(known, expected)
		}
	}
	if len(known) > 1 {
		f[FeatureDisagreement] = datasets.Round((slices.Max(known) - slices.Min(known)) / highestGrade)
	}
}

// Figures of a panel in a set's trust.
const (
	FigurePanelDisagreement = "panel_disagreement" // mean over pairs of FeatureDisagreement
	FigurePanelSplit        = "panel_split"        // share of pairs that one member finds relevant and another does not
)

// WithPanel adds to a set's trust how far the members of a panel disagree over the
// judgments of its cases, where a panel judged.
func WithPanel(t datasets.Trust, cases []datasets.Case) datasets.Trust {
	pairs, spread, split := 0.0, 0.0, 0.0
	for i := range cases {
		for _, j := range cases[i].Judgments {
			s, ok := j.Features[FeatureDisagreement]
			if j.By != datasets.ByLLM || !ok {
				continue
			}
			pairs++
			spread += s
			if membersSplit(j.Features) {
				split++
			}
		}
	}
	if pairs == 0 {
		return t
	}
	figures := map[string]float64{}
	maps.Copy(figures, t.Figures)
	figures[FigurePanelDisagreement], figures[FigurePanelSplit] = datasets.Round(spread/pairs), datasets.Round(split/pairs)
	t.Figures = figures
	return t
}

// membersSplit reports whether the members differ on whether a pair is relevant.
func membersSplit(features map[string]float64) bool {
	yes, no := false, false
	for name, grade := range features {
		if strings.HasPrefix(name, memberGrade) {
			yes, no = yes || grade >= RelevantGrade, no || grade < RelevantGrade
		}
	}
	return yes && no
}

// memberNotes names the members that the canaries show to be blind: a panel can
// pass with one of them.
func (p *Panel) memberNotes(canaries []Canary) []string {
	var notes []string
	for i, m := range p.Members {
		own := slices.Clone(canaries)
		for n := range own {
			own[n].Grade = Grade{}
			if votes := canaries[n].Grade.Votes; i < len(votes) {
				own[n].Grade = votes[i]
			}
		}
		if v := Assess(own); v.State == Blind {
			notes = append(notes, fmt.Sprintf("the panel's member %s is blind: %s", m.Name, v.Why))
		}
	}
	return notes
}
