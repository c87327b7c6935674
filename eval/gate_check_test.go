package eval_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goldgen/goldgen/eval"
)

// sides is what a worked comparison starts from: n cases, each in a document of
// its own, of which the candidate finds the first worse cases late, where the
// base finds all of them first.
func sides(n, worse int) eval.CompareInput {
	base, candidate := input("recall@1,recall@5"), input("recall@1,recall@5")
	for i := range n {
		id, rank := fmt.Sprintf("q%03d", i), 1
		if i < worse {
			rank = 3
		}
		base.Cases = append(base.Cases, found(id, 1, "doc of "+id))
		candidate.Cases = append(candidate.Cases, found(id, rank, "doc of "+id))
	}
	header := eval.Header{Golden: &eval.GoldenRef{Ref: "handbook@v3"}, Trust: "reviewed", K: []int{1, 5}, Corpus: "c", Unit: "chunk"}
	base.Header, candidate.Header = header, header
	// One result a case, or unjudged ones would keep every verdict back.
	for _, in := range []*eval.Input{&base, &candidate} {
		labelAll(in.Cases)
	}
	in := eval.CompareInput{Base: base, Candidate: candidate, Seed: 1}
	in.Today = time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)
	return in
}

// labelAll labels x1 to x3 as not relevant.
func labelAll(cases []eval.Case) {
	for i := range cases {
		for r := range 3 {
			cases[i].Labels = append(cases[i].Labels, eval.Label{ID: fmt.Sprint("x", r+1)})
		}
	}
}

// both changes case i on both sides.
func both(in *eval.CompareInput, i int, change func(c *eval.Case)) {
	change(&in.Base.Cases[i])
	change(&in.Candidate.Cases[i])
}

// decided is a gate's answer, with a part of the reason.
type decided struct{ gate, slice, verdict, why string }

func checkGates(t *testing.T, got []eval.GateResult, want ...decided) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		g := got[i]
		if g.Gate != w.gate || g.Slice != w.slice || g.Verdict != w.verdict || !strings.Contains(g.Why, w.why) {
			t.Errorf("got  %+v\nwant %+v", g, w)
		}
	}
}

// verdictCase is one gate over sides, changed.
type verdictCase struct {
	n, worse     int
	gate         string
	change       func(in *eval.CompareInput)
	verdict, why string
}

func checkVerdicts(t *testing.T, cases map[string]verdictCase) {
	t.Helper()
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			in := sides(tt.n, tt.worse)
			in.Gates = gates(t, tt.gate)
			if tt.change != nil {
				tt.change(&in)
			}
			c := compare(t, in)
			if len(c.Gates) == 2 { // leaks are watched, asked for or not
				c.Gates = c.Gates[:1]
			}
			checkGates(t, c.Gates, decided{tt.gate, "", tt.verdict, tt.why})
			if c.Gates[0].Verdict != c.Verdict {
				t.Errorf("verdict %s", c.Verdict)
			}
		})
	}
}

func TestDrops(t *testing.T) {
	checkVerdicts(t, map[string]verdictCase{
		"nothing changed": {n: 100, gate: "recall@1 drop <= 0", verdict: eval.Pass, why: "0 of 100 cases changed"},
		// The mean falls by .05: eight of ten such sets would not show it.
		"small drop":      {n: 100, worse: 5, gate: "recall@1 drop <= 0.02", verdict: eval.CannotTell, why: "-0.0500 over 100 cases in 100 clusters (0 better, 5 worse): not for sure worse by more than the margin of 0.02 (p "},
		"large drop":      {n: 100, worse: 30, gate: "recall@1 drop <= 0.02", verdict: eval.Fail, why: "worse by more than the margin of 0.02 (p "},
		"margin is wide":  {n: 100, worse: 2, gate: "recall@1 drop <= 0.2", verdict: eval.Pass, why: "clusters (0 better, 2 worse): within the margin of 0.2 (p 1e-05)"},
		"other measure":   {n: 100, worse: 30, gate: "recall@5 drop <= 0.02", verdict: eval.Pass, why: "0 of 100 cases changed"},
		"measure unasked": {n: 100, worse: 30, gate: "recall@3 drop <= 0.02", verdict: eval.Pass, why: "0 of 100 cases changed"},
		"few cases":       {n: 9, worse: 5, gate: "recall@1 drop <= 0.02", verdict: eval.CannotTell, why: "9 independent cases: a test needs 10"},
		"one case":        {n: 1, worse: 1, gate: "recall@1 drop <= 0.02", verdict: eval.CannotTell, why: "1 independent case: a test needs 10"},
		"one document": {
			n: 40, worse: 20, gate: "recall@1 drop <= 0.02", verdict: eval.CannotTell, why: "1 independent case",
			change: func(in *eval.CompareInput) {
				for i := range in.Base.Cases {
					both(in, i, func(c *eval.Case) { c.Background = &eval.Background{Documents: []string{"one"}} })
				}
			},
		},
	})
}

