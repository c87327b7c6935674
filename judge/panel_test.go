package judge_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/judge"
)

// panelOf makes a panel of members named a, b, ... and records which was asked.
func panelOf(t *testing.T, combine string, members ...func(judge.Query, *corpus.Chunk) judge.Grade) (judge.Judge, func() string) {
	t.Helper()
	var mu sync.Mutex
	var asked strings.Builder
	p := judge.Panel{Combine: combine}
	for i, f := range members {
		name := string(rune('a' + i))
		p.Members = append(p.Members, judge.Judge{Name: name, Grader: grader(func(_ context.Context, q judge.Query, c *corpus.Chunk) (judge.Grade, error) {
			mu.Lock()
			defer mu.Unlock()
			asked.WriteString(name)
			return f(q, c), nil
		})})
	}
	j, err := judge.NewPanel(p)
	if err != nil {
		t.Fatal(err)
	}
	return j, func() string { mu.Lock(); defer mu.Unlock(); return asked.String() }
}

func TestPanelJoinsVotes(t *testing.T) {
	vote := func(grade int, expected, yes float64) judge.Grade {
		g := judge.Grade{Grade: &grade, Calls: 1}
		if expected >= 0 {
			g.Expected = &expected
		}
		if yes >= 0 {
			g.PYes = &yes
		}
		return g
	}
	plain := func(grade int) judge.Grade { return vote(grade, -1, -1) }
	for name, tt := range map[string]struct {
		combine  string
		votes    []judge.Grade
		grade    int // -1 unknown
		expected float64
		yes      float64 // -1 unknown
		unknown  string
	}{
		"median of three":          {judge.Median, []judge.Grade{plain(0), plain(3), plain(2)}, 2, 2, -1, ""},
		"median of two":            {judge.Median, []judge.Grade{plain(3), plain(1)}, 1, 1, -1, ""},
		"median of what they mean": {judge.Median, []judge.Grade{vote(2, 1.6, .5), vote(1, 1.4, .4), vote(0, .2, .1)}, 1, 1.4, 1. / 3, ""},
		"mean":                     {judge.Mean, []judge.Grade{vote(3, 2.8, .9), vote(2, 1.6, .5), plain(0)}, 2, 4.4 / 3, .7, ""},
		"mean of two yes":          {judge.Mean, []judge.Grade{vote(2, 1.2, .6), vote(2, 1.2, .6)}, 2, 1.2, .6, ""},
		"mean rounds half up":      {judge.Mean, []judge.Grade{plain(1), plain(2)}, 2, 1.5, -1, ""},
		"one of three unknown":     {judge.Mean, []judge.Grade{unknown("empty"), plain(2), plain(0)}, 1, 1, -1, ""},
		"half unknown":             {judge.Median, []judge.Grade{plain(2), unknown("empty")}, -1, 0, -1, "empty"},
		"all unknown":              {judge.Mean, []judge.Grade{unknown("refused"), unknown("empty")}, -1, 0, -1, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			p := judge.Panel{Combine: tt.combine}
			got := p.Join(tt.votes)
			calls := 0
			for _, v := range tt.votes {
				calls += v.Calls
			}
			want := judge.Grade{Votes: tt.votes, Unknown: tt.unknown, Calls: calls}
			if tt.grade >= 0 {
				want.Grade, want.Expected = &tt.grade, &tt.expected
			}
			if tt.yes >= 0 {
				want.PYes = &tt.yes
			}
			if diff := cmp.Diff(want, got, approximately); diff != "" {
				t.Error(diff)
			}
		})
	}
}

var approximately = cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })

// A server with room for one model loads each member once a round: the spares
// that are needed are a further round.
func TestPanelIsAskedMemberByMember(t *testing.T) {
	wrong := func(q judge.Query, c *corpus.Chunk) judge.Grade {
		if q.ID == "07" {
			return gradeOf(0, .1) // its source goes to review, and a spare is graded
		}
		return sharp(q, c)
	}
	run := func(concurrency int) (judge.Result, string) {
		j, asked := panelOf(t, judge.Median, wrong, sharp)
		result, err := judge.Run(t.Context(), plan(36, 4), deps(j, 36), settings(concurrency))
		if err != nil {
			t.Fatal(err)
		}
		return result, asked()
	}
	result, asked := run(1)
	if changes := len(slices.Compact([]byte(asked))); changes != 4 { // a b, and a b for the spare
		t.Errorf("the model changed %d times: %s", changes-1, asked)
	}
	if n := strings.Count(asked, "a"); n != strings.Count(asked, "b") || n != result.Pairs || result.Calls != len(asked) {
		t.Errorf("%d calls of a, %d of all, %d pairs, %d counted", n, len(asked), result.Pairs, result.Calls)
	}
	if len(result.Cases) != 33 || result.Cases[7].Status != "needs_review" {
		t.Errorf("%d cases, case 7 is %s", len(result.Cases), result.Cases[7].Status)
	}
	concurrent, _ := run(8)
	if diff := cmp.Diff(result, concurrent); diff != "" {
		t.Errorf("the result depends on concurrency: %s", diff)
	}
}

