package datasets_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// shelf is a corpus of one document of two chunks.
type shelf struct{}

const shelfText = "Logs are kept for 30 days. Logs of payments are kept for a year. Logs are kept."

func (shelf) Manifest() corpus.Manifest {
	return corpus.Manifest{Digest: "c1", Documents: 1, Chunks: 2}
}

func (shelf) chunks() []corpus.Chunk {
	return []corpus.Chunk{
		{ID: "a.md#0", DocID: "a.md", Start: 0, End: 26, Text: shelfText[:26]},
		{ID: "a.md#1", DocID: "a.md", Start: 27, End: len(shelfText), Text: shelfText[27:], Scope: corpus.Scope{"team": {"pay"}}},
	}
}

func (s shelf) ChunksByID(ids []string) (map[string]corpus.Chunk, error) {
	out := map[string]corpus.Chunk{}
	for _, c := range s.chunks() {
		for _, id := range ids {
			if c.ID == id {
				out[id] = c
			}
		}
	}
	return out, nil
}

func (shelf) DocumentsByID([]string) (map[string]corpus.Document, error) {
	return map[string]corpus.Document{"a.md": {ID: "a.md", Text: shelfText}}, nil
}

func (s shelf) ChunksOfDocuments([]string) (map[string][]corpus.Chunk, error) {
	return map[string][]corpus.Chunk{"a.md": s.chunks()}, nil
}

func (shelf) ChunkInfos() iter.Seq2[corpus.ChunkInfo, error] {
	return func(func(corpus.ChunkInfo, error) bool) {}
}

// editor refuses queries that end in a dot.
func editor() *datasets.Editor {
	return &datasets.Editor{By: "ada", View: shelf{}, Check: func(_ *datasets.Case, query string) ([]datasets.Check, bool) {
		kept := !strings.HasSuffix(query, ".")
		return []datasets.Check{{Name: "no_dot", Passed: kept, Value: 1}}, kept
	}}
}

// shelfSet has a synthetic case with a judge's and a person's grade, and one of a
// person alone.
func shelfSet() *datasets.Set {
	d := draft("how long are logs kept?")
	c := &d.Cases[0]
	c.ID = "00000000000000aa"
	c.Judgments = append(c.Judgments,
		datasets.Judgment{ChunkID: "a.md#0", DocID: "a.md", Grade: new(2), By: datasets.ByLLM, Judge: "m", Inclusion: 1},
		datasets.Judgment{ChunkID: "a.md#1", DocID: "a.md", Grade: new(1), By: datasets.ByHuman, Judge: "bob", Inclusion: 1})
	c.HardNegatives = []string{"a.md#1"}
	mine := caseNamed("mine", "payments?")
	mine.Source, mine.Judgments = nil, []datasets.Judgment{{ChunkID: "a.md#1", DocID: "a.md", Grade: new(3), By: datasets.ByHuman, Judge: "bob", Inclusion: 1}}
	d.Cases = append(d.Cases, mine)
	d.Manifest.Name, d.Manifest.Version = "set", 1
	return &datasets.Set{Manifest: d.Manifest, Cases: d.Cases, Rejects: d.Rejects}
}

func applied(t *testing.T, lines ...string) (datasets.Draft, *datasets.EditReport, error) {
	t.Helper()
	edits, err := datasets.ReadEdits(strings.Join(lines, "\n"), "edits.jsonl")
	if err != nil {
		return datasets.Draft{}, nil, err
	}
	return editor().Apply(shelfSet(), edits)
}