// .3 less .4 is not -.1 in binary fractions, nor is it from .2 to .1 alike.
func TestDropsAsLargeAsTheMarginAreWithinIt(t *testing.T) {
	for tenths := 1.0; tenths <= 9; tenths++ {
		repeated := func(v float64) eval.Input { return ofTopics(withRecall(slices.Repeat([]float64{v}, 40)), "recall@10") }
		in := eval.CompareInput{Base: repeated((tenths + 1) / 10), Candidate: repeated(tenths / 10)}
		in.Gates = gates(t, "recall@10 drop <= 0.1")
		c := compare(t, in)
		checkGates(t, c.Gates, decided{"recall@10 drop <= 0.1", "", eval.Pass, "within the margin of 0.1"})
	}
}

func TestFloors(t *testing.T) {
	checkVerdicts(t, map[string]verdictCase{
		// Mean .70, standard error .0461: t = -2.17 against .8, 4.3 against .5.
		"below the floor":  {n: 100, worse: 30, gate: "recall@1 >= 0.80", verdict: eval.Fail, why: "mean 0.7000 of 100 cases in 100 clusters: below the floor of 0.8 (p 0.016"},
		"above the floor":  {n: 100, worse: 30, gate: "recall@1 >= 0.50", verdict: eval.Pass, why: "above the floor of 0.5 (p 1."},
		"near the floor":   {n: 100, worse: 30, gate: "recall@1 >= 0.68", verdict: eval.CannotTell, why: "not for sure below the floor of 0.68 (p 0."},
		"all on the floor": {n: 100, gate: "recall@1 >= 1", verdict: eval.Pass, why: "mean 1.0000"},
		// The sum of sixty times .2 is not twelve.
		"rounding":        {n: 60, gate: "precision@5 >= 0.2", verdict: eval.Pass, why: "all of them equal"},
		"few for a floor": {n: 5, gate: "recall@1 >= 0.1", verdict: eval.CannotTell, why: "5 independent cases"},
	})
}

func TestLatencyLeaksAndCriticalCases(t *testing.T) {
	checkVerdicts(t, map[string]verdictCase{
		"fast enough": {
			n: 20, gate: "p95 <= 180ms", verdict: eval.Pass, why: "180 ms over 20 queries", change: slow(180 * time.Millisecond),
		},
		"too slow": {
			n: 20, gate: "p95 <= 180ms", verdict: eval.Fail, why: "181 ms over 20 queries", change: slow(181 * time.Millisecond),
		},
		"no times": {n: 20, gate: "p99 <= 1s", verdict: eval.CannotTell, why: "no query has a known time"},
		"no leak":  {n: 20, gate: "leaks = 0", verdict: eval.Pass, why: "no leak"},
		"leak": {
			n: 20, gate: "leaks = 0", verdict: eval.Fail, why: "1 leak: case q003: a at rank 1 (forbidden)", change: leak(3),
		},
		"leak not excluded": {
			n: 20, gate: "leaks = 0", verdict: eval.CannotTell, why: "no leak, but 2 results stand nowhere in the snapshot", change: unplaced(3),
		},
		"leak among unplaced": {
			n: 20, gate: "leaks = 0", verdict: eval.Fail, why: "1 leak: case q003", change: func(in *eval.CompareInput) { leak(3)(in); unplaced(4)(in) },
		},
		"leak not excluded and waived": {
			n: 20, gate: "leaks = 0", verdict: eval.Pass, why: "no leak", change: func(in *eval.CompareInput) {
				unplaced(3)(in)
				in.Waivers = []eval.Waiver{{Gate: "leaks = 0", Case: "q003", Reason: "another index", Owner: "kim", Until: "2999-12-31"}}
			},
		},
		"critical and not placed": {
			n: 20, gate: "critical failures = 0", verdict: eval.CannotTell, why: "case q003: a leak cannot be excluded",
			change: func(in *eval.CompareInput) { critical(3)(in); unplaced(3)(in) },
		},
		"no critical case": {n: 20, gate: "critical failures = 0", verdict: eval.CannotTell, why: "no case is tagged critical"},
		"critical found":   {n: 20, worse: 20, gate: "critical failures = 0", verdict: eval.Pass, why: "no critical failure", change: critical(3)},
		"critical late":    {n: 20, worse: 20, gate: "critical failures@1 = 0", verdict: eval.Fail, why: "1 critical failure: case q003: nothing relevant is in the top", change: critical(3)},
		"critical query failed": {
			n: 20, gate: "critical failures = 0", verdict: eval.Fail, why: "case q003: the query failed: timed out",
			change: func(in *eval.CompareInput) {
				critical(3)(in)
				in.Candidate.Cases[3].Failed, in.Candidate.Cases[3].Ranking, in.Candidate.Cases[3].Scores = "timed out", nil, nil
			},
		},
		"critical leaked": {
			n: 20, gate: "critical failures = 0", verdict: eval.Fail, why: "case q003: it leaked",
			change: func(in *eval.CompareInput) { critical(3)(in); leak(3)(in) },
		},
	})
}

