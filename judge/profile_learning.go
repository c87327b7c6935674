package judge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/goldgen/goldgen/datasets"
)

// Learning is what is known of how more labels by people narrow a label model's
// doubt.
type Learning struct {
	Labels     int          `json:"labels"`      // of the collection's own, that the model has heard
	ShiftAfter []ShiftShare `json:"shift_after"` // as measured on other collections, by number of labels
}

// Names of it among a set's figures.
const (
	learningLabels = "label_own"
	learningShift  = "shift_after "
)

// teach writes what a profile knows of it into a set's figures.
func (p *Profile) teach(figures map[string]float64) {
	if len(p.ShiftAfter) == 0 {
		return
	}
	figures[learningLabels] = 0
	if p.Level == LevelFitted {
		figures[learningLabels] = float64(p.Training.Pairs)
	}
	for _, s := range p.ShiftAfter {
		figures[learningShift+strconv.Itoa(s.Labels)] = datasets.Round(s.Share)
	}
}

// LearningIn reads it from a set's figures; nil where its label model did not say.
func LearningIn(figures map[string]float64) *Learning {
	var out Learning
	for name, share := range figures {
		after, ok := strings.CutPrefix(name, learningShift)
		if n, err := strconv.Atoi(after); ok && err == nil {
			out.ShiftAfter = append(out.ShiftAfter, ShiftShare{Labels: n, Share: share})
		}
	}
	if len(out.ShiftAfter) == 0 {
		return nil
	}
	slices.SortFunc(out.ShiftAfter, func(a, b ShiftShare) int { return cmp.Compare(a.Labels, b.Labels) })
	out.Labels = int(figures[learningLabels])
	return &out
}

// Leave is what so many more labels are expected to leave of the variance between
// coefficient vectors and of the shift variance, as shares of what they are. A
// vector that saw n pairs varies as 1/n; the shift variance goes as it was measured
// to, and beyond the most labels that were measured it stays.
func (l *Learning) Leave(more int) (draws, shift float64) {
	heard := PriorPairs + l.Labels
	draws = float64(heard) / float64(heard+more)
	return draws, shareAfter(l.ShiftAfter, l.Labels+more) / shareAfter(l.ShiftAfter, l.Labels)
}