func TestEditsChangeWhatTheySay(t *testing.T) {
	byAda := func(chunk string, grade int, label string) datasets.Judgment {
		return datasets.Judgment{ChunkID: chunk, DocID: "a.md", Grade: &grade, Label: label, By: datasets.ByHuman, Judge: "ada", Inclusion: 1}
	}
	cases := []struct {
		name, line string
		change     func(a, mine *datasets.Case)
		why        string
	}{
		{"nothing", `{"case_id": "mine"}`, func(_, _ *datasets.Case) {}, "0 cases"},
		{"columns", `{"case_id": "mine", "tags": ["critical"], "category": "billing", "status": "needs_review", "reason": "doubtful"}`,
			func(_, mine *datasets.Case) {
				mine.Tags, mine.Category, mine.Status, mine.Reason = []string{"critical"}, "billing", datasets.NeedsReview, "doubtful"
			}, "1 case"},
		{"a grade of a person's own", `{"case_id": "00000000000000aa", "grades": {"a.md#0": 3, "a.md#1": 1}}`,
			func(a, _ *datasets.Case) { a.Judgments = append(a.Judgments, byAda("a.md#0", 3, "relevant")) }, "1 case, 1 label"},
		{"another grade, and none", `{"case_id": "mine", "grades": {"a.md#1": null, "a.md#0": 1}}`,
			func(_, mine *datasets.Case) { mine.Judgments = []datasets.Judgment{byAda("a.md#0", 1, "partial")} }, "1 case, 2 labels"},
		{"other words, with the grades of the old ones repeated", `{"case_id": "00000000000000aa", "query": "when do logs go?", "grades": {"a.md#1": 1}}`,
			func(a, _ *datasets.Case) {
				a.Query, a.HardNegatives, a.Judgments = "when do logs go?", nil, a.Judgments[:1]
				a.Checks = []datasets.Check{{Name: "no_dot", Passed: true, Value: 1}}
			}, "1 case, 1 query"},
		{"other words that leave no label", `{"case_id": "mine", "query": "when are payments deleted?"}`,
			func(_, mine *datasets.Case) {
				mine.Query, mine.Judgments, mine.Status, mine.Reason = "when are payments deleted?", nil, datasets.NeedsReview, "reworded, and no label is of this wording"
				mine.Checks = []datasets.Check{{Name: "no_dot", Passed: true, Value: 1}}
			}, "1 case, 1 query"},
		{"a byte order mark", "\ufeff" + `{"case_id": "mine", "tags": ["tags", "tags"]}` + "\r\n",
			func(_, mine *datasets.Case) { mine.Tags = []string{"tags", "tags"} }, "1 case"},
		{"evidence by its quote", `{"case_id": "mine", "evidence": [{"doc_id": "a.md", "quote": "payments are  kept"}]}`,
			func(_, mine *datasets.Case) {
				mine.Evidence = []datasets.Evidence{{DocID: "a.md", ChunkID: "a.md#1", Start: 35, End: 52, Quote: "payments are kept"}}
			}, "1 case, evidence of 1"},
		{"evidence by its span", `{"case_id": "mine", "evidence": [{"doc_id": "a.md", "start": 18, "end": 31}]}`,
			func(_, mine *datasets.Case) {
				mine.Evidence = []datasets.Evidence{{DocID: "a.md", ChunkID: "a.md#0", Start: 18, End: 31, Quote: "30 days. Logs"}}
			}, "1 case, evidence of 1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := shelfSet().Cases
			c.change(&want[0], &want[1])
			d, report, err := applied(t, c.line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(rowsOf(want), rowsOf(d.Cases)); diff != "" {
				t.Error(diff)
			}
			if report.String() != c.why || d.Manifest.Why != "edited by ada: "+c.why {
				t.Errorf("why %q, want %q", d.Manifest.Why, c.why)
			}
		})
	}
}

