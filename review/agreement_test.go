package review_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/review"
)

// Worked by hand. ann's grades are 0 five times, 1 once, 3 twice; bob's 0 four
// times, 1 once, 2 once, 3 twice; six of eight agree.
//
//	four grades  chance (5x4 + 1x1 + 0x1 + 2x2)/64 = 25/64: (6/8 - 25/64) / (1 - 25/64)
//	quadratic    cost 2/8 seen, by chance (5x(1+4+18) + 1x(4+0+1+8) + 2x(36+4+1))/64 = 210/64
//	relevant     7/8 agree, by chance (6x5 + 2x3)/64 = 36/64
func TestKappaOfTwoPeople(t *testing.T) {
	ann, bob := []review.Event{}, []review.Event{}
	for i, g := range [][2]int{{0, 0}, {0, 0}, {0, 0}, {0, 0}, {1, 2}, {3, 3}, {3, 3}, {0, 1}} {
		p := "c0 d" + string(rune('0'+i))
		ann, bob = append(ann, says(p, g[0])), append(bob, says(p, g[1]))
	}
	skip := says("c1 d0", 0)
	skip.Grade, skip.Skip = nil, true
	ann, bob = append(ann, says("c1 d0", 3), says("c1 d1", 3)), append(bob, skip)
	got := review.Agreements(people(map[string][]review.Event{"bob": bob, "ann": ann}), 2)
	want := []review.Agreement{{
		A: "ann", B: "bob", Pairs: 8, Same: 6,
		Confusion: [4][4]float64{{4, 1, 0, 0}, {0, 0, 1, 0}, {}, {0, 0, 0, 2}},
		Kappa:     pointer(.5897),
		Quadratic: pointer(.9238),
		Relevant:  pointer(.7143),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestKappaIsAbsentWhereChanceCannotDisagree(t *testing.T) {
	same := []review.Event{says("c0 d0", 0), says("c0 d1", 0)}
	got := review.Agreements(people(map[string][]review.Event{"ann": same, "bob": {says("c0 d0", 0), says("c0 d1", 0)}, "kim": {says("c0 d0", 1), says("c0 d1", 1)}}), 2)
	want := []review.Agreement{
		{A: "ann", B: "bob", Pairs: 2, Same: 2, Confusion: [4][4]float64{{2}}},
		{A: "ann", B: "kim", Pairs: 2, Confusion: [4][4]float64{{0, 2}}, Kappa: pointer(0.0), Quadratic: pointer(0.0)},
		{A: "bob", B: "kim", Pairs: 2, Confusion: [4][4]float64{{0, 2}}, Kappa: pointer(0.0), Quadratic: pointer(0.0)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestConflictsAreListedWithWhatCounts(t *testing.T) {
	other := says("c2 d0", 3)
	other.Query = "another wording"
	got := review.Conflicts(people(map[string][]review.Event{
		"ann": {says("c0 d1", 3), says("c0 d0", 1), says("c1 d0", 2), says("c2 d0", 0)},
		"bob": {says("c0 d1", 1), says("c0 d0", 0), says("c1 d0", 2), other},
		"kim": {says("c0 d1", 2)},
	}), 2)
	want := []review.Conflict{
		{CaseID: "c0", ChunkID: "d0", Query: "question 0", Grades: map[string]int{"ann": 1, "bob": 0}, Kept: 0},
		{CaseID: "c0", ChunkID: "d1", Query: "question 0", Grades: map[string]int{"ann": 3, "bob": 1, "kim": 2}, Kept: 2, Crosses: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
