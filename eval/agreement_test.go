package eval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/eval"
)

// rankedSet makes one side of an agreement: names[r] returns the relevant item
// of case i first where hits[r][i] is set, else one that is judged not relevant.
// Ids of cases begin with prefix.
func rankedSet(prefix, trust string, names []string, hits [][]bool) eval.AgreementSide {
	var side eval.AgreementSide
	for r, name := range names {
		in := eval.Input{MinGrade: 1, Header: eval.Header{
			Golden: &eval.GoldenRef{Name: prefix, Version: 1, Ref: prefix + "@v1"}, Trust: trust,
			Retriever: eval.RetrieverRef{Spec: name, Name: name},
		}}
		for i, hit := range hits[r] {
			c := eval.Case{ID: fmt.Sprint(prefix, i), Labels: []eval.Label{{ID: "no", Grade: 0}, {ID: "yes", Grade: 1}}, Ranking: []string{"no", "yes"}}
			if hit {
				c.Ranking = []string{"yes", "no"}
			}
			in.Cases = append(in.Cases, c)
		}
		side.Retrievers = append(side.Retrievers, in)
	}
	return side
}

// first is a row in which the first n of so many cases are hit.
func first(n, cases int) []bool {
	row := make([]bool, cases)
	for i := range n {
		row[i] = true
	}
	return row
}

func agree(t interface {
	Helper()
	Fatal(...any)
}, in eval.AgreementInput, measures string) *eval.Agreement {
	t.Helper()
	var err error
	if in.Measures, err = eval.ParseMeasures(measures); err != nil {
		t.Fatal(err)
	}
	a, err := eval.Agree(in)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The reference orders a > b > c > d and separates all six pairs: the fewest
// cases in which two differ are 10, all in favour of one, p = 2/2^10. The tested
// set puts d first and does not tell a from b: 4 cases differ, p = 2/2^4.
func TestAgreeByHand(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	got := agree(t, eval.AgreementInput{
		Reference: rankedSet("people", "reviewed", names, [][]bool{first(40, 40), first(30, 40), first(10, 40), first(0, 40)}),
		Tested:    rankedSet("made", "judged", names, [][]bool{first(30, 40), first(26, 40), first(10, 40), first(40, 40)}),
	}, "success@1")
	values := func(f eval.AgreementFigures) []*float64 {
		return []*float64{f.Right.Value, f.Reversed.Value, f.Power.Value, f.Tau.Value, f.TauBest.Value, f.Overlap.Value, f.Loss.Value}
	}
	want := []*float64{ptr(2. / 5), ptr(3. / 6), ptr(5. / 6), ptr(0), ptr(0), nil, ptr(1)}
	if diff := cmp.Diff(want, values(got.AgreementFigures), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	if got.Right.Pairs != 5 || got.Reversed.Pairs != 6 || got.Reference.Separated != 6 || got.Tested.Separated != 5 || got.Compared != 6 {
		t.Errorf("pairs: %+v, %+v, %+v, %+v", got.Right, got.Reversed, got.Reference, got.Tested)
	}
	var outcomes []string
	for _, p := range got.Pairs {
		outcomes = append(outcomes, names[p.A]+names[p.B]+" "+p.Outcome)
	}
	if diff := cmp.Diff([]string{"ab missed", "ac right", "bc right", "ad reversed", "bd reversed", "cd reversed"}, outcomes); diff != "" {
		t.Error(diff)
	}
	var ranks []float64
	for _, r := range got.Retrievers {
		ranks = append(ranks, r.Reference.Rank, r.Tested.Rank)
	}
	if diff := cmp.Diff([]float64{1, 2, 2, 3, 3, 4, 4, 1}, ranks); diff != "" {
		t.Error(diff)
	}
	if p := got.Pairs[0]; *p.Reference.P != 2./1024 || *p.Tested.P != 2./16 || p.Tested.Separated || !p.Reference.Separated {
		t.Errorf("a and b: %+v", p)
	}
}

func ptr(v float64) *float64 { return &v }

// noisy draws hits of retrievers with the given chances.
func noisy(rng *rand.Rand, cases int, chances ...float64) [][]bool {
	out := make([][]bool, len(chances))
	hard := make([]float64, cases)
	for i := range hard {
		hard[i] = rng.Float64()
	}
	for r, p := range chances {
		for i := range cases {
			out[r] = append(out[r], (hard[i]+rng.Float64())/2 < p)
		}
	}
	return out
}

func TestASetAgreesWithItself(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cases := rapid.IntRange(10, 18).Draw(rt, "cases")
		names := []string{"a", "b", "c"}
		hits := make([][]bool, len(names))
		for r := range hits {
			hits[r] = rapid.SliceOfN(rapid.Bool(), cases, cases).Draw(rt, names[r])
		}
		side := rankedSet("people", "reviewed", names, hits)
		got := agree(rt, eval.AgreementInput{Reference: side, Tested: side}, "success@1")
		checkSelf(rt, got)
	})
}