// What the members said stays with each judgment, and how far they differ with
// the set.
func TestPanelDisagreementIsRecorded(t *testing.T) {
	generous := func(q judge.Query, c *corpus.Chunk) judge.Grade {
		if g := sharp(q, c); *g.Grade > 0 {
			return g
		}
		return gradeOf(2, 1.7) // everything else in part
	}
	j, _ := panelOf(t, judge.Median, sharp, generous)
	if want := "median of a, b"; j.Name != want {
		t.Errorf("named %q, want %q", j.Name, want)
	}
	result, err := judge.Run(t.Context(), plan(30, 0), deps(j, 30), settings(4))
	if err != nil {
		t.Fatal(err)
	}
	split, pairs := 0, 0
	for _, c := range result.Cases {
		for _, x := range c.Judgments {
			if x.By != "llm" {
				continue
			}
			pairs++
			f := x.Features
			want := map[string]float64{"panel_grade_1": f["panel_grade_1"], "panel_grade_2": f["panel_grade_2"]}
			if f["panel_grade_1"] == 0 {
				split++
				want = map[string]float64{"panel_grade_1": 0, "panel_grade_2": 2}
				if f["disagreement"] != .5 || f["panel_expected_1"] != .2 || f["panel_expected_2"] != 1.7 || f["expected_grade"] != .2 {
					t.Errorf("%s: %v", x.ChunkID, f)
				}
			}
			if diff := cmp.Diff(want, map[string]float64{"panel_grade_1": f["panel_grade_1"], "panel_grade_2": f["panel_grade_2"]}); diff != "" {
				t.Errorf("%s: %s", x.ChunkID, diff)
			}
		}
	}
	share := float64(split) / float64(pairs)
	figures := result.Trust.Figures
	if got := figures[judge.FigurePanelSplit]; got-share > 1e-4 || share-got > 1e-4 || split == 0 {
		t.Errorf("split %v, want %v", got, share)
	}
	if got := figures[judge.FigurePanelDisagreement]; got-.5*share > 1e-4 || .5*share-got > 1e-4 {
		t.Errorf("disagreement %v, want %v", got, .5*share)
	}
}

// A panel can pass with a member that cannot tell sources from anything: that is
// said.
func TestPanelNamesItsBlindMember(t *testing.T) {
	blind := func(judge.Query, *corpus.Chunk) judge.Grade { return gradeOf(2, 1.8) }
	j, _ := panelOf(t, judge.Median, sharp, blind, sharp)
	result, err := judge.Run(t.Context(), plan(30, 0), deps(j, 30), settings(4))
	if err != nil {
		t.Fatal(err)
	}
	if result.Verdict.State != judge.Passed || len(result.Notes) != 1 || !strings.Contains(result.Notes[0], "the panel's member b is blind") {
		t.Errorf("verdict %s, notes %q", result.Verdict.State, result.Notes)
	}
}

func TestExtendAsksAPanelMemberByMember(t *testing.T) {
	j, asked := panelOf(t, judge.Mean, sharp, sharp)
	d := deps(j, 40)
	result, err := judge.Run(t.Context(), plan(40, 0), d, settings(2))
	if err != nil {
		t.Fatal(err)
	}
	before := len(asked())
	tops := judge.Tops{Depth: 2, Rankings: map[string][]judge.Ranking{}}
	for i := range result.Cases {
		tops.Rankings[result.Cases[i].ID] = []judge.Ranking{{Name: "new", Hits: hitsOf("doc20#2", "doc21#0")}}
	}
	grown, err := judge.Extend(t.Context(), result.Cases, tops, d, settings(1))
	if err != nil {
		t.Fatal(err)
	}
	again := asked()[before:]
	if changes := len(slices.Compact([]byte(again))); changes != 2 || len(again) != 2*grown.Pairs || grown.Calls != len(again) {
		t.Errorf("%s for %d pairs, %d calls counted", again, grown.Pairs, grown.Calls)
	}
	last := grown.Cases[0].Judgments[len(grown.Cases[0].Judgments)-1]
	if last.Features["panel_grade_2"] != 0 || last.Features["disagreement"] != 0 || *last.Grade != 0 {
		t.Errorf("judgment %+v", last)
	}
}

func TestPanelMembersErrorEndsTheRun(t *testing.T) {
	down := errors.New("server down")
	failing := grader(func(context.Context, judge.Query, *corpus.Chunk) (judge.Grade, error) { return judge.Grade{}, down })
	j, err := judge.NewPanel(judge.Panel{Combine: judge.Mean, Members: []judge.Judge{{Grader: judgedBy(sharp).Grader, Name: "a"}, {Grader: failing, Name: "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := judge.Run(t.Context(), plan(3, 0), deps(j, 30), settings(2)); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
	if _, err := j.Grader.Grade(t.Context(), judge.Query{}, &corpus.Chunk{}); !errors.Is(err, down) {
		t.Errorf("error %v", err)
	}
}

func TestNewPanelNamesWhatIsWrong(t *testing.T) {
	a, b := judgedBy(sharp), judgedBy(sharp)
	b.Name = "b"
	for want, p := range map[string]judge.Panel{
		"1 members, want at least 2":         {Members: []judge.Judge{a}, Combine: judge.Mean},
		`judge.combine: "", valid are`:       {Members: []judge.Judge{a, b}},
		"ollama/fake:1b judge-token@1 twice": {Members: []judge.Judge{a, b, a}, Combine: judge.Median},
		"a member without a model":           {Members: []judge.Judge{a, judge.NewBuiltin()}, Combine: judge.Median},
	} {
		if _, err := judge.NewPanel(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
