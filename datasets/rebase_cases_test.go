package datasets_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// TestRebaseRetiresWhatIsNoLongerAnswered moves cases in which something other than
// their only quote is lost.
func TestRebaseRetiresWhatIsNoLongerAnswered(t *testing.T) {
	engine, boat := prose("engine", 600), prose("boat", 600)
	from := cut("old", 200, "engine.md", engine, "boat.md", boat)
	judged := func(chunk, doc string, grade int) datasets.Judgment {
		j := graded(chunk, datasets.ByHuman, grade)
		j.DocID = doc
		return j
	}
	noEvidence := func(judgments ...datasets.Judgment) datasets.Case {
		c := asked(from, "0123456789abcdef")
		c.Judgments = judgments
		return c
	}
	for name, tc := range map[string]struct {
		old    datasets.Case
		to     *pile
		reason string
	}{
		"one of two quotes": {
			asked(from, "0123456789abcdef", "The engine has part engine2.", "The boat has part boat2."),
			cut("new", 200, "engine.md", engine), "document gone: boat.md",
		},
		"labels without evidence, their document": {
			noEvidence(judged("boat.md#1", "boat.md", 3), judged("engine.md#0", "engine.md", 0)), cut("new", 200, "engine.md", engine), "document gone: boat.md",
		},
		"labels without evidence, their text": {
			noEvidence(judged("boat.md#1", "boat.md", 3)), cut("new", 200, "boat.md", boat[:200]+boat[400:]), "fact changed: boat.md",
		},
		"labels without evidence, one of two": {
			noEvidence(judged("boat.md#1", "boat.md", 3), judged("engine.md#0", "engine.md", 2)), cut("new", 200, "engine.md", engine), "",
		},
		"nothing was relevant before": {
			noEvidence(judged("boat.md#1", "boat.md", 0)), cut("new", 200, "engine.md", engine), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			draft, report := rebased(t, setOver(from, tc.old), from, tc.to)
			if got := draft.Cases[0]; got.Reason != tc.reason || (got.Status == datasets.Retired) != (tc.reason != "") {
				t.Errorf("%s, %q; want %q", got.Status, got.Reason, tc.reason)
			}
			if report.Kept+report.Retired != 1 || (report.Retired == 1) != (tc.reason != "") {
				t.Errorf("kept %d, retired %d", report.Kept, report.Retired)
			}
		})
	}
}