func checkSelf(t *rapid.T, a *eval.Agreement) {
	for _, s := range []struct {
		name  string
		share eval.AgreementShare
		want  float64
	}{{"right", a.Right, 1}, {"reversed", a.Reversed, 0}, {"power", a.Power, 1}} {
		if s.share.Pairs != a.Reference.Separated || (s.share.Value == nil) != (s.share.Pairs == 0) {
			t.Fatalf("%s: %+v of %d pairs", s.name, s.share, a.Reference.Separated)
		}
		if v := s.share.Value; v != nil && *v != s.want {
			t.Fatalf("%s is %v, want %v", s.name, *v, s.want)
		}
		if s.share.Low != nil && (*s.share.Low != s.want || *s.share.High != s.want) {
			t.Fatalf("%s lies within %v and %v", s.name, *s.share.Low, *s.share.High)
		}
	}
	if a.Tau.Value != nil && (*a.Tau.Value != 1 || *a.Loss.Value != 0) {
		t.Fatalf("tau %v, loss %v", *a.Tau.Value, *a.Loss.Value)
	}
	if _, err := json.Marshal(a); err != nil {
		t.Fatal(err) // NaN among others
	}
}

func TestThePlaceboIsRightHalfTheTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	chances := []float64{0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35}
	in := eval.AgreementInput{
		Reference: rankedSet("people", "reviewed", names, noisy(rng, 120, chances...)),
		Tested:    rankedSet("made", "judged", names, noisy(rng, 120, chances...)),
	}
	got := agree(t, in, "success@1")
	if v := *got.Placebo.Right.Value; v < 0.35 || v > 0.65 {
		t.Errorf("the placebo is right %v of the time", v)
	}
	if v := *got.Placebo.Tau.Value; v < -0.2 || v > 0.2 {
		t.Errorf("the placebo's tau is %v", v)
	}
	if *got.Right.Value < 0.9 || *got.Ceiling.Right.Value < 0.9 || *got.Placebo.Power.Value > 0.2 {
		t.Errorf("right %v, ceiling %v, power of the placebo %v", *got.Right.Value, *got.Ceiling.Right.Value, *got.Placebo.Power.Value)
	}
}

func TestAgreementIsTheSameOnAnyNumberOfProcessors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	names := []string{"a", "b", "c", "d", "e", "f"}
	in := eval.AgreementInput{
		Reference: rankedSet("people", "reviewed", names, noisy(rng, 60, 0.7, 0.6, 0.5, 0.4, 0.3, 0.3)),
		Tested:    uncertainSet(rng, names, 60),
		Seed:      9,
	}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	one := agree(t, in, "ndcg@10,recall@1")
	runtime.GOMAXPROCS(4)
	if diff := cmp.Diff(one, agree(t, in, "ndcg@10,recall@1")); diff != "" {
		t.Error(diff)
	}
	if len(one.ByMeasure) != 2 || one.ByMeasure[1].Measure != "recall@1" || one.Tested.Labels != "uncertain" {
		t.Errorf("by measure: %+v; labels %s", one.ByMeasure, one.Tested.Labels)
	}
	if diff := cmp.Diff(one.AgreementFigures, one.ByMeasure[0].AgreementFigures); diff != "" {
		t.Error(diff)
	}
}

// uncertainSet has labels with a probability, under a label model.
func uncertainSet(rng *rand.Rand, names []string, cases int) eval.AgreementSide {
	hits := noisy(rng, cases, 0.7, 0.6, 0.5, 0.4, 0.3, 0.3)
	side := rankedSet("made", "prior", names, hits)
	labels := make([][]eval.Label, cases)
	for i := range labels {
		p := 0.6 + 0.3*rng.Float64()
		u := &eval.Probability{P: p}
		for range 20 {
			u.Draws = append(u.Draws, min(1, p+0.05*rng.Float64()))
		}
		labels[i] = []eval.Label{{ID: "no", Grade: 0}, {ID: "yes", Uncertain: u}}
	}
	for r := range side.Retrievers {
		for i := range side.Retrievers[r].Cases {
			side.Retrievers[r].Cases[i].Labels = labels[i]
		}
	}
	side.Shift = func(eval.Measure, float64) float64 { return 0.0004 }
	return side
}

