package eval_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
)

// shelf is a snapshot of made-up chunks.
type shelf []corpus.Chunk

func (s shelf) Chunk(id string) (*corpus.Chunk, bool) {
	at := slices.IndexFunc(s, func(c corpus.Chunk) bool { return c.ID == id })
	if at < 0 {
		return nil, false
	}
	return &s[at], true
}

func (s shelf) ChunksOf(doc string) []*corpus.Chunk {
	var out []*corpus.Chunk
	for i := range s {
		if s[i].DocID == doc {
			out = append(out, &s[i])
		}
	}
	return out
}

// newShelf holds the answer, chunk answer#0 with the evidence at [4,11), twelve
// chunks n0 to n11 of ten tokens, and an older version of the answer.
func newShelf() shelf {
	day := func(d int) *time.Time { t := time.Date(2026, 5, d, 0, 0, 0, 0, time.UTC); return &t }
	s := shelf{
		{ID: "answer#0", DocID: "answer", Start: 0, End: 20, Text: "the seventy days is.", Tokens: 7, NearGroup: "a", UpdatedAt: day(9)},
		{ID: "before", DocID: "before", End: 4, Text: "aged", Tokens: 3, NearGroup: "a", UpdatedAt: day(2)},
		{ID: "copy", DocID: "copy", End: 4, Text: "same", Tokens: 3, NearGroup: "a"},
	}
	for i := range 12 {
		id := fmt.Sprintf("n%d", i)
		s = append(s, corpus.Chunk{ID: id, DocID: id, End: 4, Text: "text", Tokens: 10, NearGroup: id})
	}
	return s
}

// failing is a case with k = 3 whose answer is at rank 5 of 6.
func failing() (eval.Case, eval.Probes) {
	c := eval.Case{
		ID: "c1", Labels: []eval.Label{{ID: "answer#0", Grade: 3}}, Ranking: []string{"n0", "n1", "n2", "n3", "answer#0", "n4"},
		Background: &eval.Background{Query: "how long?", Evidence: []eval.Span{{Doc: "answer", Start: 4, End: 11}}},
	}
	return c, eval.Probes{Deep: probe(c.Ranking...)}
}

func probe(hits ...string) *eval.Probe { return &eval.Probe{Hits: hits} }

// situation is a failed case that a test changes.
type situation struct {
	c      *eval.Case
	about  *eval.Background
	probes *eval.Probes
	shelf  *shelf
	in     *eval.DiagnosisInput
}

// absent takes the answer out of every ranking that is known so far.
func (s situation) absent() {
	s.c.Ranking = []string{"n0", "n1", "n2", "n3"}
	s.probes.Deep = probe(s.c.Ranking...)
}

func diagnose(t *testing.T, change func(situation)) *eval.Diagnosis {
	t.Helper()
	c, probes := failing()
	shelf := newShelf()
	in := eval.DiagnosisInput{MinGrade: 2, K: 3, Depth: 6}
	if change != nil {
		change(situation{&c, c.Background, &probes, &shelf, &in})
	}
	in.Cases, in.Probes, in.Corpus = []eval.Case{c}, []eval.Probes{probes}, shelf
	return eval.Diagnose(in)
}