func TestEditsThatCannotBeApplied(t *testing.T) {
	cases := []struct{ name, line, want string }{
		{"broken", `{"case_id": "mine"`, "edits.jsonl:2: unexpected EOF"},
		{"no object", `["mine"]`, "edits.jsonl:2: line: want an object, not array"},
		{"two values", `{"case_id": "mine"} {}`, "more than one value"},
		{"unknown key", `{"case_id": "mine", "querry": "x"}`, `"querry" cannot be edited; what can: as_of, case_id, category`},
		{"computed key", `{"case_id": "mine", "judgments": []}`, `"judgments" cannot be edited`},
		{"a key twice", `{"case_id": "mine", "tags": ["a"], "tags": ["b"]}`, `"tags" is there twice`},
		{"two cases", `{"case_id": "mine", "grades": {}, "case_id": "first"}`, `"case_id" is there twice`},
		{"a chunk twice", `{"case_id": "mine", "grades": {"a.md#0": 1, "a.md#1": 2, "a.md#0": 3}}`, `"a.md#0" is there twice`},
		{"a key of a list twice", `{"case_id": "mine", "evidence": [{"doc_id": "a.md", "quote": "case_id"}, {"doc_id": "a.md", "start": 1, "start": 2}]}`, `"start" is there twice`},
		{"no case", `{"query": "x"}`, "case_id is missing"},
		{"unknown case", `{"case_id": "nobody", "query": "x"}`, "edits.jsonl:2: case nobody is not in set@v1"},
		{"twice", `{"case_id": "first"}`, "case first has a line already: edits.jsonl:1"},
		{"wrong type", `{"case_id": "mine", "tags": "critical"}`, "tags: want a list, not string"},
		{"unknown status", `{"case_id": "mine", "status": "done"}`, `"done" is none of`},
		{"retired without a reason", `{"case_id": "mine", "status": "retired"}`, "status retired: say the reason"},
		{"empty query", `{"case_id": "mine", "query": ""}`, "query: is empty"},
		{"refused wording", `{"case_id": "mine", "query": "a statement."}`, `query "a statement." is refused by no_dot (1)`},
		{"grade out of range", `{"case_id": "mine", "grades": {"a.md#0": 7}}`, "grade 7 is outside of 0 to 3"},
		{"unknown chunk", `{"case_id": "mine", "grades": {"b.md#0": 1}}`, `chunk "b.md#0" is not in the snapshot`},
		{"an answer where none is expected", `{"case_id": "mine", "expected_abstention": true}`, `chunk "a.md#1" has grade 3`},
		{"unknown document", `{"case_id": "mine", "evidence": [{"doc_id": "b.md", "quote": "x"}]}`, `document "b.md" is not in the snapshot`},
		{"quote that is not there", `{"case_id": "mine", "evidence": [{"doc_id": "a.md", "quote": "kept for ever"}]}`, `"kept for ever" is not in it`},
		{"quote that is there twice", `{"case_id": "mine", "evidence": [{"doc_id": "a.md", "quote": "Logs are kept"}]}`, "stands there 2 times: say start and end"},
		{"quote at another span", `{"case_id": "mine", "evidence": [{"doc_id": "a.md", "start": 1, "end": 5, "quote": "Logs"}]}`, "without start and end it is looked for"},
		{"span outside", `{"case_id": "mine", "evidence": [{"doc_id": "a.md", "start": 70, "end": 700}]}`, "[70,700) is outside of document"},
		{"span of nothing", `{"case_id": "mine", "evidence": [{"doc_id": "a.md"}]}`, "want a quote, or start and end"},
		{"unknown evidence key", `{"case_id": "mine", "evidence": [{"doc": "a.md"}]}`, `evidence: json: unknown field "doc"`},
		{"not UTF-8", "{\"case_id\": \"mine\", \"query\": \"\xff\"}", "not UTF-8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := applied(t, `{"case_id": "first"}`, c.line)
			checkError(t, err, c.want)
		})
	}
	if _, err := datasets.ReadEdits("\n \n", "edits.jsonl"); err == nil || !strings.Contains(err.Error(), "no edits") {
		t.Errorf("an empty file: %v", err)
	}
}

// groundedSet has a case of a team, written from what only the team may see, and one
// of everybody, from whom that is hidden.
func groundedSet() *datasets.Set {
	set := shelfSet()
	c := caseNamed("team", "how long are payments kept?")
	c.Source, c.Scope = []string{"a.md#1"}, corpus.Scope{"team": {"pay"}}
	c.Judgments = []datasets.Judgment{datasets.SourceJudgment("a.md#1", "a.md")}
	c.Evidence = []datasets.Evidence{{DocID: "a.md", ChunkID: "a.md#1", Start: 35, End: 43, Quote: "payments"}}
	open := caseNamed("open", "when do logs of payments go?")
	open.Source, open.Judgments, open.Forbidden, open.ExpectedAbstention = nil, nil, []string{"a.md#1"}, true
	lost := caseNamed("lost", "what is lost?")
	lost.Source, lost.Status, lost.Reason = nil, datasets.Retired, "document gone: b.md"
	lost.Judgments = []datasets.Judgment{{ChunkID: "a.md#0", DocID: "a.md", Grade: new(0), By: datasets.ByLLM, Judge: "m", Inclusion: 1}}
	set.Cases = append(set.Cases, c, open, lost)
	return set
}

