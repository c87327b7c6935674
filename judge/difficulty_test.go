package judge_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

// A set holds the same cases whether bm25 finds their sources or not: only their
// difficulty differs.
func TestNoRetrieverFiltersASet(t *testing.T) {
	run := func(finds bool) map[string]string {
		d := deps(judgedBy(sharp), 40)
		d.Members = members("bm25", search(func(q retrieve.Query) ([]retrieve.Hit, error) {
			if finds {
				return hitsOf("doc" + strings.TrimPrefix(q.Text, "query ") + "#1"), nil
			}
			return hitsOf("doc39#2"), nil
		}))
		candidates := plan(40, 0)
		for i := range candidates {
			candidates[i].Case.Difficulty.Overlap = 1
		}
		result, err := judge.Run(t.Context(), candidates, d, settings(4))
		if err != nil {
			t.Fatal(err)
		}
		bands := map[string]string{}
		for i := range result.Cases {
			c := &result.Cases[i]
			bands[c.ID] = c.Status + " " + c.Band()
		}
		return bands
	}
	want := map[bool]map[string]string{true: {}, false: {}}
	for _, c := range plan(40, 0) {
		want[true][c.Case.ID] = datasets.Active + " " + datasets.Easy
		want[false][c.Case.ID] = datasets.Active + " " + datasets.Hard
	}
	for finds := range want {
		if diff := cmp.Diff(want[finds], run(finds)); diff != "" {
			t.Errorf("bm25 finds them: %v (-want +got):\n%s", finds, diff)
		}
	}
}
