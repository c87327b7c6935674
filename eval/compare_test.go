package eval_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
)

// compare fails the test on an error.
func compare(t testing.TB, in eval.CompareInput) *eval.Comparison {
	t.Helper()
	c, err := eval.Compare(in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sharedFile is a file of outside data. Without it the test is skipped, on CI
// it fails.
func sharedFile(t *testing.T, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "shared"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("%s is not there", path)
	}
	return path
}

// referenceScores reads the columns of shared/data/stats by name.
func referenceScores(t *testing.T) map[string][]float64 {
	t.Helper()
	f, err := os.Open(sharedFile(t, "data", "stats", "xyz.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = '\t'
	rows := must(r.ReadAll())
	out := map[string][]float64{}
	for _, row := range rows[1:] {
		for j, name := range rows[0] {
			out[name] = append(out[name], must(strconv.ParseFloat(row[j], 64)))
		}
	}
	return out
}

// withRecall makes cases whose recall@10 is exactly the tenths given.
func withRecall(values []float64) []eval.Case {
	cases := make([]eval.Case, len(values))
	for i, v := range values {
		c := &cases[i]
		c.ID = fmt.Sprintf("t%02d", i+1)
		for j := range 10 {
			id := fmt.Sprint("d", j)
			c.Labels = append(c.Labels, eval.Label{ID: id, Grade: 1})
			if j < int(math.Round(v*10)) {
				c.Ranking = append(c.Ranking, id)
			}
		}
		c.Ranking = append(c.Ranking, "x")
	}
	return cases
}

func ofTopics(cases []eval.Case, measures string) eval.Input {
	return eval.Input{
		Cases: cases, Measures: must(eval.ParseMeasures(measures)), MinGrade: 1, KeepEmpty: true,
		Header: eval.Header{Trust: "reviewed", K: []int{10}},
	}
}

func TestReferenceValues(t *testing.T) {
	scores := referenceScores(t)
	c := compare(t, eval.CompareInput{
		Base: ofTopics(withRecall(scores["Y"]), "recall@10"), Candidate: ofTopics(withRecall(scores["X"]), "recall@10"), Seed: 1,
	})
	d, _ := c.Metrics.Get("recall@10")
	if *d.P != 69_120.0/1_048_576 { // .0659180
		t.Errorf("p = %.7f, want .0659180", *d.P)
	}
	near(t, "base", *d.Base, 0.27, 1e-9)
	near(t, "candidate", *d.Candidate, 0.345, 1e-9)
	near(t, "difference", *d.Difference, 0.075, 1e-9)
	near(t, "low", *d.Low, 0.010, 0.0051)
	near(t, "high", *d.High, 0.145, 0.0051)
	near(t, "effect size times the root of n, which is t", *d.EffectSize*math.Sqrt(20), 2.1158, 5e-5)
	if d.N != 20 || d.Clusters != 20 || d.Better != 10 || d.Worse != 5 || d.Same != 5 || *d.PHolm != *d.P {
		t.Errorf("%+v", d)
	}
	if c.Verdict != eval.Pass || !c.Comparable || c.Changed != 15 {
		t.Errorf("verdict %s, comparable %v, changed %d", c.Verdict, c.Comparable, c.Changed)
	}
}

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if !(math.Abs(got-want) <= by) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestComparisonSurvivesJSON(t *testing.T) {
	base, candidate := paired(40)
	in := eval.CompareInput{Base: base, Candidate: candidate, PerCase: true}
	in.Gates = gates(t, "recall@5 drop <= 0.02 by kind")
	want := compare(t, in)
	data := must(json.Marshal(want))
	var got eval.Comparison
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, &got); diff != "" {
		t.Error(diff)
	}
}

// gates reads gates.
func gates(t testing.TB, texts ...string) []eval.Gate {
	t.Helper()
	var out []eval.Gate
	for _, text := range texts {
		g, err := eval.ParseGate(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, g)
	}
	return out
}

// paired makes n cases that are found at other ranks on both sides, each in a
// document of its own, sliced by kind a, b and c.
func paired(n int) (base, candidate eval.Input) {
	side := func(rank func(i int) int) eval.Input {
		in := input("recall@1,recall@5,mrr", nil...)
		for i := range n {
			in.Cases = append(in.Cases, found(fmt.Sprintf("q%03d", i), rank(i), fmt.Sprintf("doc%03d", i)))
		}
		in.Dimensions = []eval.Dimension{eval.NewDimension("kind", n, func(i int) []string { return []string{string(rune('a' + i%3))} })}
		in.Header = eval.Header{Golden: &eval.GoldenRef{Name: "s", Version: 1, Ref: "s@v1"}, Trust: "reviewed", K: []int{1, 5}, Corpus: "c", Unit: "chunk"}
		return in
	}
	return side(func(i int) int { return i%7 + 1 }), side(func(i int) int { return i%5 + 1 })
}
