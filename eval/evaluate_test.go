package eval_test

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
)

// found is a case whose only relevant item, "a", is returned at a rank; rank 0
// returns something else.
func found(id string, rank int, documents ...string) eval.Case {
	c := eval.Case{
		ID: id, Labels: []eval.Label{{ID: "a", Grade: 3}},
		Background: &eval.Background{Query: "query of " + id, Documents: documents},
	}
	for r := 1; r <= max(rank, 1); r++ {
		item := fmt.Sprint("x", r)
		if r == rank {
			item = "a"
		}
		c.Ranking, c.Scores = append(c.Ranking, item), append(c.Scores, 1/float64(r))
	}
	return c
}

func input(measures string, cases ...eval.Case) eval.Input {
	return eval.Input{Cases: cases, Measures: must(eval.ParseMeasures(measures)), MinGrade: 2}
}

func TestRefused(t *testing.T) {
	with := func(change func(*eval.Case)) eval.Input {
		c := found("q7", 2)
		change(&c)
		return input("mrr", found("q1", 1), c)
	}
	for want, in := range map[string]eval.Input{
		`case q7: rank 2: "a": score is NaN`:                                  with(func(c *eval.Case) { c.Scores[1] = math.NaN() }),
		`case q7: rank 1: "x1": score is +Inf`:                                with(func(c *eval.Case) { c.Scores[0] = math.Inf(1) }),
		`case q7: 1 scores for 2 results`:                                     with(func(c *eval.Case) { c.Scores = c.Scores[:1] }),
		`case q7: two labels for "a"`:                                         with(func(c *eval.Case) { c.Labels = append(c.Labels, c.Labels[0]) }),
		`case q7: label of "a": grade -2: want 0 to 32767, or -1 for unknown`: with(func(c *eval.Case) { c.Labels[0].Grade = -2 }),
		`case q7: label of "a": probability outside 0 to 1: 1.5 []`: with(func(c *eval.Case) {
			c.Labels[0].Uncertain = &eval.Probability{P: 1.5}
		}),
		`case q1: in the input twice`: with(func(c *eval.Case) { c.ID = "q1" }),
		`no case to score`:            input("mrr"),
		`no measure was asked for`:    {Cases: []eval.Case{found("q1", 1)}, MinGrade: 2},
		`least relevant grade 0: want 1 to 1000`: {
			Cases: []eval.Case{found("q1", 1)}, Measures: must(eval.ParseMeasures("mrr")),
		},
		`slices by category: 2 values for 1 cases`: {
			Cases: []eval.Case{found("q1", 1)}, Measures: must(eval.ParseMeasures("mrr")), MinGrade: 1,
			Dimensions: []eval.Dimension{eval.NewDimension("category", 2, func(int) []string { return []string{"a"} })},
		},
	} {
		if _, err := eval.Evaluate(in); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestWhatIsCounted(t *testing.T) {
	repeated := found("repeated", 1)
	repeated.Ranking, repeated.Scores = []string{"a", "a", "x", "a"}, []float64{3, 2, 5, 1}
	noResult := found("noresult", 1)
	noResult.Ranking, noResult.Scores = nil, nil
	broken := found("failed", 1)
	broken.Ranking, broken.Scores, broken.Failed = nil, nil, "timed out"
	nothing := found("nothing", 1)
	nothing.Labels[0].Grade = 1
	unknown := found("unknown", 1)
	unknown.Labels = append(unknown.Labels, eval.Label{ID: "u", Grade: eval.Unknown})
	unknown.Ranking, unknown.Scores = []string{"u", "a"}, nil
	refuse := eval.Case{ID: "abstain", Abstain: true, Ranking: []string{"x"}, Scores: []float64{0.1}}

	in := input("recall@5,mrr", repeated, noResult, broken, nothing, unknown, refuse)
	r := evaluate(t, in)
	want := eval.Counts{
		Cases: 6, Scored: 4, Dropped: 1, Abstain: 1, Results: 5, Judged: 3, Unknown: 1, Unjudged: 1, Duplicates: 2, Nonmonotone: 1,
	}
	if diff := cmp.Diff(want, r.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if r.Missing != 2 {
		t.Errorf("missing = %d, want 2", r.Missing)
	}
	if diff := cmp.Diff([]eval.Failure{{Case: "failed", Error: "timed out"}}, r.Failed); diff != "" {
		t.Error(diff)
	}
	recall, _ := r.Metrics.Get("recall@5") // (1 + 0 + 0 + 1) / 4
	mrr, _ := r.Metrics.Get("mrr")         // (1 + 0 + 0 + 1/2) / 4
	if recall.N != 4 || *recall.Mean != 0.5 || *mrr.Mean != 0.375 {
		t.Errorf("recall %v of %d, mrr %v", *recall.Mean, recall.N, *mrr.Mean)
	}

	in.KeepEmpty = true // as in --qrels mode: the case with nothing relevant scores 0
	recall, _ = evaluate(t, in).Metrics.Get("recall@5")
	if recall.N != 5 || *recall.Mean != 0.4 {
		t.Errorf("keeping empty cases: recall %v of %d", *recall.Mean, recall.N)
	}
}

func TestClusterInterval(t *testing.T) {
	var alone, twice []eval.Case
	for i := range 12 {
		rank := i%2*5 + 1 // half of them first
		alone = append(alone, found(fmt.Sprint("a", i), rank))
		// 12 clusters of two equal cases say no more than 12 cases; sections, as
		// there are fewer than 30 documents.
		for j := range 2 {
			c := found(fmt.Sprint("b", i, j), rank, fmt.Sprint("doc", i))
			c.Background.Sections = []string{fmt.Sprint("section", i)}
			twice = append(twice, c)
		}
	}
	// mean 1/2, variance 12/11 * 12 * (1/2)^2 / 12^2, t(11) at .975 = 2.200985
	half := 2.20098516 * math.Sqrt(12.0/11*3/144)
	for name, cases := range map[string][]eval.Case{"alone": alone, "twice": twice} {
		m, _ := evaluate(t, input("success@1", cases...)).Metrics.Get("success@1")
		if *m.Mean != 0.5 || math.Abs(*m.Low-(0.5-half)) > 1e-7 || math.Abs(*m.High-(0.5+half)) > 1e-7 || m.N != len(cases) {
			t.Errorf("%s: %v [%v, %v] of %d, want 0.5 [%v, %v]", name, *m.Mean, *m.Low, *m.High, m.N, 0.5-half, 0.5+half)
		}
	}
}

func TestUnequalClusters(t *testing.T) {
	// Ten documents; the first has eleven cases found, the others one not
	// found: n 20, G 10, mean .55. Residuals: 11 - 11*.55, and nine of -.55.
	var cases []eval.Case
	for i := range 11 {
		cases = append(cases, found(fmt.Sprint("hit", i), 1, "doc0"))
	}
	for i := range 9 {
		cases = append(cases, found(fmt.Sprint("miss", i), 0, fmt.Sprint("doc", i+1)))
	}
	m, _ := evaluate(t, input("success@1", cases...)).Metrics.Get("success@1")
	squares := math.Pow(11-11*0.55, 2) + 9*0.55*0.55
	half := 2.26215716 * math.Sqrt(10.0/9*squares) / 20
	if math.Abs(*m.Low-max(0, 0.55-half)) > 1e-7 || math.Abs(*m.High-min(1, 0.55+half)) > 1e-7 {
		t.Errorf("[%v, %v], want %v either way, cut to [0, 1]", *m.Low, *m.High, half)
	}
}

func TestWhatMakesACluster(t *testing.T) {
	many := func(documents int, section bool) []eval.Case {
		var cases []eval.Case
		for i := range 60 {
			c := found(fmt.Sprint("q", i), 1, fmt.Sprint("doc", i%documents))
			c.Background.Chunks = []string{fmt.Sprint("chunk", i)}
			if section {
				c.Background.Sections = []string{fmt.Sprint("section", i/3)}
			}
			cases = append(cases, c)
		}
		return cases
	}
	bridge := append(many(30, true), found("bridge", 1, "doc0", "doc1"), found("alone", 1))
	for name, test := range map[string]struct {
		cases    []eval.Case
		clusters int
		what     string
		noted    bool
	}{
		"documents":     {many(30, true), 30, "cases that share a source document", false},
		"bridge":        {bridge, 30, "cases that share a source document", false},
		"sections":      {many(29, true), 20, "cases that share a source heading section", true},
		"chunks":        {many(29, false), 60, "cases that share a source chunk", true},
		"without":       {[]eval.Case{found("a", 1), found("b", 1)}, 2, "each case alone: no source is known", false},
		"few documents": {[]eval.Case{found("a", 1, "d"), found("b", 1, "d")}, 1, "cases that share a source document", false},
	} {
		r := evaluate(t, input("mrr", test.cases...))
		if r.Conventions.Clusters != test.clusters || r.Conventions.Cluster != test.what || (len(r.Notes) > 0) != test.noted {
			t.Errorf("%s: %d clusters of %q, notes %q", name, r.Conventions.Clusters, r.Conventions.Cluster, r.Notes)
		}
	}
}

func TestNoIntervalUnderTenClusters(t *testing.T) {
	var cases []eval.Case
	for i := range 9 {
		cases = append(cases, found(fmt.Sprint("q", i), i%2))
	}
	for n, why := range map[int]string{9: "9 independent cases: an interval needs 10", 1: "1 independent case: an interval needs 10"} {
		m, _ := evaluate(t, input("mrr", cases[:n]...)).Metrics.Get("mrr")
		if m.Low != nil || m.High != nil || m.Why != why {
			t.Errorf("%+v", m)
		}
	}
}

func TestSlices(t *testing.T) {
	cases := []eval.Case{found("a", 1), found("b", 2), found("c", 0), found("d", 1)}
	cases[3].Abstain = true
	in := input("mrr,success@1", cases...)
	tags := [][]string{{"new", "critical"}, {"new", "new"}, nil, {"new"}}
	types := []string{"keyword", "factual", "", "factual"}
	in.Dimensions = []eval.Dimension{
		eval.NewDimension("query_type", 4, func(i int) []string { return types[i : i+1] }),
		eval.NewDimension("tag", 4, func(i int) []string { return tags[i] }),
	}
	got := map[string]string{}
	r := evaluate(t, in)
	for _, by := range r.Slices {
		for _, s := range by.Slices {
			mrr, _ := s.Metrics.Get("mrr")
			got[by.Name+"="+s.Value] = fmt.Sprintf("%d %.2f", s.N, *mrr.Mean)
		}
	}
	want := map[string]string{
		"query_type=(none)": "1 0.00", "query_type=factual": "1 0.50", "query_type=keyword": "1 1.00",
		"tag=critical": "1 1.00", "tag=new": "2 0.75",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLeaksAreListedAndNeverAveraged(t *testing.T) {
	c := found("q", 3)
	c.Background.Scope, c.Background.Forbidden = corpus.Scope{"team": {"sales"}}, []string{"x1"}
	c.Ranking = append(c.Ranking, "secret", "secret")
	c.Scores = append(c.Scores, 0.1, 0.1)
	in := input("mrr", c, found("other", 1))
	in.Restricted = func(c *eval.Case, id string) bool { return len(c.Background.Scope) > 0 && id == "secret" }
	r := evaluate(t, in)
	want := []eval.Leak{
		{Case: "q", Query: "query of q", Scope: c.Background.Scope, Chunk: "x1", Rank: 1, Kind: "forbidden"},
		{Case: "q", Query: "query of q", Scope: c.Background.Scope, Chunk: "secret", Rank: 4, Kind: "scope"},
	}
	if diff := cmp.Diff(want, r.Leaks); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if m, _ := r.Metrics.Get("mrr"); math.Abs(*m.Mean-(1.0/3+1)/2) > 1e-15 {
		t.Errorf("mrr = %v", *m.Mean)
	}
}

func TestAbstention(t *testing.T) {
	expects := func(id string, scores ...float64) eval.Case {
		c := eval.Case{ID: id, Abstain: true, Scores: scores}
		for i := range scores {
			c.Ranking = append(c.Ranking, fmt.Sprint("x", i))
		}
		return c
	}
	answerable := func(id string, scores ...float64) eval.Case {
		c := expects(id, scores...)
		c.Abstain, c.Labels = false, []eval.Label{{ID: "x0", Grade: 3}}
		return c
	}
	// Top scores .9, .5 and none against .5, .2, none and none: of 12 pairs
	// .9 wins 4, .5 wins 3 and ties 1, none ties 2: 8.5 / 12.
	cases := []eval.Case{
		answerable("a", 0.9, 0.1), answerable("b", 0.5), answerable("c"),
		expects("d", 0.5), expects("e", 0.2), expects("f"), expects("g"),
	}
	f := func(v float64) *float64 { return &v }
	r := evaluate(t, input("mrr", cases...))
	want := &eval.Abstention{Cases: 4, Answerable: 3, AnswerRate: f(2.0 / 3), FalseAnswer: f(0.5), AUROC: f(8.5 / 12),
		// 5 % of four allow no false answer: above .5, only .9 is left. Four cases
		// are too few for an upper end; the lower one is the third, as fewer than
		// three of four lie below the quantile with a chance of .014 only.
		Threshold: &eval.Threshold{Target: 0.05, Value: 0.9, Low: f(0.2), FalseAnswerHigh: 1 - math.Pow(0.025, 0.25), AnswerRate: 1.0 / 3, Method: r.Abstention.Threshold.Method},
	}
	if diff := cmp.Diff(want, r.Abstention, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if m, _ := r.Metrics.Get("mrr"); m.N != 3 {
		t.Errorf("abstention cases are in the mean: n = %d", m.N)
	}

	cases[0].Scores = nil
	r = evaluate(t, input("mrr", cases...))
	if r.Abstention.AUROC != nil || r.Abstention.Why != "AUROC and threshold: the retriever gives no scores" {
		t.Errorf("%+v", r.Abstention)
	}
	if r = evaluate(t, input("mrr", cases[3:]...)); r.Abstention.AnswerRate != nil || r.Abstention.Why != "no case expects an answer" {
		t.Errorf("%+v", r.Abstention)
	}
	none := &eval.Abstention{Answerable: 3, AnswerRate: f(2.0 / 3), Why: "no case expects abstention"}
	if diff := cmp.Diff(none, evaluate(t, input("mrr", cases[:3]...)).Abstention); diff != "" {
		t.Error(diff)
	}
}

func TestSourceOut(t *testing.T) {
	c := eval.Case{
		ID: "q", Ranking: []string{"source", "b", "source"},
		Labels: []eval.Label{{ID: "source", Grade: 3}, {ID: "b", Grade: 2}}, Background: &eval.Background{Exclude: []string{"source"}},
	}
	only := eval.Case{ID: "only", Ranking: []string{"source"}, Labels: []eval.Label{{ID: "source", Grade: 3}}, Background: &eval.Background{Exclude: []string{"source"}}}
	r := evaluate(t, input("mrr,recall@1", c, only))
	mrr, _ := r.Metrics.Get("mrr")
	if *mrr.Mean != 1 || mrr.N != 1 || r.Counts.Dropped != 1 || r.Counts.Duplicates != 0 || r.Missing != 0 {
		t.Errorf("mrr %v of %d, counts %+v, missing %d", *mrr.Mean, mrr.N, r.Counts, r.Missing)
	}
	for row := range r.Rows() {
		if row.CaseID == "q" {
			if diff := cmp.Diff([]eval.RankedHit{{ID: "b", Rank: 2, Grade: 2}}, row.Ranking); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestLatencyIsNearestRank(t *testing.T) {
	var cases []eval.Case
	for i := range 199 {
		c := found(fmt.Sprint("q", i), 1)
		c.Took = time.Duration(199-i) * time.Millisecond
		cases = append(cases, c)
	}
	cases = append(cases, found("untimed", 1))
	r := evaluate(t, input("mrr", cases...))
	if diff := cmp.Diff(&eval.Latency{P50: 100, P95: 190, P99: 198, N: 199}, r.Latency); diff != "" {
		t.Error(diff)
	}
	if r := evaluate(t, input("mrr", found("untimed", 1))); r.Latency != nil {
		t.Errorf("latency of nothing: %+v", r.Latency)
	}
}

func TestSaturated(t *testing.T) {
	set := func(n, misses int) []eval.Case {
		var cases []eval.Case
		for i := range n {
			rank := 1
			if i < misses {
				rank = 0
			}
			cases = append(cases, found(fmt.Sprint("q", i), rank))
		}
		return cases
	}
	for name, test := range map[string]struct {
		measures  string
		n, misses int
		want      bool
	}{
		"all found":     {"recall@10,ndcg@10", 100, 0, true},
		"at the edge":   {"ndcg@10", 100, 2, true},
		"beyond it":     {"ndcg@10", 100, 3, false},
		"too few cases": {"ndcg@10", 9, 0, false},
		"only totals":   {"num_ret", 100, 0, false},
	} {
		if got := evaluate(t, input(test.measures, set(test.n, test.misses)...)).Saturated; got != test.want {
			t.Errorf("%s: saturated = %v", name, got)
		}
	}
}

func TestHints(t *testing.T) {
	set := func(change func(i int, c *eval.Case)) []eval.Case {
		var cases []eval.Case
		for i := range 60 {
			c := found(fmt.Sprint("q", i), 1)
			change(i, &c)
			cases = append(cases, c)
		}
		return cases
	}
	lower := func(c *eval.Case, rank int) { *c = found(c.ID, rank) }
	for name, test := range map[string]struct {
		cases []eval.Case
		want  []string
	}{
		"fine": {set(func(int, *eval.Case) {}), nil},
		"late": {set(func(i int, c *eval.Case) { lower(c, i%2*3+1) }),
			[]string{"60 of 60 cases have a relevant chunk in the top 10, 30 of them not first: a reranker may help"}},
		"late but few": {set(func(i int, c *eval.Case) { lower(c, i%2*3+1) })[:18], nil},
		"not found":    {set(func(i int, c *eval.Case) { lower(c, i%2*20) }), nil},
		"filtered": {set(func(i int, c *eval.Case) {
			if i < 30 {
				lower(c, i%2)
				c.Background.Scope = corpus.Scope{"team": {"sales"}}
			}
		}), []string{"success@10 is 0.50 on the 30 cases with a scope or filters and 1.00 on the other 30: look at filtering (applied after the search?)"}},
		"filtered but few": {set(func(i int, c *eval.Case) {
			if i < 19 {
				lower(c, i%2)
				c.Background.Scope = corpus.Scope{"team": {"sales"}}
			}
		}), nil},
	} {
		got := evaluate(t, input("recall@5", test.cases...)).Hints
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestSameOnAnyNumberOfProcessors(t *testing.T) {
	in := generated(3000, 10, true)
	want := ""
	for _, n := range []int{1, 2, 7} {
		before := runtime.GOMAXPROCS(n)
		r := evaluate(t, in)
		r.AddCases()
		runtime.GOMAXPROCS(before)
		got := string(must(json.Marshal(r)))
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("GOMAXPROCS=%d gives other numbers", n)
		}
	}
}

func TestJSON(t *testing.T) {
	in := input("recall@10,P_5", found("b", 1), found("a", 2))
	in.Golden = &eval.GoldenRef{Name: "handbook", Version: 3, Ref: "handbook@v3", Path: "golden/handbook/v0003", Digest: "sha256:00"}
	in.Trust, in.Retriever, in.Source, in.K = "source_only", eval.RetrieverRef{Spec: "bm25", Name: "bm25"}, "in", []int{1, 10}
	in.Dimensions = []eval.Dimension{eval.NewDimension("query_type", 2, func(int) []string { return []string{"factual"} })}
	r := evaluate(t, in)
	r.AddCases()
	text := must(json.Marshal(r))

	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields("golden trust retriever conventions metrics slices leaks abstention missing latency_ms cases") {
		if _, ok := keys[key]; !ok {
			t.Errorf("the contract's key %q is missing", key)
		}
	}
	for key, want := range map[string]string{
		"metrics": `{"recall@10":{"mean":1,"n":2,"low":null,"high":null,"tie_low":1,"tie_high":1,"tie_expected":1,"tied_at_cut":0,"why":"2 independent cases: an interval needs 10"},"P_5":{"mean":0.2,"n":2,"low":null,"high":null,"tie_low":0.2,"tie_high":0.2,"tie_expected":0.2,"tied_at_cut":0,"why":"2 independent cases: an interval needs 10"}}`,
		"cases":   `[{"case_id":"b","metrics":{"recall@10":1,"P_5":0.2}},{"case_id":"a","metrics":{"recall@10":1,"P_5":0.2}}]`,
		"leaks":   `[]`,
		"trust":   `"source_only"`,
	} {
		if got := string(keys[key]); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", key, got, want)
		}
	}

	var back eval.Result
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if again := string(must(json.Marshal(&back))); again != string(text) {
		t.Errorf("read back and written again:\n%s\nwas\n%s", again, text)
	}
}

func TestRows(t *testing.T) {
	c := found("q", 2)
	c.Ranking, c.Scores = []string{"x", "x", "a", "u"}, []float64{3, 2, 1, 0}
	c.Labels = append(c.Labels, eval.Label{ID: "u", Grade: eval.Unknown})
	c.Took, c.Background.Forbidden = 1500*time.Microsecond, []string{"u"}
	in := input("mrr,gm_map", c)
	in.Dimensions = []eval.Dimension{eval.NewDimension("tag", 1, func(int) []string { return []string{"b", "a"} })}
	f := func(v float64) *float64 { return &v }
	want := []eval.CaseRow{{
		CaseID: "q", Query: "query of q", Status: "scored",
		Slices:  []eval.SliceValue{{Name: "tag", Value: "b"}, {Name: "tag", Value: "a"}},
		Metrics: eval.Values{{Name: "mrr", Value: 0.5}},
		Ranking: []eval.RankedHit{
			{ID: "x", Rank: 1, Score: f(3), Grade: eval.Unlabelled},
			{ID: "a", Rank: 3, Score: f(1), Grade: 3},
			{ID: "u", Rank: 4, Score: f(0), Grade: eval.Unknown},
		},
		TookMS: 1.5, Duplicates: 1,
		Leaks: []eval.Leak{{Case: "q", Query: "query of q", Chunk: "u", Rank: 4, Kind: "forbidden"}},
	}}
	if diff := cmp.Diff(want, slices.Collect(evaluate(t, in).Rows())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