// TestRebaseNeverGuesses edits one sentence of a document. The new one is taken for
// the old one only where it says the same.
func TestRebaseNeverGuesses(t *testing.T) {
	const before, after = "Whoever comes to the harbour is met at the gate by a warden. ", " All this was written down for newcomers. 这里写着港口的规则。"
	for name, tc := range map[string]struct{ old, now, found string }{
		"a word put in":           {"Boats longer than ninety feet wait outside until a pilot is free.", "Boats longer than ninety feet always must wait outside until a pilot is free.", ""},
		"a harmless word":         {"Boats longer than ninety feet wait outside until a pilot is free.", "Boats longer than ninety feet wait outside patiently until a pilot is free.", "Boats longer than ninety feet wait outside patiently until a pilot is free."},
		"a slip of the pen":       {"The warden writes the names of all visitors down in a book.", "The warden writes the names of all vistors down in a book.", "The warden writes the names of all vistors down in a book."},
		"another day":             {"The office of the harbour is closed to visitors on Mondays.", "The office of the harbour is closed to visitors on Tuesdays.", ""},
		"another place":           {"Dinner is paid for by the company in the city of Zurich alone.", "Dinner is paid for by the company in the city of Bergen alone.", ""},
		"the opposite":            {"New passwords are enabled for everybody who works in the office.", "New passwords are disabled for everybody who works in the office.", ""},
		"an undone thing":         {"The pier is available to anglers from dawn until the lamp is lit.", "The pier is unavailable to anglers from dawn until the lamp is lit.", ""},
		"an exception":            {"All the gates are locked when the last ship has left the harbour.", "All the gates except are locked when the last ship has left the harbour.", ""},
		"another form at the end": {"All the boats of the harbour leave through one gate.", "All the boats of the harbour leave through one gates.", "All the boats of the harbour leave through one gates."},
		"a decimal":               {"The fee for the night is 1.5 crowns for each foot of the boat.", "The fee for the night is 2.5 crowns for each foot of the boat.", ""},
		"Chinese, turned":         {"超过九十英尺的船只必须在港外等候引航员到来。", "超过九十英尺的船只不必须在港外等候引航员到来。", ""},
		"Chinese, another":        {"超过九十英尺的船只必须在港外等候引航员到来。", "超过八十英尺的船只必须在港外等候引航员到来。", ""},
		"German, turned":          {"Der Hafen ist an allen Tagen der Woche für Besucher offen.", "Der Hafen ist nicht an allen Tagen der Woche für Besucher offen.", ""},
		"white space and case":    {"The warden keeps a list of the boats.", "The  Warden keeps a\nlist of the boats.", "The  Warden keeps a\nlist of the boats."},
		"too short to look for":   {"Ask him.", "Ask her.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := cut("old", 0, "a", before+tc.old+after), cut("new", 0, "a", "News. "+before+tc.now+after)
			draft, _ := rebased(t, setOver(from, asked(from, "0123456789abcdef", tc.old)), from, to)
			found := ""
			if c := draft.Cases[0]; c.Status == datasets.Active {
				found = c.Evidence[0].Quote
			}
			if found != tc.found {
				t.Errorf("found %q, want %q", found, tc.found)
			}
		})
	}
}

// TestRebaseMindsWhoMaySee moves cases whose document went to another scope.
func TestRebaseMindsWhoMaySee(t *testing.T) {
	text := prose("salary", 400)
	over := func(digest, id, team string) *pile {
		p := cut(digest, 200, id, text)
		if team != "" {
			for i := range p.chunks {
				p.chunks[i].Scope = corpus.Scope{"team": {team}}
			}
		}
		return p
	}
	for name, tc := range map[string]struct {
		before, after string // team that may see the document
		hidden        bool   // the case expects that the asker, of team red, gets nothing
		reason        string
	}{
		"hidden now":                 {"red", "blue", false, "fact changed: the asker gets b no longer"},
		"still there to be seen":     {"red", "red", false, ""},
		"public now":                 {"red", "", false, ""},
		"hidden, and visible now":    {"blue", "red", true, "fact changed: the asker gets b now"},
		"hidden, and still so":       {"blue", "blue", true, ""},
		"hidden from others as well": {"blue", "green", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := over("old", "a", tc.before), over("new", "b", tc.after)
			c := asked(from, "0123456789abcdef", "The salary has part salary2.")
			c.Scope = corpus.Scope{"team": {"red"}}
			if tc.hidden {
				c = asked(from, "0123456789abcdef")
				c.Scope, c.ExpectedAbstention, c.Forbidden = corpus.Scope{"team": {"red"}}, true, []string{"a#0"}
			}
			draft, _ := rebased(t, setOver(from, c), from, to)
			if got := draft.Cases[0].Reason; got != tc.reason {
				t.Errorf("reason %q, want %q", got, tc.reason)
			}
		})
	}
}

// TestRebaseMindsDates moves a case that is asked at a time to a version of the
// document that does not hold then.
func TestRebaseMindsDates(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	text := prose("tariff", 300)
	from, to := cut("old", 0, "a", text), cut("new", 0, "a", text)
	c := asked(from, "0123456789abcdef", "The tariff has part tariff2.")
	c.AsOf = &at
	before := at.AddDate(0, -1, 0)
	to.chunks[0].ValidTo = &before
	draft, _ := rebased(t, setOver(from, c), from, to)
	if got := draft.Cases[0].Reason; got != "fact changed: the asker gets a no longer" {
		t.Errorf("reason %q", got)
	}
}

