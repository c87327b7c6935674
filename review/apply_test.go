package review_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/review"
)

// people are stands, each of the events of one person.
func people(byName map[string][]review.Event) []review.Stand {
	var out []review.Stand
	for _, name := range []string{"ann", "bob", "kim"} {
		if list, ok := byName[name]; ok {
			out = append(out, review.StandOf(name, events(list...)))
		}
	}
	return out
}

func human(chunk string, grade int, judge string, inclusion float64) datasets.Judgment {
	return datasets.Judgment{
		ChunkID: chunk, DocID: chunk, Grade: &grade, Label: datasets.LabelOf(grade, 2), By: datasets.ByHuman, Judge: judge, Inclusion: inclusion,
	}
}

func TestPeoplesGradesBecomeJudgments(t *testing.T) {
	set := goldenSet(
		[]datasets.Judgment{modelled("d0", .5), modelled("d1", .5), modelled("d2", .5)},
		[]datasets.Judgment{modelled("d0", .5), human("d1", 3, "old", 1)},
	)
	stale := says("c0 d2", 0)
	stale.Label = datasets.LabelStale
	rare := says("c1 d3", 2)
	rare.Inclusion = 1e-7
	skip := says("c1 d0", 0)
	skip.Grade, skip.Skip = nil, true
	o := review.Apply(set, people(map[string][]review.Event{
		"ann": {says("c0 d0", 3), says("c0 d1", 0), stale, says("c1 d1", 1)},
		"bob": {says("c0 d0", 1), says("c0 d1", 3), says("c0 d1", 2), skip, rare},
		"kim": {says("c0 d0", 2)},
	}), shelf(10))
	want := [][]datasets.Judgment{
		{
			modelled("d0", .5), modelled("d1", .5), modelled("d2", .5),
			human("d0", 2, "ann, bob, kim", .25), human("d1", 0, "ann, bob", .25),
			{ChunkID: "d2", DocID: "d2", Grade: pointer(0), Label: datasets.LabelStale, By: datasets.ByHuman, Judge: "ann", Inclusion: .25},
		},
		{modelled("d0", .5), human("d1", 1, "ann", .25), human("d3", 2, "bob", 1e-4)},
	}
	for i := range o.Cases {
		if diff := cmp.Diff(want[i], o.Cases[i].Judgments); diff != "" {
			t.Errorf("case %d (-want +got):\n%s", i, diff)
		}
		if err := o.Cases[i].Validate(); err != nil {
			t.Error(err)
		}
	}
	if o.Labels != 5 || len(o.Left) != 0 || len(o.Changed) != 2 {
		t.Errorf("%d labels, left out %v, %d cases changed", o.Labels, o.Left, len(o.Changed))
	}
	if set.Cases[1].Judgments[1].Judge != "old" {
		t.Error("the set itself was changed")
	}
}

// applying is what people say of a case, and what becomes of it.
type applying struct {
	said   map[string][]review.Event
	change func(*datasets.Case)
	want   func(*datasets.Case)
	left   []string
}

func rewording(id, from, to string) review.Event {
	return review.Event{Kind: review.KindQuery, CaseID: id, Query: from, Wording: to, Checks: []datasets.Check{{Name: "length", Passed: true, Value: 4}}}
}

func rejecting(id, why string) review.Event {
	return review.Event{Kind: review.KindReject, CaseID: id, Query: "question " + id[1:], Reason: why}
}

