package audit_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/review/audit"
)

func evidence(doc string) []datasets.Evidence {
	return []datasets.Evidence{{DocID: doc, ChunkID: doc + "#0", Start: 3, End: 9, Quote: "said of " + doc}}
}

func keptCase(id, kind, doc string) datasets.Case {
	return datasets.Case{ID: id, Query: "query " + id, QueryType: kind, Evidence: evidence(doc), Status: datasets.Active, Origin: datasets.OriginSynthetic, Source: []string{doc + "#0"}}
}

func refused(id, kind, doc, gate string) datasets.Reject {
	return datasets.Reject{
		CaseID: id, Query: "query " + id, QueryType: kind, Evidence: evidence(doc), Reason: "refused",
		Checks: []datasets.Check{{Name: "length", Passed: true}, {Name: gate}, {Name: "later"}},
	}
}

func frameOf(cases []datasets.Case, rejects []datasets.Reject) *audit.Frame {
	return audit.NewFrame(&datasets.Set{Cases: cases, Rejects: rejects})
}

func TestWhatCanBeAskedAbout(t *testing.T) {
	held, retired, imported, abstains := keptCase("h", "factual", "d1"), keptCase("r", "factual", "d1"), keptCase("i", "factual", "d1"), keptCase("a", "out_of_scope", "d1")
	held.Status, held.Reason = datasets.NeedsReview, "source graded below 2"
	retired.Status = datasets.Retired
	imported.Evidence, abstains.Evidence, abstains.ExpectedAbstention = nil, nil, true
	unwritten, repeated, ungrounded := refused("u", "keyword", "d2", "parsed"), refused("n", "keyword", "d2", "near_duplicate"), refused("e", "keyword", "d2", "no_evidence")
	unwritten.Query, repeated.Reason, ungrounded.Evidence = "", generate.ReasonNearDuplicate, nil
	whole := refused("w", "keyword", "d2", "copied_run")
	reasoned := whole
	reasoned.CaseID, reasoned.Checks = "x", nil

	f := frameOf([]datasets.Case{keptCase("k", "factual", "d1"), held, retired, imported, abstains}, []datasets.Reject{unwritten, repeated, ungrounded, whole, reasoned})
	var got []string
	for _, i := range f.Items {
		got = append(got, fmt.Sprintf("%s %s %q %s", i.CaseID, i.Verdict, i.Gate, i.Type))
	}
	want := []string{
		`k kept "" factual`, `h held "source graded below 2" factual`, `a kept "" out_of_scope`,
		`w rejected "copied_run" keyword`, `x rejected "refused" keyword`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	left := []audit.NotAsked{
		{Verdict: audit.Kept, Why: "it has no evidence", Cases: 1},
		{Verdict: audit.Rejected, Why: "no query was written", Cases: 1},
		{Verdict: audit.Rejected, Why: "it repeats another query, which is no matter of these questions", Cases: 1},
		{Verdict: audit.Rejected, Why: "it has no evidence", Cases: 1},
	}
	if diff := cmp.Diff(left, f.NotAsked); diff != "" {
		t.Error(diff)
	}
}

func TestAKeyIsOfQueryTypeAndEvidence(t *testing.T) {
	kept := keptCase("a", "factual", "d1")
	same := refused("b", "factual", "d1", "length")
	same.Query, same.Evidence[0].Start, same.Evidence[0].End = kept.Query, 80, 86
	otherType, otherQuote := same, same
	otherType.QueryType = "keyword"
	otherQuote.Evidence = []datasets.Evidence{{DocID: "d1", Quote: "said otherwise"}}
	f := frameOf([]datasets.Case{kept}, []datasets.Reject{same, otherType, otherQuote})
	key := func(i int) string { return f.Items[i].Key }
	if key(0) != key(1) {
		t.Error("the same query, refused with its evidence elsewhere in the document, has another key")
	}
	if key(0) == key(2) || key(0) == key(3) {
		t.Error("another type, or another quote, has the same key")
	}
}

// What no answer is expected to shows nothing that only a reject has, and to an
// asker who must not see the evidence, what that is.
func TestQueriesWithoutAnAnswer(t *testing.T) {
	seen, unseen, outside := keptCase("a", "permission_sensitive", "d1"), keptCase("b", "permission_sensitive", "d1"), keptCase("c", "out_of_scope", "d1")
	unseen.Query, unseen.Forbidden = seen.Query, seen.Source
	for _, c := range []*datasets.Case{&unseen, &outside} {
		c.ExpectedAbstention, c.Evidence, c.Source = true, nil, nil
	}
	unseen.Status, unseen.Reason = datasets.NeedsReview, "answered_elsewhere: chunk d7#0 is likely to be relevant"
	refusedOutside := refused("r", "out_of_scope", "d1", "unanswered")
	refusedOutside.Query = outside.Query
	f := frameOf([]datasets.Case{seen, unseen, outside}, []datasets.Reject{refusedOutside})

	var got []string
	for i := range f.Items {
		item := &f.Items[i]
		got = append(got, fmt.Sprintf("%s: %q %q, %s", item.CaseID, item.Gate, item.Quoted(), item.Ask(audit.Answerable)))
	}
	want := []string{
		`a: "" "d1: said of d1", answerable: the evidence alone answers it?`,
		`b: "answered_elsewhere" "d1: said of d1", rightly without an answer: this asker may not see the evidence?`,
		`c: "" "", rightly without an answer: nothing in the corpus answers it?`,
		`r: "unanswered" "", rightly without an answer: nothing in the corpus answers it?`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if f.Items[2].Key != f.Items[3].Key || f.Items[0].Key == f.Items[1].Key {
		t.Error("a label does not follow its query, or serves two askers")
	}
}

// crowd is a frame of several strata.
func crowd(kept, keywords, copied, short int) *audit.Frame {
	var cases []datasets.Case
	var rejects []datasets.Reject
	for i := range kept {
		cases = append(cases, keptCase(fmt.Sprint("f", i), "factual", fmt.Sprint("d", i)))
	}
	for i := range keywords {
		cases = append(cases, keptCase(fmt.Sprint("k", i), "keyword", fmt.Sprint("d", i)))
	}
	for i := range copied {
		rejects = append(rejects, refused(fmt.Sprint("c", i), "factual", fmt.Sprint("d", i), "copied_run"))
	}
	for i := range short {
		rejects = append(rejects, refused(fmt.Sprint("s", i), "keyword", fmt.Sprint("d", i), "too_short"))
	}
	return frameOf(cases, rejects)
}

func TestASampleHasTheSizeAskedForAndKnownChances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := func(name string) int { return rapid.IntRange(0, 40).Draw(t, name) }
		f := crowd(size("factual"), size("keyword"), size("copied"), size("short"))
		n, seed := rapid.IntRange(1, 100).Draw(t, "n"), rapid.Int64().Draw(t, "seed")
		s := audit.Draw(f, n, seed)
		if want := min(n, len(f.Items)); len(s.Items) != want {
			t.Fatalf("%d in the sample, want %d", len(s.Items), want)
		}
		seen := map[string]bool{}
		for _, d := range s.Items {
			if seen[d.CaseID] || !(d.Inclusion > 0 && d.Inclusion <= 1) || (n >= len(f.Items) && d.Inclusion != 1) {
				t.Fatalf("%s: drawn twice, or with inclusion %v", d.CaseID, d.Inclusion)
			}
			seen[d.CaseID] = true
		}
		if diff := cmp.Diff(s, audit.Draw(f, n, seed), cmp.AllowUnexported(audit.Item{})); diff != "" {
			t.Fatal(diff)
		}
		if gotN, gotSeed, ok := audit.ParseName(s.Name()); !ok || gotN != n || gotSeed != seed {
			t.Fatalf("%q is read as %d, %d, %v", s.Name(), gotN, gotSeed, ok)
		}
	})
}

