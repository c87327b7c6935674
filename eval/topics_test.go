package eval_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
)

// drawTopics draws qrels and, of each topic, a ranking with ties and repeated
// ids: as cases with all that is theirs, and as topics.
func drawTopics(t *rapid.T, folder string) (whole, slim eval.Input) {
	var text strings.Builder
	for q := range rapid.IntRange(1, 12).Draw(t, "topics") {
		for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(0, 60), 1, 45, rapid.ID[int]).Draw(t, "judged") {
			fmt.Fprintf(&text, "q%02d 0 d%d %d\n", q, n, rapid.IntRange(-1, 3).Draw(t, "grade"))
		}
	}
	path := filepath.Join(folder, "qrels.txt")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	qrels, err := datasets.ReadQrels(path)
	if err != nil {
		t.Fatal(err)
	}
	whole = eval.Input{Cases: eval.FromQrels(qrels), MinGrade: 1, KeepEmpty: true}
	slim = whole
	slim.Cases = make([]eval.Case, len(whole.Cases))
	for i := range whole.Cases {
		c := &whole.Cases[i]
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 60), 0, 50).Draw(t, "returned") {
			c.Ranking, c.Scores = append(c.Ranking, fmt.Sprint("d", n)), append(c.Scores, float64(-len(c.Scores)/3))
		}
		slim.Cases[i] = eval.Case{ID: c.ID, Scores: c.Scores}
	}
	slim.Topics = &eval.Topics{Qrels: qrels, Ranking: func(i int, to []string) []string { return append(to, whole.Cases[i].Ranking...) }}
	return whole, slim
}

// Topics score as the cases do that hold the same labels and rankings.
func TestTopicsScoreAsCasesDo(t *testing.T) {
	folder := t.TempDir()
	measures, err := eval.ParseMeasures("ndcg@10,recall@5,map,mrr,bpref,infAP,judged@10,P_5,rbp,gm_map")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		whole, slim := drawTopics(rt, folder)
		var answers [2]string
		for i, in := range []eval.Input{whole, slim} {
			in.Measures = measures
			result, err := eval.Evaluate(in)
			if err != nil {
				rt.Fatal(err)
			}
			result.AddCases()
			data, err := json.MarshalIndent(result, "", " ")
			if err != nil {
				rt.Fatal(err)
			}
			answers[i] = string(data)
		}
		if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestTopicsThatDoNotFit(t *testing.T) {
	qrels := &datasets.Qrels{Rows: 1, Topics: []datasets.TopicQrels{{ID: "q", Rows: []datasets.Qrel{{ChunkID: "a", Grade: 4}}}}}
	measures := func(list string) []eval.Measure {
		m, err := eval.ParseMeasures(list)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for name, test := range map[string]struct {
		spoil func(*eval.Input)
		want  string
	}{
		"results without a score": {func(in *eval.Input) { in.Cases[0].Scores = []float64{2, 1} }, "case q: 2 scores for 1 results"},
		"labels of its own":       {func(in *eval.Input) { in.Cases[0].Labels = []eval.Label{{ID: "b"}} }, "case q: labels, ranking or background beside those of topics"},
		"another number of cases": {func(in *eval.Input) { in.Cases = append(in.Cases, eval.Case{ID: "r"}) }, "topics: qrels of 1 for 2 cases"},
		"what leaks is asked":     {func(in *eval.Input) { in.Outdated = func(*eval.Case, string) bool { return true } }, "topics: nothing is known of their chunks"},
		"a grade without gain": {func(in *eval.Input) { in.Measures = measures("ndcg(gains=0/1/3)") },
			`gains end at grade 2, and case q has a label of grade 4 for "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			in := eval.Input{Cases: []eval.Case{{ID: "q", Scores: []float64{1}}}, MinGrade: 1, Measures: measures("mrr"),
				Topics: &eval.Topics{Qrels: qrels, Ranking: func(_ int, to []string) []string { return append(to, "a") }}}
			test.spoil(&in)
			if _, err := eval.Evaluate(in); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
