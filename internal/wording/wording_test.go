package wording_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/internal/wording"
)

// Every noun that messages count, for none, one and two.
func TestCount(t *testing.T) {
	var got []string
	for _, noun := range []string{
		"case", "cluster", "query", "reply", "judgment", "grade", "leak", "active case", "source document", "finding", "hit", "id", "file", "unit",
	} {
		got = append(got, strings.Join([]string{wording.Count(0, noun), wording.Count(1, noun), wording.Count(2, noun)}, ", "))
	}
	want := []string{
		"0 cases, 1 case, 2 cases",
		"0 clusters, 1 cluster, 2 clusters",
		"0 queries, 1 query, 2 queries",
		"0 replies, 1 reply, 2 replies",
		"0 judgments, 1 judgment, 2 judgments",
		"0 grades, 1 grade, 2 grades",
		"0 leaks, 1 leak, 2 leaks",
		"0 active cases, 1 active case, 2 active cases",
		"0 source documents, 1 source document, 2 source documents",
		"0 findings, 1 finding, 2 findings",
		"0 hits, 1 hit, 2 hits",
		"0 ids, 1 id, 2 ids",
		"0 files, 1 file, 2 files",
		"0 units, 1 unit, 2 units",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPick(t *testing.T) {
	got := []string{wording.Pick(0, "is", "are"), wording.Pick(1, "is", "are"), wording.Pick(2, "is", "are")}
	if diff := cmp.Diff([]string{"are", "is", "are"}, got); diff != "" {
		t.Error(diff)
	}
}