// What a failed case shows: the evidence, what stood in its place, and what
// holds besides the first cause.
func TestCaseDiagnosis(t *testing.T) {
	d := diagnose(t, func(s situation) {
		s.c.Ranking = []string{"before", "x", "n2", "answer#0", "n5"}
		s.probes.Deep = probe(s.c.Ranking...)
		s.c.Labels = append(s.c.Labels, eval.Label{ID: "n2", Grade: eval.Unknown})
		s.about.Tags = []string{"critical"}
	})
	want := []eval.CaseDiagnosis{{
		CaseID: "c1", Query: "how long?", Cause: eval.CauseStale, Why: "before at rank 1 no longer holds; what holds now is at rank 4",
		Also: []eval.Finding{
			{Cause: eval.CauseNearDuplicate, Why: "before at rank 1 is a near-duplicate of answer#0, which is at rank 4"},
			{Cause: eval.CauseBelowK, Why: "at rank 4"},
		},
		Rank: 4, Tags: []string{"critical"}, Evidence: []eval.Quote{{Doc: "answer", Start: 4, End: 11, Text: "seventy"}}, Relevant: []string{"answer#0"},
		Above: []eval.Stood{
			{Rank: 1, Chunk: "before", Mark: "stale", Text: "aged"}, {Rank: 2, Chunk: "x", Mark: "not_in_snapshot"},
			{Rank: 3, Chunk: "n2", Mark: "unknown", Text: "text"},
		},
		Tokens: 13,
	}}
	if diff := cmp.Diff(want, d.All); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	list := []eval.Unjudged{{Case: "c1", Query: "how long?", Chunk: "before", Rank: 1}, {Case: "c1", Query: "how long?", Chunk: "n2", Rank: 3}}
	if diff := cmp.Diff(list, d.Labelling.List); diff != "" || d.Labelling.Pairs != 2 {
		t.Errorf("labelling, %d pairs (-want +got):\n%s", d.Labelling.Pairs, diff)
	}
}