func slow(took time.Duration) func(*eval.CompareInput) {
	return func(in *eval.CompareInput) {
		for i := range in.Candidate.Cases {
			in.Candidate.Cases[i].Took = took
		}
	}
}

// leak forbids what is found in case i.
func leak(i int) func(*eval.CompareInput) {
	return func(in *eval.CompareInput) {
		both(in, i, func(c *eval.Case) { c.Background.Forbidden = []string{"a"} })
	}
}

// unplaced says of two results of case i that they stand nowhere.
func unplaced(i int) func(*eval.CompareInput) {
	return func(in *eval.CompareInput) { in.Candidate.Cases[i].Unplaced = 2 }
}

func critical(i int) func(*eval.CompareInput) {
	return func(in *eval.CompareInput) {
		both(in, i, func(c *eval.Case) { c.Background.Tags = []string{"slow", "critical"} })
	}
}

func TestAVerdictIsThatOfItsWorstGate(t *testing.T) {
	in := sides(100, 30)
	in.Gates = gates(t, "recall@5 drop <= 0.02", "recall@1 >= 0.68", "recall@1 drop <= 0.02")
	for _, tt := range []struct {
		gates   []eval.Gate
		policy  string
		verdict string
	}{
		{nil, "", eval.Pass},
		{in.Gates[:1], "", eval.Pass},
		{in.Gates[:2], "", eval.CannotTell},
		{in.Gates[:2], "fail", eval.CannotTell},
		{in.Gates[:2], "pass", eval.Pass},
		{in.Gates, "pass", eval.Fail},
	} {
		asked := in
		asked.Gates, asked.CannotTell = tt.gates, tt.policy
		if c := compare(t, asked); c.Verdict != tt.verdict {
			t.Errorf("%v with cannot_tell: %q: %s, want %s: %+v", tt.gates, tt.policy, c.Verdict, tt.verdict, c.Gates)
		}
	}
}

func TestALeakFailsUnasked(t *testing.T) {
	in := sides(20, 0)
	leak(3)(&in)
	c := compare(t, in)
	checkGates(t, c.Gates, decided{"leaks = 0", "", eval.Fail, "1 leak"})
	if c.Verdict != eval.Fail || c.Leaks != (eval.LeakPair{Base: 1, Candidate: 1}) {
		t.Errorf("%s, leaks %+v", c.Verdict, c.Leaks)
	}
}

func TestGatesBySlice(t *testing.T) {
	in := sides(103, 40)
	in.Base.Dimensions = []eval.Dimension{eval.NewDimension("query_type", 103, func(i int) []string {
		switch {
		case i >= 100:
			return []string{"rare_term"}
		case i < 50:
			return []string{"factual"}
		}
		return []string{"keyword"}
	})}
	in.Gates = gates(t, "recall@1 drop <= 0.02 by query_type")
	c := compare(t, in)
	gate := in.Gates[0].String()
	checkGates(t, c.Gates,
		decided{gate, "query_type=factual", eval.Fail, "worse by more than the margin"},
		decided{gate, "query_type=keyword", eval.Pass, "0 of 50 cases changed"},
		decided{gate, "query_type=rare_term", eval.Pass, "0 of 3 cases changed"})
	late := &in.Candidate.Cases[101]
	late.Ranking, late.Scores = in.Candidate.Cases[0].Ranking, in.Candidate.Cases[0].Scores
	checkGates(t, compare(t, in).Gates[2:], decided{gate, "query_type=rare_term", eval.CannotTell, "3 independent cases"})
}

// Harm is tested for two gates at once: .016 doubled is within the level, as is
// .03 alone, but not doubled.
func TestHarmIsCorrectedOverGates(t *testing.T) {
	in := sides(100, 30)
	in.Gates = gates(t, "recall@1 >= 0.79")
	alone := compare(t, in)
	in.Gates = gates(t, "recall@1 >= 0.79", "recall@1 >= 0.789")
	two := compare(t, in)
	if alone.Gates[0].Verdict != eval.Fail || two.Gates[0].Verdict != eval.CannotTell {
		t.Errorf("alone %+v\nwith another %+v", alone.Gates[0], two.Gates[0])
	}
}