// TestChancesAreThoseStated draws many samples: 9 of 30 kept of one type, 2 of
// another, 12 refused by one gate and 1 by another.
func TestChancesAreThoseStated(t *testing.T) {
	f := crowd(30, 2, 12, 1)
	const runs = 4000
	times, chance := map[string]int{}, map[string]float64{}
	for seed := range int64(runs) {
		for _, d := range audit.Draw(f, 7, seed).Items {
			times[d.CaseID]++
			chance[d.CaseID] = d.Inclusion
		}
	}
	for _, i := range f.Items {
		// four standard deviations of a binomial share of 4,000
		if got, want := float64(times[i.CaseID])/runs, chance[i.CaseID]; want == 0 || got < want-.032 || got > want+.032 {
			t.Errorf("%s is drawn in %.3f of the samples, its inclusion is %.3f", i.CaseID, got, want)
		}
	}
}

func TestTwoOfThreeAreKeptAndStrataShareAlike(t *testing.T) {
	counts := map[string]int{}
	for _, d := range audit.Draw(crowd(40, 40, 40, 2), 24, 1).Items {
		counts[string(d.Verdict)+" "+d.Type]++
	}
	want := map[string]int{"kept factual": 8, "kept keyword": 8, "rejected factual": 6, "rejected keyword": 2}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
}

func TestAnswersAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]audit.Answer{
		`"yes"`: audit.Yes, `" Y "`: audit.Yes, `true`: audit.Yes, `1`: audit.Yes,
		`"NO"`: audit.No, `"n"`: audit.No, `false`: audit.No, `0`: audit.No, `""`: "", `null`: "",
	} {
		var got audit.Answer
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %q, %v; want %q", text, got, err, want)
		}
	}
	var r audit.Row
	if err := json.Unmarshal([]byte(`{"natural": "perhaps"}`), &r); err == nil {
		t.Error("perhaps is taken for an answer")
	}
}

// FuzzRow reads lines of a file of labels.
func FuzzRow(f *testing.F) {
	f.Add([]byte(`{"case_id": "a", "key": "k1", "natural": true, "right_type": "no", "sample": "n=5 seed=-1"}`))
	f.Add([]byte(`{"natural": {}}`))
	frame := crowd(2, 0, 1, 0)
	f.Fuzz(func(t *testing.T, line []byte) {
		var r audit.Row
		if json.Unmarshal(line, &r) != nil {
			return
		}
		for _, q := range audit.Questions() {
			if a := *r.Answer(q); a != "" && a != audit.Yes && a != audit.No {
				t.Errorf("%s is answered with %q", q, a)
			}
		}
		taken := audit.Take([]audit.Row{r}, frame, "set@v1")
		if taken.Read+taken.Empty != 1 || len(taken.Left)+len(taken.People) != taken.Read {
			t.Errorf("one row comes to %+v", taken)
		}
		audit.ParseName(r.Sample)
	})
}