// applied holds what becomes of case c0 of a set, which was written from d0.
func applied(t *testing.T, tests map[string]applying) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			set := goldenSet([]datasets.Judgment{datasets.SourceJudgment("d0", "d0"), modelled("d0", .5), modelled("d1", .5)})
			set.Cases[0].Source = []string{"d0"}
			if test.change != nil {
				test.change(&set.Cases[0])
			}
			want := set.Cases[0]
			want.Status, want.Reason = datasets.Active, ""
			test.want(&want)
			o := review.Apply(set, people(test.said), shelf(10))
			if diff := cmp.Diff(want, o.Cases[0]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var left []string
			for _, l := range o.Left {
				left = append(left, l.Reviewer+" "+l.ChunkID+": "+l.Why)
			}
			if diff := cmp.Diff(test.left, left); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnotherWording(t *testing.T) {
	newly := says("c0 d1", 3)
	newly.Query = "asked better"
	applied(t, map[string]applying{
		"another wording takes what models said of the old one along": {
			said: map[string][]review.Event{"ann": {says("c0 d0", 2), rewording("c0", "question 0", "asked better"), newly}},
			want: func(c *datasets.Case) {
				c.Query, c.Checks = "asked better", []datasets.Check{{Name: "length", Passed: true, Value: 4}}
				c.Judgments = []datasets.Judgment{datasets.SourceJudgment("d0", "d0"), human("d1", 3, "ann", .25)}
			},
			left: []string{"ann d0: the wording was changed after it"},
		},
		"a wording that an earlier version took in is not taken in again": {
			said:   map[string][]review.Event{"ann": {rewording("c0", "question 0", "asked better"), newly}},
			change: func(c *datasets.Case) { c.Query = "asked better" },
			want: func(c *datasets.Case) {
				c.Query = "asked better"
				c.Judgments = append(c.Judgments, human("d1", 3, "ann", .25))
			},
		},
		"labels for a wording that is no more are left out": {
			said:   map[string][]review.Event{"ann": {says("c0 d0", 2), rewording("c0", "question 0", "asked better")}, "bob": {says("c0 d0", 1)}},
			change: func(c *datasets.Case) { c.Query = "asked by a third" },
			want:   func(c *datasets.Case) { c.Query = "asked by a third" },
			left:   []string{"ann : another wording came first", "ann d0: the wording was changed after it", "bob d0: it was given for another wording"},
		},
	})
}

func TestARejection(t *testing.T) {
	applied(t, map[string]applying{
		"a rejection retires, whatever others say": {
			said: map[string][]review.Event{"ann": {rejecting("c0", "makes no sense")}, "bob": {says("c0 d0", 1)}},
			want: func(c *datasets.Case) {
				c.Status, c.Reason = datasets.Retired, "makes no sense"
				c.Judgments = append(c.Judgments, human("d0", 1, "bob", .25))
			},
		},
		"a rejection that was taken back does not": {
			said: map[string][]review.Event{"ann": {rejecting("c0", "makes no sense"), {Kind: review.KindUndo, Undone: 1}}},
			want: func(*datasets.Case) {},
		},
		"labels of a case that is retired are left out": {
			said:   map[string][]review.Event{"ann": {says("c0 d0", 2)}},
			change: func(c *datasets.Case) { c.Status, c.Reason = datasets.Retired, "gone" },
			want:   func(c *datasets.Case) { c.Status, c.Reason = datasets.Retired, "gone" },
			left:   []string{"ann d0: the case is retired"},
		},
	})
}

func TestWhatLabelsDoToACase(t *testing.T) {
	applied(t, map[string]applying{
		"a case that waits for review is active once something is relevant": {
			said:   map[string][]review.Event{"ann": {says("c0 d0", 1), says("c0 d1", 2)}},
			change: func(c *datasets.Case) { c.Status, c.Reason = datasets.NeedsReview, "source graded below 2" },
			want: func(c *datasets.Case) {
				c.Judgments = append(c.Judgments, human("d0", 1, "ann", .25), human("d1", 2, "ann", .25))
			},
		},
		"and waits on where nothing is": {
			said:   map[string][]review.Event{"ann": {says("c0 d0", 1)}},
			change: func(c *datasets.Case) { c.Status, c.Reason = datasets.NeedsReview, "source graded below 2" },
			want: func(c *datasets.Case) {
				c.Status, c.Reason = datasets.NeedsReview, "source graded below 2"
				c.Judgments = append(c.Judgments, human("d0", 1, "ann", .25))
			},
		},
		"a case that expects no answer and has one waits for review": {
			said:   map[string][]review.Event{"ann": {says("c0 d1", 3)}},
			change: func(c *datasets.Case) { c.ExpectedAbstention = true },
			want: func(c *datasets.Case) {
				c.ExpectedAbstention, c.Status = true, datasets.NeedsReview
				c.Reason = "expects no answer, and a person found one in chunk d1"
				c.Judgments = append(c.Judgments, human("d1", 3, "ann", .25))
			},
		},
		"chunks and cases that are not there are left out": {
			said: map[string][]review.Event{"ann": {says("c0 d99", 2), says("c7 d0", 2), rejecting("c8", "why not")}},
			want: func(*datasets.Case) {},
			left: []string{"ann d99: no such chunk in the snapshot", "ann d0: no such case in handbook@v1", "ann : no such case in handbook@v1"},
		},
	})
}

func TestWhoLabelledWhatAndWhenIsRecorded(t *testing.T) {
	decisive := says("c0 d1", 1)
	decisive.Sample = "decisive"
	o := review.Apply(goldenSet([]datasets.Judgment{modelled("d0", .5), modelled("d1", .5)}), people(map[string][]review.Event{
		"ann": {says("c0 d0", 3), says("c0 d0", 2), decisive, {Kind: review.KindReject, CaseID: "c0", Reason: "no"}},
	}), shelf(3))
	want := []datasets.Review{{
		Reviewer: "ann", Labels: 2, Rejected: 1, Samples: []string{"decisive", "random"},
		First: time.Date(2026, 11, 30, 9, 0, 1, 0, time.UTC).Format(time.RFC3339),
		Last:  time.Date(2026, 11, 30, 9, 0, 4, 0, time.UTC).Format(time.RFC3339),
	}}
	if diff := cmp.Diff(want, o.Reviews); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASetIsByPeopleWhenEveryJudgedChunkIs(t *testing.T) {
	all := []datasets.Judgment{modelled("d0", .5), human("d0", 2, "ann", 1)}
	some := append([]datasets.Judgment{modelled("d1", .5)}, all...)
	for name, test := range map[string]struct {
		set  *datasets.Set
		want bool
	}{
		"all":            {goldenSet(all, all), true},
		"one chunk less": {goldenSet(all, some), false},
		"no judgment":    {goldenSet(all, nil), false},
		"no case":        {goldenSet(), false},
	} {
		if got := review.AllByPeople(test.set.Cases); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	retired := goldenSet(all, some)
	retired.Cases[1].Status = datasets.Retired
	if !review.AllByPeople(retired.Cases) {
		t.Error("a retired case counts")
	}
}