func TestGatesThatNameWhatIsNotThere(t *testing.T) {
	in := sides(20, 0)
	in.Base.Dimensions = []eval.Dimension{eval.NewDimension("query_type", 20, func(int) []string { return []string{"factual"} })}
	for text, want := range map[string]string{
		"recall@10 >= 0.1":             `gate "recall@10 >= 0.1": character 1: the results have no recall@10, and keep rankings to depth 5; near it: recall@1, recall@5`,
		"map drop <= 0.1":              `gate "map drop <= 0.1": character 1: the results have no map, and keep rankings to depth 5; near it: recall@1, recall@5`,
		"recall@5 >= 0.1 by query_typ": `gate "recall@5 >= 0.1 by query_typ": character 20: the results are not sliced by query_typ; near it: query_type`,
		"critical failures@50 = 0":     `gate "critical failures@50 = 0": character 1: the results keep rankings to depth 5`,
	} {
		in.Gates = gates(t, text)
		_, err := eval.Compare(in)
		var gate *eval.GateError
		if !errors.As(err, &gate) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestWaivers(t *testing.T) {
	waiver := eval.Waiver{Gate: "recall@1 drop<=0.020", Reason: "index is rebuilt on Monday", Owner: "kim", Until: "2027-01-15"}
	in := sides(100, 30)
	in.Gates, in.Waivers = gates(t, "recall@1 drop <= 0.02"), []eval.Waiver{waiver}
	c := compare(t, in)
	if c.Verdict != eval.Pass || c.Gates[0].Verdict != eval.Fail || c.Gates[0].Waived == nil || *c.Gates[0].Waived != waiver {
		t.Errorf("on the last day: %s, %+v", c.Verdict, c.Gates[0])
	}
	in.Today = in.Today.AddDate(0, 0, 1)
	c = compare(t, in)
	want := `waiver of "recall@1 drop<=0.020" expired on 2027-01-15 (kim: index is rebuilt on Monday)`
	if c.Verdict != eval.Fail || c.Gates[0].Waived != nil || !slices.Contains(c.Notes, want) {
		t.Errorf("the day after: %s, %+v, %q", c.Verdict, c.Gates[0], c.Notes)
	}
}

func TestWaiversOfOneCase(t *testing.T) {
	in := sides(20, 0)
	leak(3)(&in)
	in.Gates = gates(t, "leaks = 0")
	in.Waivers = []eval.Waiver{
		{Gate: "leaks = 0", Case: "q003", Reason: "public since May", Owner: "kim", Until: "2027-02-01"},
		{Gate: "leaks = 0", Case: "q999", Reason: "gone", Owner: "kim", Until: "2027-02-01"},
		{Gate: "critical failures = 0", Reason: "gone", Owner: "kim", Until: "2027-02-01"},
	}
	c := compare(t, in)
	checkGates(t, c.Gates, decided{"leaks = 0", "", eval.Pass, "no leak; 1 waived: q003 (kim, until 2027-02-01: public since May)"})
	for _, want := range []string{`waiver of "leaks = 0" for case "q999": there is no such case`, `waiver of "critical failures = 0": it is none of the gates that were looked at`} {
		if !slices.Contains(c.Notes, want) {
			t.Errorf("no note %s in %q", want, c.Notes)
		}
	}
	leak(4)(&in)
	checkGates(t, compare(t, in).Gates, decided{"leaks = 0", "", eval.Fail, "1 leak: case q004"})
}

func TestWaiversThatAreRefused(t *testing.T) {
	good := eval.Waiver{Gate: "recall@1 drop <= 0.02", Reason: "r", Owner: "o", Until: "2027-02-01"}
	with := func(change func(w *eval.Waiver)) eval.Waiver { w := good; change(&w); return w }
	for want, w := range map[string]eval.Waiver{
		`waiver of "recall@1 drop <= 0.02": it gives no reason`:                                                    with(func(w *eval.Waiver) { w.Reason = " " }),
		`waiver of "recall@1 drop <= 0.02": it names no owner`:                                                     with(func(w *eval.Waiver) { w.Owner = "" }),
		`waiver of "recall@1 drop <= 0.02": until "soon": want the last day, such as 2027-01-31`:                   with(func(w *eval.Waiver) { w.Until = "soon" }),
		`waiver of "recall@1 drop <= 0.02": it is for one case, but the gate looks at all cases together`:          with(func(w *eval.Waiver) { w.Case = "q001" }),
		`waiver of "leaks < 1": gate "leaks < 1": character 7: expected "= 0": leaks are never within a tolerance`: with(func(w *eval.Waiver) { w.Gate = "leaks < 1" }),
	} {
		in := sides(20, 0)
		in.Waivers = []eval.Waiver{w}
		_, err := eval.Compare(in)
		var waiver *eval.WaiverError
		if !errors.As(err, &waiver) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestTrustNoneIsNotGatedUnasked(t *testing.T) {
	in := sides(100, 30)
	in.Base.Trust, in.Candidate.Trust = "reviewed", "none" // the lower one counts
	in.Gates = gates(t, "leaks = 0", "p95 <= 1s")
	if c := compare(t, in); c.Trust != "none" {
		t.Errorf("trust %s", c.Trust)
	}
	in.Gates = gates(t, "recall@1 drop <= 0.02")
	if _, err := eval.Compare(in); !errors.Is(err, eval.ErrUntrusted) {
		t.Errorf("got %v", err)
	}
	in.AcceptUntrusted = true
	if c := compare(t, in); c.Verdict != eval.Fail {
		t.Errorf("accepted: %+v", c.Gates)
	}
}

// The labels say worse, the source alone says that nothing changed.
func TestBelowFittedTheSourceMustAgree(t *testing.T) {
	for trust, verdict := range map[string]string{
		"source_only": eval.CannotTell, "judged": eval.CannotTell, "prior": eval.CannotTell, "fitted": eval.Fail, "reviewed": eval.Fail,
	} {
		in := sides(100, 30)
		in.Base.Trust, in.Candidate.Trust = trust, trust
		for i := range in.Base.Cases {
			// The query was written from b, which both sides return last.
			both(&in, i, func(c *eval.Case) {
				c.Background.Chunks = []string{"b"}
				c.Ranking, c.Scores = append(c.Ranking[:len(c.Ranking):len(c.Ranking)], "b"), nil
				c.Labels = append(c.Labels, eval.Label{ID: "b"})
			})
		}
		in.Gates = gates(t, "recall@1 drop <= 0.02")
		c := compare(t, in)
		if c.Verdict != verdict {
			t.Errorf("%s: %s, want %s: %s", trust, c.Verdict, verdict, c.Gates[0].Why)
		}
		if verdict == eval.CannotTell && !strings.Contains(c.Gates[0].Why, "but with only the source as label it is +0.0200 from that bound") {
			t.Errorf("%s: %s", trust, c.Gates[0].Why)
		}
	}
}

func TestCheckGatesNeedsNoBaseline(t *testing.T) {
	in := sides(100, 30)
	got, err := eval.CheckGates(in.Candidate, eval.GateOptions{Gates: gates(t, "recall@1 >= 0.80", "recall@5 >= 0.9", "leaks = 0"), Today: in.Today})
	if err != nil {
		t.Fatal(err)
	}
	checkGates(t, got.Gates,
		decided{"recall@1 >= 0.80", "", eval.Fail, "below the floor"},
		decided{"recall@5 >= 0.9", "", eval.Pass, "above the floor"},
		decided{"leaks = 0", "", eval.Pass, "no leak"})
	if got.Verdict != eval.Fail {
		t.Errorf("verdict %s", got.Verdict)
	}
	_, err = eval.CheckGates(in.Candidate, eval.GateOptions{Gates: gates(t, "recall@1 drop <= 0.02")})
	if want := `gate "recall@1 drop <= 0.02": character 1: a drop needs a baseline to compare with`; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestUnjudgedResultsKeepFloorsBackAndNothingElse(t *testing.T) {
	in := sides(100, 0).Candidate
	for i := range 10 {
		in.Cases[i].Ranking, in.Cases[i].Scores = []string{"unseen"}, nil
	}
	check := func(texts ...string) *eval.GateCheck {
		got, err := eval.CheckGates(in, eval.GateOptions{Gates: gates(t, texts...)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := check("leaks = 0", "recall@1 >= 0.5")
	checkGates(t, got.Gates,
		decided{"leaks = 0", "", eval.Pass, "no leak"},
		decided{"recall@1 >= 0.5", "", eval.CannotTell, "but judged@1 is 0.900: below 0.95; label them with: goldgen judge --extend handbook@v3"})
	if got.Verdict != eval.CannotTell {
		t.Errorf("with a floor: %s", got.Verdict)
	}
	if got := check("leaks = 0"); got.Verdict != eval.Pass {
		t.Errorf("without: %s", got.Verdict)
	}
}