// With source-only labels that say the opposite, a set below trust fitted
// separates nothing, and says so.
func TestSourceOnlyLabelsMustAgreeInSign(t *testing.T) {
	names := []string{"a", "b"}
	hits := [][]bool{first(30, 40), first(10, 40)}
	for _, tt := range []struct {
		trust, source string
		separated     int
	}{{"judged", "yes", 1}, {"judged", "no", 0}, {"fitted", "no", 1}, {"reviewed", "no", 1}} {
		tested := rankedSet("made", tt.trust, names, hits)
		for r := range tested.Retrievers {
			for i := range tested.Retrievers[r].Cases {
				tested.Retrievers[r].Cases[i].Background = &eval.Background{Chunks: []string{tt.source}, Documents: []string{fmt.Sprint("d", i)}}
			}
		}
		got := agree(t, eval.AgreementInput{Reference: rankedSet("people", "reviewed", names, hits), Tested: tested}, "success@1")
		if got.Tested.Separated != tt.separated || got.Tested.SignRule != (tt.trust == "judged") {
			t.Errorf("%s, source %s: %+v", tt.trust, tt.source, got.Tested)
		}
		if tt.separated == 0 && (got.Right.Value != nil || got.Right.Pairs != 0 || got.Right.Why == "") {
			t.Errorf("no pair is separated, and right is %+v", got.Right)
		}
	}
}

func TestAgreementOfRetrieversThatAreTheSame(t *testing.T) {
	names := []string{"a", "b", "c"}
	side := rankedSet("people", "reviewed", names, [][]bool{first(5, 20), first(5, 20), first(5, 20)})
	got := agree(t, eval.AgreementInput{Reference: side, Tested: side}, "ndcg@10")
	if got.Right.Value != nil || got.Reversed.Value != nil || got.Tau.Value != nil || *got.Loss.Value != 0 || len(got.Notes) == 0 {
		t.Errorf("%+v, notes %q", got.AgreementFigures, got.Notes)
	}
	if _, err := json.Marshal(got); err != nil {
		t.Error(err)
	}
}

func TestAgreementOfFewCasesSeparatesNothing(t *testing.T) {
	names := []string{"a", "b"}
	side := rankedSet("people", "reviewed", names, [][]bool{first(9, 9), first(0, 9)})
	got := agree(t, eval.AgreementInput{Reference: side, Tested: side}, "success@1")
	if got.Right.Value != nil || *got.Tau.Value != 1 || !slices.Contains(got.Notes, "reference: 9 independent cases: a test needs 10") {
		t.Errorf("%+v, notes %q", got.AgreementFigures, got.Notes)
	}
}

func TestAgreementHintsAtSwappedSets(t *testing.T) {
	names := []string{"a", "b"}
	hits := [][]bool{first(30, 40), first(10, 40)}
	people, made := rankedSet("people", "reviewed", names, hits), rankedSet("made", "none", names, hits)
	if got := agree(t, eval.AgreementInput{Reference: people, Tested: made}, "success@1"); len(got.Hints) != 0 {
		t.Errorf("%q", got.Hints)
	}
	if got := agree(t, eval.AgreementInput{Reference: made, Tested: people}, "success@1"); len(got.Hints) != 1 {
		t.Errorf("%q", got.Hints)
	}
}

// What a reference remembers is of it alone: the sets that are held against it one
// after the other find what each finds by itself.
func TestAgreementReferenceOfSeveralSets(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	measures, err := eval.ParseMeasures("success@1,ndcg@10")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 7))
	people := rankedSet("people", "reviewed", names, noisy(rng, 40, .8, .6, .4, .2))
	reference := eval.NewAgreementReference(people, measures, 3)
	for i, hits := range [][][]bool{noisy(rng, 40, .8, .6, .4, .2), noisy(rng, 30, .2, .3, .6, .9)} {
		made := rankedSet("made", "judged", names, hits)
		got, err := reference.Agree(made)
		if err != nil {
			t.Fatal(err)
		}
		want, err := eval.Agree(eval.AgreementInput{Reference: people, Tested: made, Measures: measures, Seed: 3})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("set %d: %v %s", i, err, diff)
		}
		if len(got.ByMeasure) != 2 || got.ByMeasure[0].Ceiling.Right.Value == nil {
			t.Errorf("set %d: %+v", i, got.ByMeasure)
		}
	}
}