// A mark says the worst that is known of a result.
func TestMarks(t *testing.T) {
	d := diagnose(t, func(s situation) {
		s.in.K = 6
		s.c.Ranking = []string{"n0", "n1", "n2", "n3", "n4", "n5"}
		s.in.Leaks = []eval.Leak{{Case: "c1", Chunk: "n0", Rank: 1, Kind: "scope"}}
		s.about.Filters = []corpus.Filter{{Field: "doc_id", Op: "in", Values: []string{"n0", "n2", "n3", "n4"}}}
		s.c.Labels = append(s.c.Labels, eval.Label{ID: "n2", Grade: 1}, eval.Label{ID: "n3", Uncertain: &eval.Probability{P: 0.1}})
		s.about.Stale = []string{"n4"}
	})
	var marks []string
	for _, stood := range d.All[0].Above {
		marks = append(marks, stood.Mark)
	}
	if diff := cmp.Diff([]string{"leak", "violates_filter", "not_relevant", "not_relevant", "stale", "violates_filter"}, marks); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A relevant chunk is never stale, whatever other versions there are.
func TestMarkOfTwoRelevantVersions(t *testing.T) {
	d := diagnose(t, func(s situation) {
		s.c.Ranking = []string{"before", "answer#0", "n1"}
		s.c.Labels = append(s.c.Labels, eval.Label{ID: "before", Grade: 2})
		s.in.Leaks = []eval.Leak{{Case: "c1", Chunk: "n1", Rank: 3, Kind: "scope"}}
	})
	if got := d.All[0]; got.Above[0].Mark != "relevant" || len(got.Also) != 0 || d.Labelling.Pairs != 0 {
		t.Errorf("%+v", got)
	}
}

// A case with more relevant chunks than k is not partly failed when the top k
// is full of them.
func TestMoreRelevantThanK(t *testing.T) {
	for found, want := range map[int]int{1: 1, 2: 1, 3: 0} {
		d := diagnose(t, func(s situation) {
			s.c.Ranking = []string{"x0", "x1", "x2"}
			for i := range 4 {
				s.c.Labels = append(s.c.Labels, eval.Label{ID: fmt.Sprintf("n%d", i), Grade: 2})
			}
			for i := range found {
				s.c.Ranking[i] = fmt.Sprintf("n%d", i)
			}
		})
		if d.Partly != want || d.Failed != 0 {
			t.Errorf("%d of 3 relevant: %d partly, %d failed", found, d.Partly, d.Failed)
		}
	}
}

// crowd is six cases: three failed in three ways, one partly, two well.
func crowd() eval.DiagnosisInput {
	var cases []eval.Case
	var probes []eval.Probes
	for i, ranking := range [][]string{
		{"n0", "n1", "n2", "answer#0"}, {"answer#0"}, {"n0", "answer#0"}, {"n0", "n1"}, nil, {"n0", "x", "answer#0"},
	} {
		c, p := failing()
		c.ID, c.Ranking, p.Deep = fmt.Sprintf("c%d", i+1), ranking, probe(ranking...)
		cases, probes = append(cases, c), append(probes, p)
	}
	cases[2].Labels = append(cases[2].Labels, eval.Label{ID: "n9", Grade: 2})
	cases[4].Failed = "away"
	cases[0].Background.Tags = []string{"critical"}
	byType := eval.NewDimension("type", len(cases), func(i int) []string { return []string{[]string{"long", ""}[i%2]} })
	return eval.DiagnosisInput{
		Cases: cases, Probes: probes, Dimensions: []eval.Dimension{byType}, MinGrade: 2, K: 3, Depth: 6, Corpus: newShelf(),
	}
}

func TestDiagnosisSumsUp(t *testing.T) {
	d := eval.Diagnose(crowd())
	want := &eval.Diagnosis{
		K: 3, Depth: 6, Looked: 6, Failed: 3, Partly: 1,
		Causes: map[eval.Cause]int{eval.CauseBelowK: 1, eval.CauseNotFound: 1, eval.CauseError: 1},
		Slices: map[string]map[string]eval.FailureSlice{"type": {
			"long":   {Cases: 3, Failed: 2, Causes: map[eval.Cause]int{eval.CauseBelowK: 1, eval.CauseError: 1}},
			"(none)": {Cases: 3, Failed: 1, Causes: map[eval.Cause]int{eval.CauseNotFound: 1}},
		}},
		Tokens:    &eval.TokensBefore{N: 2, Mean: 6, P50: 1, P95: 11, Max: 11, Unknown: 1}, // c2: a word in the chunk, c3: and n0 above; c6: x is not in the snapshot
		Labelling: eval.Labelling{Pairs: 5},                                                // c1: n0, n1, n2; c4: n0, n1
		Hints:     []string{}, Notes: []string{}, Missed: []eval.PartlyFailed{{CaseID: "c3", Found: 1, Missing: []string{"n9"}}},
	}
	ignore := cmpopts.IgnoreFields(eval.Diagnosis{}, "Worst", "All", "Labelling.List")
	if diff := cmp.Diff(want, d, ignore); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var order []string
	for _, c := range d.Worst {
		order = append(order, c.CaseID)
	}
	if diff := cmp.Diff([]string{"c1", "c5", "c4"}, order); diff != "" { // critical, error, not found
		t.Errorf("worst first (-want +got):\n%s", diff)
	}
	if short := d.Summary(); short.All != nil || short.Missed != nil || len(d.All) != 3 || short.Failed != 3 {
		t.Errorf("summary: %+v", short)
	}
}

// The tokens of the first relevant chunk before its evidence count too.
func TestTokensBeforeEvidence(t *testing.T) {
	for _, tt := range []struct {
		name     string
		evidence []eval.Span
		want     int
	}{
		{"at the chunk's start", []eval.Span{{Doc: "answer", Start: 0, End: 3}}, 10},
		{"after three words", []eval.Span{{Doc: "answer", Start: 17, End: 19}}, 13},
		{"the first of two spans", []eval.Span{{Doc: "answer", Start: 17, End: 19}, {Doc: "answer", Start: 4, End: 11}}, 11},
		{"after the chunk", []eval.Span{{Doc: "answer", Start: 25, End: 29}}, 10},
		{"in another document", []eval.Span{{Doc: "n3", Start: 2, End: 4}}, 10},
		{"none is known", nil, 10},
	} {
		d := diagnose(t, func(s situation) { s.c.Ranking, s.about.Evidence = []string{"n0", "answer#0"}, tt.evidence })
		if d.Tokens == nil || d.Tokens.Max != tt.want {
			t.Errorf("%s: %+v, want %d", tt.name, d.Tokens, tt.want)
		}
	}
}

func TestFailedCases(t *testing.T) {
	in := crowd()
	leaks := []eval.Leak{{Case: "c2", Chunk: "answer#0", Rank: 1}}
	if diff := cmp.Diff([]int{0, 1, 3, 4}, eval.FailedCases(in.Cases, leaks, 2, 3)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The share of the exact top k that came back, over the cases where both are
// known: 2 of 3 and 1 of 1.
func TestExactRecall(t *testing.T) {
	in := crowd()
	in.Probes[0].Exact = probe("n0", "n2", "n7", "n1")
	in.Probes[1].Exact = probe("answer#0")
	in.Probes[2].Exact = probe()
	in.Probes[4].Exact = probe("n0") // its query failed
	if diff := cmp.Diff(&eval.ExactRecall{N: 2, K: 3, Recall: (2.0/3 + 1) / 2}, eval.Diagnose(in).Exact, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := eval.Diagnose(crowd()).Exact; got != nil {
		t.Errorf("nothing was asked exactly: %+v", got)
	}
}

// A remedy is named from five cases and a quarter of the failed ones on.
func TestCauseHints(t *testing.T) {
	hints := func(below, lost int) []string {
		in := eval.DiagnosisInput{MinGrade: 2, K: 3, Depth: 6, Corpus: newShelf()}
		for i := range below + lost {
			c, _ := failing()
			c.ID = fmt.Sprint(i)
			if i >= below {
				c.Ranking = []string{"n0", "n1"}
			}
			in.Cases = append(in.Cases, c)
		}
		return eval.Diagnose(in).Hints
	}
	for _, tt := range []struct {
		below, lost int
		want        string
	}{
		{5, 15, "5 of 20 failed cases are found below k: try a reranker over a deeper ranking, or a larger k"},
		{4, 0, ""}, {5, 16, ""}, {0, 9, ""},
	} {
		if got := strings.Join(hints(tt.below, tt.lost), "; "); got != tt.want {
			t.Errorf("%d below k, %d lost: %q, want %q", tt.below, tt.lost, got, tt.want)
		}
	}
}

// Whatever is asked and known, causes add up, come in their order, and ids do
// not matter.
func TestDiagnosisProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := crowd()
		in.Family = rapid.SampledFrom([]string{"", eval.FamilyDense, eval.FamilyLexical}).Draw(t, "family")
		ids := []string{"n0", "n1", "n2", "n3", "n4", "answer#0", "copy", "before", "x"}
		ranking := rapid.Custom(func(t *rapid.T) *eval.Probe {
			return &eval.Probe{Hits: rapid.Permutation(ids).Draw(t, "hits")[:rapid.IntRange(0, len(ids)).Draw(t, "n")]}
		})
		for i := range in.Cases {
			in.Cases[i].Ranking = ranking.Draw(t, "ranking").Hits
			in.Probes[i] = eval.Probes{Deep: ranking.Draw(t, "deep"), Exact: ranking.Draw(t, "exact"), Before: ranking.Draw(t, "before"),
				Lexical: ranking.Draw(t, "lexical"), Dense: ranking.Draw(t, "dense")}
		}
		d := eval.Diagnose(in)
		sum := 0
		for _, n := range d.Causes {
			sum += n
		}
		if sum != d.Failed || d.Failed != len(eval.FailedCases(in.Cases, nil, in.MinGrade, in.K)) {
			t.Fatalf("%d failed, causes %v", d.Failed, d.Causes)
		}
		for _, c := range d.All {
			last := slices.Index(eval.Causes(), c.Cause)
			for _, also := range c.Also {
				at := slices.Index(eval.Causes(), also.Cause)
				if at <= last {
					t.Fatalf("%s: %s stands before %s", c.CaseID, also.Cause, c.Cause)
				}
				last = at
			}
		}
	})
}