// TestRebaseKeepsEachHop cuts both quotes of a case in two, one of them in the
// middle: only where each answers something of its own does that one keep a grade.
func TestRebaseKeepsEachHop(t *testing.T) {
	text := prose("engine", 600)
	from, to := cut("old", 300, "a", text), cut("new", 100, "a", text)
	for queryType, want := range map[string][]string{
		datasets.MultiHop:  {"a#0", "a#3"},
		datasets.Ambiguous: {"a#0", "a#3"},
		datasets.Factual:   {"a#0"},
	} {
		c := asked(from, "0123456789abcdef", text[20:80], text[350:450])
		c.QueryType = queryType
		draft, _ := rebased(t, setOver(from, c), from, to)
		if diff := cmp.Diff(want, draft.Cases[0].Source); diff != "" {
			t.Errorf("%s: %s", queryType, diff)
		}
	}
}

func TestRebaseFollowsEqualTextsInPairs(t *testing.T) {
	text, other := prose("engine", 400), prose("boat", 400)
	from := cut("old", 0, "a", text, "b", text, "c", other, "d", text)
	to := cut("new", 0, "c", text, "x", text, "y", text, "z", other)
	_, report := rebased(t, setOver(from), from, to)
	want := []datasets.Followed{{From: "a", To: "c"}, {From: "b", To: "x"}, {From: "c", To: "z"}, {From: "d", To: "y"}}
	if diff := cmp.Diff(want, report.Followed); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(datasets.RebaseDocuments{Before: 4, Renamed: 4}, report.Documents); diff != "" {
		t.Error(diff)
	}
}

// TestRebaseFollowsACopy takes one of two equal documents away: what it answered
// the other one answers.
func TestRebaseFollowsACopy(t *testing.T) {
	text := prose("engine", 400)
	from, to := cut("old", 0, "a", text, "b", text), cut("new", 0, "b", text)
	draft, report := rebased(t, setOver(from, asked(from, "0123456789abcdef", "The engine has part engine2.")), from, to)
	if got := draft.Cases[0]; got.Status != datasets.Active || got.Evidence[0].DocID != "b" {
		t.Errorf("%s %q: %+v", got.Status, got.Reason, got.Evidence)
	}
	if diff := cmp.Diff([]datasets.Followed{{From: "a", To: "b"}}, report.Followed); diff != "" {
		t.Error(diff)
	}
}

// TestRebaseNotesTheLastMove moves a set twice: its notes do not grow.
func TestRebaseNotesTheLastMove(t *testing.T) {
	text := prose("engine", 400)
	first, second, third := cut("first", 0, "a", text), cut("second", 100, "a", text), cut("third", 50, "a", text)
	set := setOver(first)
	set.Manifest.Notes = []string{"mine"}
	draft, _ := rebased(t, set, first, second)
	draft, _ = rebased(t, &datasets.Set{Manifest: draft.Manifest}, second, third)
	want := []string{"mine", "moved from corpus second to third without a model: 0 cases kept, 0 of them with other labels, 0 retired"}
	if diff := cmp.Diff(want, draft.Manifest.Notes); diff != "" {
		t.Error(diff)
	}
}

