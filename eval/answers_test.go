package eval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/eval"
)

func yes() eval.Judged                           { return value(1) }
func no() eval.Judged                            { return value(0) }
func value(x float64) eval.Judged                { return eval.Judged{Value: &x} }
func notKnown() eval.Judged                      { return eval.Judged{Unknown: "unreadable"} }
func claim(support eval.Judged) eval.JudgedClaim { return eval.JudgedClaim{Support: support} }

// answer is a case whose answer did not abstain.
func answer(id string, claims ...eval.JudgedClaim) eval.AnswerCase {
	return eval.AnswerCase{ID: id, Given: true, Reference: "evidence", Abstained: no(), Claims: claims, Relevance: yes(), Correct: yes()}
}

// valuesOf evaluates a case beside one that cites, and gives its values.
func valuesOf(t *testing.T, c eval.AnswerCase) (map[string]float64, []string) {
	t.Helper()
	citing := answer("other", claim(yes()))
	citing.Citations = []eval.Judged{yes()}
	r, err := eval.EvaluateAnswers(eval.AnswersInput{Cases: []eval.AnswerCase{c, citing}})
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, v := range r.Cases()[0].Metrics {
		values[v.Name] = v.Value
	}
	var unknown []string
	for _, name := range eval.AnswerMeasures() {
		if r.Unknown(0, name) {
			unknown = append(unknown, name)
		}
	}
	return values, unknown
}

// answerTest is what a change makes of the values of an answer that is right, with
// one supported claim.
type answerTest struct {
	name    string
	change  func(c *eval.AnswerCase)
	want    map[string]float64
	unknown []string
}

func answered(t *testing.T, tests []answerTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := answer("c", claim(yes()))
			tt.change(&c)
			got, unknown := valuesOf(t, c)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.unknown, unknown); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValuesOfClaims(t *testing.T) {
	cited := func(support, well eval.Judged) eval.JudgedClaim {
		return eval.JudgedClaim{Support: support, Cited: true, CitedWell: well}
	}
	answered(t, []answerTest{
		{
			"half of the claims, one of them cited well, two of three citations",
			func(c *eval.AnswerCase) {
				c.Claims = []eval.JudgedClaim{cited(yes(), yes()), claim(no())}
				c.Citations = []eval.Judged{yes(), yes(), no()}
			},
			map[string]float64{"faithfulness": .5, "answer_relevance": 1, "citation_precision": 2. / 3, "citation_recall": .5, "correctness": 1, "right_abstention": 1}, nil,
		},
		{
			"an unknown claim is left out and is no 0",
			func(c *eval.AnswerCase) { c.Claims = []eval.JudgedClaim{claim(yes()), claim(notKnown())} },
			map[string]float64{"faithfulness": 1, "answer_relevance": 1, "citation_recall": 0, "correctness": 1, "right_abstention": 1}, nil,
		},
		{
			"nothing known is unknown",
			func(c *eval.AnswerCase) {
				c.Claims, c.Citations = []eval.JudgedClaim{cited(notKnown(), notKnown())}, []eval.Judged{notKnown()}
				c.Relevance, c.Correct, c.Abstained = notKnown(), notKnown(), notKnown()
			},
			map[string]float64{}, eval.AnswerMeasures(),
		},
		{
			"without a context and claims there is no faithfulness",
			func(c *eval.AnswerCase) { c.Claims = nil },
			map[string]float64{"answer_relevance": 1, "correctness": 1, "right_abstention": 1}, nil,
		},
	})
}

func TestValuesOfAbstaining(t *testing.T) {
	answered(t, []answerTest{
		{
			"abstaining where an answer was wanted",
			func(c *eval.AnswerCase) { c.Abstained = yes() },
			map[string]float64{"correctness": 0, "right_abstention": 0}, nil,
		},
		{
			"abstaining where it is expected",
			func(c *eval.AnswerCase) { c.Abstained, c.Abstain = yes(), true },
			map[string]float64{"right_abstention": 1}, nil,
		},
		{
			"answering where abstention is expected",
			func(c *eval.AnswerCase) { c.Abstain, c.Claims = true, []eval.JudgedClaim{claim(no())} },
			map[string]float64{"faithfulness": 0, "answer_relevance": 1, "citation_recall": 0, "right_abstention": 0}, nil,
		},
	})
}