// What a label rests on, and who may see it, is not edited away.
func TestEditsKeepTheGroundOfACase(t *testing.T) {
	cases := []struct{ name, line, want string }{
		{"evidence elsewhere", `{"case_id": "team", "evidence": [{"doc_id": "a.md", "quote": "30 days"}]}`, `none is left in chunk "a.md#1"`},
		{"no evidence", `{"case_id": "team", "evidence": []}`, `none is left in chunk "a.md#1"`},
		{"evidence null", `{"case_id": "team", "evidence": null}`, `none is left in chunk "a.md#1"`},
		{"more evidence", `{"case_id": "team", "evidence": [{"doc_id": "a.md", "quote": "30 days"}, {"doc_id": "a.md", "quote": "a year"}]}`, ""},
		{"evidence across the border", `{"case_id": "team", "evidence": [{"doc_id": "a.md", "start": 20, "end": 31}]}`, ""},
		{"retired as well", `{"case_id": "team", "evidence": [], "status": "retired", "reason": "wrong"}`, ""},
		{"another scope", `{"case_id": "team", "scope": {"team": ["log"]}}`, `would no longer get chunk "a.md#1"`},
		{"a wider scope", `{"case_id": "team", "scope": {"team": ["log", "pay"]}}`, ""},
		{"filters", `{"case_id": "team", "filters": [{"field": "doc_id", "op": "eq", "values": ["b.md"]}]}`, `would no longer get chunk "a.md#1"`},
		{"a scope that sees what is forbidden", `{"case_id": "open", "scope": {"team": ["pay"]}}`, `would get chunk "a.md#1", which is forbidden`},
		{"abstention", `{"case_id": "team", "expected_abstention": true}`, `written from chunk "a.md#1", which answers it`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			edits, err := datasets.ReadEdits(c.line, "edits.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = editor().Apply(groundedSet(), edits)
			checkError(t, err, c.want)
		})
	}
}

// A case that was lost comes back to people, not into scores, unless it has a label.
func TestACaseThatIsActiveAgain(t *testing.T) {
	const waits = "active again, and no chunk is labelled relevant"
	for line, want := range map[string][2]string{
		`{"case_id": "lost", "status": "active"}`:                               {datasets.NeedsReview, waits},
		`{"case_id": "lost", "status": "active", "grades": {"a.md#0": 1}}`:      {datasets.NeedsReview, waits},
		`{"case_id": "lost", "status": "active", "grades": {"a.md#0": 3}}`:      {datasets.Active, ""},
		`{"case_id": "lost", "status": "active", "expected_abstention": true}`:  {datasets.Active, ""},
		`{"case_id": "lost", "status": "needs_review", "reason": "look at it"}`: {datasets.NeedsReview, "look at it"},
	} {
		edits, err := datasets.ReadEdits(line, "edits.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		d, _, err := editor().Apply(groundedSet(), edits)
		if err != nil {
			t.Fatal(err)
		}
		c := d.Cases[len(d.Cases)-1]
		if diff := cmp.Diff(want, [2]string{c.Status, c.Reason}); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

func TestAWordingCanBeKept(t *testing.T) {
	edits, err := datasets.ReadEdits(`{"case_id": "mine", "query": "a statement."}`, "edits.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	e := editor()
	e.Keep = true
	d, _, err := e.Apply(shelfSet(), edits)
	if err != nil || d.Cases[1].Query != "a statement." || d.Cases[1].Checks[0].Passed {
		t.Errorf("%+v, %v", d.Cases[1], err)
	}
}

// A file that nobody changed changes nothing, whatever the cases hold.
func TestEditsOfWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drafts.Draw(t, "draft")
		set := &datasets.Set{Manifest: d.Manifest, Cases: d.Cases, Rejects: d.Rejects}
		var file bytes.Buffer
		if err := datasets.WriteEdits(&file, d.Cases); err != nil {
			t.Fatal(err)
		}
		edits, err := datasets.ReadEdits(file.String(), "edits.jsonl")
		if len(d.Cases) == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, report, err := editor().Apply(set, edits)
		if err != nil && strings.Contains(err.Error(), "expected_abstention is true") {
			return // the generator contradicts itself now and then
		}
		if err != nil || len(report.Cases) > 0 {
			t.Fatalf("changed %v (%v)", report.Cases, err)
		}
		if diff := cmp.Diff(rowsOf(d.Cases), rowsOf(got.Cases)); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzReadEdits(f *testing.F) {
	for _, seed := range []string{`{"case_id":"mine","query":"x","grades":{"a.md#0":null},"evidence":[{"doc_id":"a.md","start":0,"end":4}]}`, `{"case_id":"mine","as_of":"2026-01-01T00:00:00Z","filters":[{}]}`, "{", "null", `{"case_id":null}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		edits, err := datasets.ReadEdits(text, "f")
		if err != nil {
			return
		}
		d, _, err := editor().Apply(shelfSet(), edits)
		if err != nil {
			return
		}
		for i := range d.Cases {
			if err := d.Cases[i].Validate(); err != nil {
				t.Error(errors.Join(err, fmt.Errorf("of %q", text)))
			}
		}
	})
}