// TestRebaseMovesTheRest moves what stands beside labels: hard negatives, spans of
// judgments, rejects, and a case that was retired before.
func TestRebaseMovesTheRest(t *testing.T) {
	text, other := prose("engine", 800), prose("boat", 300)
	from := cut("old", 200, "a", text, "gone", other)
	c := asked(from, "0123456789abcdef", "The engine has part engine2.")
	c.Judgments = append(c.Judgments, graded("a#1", datasets.ByLLM, 0), graded("a#2", datasets.ByLLM, 1))
	c.Judgments[1].Spans = []datasets.Span{{Start: 200, End: 260}}
	c.HardNegatives = []string{"a#1", "a#2", "gone#0"}
	before := asked(from, "0123456789abcdee", "The boat has part boat2.")
	before.Status, before.Reason = datasets.Retired, "by hand"
	set := setOver(from, c, before)
	quote := datasets.Evidence{DocID: "a", ChunkID: "a#1", Start: 210, End: 220, Quote: text[210:220]}
	lost := datasets.Evidence{DocID: "gone", ChunkID: "gone#0", Start: 0, End: 10, Quote: other[:10]}
	set.Rejects = []datasets.Reject{
		{CaseID: "r1", ChunkID: "a#1", Stage: "generate", Reason: "unreadable", Evidence: []datasets.Evidence{quote, lost}},
		{CaseID: "r2", ChunkID: "gone#0", Stage: "generate", Reason: "unreadable"},
	}

	draft, report := rebased(t, set, from, cut("new", 250, "b", text))
	got := draft.Cases[0]
	// a#2, [400,600), shares 100 bytes of 200 with b#1 and with b#2.
	want := []string{
		"b#0 synthetic grade 3 relevant", "b#1 llm grade 0 partial carried_share 0.5 carried_grade 0.5",
		"b#2 llm grade 0 partial carried_share 0.5 carried_grade 0.5",
	}
	if diff := cmp.Diff(want, said(got)); diff != "" {
		t.Errorf("judgments:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b#1", "b#2"}, got.HardNegatives); diff != "" {
		t.Errorf("hard negatives:\n%s", diff)
	}
	if r := draft.Rejects[0]; r.ChunkID != "b#0" && r.ChunkID != "b#1" || len(r.Evidence) != 1 || r.Evidence[0].DocID != "b" {
		t.Errorf("reject %+v", r)
	}
	if r := draft.Rejects[1]; r.ChunkID != "" {
		t.Errorf("reject %+v", r)
	}
	if old := draft.Cases[1]; old.Reason != "by hand" || len(old.Evidence) != 0 || report.Kept != 1 || report.Retired != 0 || report.Spans.Lost != 0 {
		t.Errorf("the case retired before: %+v; %+v", old, report)
	}
}

// TestRebaseSharesProperty cuts a document anywhere: each chunk has the grade that
// its share of the evidence gives, or all of it where it alone comes near; a chunk
// that holds nothing of the evidence has none.
func TestRebaseSharesProperty(t *testing.T) {
	text := prose("engine", 900)
	rapid.Check(t, func(rt *rapid.T) {
		start := rapid.IntRange(0, 800).Draw(rt, "start")
		end := rapid.IntRange(start+40, 900).Draw(rt, "end")
		from, to := cut("old", 0, "a", text), cut("new", rapid.IntRange(10, 900).Draw(rt, "size"), "a", text)
		c := asked(from, "0123456789abcdef", text[start:end])
		draft, _, err := datasets.Rebase(t.Context(), setOver(from, c), from, to, false)
		if err != nil {
			rt.Fatal(err)
		}
		grades, relevant := map[string]float64{}, 0
		for _, j := range draft.Cases[0].Judgments {
			grades[j.ChunkID] = float64(*j.Grade)
			if exact, ok := j.Features[datasets.FeatureCarriedGrade]; ok {
				grades[j.ChunkID] = exact
			}
			if *j.Grade >= 2 {
				relevant++
			}
		}
		for _, chunk := range to.chunks {
			shared := max(0, min(end, chunk.End)-max(start, chunk.Start))
			want := datasets.Round(3 * datasets.Round(float64(shared)/float64(min(end-start, chunk.End-chunk.Start))))
			got, labelled := grades[chunk.ID]
			if labelled != (shared > 0) || got != want && (got != 3 || relevant != 1) {
				rt.Errorf("chunk %s shares %d bytes: grade %v (%v), want %v", chunk.ID, shared, got, labelled, want)
			}
		}
		if relevant == 0 {
			rt.Errorf("no chunk is relevant: %v", said(draft.Cases[0]))
		}
	})
}