func TestValuesWithoutAnAnswerOrAReference(t *testing.T) {
	answered(t, []answerTest{
		{
			"no answer at all",
			func(c *eval.AnswerCase) { *c = eval.AnswerCase{ID: c.ID, Reference: c.Reference} },
			map[string]float64{"correctness": 0, "right_abstention": 0}, nil,
		},
		{
			"a blank answer that says it is one",
			func(c *eval.AnswerCase) {
				c.Empty, c.Claims, c.Relevance, c.Correct = true, nil, eval.Judged{}, eval.Judged{}
			},
			map[string]float64{"correctness": 0, "right_abstention": 1}, nil,
		},
		{
			"no reference",
			func(c *eval.AnswerCase) { c.Reference, c.Correct = "", eval.Judged{} },
			map[string]float64{"faithfulness": 1, "answer_relevance": 1, "citation_recall": 0, "right_abstention": 1}, nil,
		},
	})
}

// A system that never cites is not scored on citations.
func TestAnswersWithoutAnyCitation(t *testing.T) {
	r, err := eval.EvaluateAnswers(eval.AnswersInput{Cases: []eval.AnswerCase{answer("a", claim(yes())), answer("b", claim(no()))}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{eval.CitationPrecision, eval.CitationRecall} {
		if m, _ := r.Metrics.Get(name); m.Mean != nil || m.N != 0 || m.Unknown != 0 {
			t.Errorf("%s: %+v, want none", name, m)
		}
	}
}

// fleet is n cases, each from a document of its own, of which the first right
// are faithful and correct, and the last unknown are not known.
func fleet(n, right, unknown int) eval.AnswersInput {
	var in eval.AnswersInput
	for i := range n {
		v := value(float64(btoi(i < right)))
		if i >= n-unknown {
			v = notKnown()
		}
		c := answer(fmt.Sprintf("c%03d", i), claim(v))
		c.Correct = v
		c.Background = &eval.Background{Documents: []string{fmt.Sprintf("d%03d", i)}}
		in.Cases = append(in.Cases, c)
	}
	in.Dimensions = []eval.Dimension{eval.NewDimension("half", n, func(i int) []string { return []string{[]string{"even", "odd"}[i%2]} })}
	return in
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func evaluated(t *testing.T, in eval.AnswersInput) *eval.AnswersResult {
	t.Helper()
	r, err := eval.EvaluateAnswers(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// 90 of 100 cases: mean .9, standard error sqrt(.9*.1/99), t with 99 degrees of
// freedom at .975 is 1.98422.
func TestAnswerMeansCarryAClusterInterval(t *testing.T) {
	r := evaluated(t, fleet(100, 90, 0))
	m, _ := r.Metrics.Get(eval.Faithfulness)
	half := 1.98421695 * math.Sqrt(.9*.1/99)
	if m.N != 100 || math.Abs(*m.Mean-.9) > 1e-12 || math.Abs(*m.Low-.9+half) > 1e-6 || math.Abs(*m.High-.9-half) > 1e-6 {
		t.Errorf("faithfulness %v [%v, %v], n %d, want .9 -+ %v", *m.Mean, *m.Low, *m.High, m.N, half)
	}
	even := r.Slices["half"]["even"]
	if m, _ := even.Metrics.Get(eval.Faithfulness); even.N != 50 || *m.Mean != .9 {
		t.Errorf("slice even: n %d, mean %v", even.N, *m.Mean)
	}
	if r.Clusters != 100 || r.Counts.Claims != 100 || r.Counts.Supported != 90 || r.Counts.NotSupported != 10 {
		t.Errorf("clusters %d, counts %+v", r.Clusters, r.Counts)
	}
}

func TestAnswersResultSurvivesJSON(t *testing.T) {
	r := evaluated(t, fleet(30, 20, 3))
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back eval.AnswersResult
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Metrics, back.Metrics); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if m, _ := back.Metrics.Get(eval.Faithfulness); m.Unknown != 3 || m.N != 27 {
		t.Errorf("faithfulness %+v, want 27 values and 3 unknown", m)
	}
}

func baseline(r *eval.AnswersResult) eval.AnswerBaseline {
	out := eval.AnswerBaseline{}
	for _, c := range r.Cases() {
		out[c.CaseID] = c.Metrics
	}
	return out
}

func TestAnswerGates(t *testing.T) {
	for _, tt := range []struct {
		name, gate  string
		now, before eval.AnswersInput
		want        []string
		why         string
	}{
		{"well above the floor", "faithfulness >= 0.8", fleet(100, 95, 0), fleet(100, 95, 0), []string{eval.Pass}, "mean 0.9500"},
		{"well below the floor", "faithfulness >= 0.8", fleet(100, 60, 0), fleet(100, 60, 0), []string{eval.Fail}, "after Holm"},
		{"near the floor", "faithfulness >= 0.8", fleet(100, 81, 0), fleet(100, 81, 0), []string{eval.CannotTell}, "mean 0.8100 over 100 cases in 100 clusters: not for sure below the floor of 0.8 (p 0.6), nor above it (p 0.4)"},
		{"all right, no variance", "faithfulness >= 1", fleet(50, 50, 0), fleet(50, 50, 0), []string{eval.Pass}, "mean 1.0000"},
		{"few cases", "faithfulness >= 0.5", fleet(9, 9, 0), fleet(9, 9, 0), []string{eval.CannotTell}, "9 independent cases"},
		{"too much unknown", "faithfulness >= 0.5", fleet(100, 90, 6), fleet(100, 90, 0), []string{eval.CannotTell}, "6 % of the values are unknown"},
		{"nothing known", "faithfulness >= 0.5", fleet(20, 0, 20), fleet(20, 0, 0), []string{eval.CannotTell}, "no case has a value"},
		{"nothing changed", "correctness drop <= 0.02", fleet(100, 50, 0), fleet(100, 50, 0), []string{eval.Pass}, "0 of 100 cases changed"},
		{"a large drop", "correctness drop <= 0.02", fleet(100, 60, 0), fleet(100, 90, 0), []string{eval.Fail}, "difference -0.3000"},
		{"a rise", "correctness drop <= 0.02", fleet(100, 90, 0), fleet(100, 60, 0), []string{eval.Pass}, "difference +0.3000"},
		{"a small drop", "correctness drop <= 0.02", fleet(100, 88, 0), fleet(100, 90, 0), []string{eval.CannotTell}, "difference -0.0200 over 100 cases in 100 clusters: not for sure worse by more than the margin of 0.02"},
		{"by slice", "faithfulness >= 0.8 by half", fleet(100, 98, 0), fleet(100, 98, 0), []string{eval.Pass, eval.Pass}, "over 50 cases"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := eval.ParseAnswerGate(tt.gate)
			if err != nil {
				t.Fatal(err)
			}
			got, err := evaluated(t, tt.now).Gates([]eval.AnswerGate{g}, baseline(evaluated(t, tt.before)), 0.05)
			if err != nil {
				t.Fatal(err)
			}
			var verdicts []string
			for _, r := range got {
				verdicts = append(verdicts, r.Verdict)
			}
			if diff := cmp.Diff(tt.want, verdicts); diff != "" || !strings.Contains(got[0].Why, tt.why) {
				t.Errorf("verdicts (-want +got):\n%s\nwhy: %s", diff, got[0].Why)
			}
		})
	}
}

func TestAnswerGateErrorsPointAtTheCharacter(t *testing.T) {
	for _, tt := range []struct {
		gate string
		at   int
		why  string
	}{
		{"faithfullness >= 0.9", 0, "no measure of answers"},
		{"recall@10 >= 0.9", 0, "no measure of answers"},
		{"correctness > 0.9", 12, `expected ">="`},
		{"correctness drop >= 0.9", 17, `expected "<="`},
		{"correctness >= 1.5", 15, "from 0 to 1"},
		{"correctness >= 0.9 by", 21, "slice by"},
		{"correctness >= 0.9 and more", 19, "nothing more"},
		{"", 0, "no measure"},
	} {
		t.Run(tt.gate, func(t *testing.T) {
			_, err := eval.ParseAnswerGate(tt.gate)
			bad, ok := errors.AsType[*eval.GateError](err)
			if !ok || bad.At != tt.at || !strings.Contains(bad.Why, tt.why) {
				t.Errorf("error %#v, want %q at %d", err, tt.why, tt.at)
			}
		})
	}
	r := evaluated(t, fleet(20, 20, 0))
	g, err := eval.ParseAnswerGate("correctness >= 0.5 by category")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Gates([]eval.AnswerGate{g}, nil, 0.05); err == nil || !strings.Contains(err.Error(), "character 23") {
		t.Errorf("error %v, want one that points at the slice", err)
	}
}

// Holm: of two gates alike with p between .025 and .05, neither fails, and one
// alone would.
func TestAnswerGatesAreCorrectedTogether(t *testing.T) {
	g, err := eval.ParseAnswerGate("faithfulness >= 0.8")
	if err != nil {
		t.Fatal(err)
	}
	h, err := eval.ParseAnswerGate("correctness >= 0.8")
	if err != nil {
		t.Fatal(err)
	}
	r := evaluated(t, fleet(100, 72, 0))
	one, err := r.Gates([]eval.AnswerGate{g}, nil, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	two, err := r.Gates([]eval.AnswerGate{g, h}, nil, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	if one[0].Verdict != eval.Fail || two[0].Verdict != eval.CannotTell || eval.AnswerVerdict(two) != eval.CannotTell || eval.AnswerVerdict(one) != eval.Fail {
		t.Errorf("alone %+v, together %+v", one, two)
	}
}

func TestJoinLaysAnswersBesideRetrieval(t *testing.T) {
	correct := map[string]eval.Judged{"ra": yes(), "rn": no(), "na": yes(), "nn": no(), "unknown": notKnown(), "absent": yes(), "unlabelled": yes()}
	var in eval.AnswersInput
	for _, id := range []string{"ra", "rn", "na", "nn", "unknown", "absent", "unlabelled"} {
		c := answer(id)
		c.Correct = correct[id]
		in.Cases = append(in.Cases, c)
	}
	in.Cases = append(in.Cases, eval.AnswerCase{ID: "expects none", Abstain: true, Given: true, Abstained: yes()})
	labels := []eval.Label{{ID: "good", Grade: 2}, {ID: "weak", Grade: 1}, {ID: "likely", Grade: eval.Unknown, Uncertain: &eval.Probability{P: .7}}}
	retrieval := []eval.Case{
		{ID: "ra", Labels: labels, Ranking: []string{"weak", "good"}},
		{ID: "rn", Labels: labels, Ranking: []string{"likely"}},
		{ID: "na", Labels: labels, Ranking: []string{"weak", "other", "good"}}, // below k
		{ID: "nn", Labels: labels},
		{ID: "unknown", Labels: labels, Ranking: []string{"good"}},
		{ID: "unlabelled", Ranking: []string{"good"}},
	}
	got := evaluated(t, in).Join("res", retrieval, 2, 2)
	cell := func(ids ...string) eval.AnswerCell { return eval.AnswerCell{N: len(ids), Cases: ids} }
	want := eval.AnswerJoin{
		Retrieval: "res", K: 2, RetrievedAnswered: cell("ra"), RetrievedNotAnswered: cell("rn"), NotRetrievedAnswered: cell("na"),
		Neither: cell("nn"), Unknown: cell("unknown"), NotScored: cell("absent", "unlabelled"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("join (-want +got):\n%s", diff)
	}
}

// Whatever was found, values and means stay within [0, 1], a case is counted
// as known, unknown or neither, and the cases' order does not matter.
func TestAnswerMeansStayInBounds(t *testing.T) {
	judged := rapid.Custom(func(t *rapid.T) eval.Judged {
		return rapid.SampledFrom([]eval.Judged{yes(), no(), value(.3), notKnown(), {}}).Draw(t, "judged")
	})
	rapid.Check(t, func(t *rapid.T) {
		var in eval.AnswersInput
		for i := range rapid.IntRange(1, 25).Draw(t, "n") {
			c := eval.AnswerCase{ID: fmt.Sprint(i), Abstain: rapid.Bool().Draw(t, "abstain"), Given: rapid.Bool().Draw(t, "given")}
			c.Reference = rapid.SampledFrom([]string{"", "evidence"}).Draw(t, "reference")
			c.Abstained, c.Relevance, c.Correct = judged.Draw(t, "a"), judged.Draw(t, "r"), judged.Draw(t, "c")
			c.Citations = rapid.SliceOfN(judged, 0, 3).Draw(t, "citations")
			for _, s := range rapid.SliceOfN(judged, 0, 3).Draw(t, "claims") {
				c.Claims = append(c.Claims, eval.JudgedClaim{Support: s, Cited: rapid.Bool().Draw(t, "cited"), CitedWell: judged.Draw(t, "well")})
			}
			in.Cases = append(in.Cases, c)
		}
		r, err := eval.EvaluateAnswers(in)
		if err != nil {
			t.Fatal(err)
		}
		reversed := eval.AnswersInput{}
		for i := range in.Cases {
			reversed.Cases = append(reversed.Cases, in.Cases[len(in.Cases)-1-i])
		}
		back, err := eval.EvaluateAnswers(reversed)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range r.Metrics {
			if m.N+m.Unknown > len(in.Cases) || (m.Mean != nil) != (m.N > 0) {
				t.Fatalf("%s: %+v of %d cases", m.Name, m, len(in.Cases))
			}
			if m.Mean == nil {
				continue
			}
			if *m.Mean < 0 || *m.Mean > 1 || m.Low != nil && (*m.Low < 0 || *m.Low > *m.Mean || *m.High < *m.Mean || *m.High > 1) {
				t.Fatalf("%s: %v [%v, %v]", m.Name, *m.Mean, m.Low, m.High)
			}
			if other := back.Metrics[i]; other.N != m.N || math.Abs(*other.Mean-*m.Mean) > 1e-12 {
				t.Fatalf("%s: %v, and %v in another order", m.Name, *m.Mean, *other.Mean)
			}
		}
	})
}