func TestAgreementRefusals(t *testing.T) {
	names := []string{"a", "b"}
	good := rankedSet("people", "reviewed", names, [][]bool{first(3, 12), first(1, 12)})
	other := rankedSet("made", "reviewed", []string{"a", "c"}, [][]bool{first(3, 12), first(1, 12)})
	uneven := rankedSet("made", "reviewed", names, [][]bool{first(3, 12), first(1, 11)})
	one := rankedSet("made", "reviewed", names[:1], [][]bool{first(3, 12)})
	for _, tt := range []struct {
		name, measures string
		in             eval.AgreementInput
		want           string
	}{
		{"one retriever", "ndcg@10", eval.AgreementInput{Reference: one, Tested: one}, "1 retriever: a pair needs two"},
		{"another retriever", "ndcg@10", eval.AgreementInput{Reference: good, Tested: other}, "retriever 2 is b under the reference and c under the tested set"},
		{"another number", "ndcg@10", eval.AgreementInput{Reference: good, Tested: one}, "2 retrievers under the reference and 1 under the tested set"},
		{"other cases", "ndcg@10", eval.AgreementInput{Reference: good, Tested: uneven}, "tested set: b: 11 cases where a has 12"},
	} {
		tt.in.Measures, _ = eval.ParseMeasures(tt.measures)
		if _, err := eval.Agree(tt.in); err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	var wrong *eval.MeasureError
	for _, name := range []string{"gm_map", "num_rel", "judged@10"} {
		measures, err := eval.ParseMeasures(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := eval.Agree(eval.AgreementInput{Reference: good, Tested: good, Measures: measures}); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The order in which retrievers are named changes no figure.
func TestAgreementDoesNotHangOnTheOrderOfRetrievers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	names := []string{"a", "b", "c", "d", "e", "f"}
	in := eval.AgreementInput{
		Reference: rankedSet("people", "reviewed", names, noisy(rng, 40, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)),
		Tested:    rankedSet("made", "judged", names, noisy(rng, 40, 0.5, 0.6, 0.7, 0.4, 0.2, 0.3)),
	}
	want := agree(t, in, "success@1")
	slices.Reverse(in.Reference.Retrievers)
	slices.Reverse(in.Tested.Retrievers)
	got := agree(t, in, "success@1")
	near := cmpopts.EquateApprox(0, 1e-9)
	for _, f := range []struct {
		name      string
		want, got eval.AgreementFigures
	}{{"figures", want.AgreementFigures, got.AgreementFigures}, {"ceiling", want.Ceiling, got.Ceiling}, {"placebo", want.Placebo, got.Placebo}} {
		if diff := cmp.Diff(f.want, f.got, near); diff != "" {
			t.Errorf("%s: %s", f.name, diff)
		}
	}
}

// ExampleAgree holds a set against people's: of 40 queries, retriever a answers
// 30 and b answers 10, by both sets.
func ExampleAgree() {
	hits := [][]bool{first(30, 40), first(10, 40)}
	measures, err := eval.ParseMeasures("success@1")
	if err != nil {
		panic(err)
	}
	found, err := eval.Agree(eval.AgreementInput{
		Reference: rankedSet("people", "reviewed", []string{"a", "b"}, hits),
		Tested:    rankedSet("made", "judged", []string{"a", "b"}, hits),
		Measures:  measures,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(found.Says)
	// Output: of the 1 pair of retrievers that made@v1 separates by success@1, people would order 100.0 % the same (95 % interval 100.0 % to 100.0 %)
}

// Pairs are compared as Compare does it, under certain labels and uncertain ones.
func TestAgreementComparesAsCompareDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	names := []string{"a", "b", "c", "d", "e", "f"}
	in := eval.AgreementInput{
		Reference: rankedSet("people", "reviewed", names, noisy(rng, 40, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2)),
		Tested:    uncertainSet(rng, names, 40), Seed: 3,
	}
	got := agree(t, in, "ndcg@10")
	for _, p := range got.Pairs {
		for _, side := range []struct {
			of    eval.AgreementSide
			found eval.PairDifference
		}{{in.Reference, p.Reference}, {in.Tested, p.Tested}} {
			base, candidate := side.of.Retrievers[p.A], side.of.Retrievers[p.B]
			base.Measures, _ = eval.ParseMeasures("ndcg@10")
			candidate.Measures = base.Measures
			c, err := eval.Compare(eval.CompareInput{Base: base, Candidate: candidate, Seed: 3, Shift: side.of.Shift})
			if err != nil {
				t.Fatal(err)
			}
			d, _ := c.Metrics.Get("ndcg@10")
			if *d.Difference != side.found.Difference || *d.P != *side.found.P || side.found.Separated != (*d.P < 0.05 && *d.Difference != 0) {
				t.Errorf("%s and %s: %+v, compare has %v, p %v", names[p.A], names[p.B], side.found, *d.Difference, *d.P)
			}
		}
	}
}
