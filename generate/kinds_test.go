package generate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/sample"
)

// The documents that the query types are tried on: two pumps that hardly differ,
// two versions of a rule, two texts that a question must join.
var (
	p20 = corpus.Document{ID: "p20", Title: "Pump P-20", Text: "The ceramic seals of the pump are changed every year. The relief valve closes below six bar of pressure in the hose."}
	p30 = corpus.Document{ID: "p30", Title: "Pump P-30", Text: "The ceramic seals of the pump are changed every year. The relief valve closes below eight bar of pressure in the hose."}

	old = corpus.Document{ID: "rule-1", Title: "Leave", Text: "Parental leave requests are approved by the people team within twenty working days."}
	now = corpus.Document{ID: "rule-2", Title: "Leave", Text: "Parental leave requests are approved by the people team within ten working days."}

	duty  = corpus.Document{ID: "duty", Title: "On call", Text: "Severity one incidents are always handled by the whole Lyon team together."}
	hours = corpus.Document{ID: "hours", Title: "Offices", Text: "The Lyon team can be reached by telephone from six in the morning."}

	dock  = corpus.Document{ID: "dock", Title: "Loading dock", Text: "A reset of the alarm needs the red button to be held for seconds."}
	login = corpus.Document{ID: "login", Title: "Accounts", Text: "A reset of the password needs the consent of a second person first."}

	fleet = corpus.Document{ID: "fleet", Title: "Fleet", Text: "Units whose MTBF falls below nine hundred hours are taken out of service."}
)

func chunkOf(d corpus.Document) corpus.Chunk {
	return corpus.Chunk{
		ID: d.ID + "#0", DocID: d.ID, End: len(d.Text), Text: d.Text, Unit: corpus.UnitChunk, Language: "en", Scope: d.Scope,
	}
}

// rowUnit is the unit of a plan row about the whole documents.
func rowUnit(row sample.Row, rivals []corpus.Document, about ...corpus.Document) generate.Unit {
	u := generate.Unit{Doc: about[0], Docs: about}
	for _, d := range about {
		u.Chunks = append(u.Chunks, chunkOf(d))
		row.ChunkIDs, row.DocIDs = append(row.ChunkIDs, d.ID+"#0"), append(row.DocIDs, d.ID)
	}
	for _, d := range rivals {
		u.Rivals = append(u.Rivals, chunkOf(d))
		row.Rivals = append(row.Rivals, d.ID+"#0")
	}
	row.CaseID, row.Style, row.Stratum = "c1", "plain", "all"
	u.Row = row
	return u
}

func typed(t *testing.T, queryType string, client llm.Client) *generate.Model {
	t.Helper()
	o := options()
	o.Types = []string{queryType}
	return newModel(t, client, o, p20.Text, p30.Text, old.Text, now.Text, duty.Text, hours.Text, dock.Text, login.Text, fleet.Text)
}

// asks answers a writing prompt with a question, and a check by whether what it
// shows is among the texts that answer.
func asks(question string, answering ...string) clientFunc {
	return func(_ context.Context, req llm.Request) (llm.Reply, error) {
		if req.Schema != nil {
			return llm.Reply{Text: `{"question": "` + question + `"}`, FinishReason: llm.FinishStop}, nil
		}
		if !strings.Contains(user(req), "<evidence>") { // self-contained?
			return yesNo(.9), nil
		}
		for _, a := range answering {
			if strings.Contains(user(req), "<evidence>\n"+a+"\n</evidence>") {
				return yesNo(.95), nil
			}
		}
		return yesNo(.05), nil
	}
}

// typedCase is what a type makes of its case.
type typedCase struct {
	Query                            string
	Source, Forbidden, HardNegatives []string
	Labels                           map[string]string // chunk -> label and grade
	Quotes                           []string
	Scope                            corpus.Scope
	AsOf                             string
	Abstain                          bool
}

func madeOf(c *datasets.Case) typedCase {
	m := typedCase{
		Query: c.Query, Source: c.Source, Forbidden: c.Forbidden, HardNegatives: c.HardNegatives,
		Labels: map[string]string{}, Scope: c.Scope, Abstain: c.ExpectedAbstention,
	}
	for _, j := range c.Judgments {
		m.Labels[j.ChunkID] = j.Label + string(rune('0'+*j.Grade))
	}
	for _, e := range c.Evidence {
		m.Quotes = append(m.Quotes, e.Quote)
	}
	if c.AsOf != nil {
		m.AsOf = c.AsOf.Format(time.DateOnly)
	}
	return m
}

// typeTest is a unit, who is asked about it, and the case that becomes of it.
type typeTest struct {
	unit   generate.Unit
	client clientFunc
	want   typedCase
}

func makeCases(t *testing.T, tests map[string]typeTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := write(t, typed(t, test.unit.Row.QueryType, test.client), test.unit)
			if o.Reject != nil {
				t.Fatalf("rejected: %s: %s", o.Reject.Reason, o.Reject.Detail)
			}
			if diff := cmp.Diff(test.want, madeOf(o.Case)); diff != "" {
				t.Errorf("case (-want +got):\n%s", diff)
			}
			o.Case.ID = "0123456789abcdef"
			if err := o.Case.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}

// secretHours are the hours as a document that not everybody may see.
func secretHours() corpus.Document {
	secret := hours
	secret.Scope = corpus.Scope{"team": {"duty"}}
	return secret
}

func TestATypeOfOneChunkHasItAsSource(t *testing.T) {
	none := []string{}
	makeCases(t, map[string]typeTest{
		"rare_term": {
			rowUnit(sample.Row{QueryType: datasets.RareTerm, Term: "mean time between failures", OtherForm: "MTBF"}, nil, fleet),
			asks("Which mean time between failures is too low to keep a unit?", fleet.Text),
			typedCase{
				Query: "Which mean time between failures is too low to keep a unit?", Source: []string{"fleet#0"}, Forbidden: none,
				HardNegatives: none, Labels: map[string]string{"fleet#0": "relevant3"}, Quotes: []string{fleet.Text}, Scope: corpus.Scope{},
			},
		},
		"permission_sensitive, allowed": {
			rowUnit(sample.Row{QueryType: datasets.PermissionSensitive, Scope: corpus.Scope{"team": {"duty"}}}, nil, secretHours()),
			asks("From what time of day can one call Lyon?", hours.Text),
			typedCase{
				Query: "From what time of day can one call Lyon?", Source: []string{"hours#0"}, Forbidden: none, HardNegatives: none,
				Labels: map[string]string{"hours#0": "relevant3"}, Quotes: []string{hours.Text}, Scope: corpus.Scope{"team": {"duty"}},
			},
		},
	})
}

func TestRivalsAreGradedAndHardNegatives(t *testing.T) {
	none := []string{}
	may := time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC)
	valve := "The relief valve closes below six bar of pressure in the hose."
	makeCases(t, map[string]typeTest{
		"near_duplicate": {
			rowUnit(sample.Row{QueryType: datasets.NearDuplicate, Term: "P-20"}, []corpus.Document{p30}, p20),
			asks("At what pressure does the P-20 shut its outlet?", "Pump P-20: "+valve),
			typedCase{
				Query: "At what pressure does the P-20 shut its outlet?", Source: []string{"p20#0"}, Forbidden: none,
				HardNegatives: []string{"p30#0"}, Labels: map[string]string{"p20#0": "relevant3", "p30#0": "irrelevant0"},
				Quotes: []string{valve}, Scope: corpus.Scope{},
			},
		},
		"time_sensitive": {
			rowUnit(sample.Row{QueryType: datasets.TimeSensitive, AsOf: &may}, []corpus.Document{old}, now),
			asks("How long does it take until time off for a child is granted?", "Leave: "+now.Text),
			typedCase{
				Query: "How long does it take until time off for a child is granted?", Source: []string{"rule-2#0"}, Forbidden: none,
				HardNegatives: []string{"rule-1#0"}, Labels: map[string]string{"rule-2#0": "relevant3", "rule-1#0": "stale0"},
				Quotes: []string{now.Text}, Scope: corpus.Scope{}, AsOf: "2026-05-31",
			},
		},
	})
}

func TestATypeOfSeveralChunksHasThemAllAsSource(t *testing.T) {
	none := []string{}
	together := "On call: " + duty.Text + "\nOffices: " + hours.Text
	makeCases(t, map[string]typeTest{
		"multi_hop": {
			rowUnit(sample.Row{QueryType: datasets.MultiHop, Term: "Lyon", Link: sample.LinkTerm}, nil, duty, hours),
			asks("When can the people who fix the worst outages first be phoned?", together),
			typedCase{
				Query: "When can the people who fix the worst outages first be phoned?", Source: []string{"duty#0", "hours#0"}, Forbidden: none,
				HardNegatives: none, Labels: map[string]string{"duty#0": "relevant3", "hours#0": "relevant3"},
				Quotes: []string{duty.Text, hours.Text}, Scope: corpus.Scope{},
			},
		},
		"ambiguous": {
			rowUnit(sample.Row{QueryType: datasets.Ambiguous, Term: "reset"}, nil, dock, login),
			asks("how to reset", "Loading dock: "+dock.Text, "Accounts: "+login.Text),
			typedCase{
				Query: "how to reset", Source: []string{"dock#0", "login#0"}, Forbidden: none, HardNegatives: none,
				Labels: map[string]string{"dock#0": "relevant3", "login#0": "relevant3"}, Quotes: []string{dock.Text, login.Text}, Scope: corpus.Scope{},
			},
		},
	})
}

func TestWhatCannotBeAnsweredExpectsAbstention(t *testing.T) {
	none := []string{}
	makeCases(t, map[string]typeTest{
		"permission_sensitive, forbidden": {
			rowUnit(sample.Row{QueryType: datasets.PermissionSensitive, Scope: corpus.Scope{"team": {"hr"}}, Forbidden: true}, []corpus.Document{duty}, secretHours()),
			asks("From what time of day can one call Lyon?", hours.Text),
			typedCase{
				Query: "From what time of day can one call Lyon?", Source: none, Forbidden: []string{"hours#0", "duty#0"}, HardNegatives: none,
				Labels: map[string]string{}, Scope: corpus.Scope{"team": {"hr"}}, Abstain: true,
			},
		},
		"out_of_scope": {
			rowUnit(sample.Row{QueryType: datasets.OutOfScope}, nil, p20),
			asks("Can the P-20 pump be used for sea water?"),
			typedCase{
				Query: "Can the P-20 pump be used for sea water?", Source: none, Forbidden: none, HardNegatives: none,
				Labels: map[string]string{}, Scope: corpus.Scope{}, Abstain: true,
			},
		},
	})
}

func TestGatesOfTheTypes(t *testing.T) {
	nearUnit := rowUnit(sample.Row{QueryType: datasets.NearDuplicate, Term: "P-20"}, []corpus.Document{p30}, p20)
	rareUnit := rowUnit(sample.Row{QueryType: datasets.RareTerm, Term: "mean time between failures", OtherForm: "MTBF"}, nil, fleet)
	hops := rowUnit(sample.Row{QueryType: datasets.MultiHop, Term: "Lyon"}, nil, duty, hours)
	readings := rowUnit(sample.Row{QueryType: datasets.Ambiguous, Term: "reset"}, nil, dock, login)
	first, second := "On call: "+duty.Text, "Offices: "+hours.Text
	for name, test := range map[string]struct {
		unit   generate.Unit
		client clientFunc
		want   string // reason
	}{
		"the difference is not named":         {nearUnit, asks("At what pressure does the pump shut its outlet?", "Pump P-20: The relief valve closes below six bar of pressure in the hose."), "names_term"},
		"the term is not used":                {rareUnit, asks("When is a bad unit taken off the road for good?", fleet.Text), "names_term"},
		"both forms of the term":              {rareUnit, asks("Which mean time between failures, MTBF, is too low?", fleet.Text), "names_term"},
		"no sentence with the term":           {rowUnit(sample.Row{QueryType: datasets.RareTerm, Term: "MTTR"}, nil, fleet), asks("What is the MTTR of a unit?"), "no_target"},
		"no sentence that changed":            {rowUnit(sample.Row{QueryType: datasets.TimeSensitive}, []corpus.Document{{ID: "x", Text: now.Text}}, now), asks("How long does it take?"), "no_target"},
		"not answered by both hops together":  {hops, asks("When can the people who fix the worst outages first be phoned?"), "answered"},
		"answered by the first hop alone":     {hops, asks("Who looks after the worst of all outages?", first+"\n"+second, first), "one_hop"},
		"answered by the second hop alone":    {hops, asks("When can one first phone the people of Lyon?", first+"\n"+second, second), "one_hop"},
		"only one reading":                    {readings, asks("how to reset", "Loading dock: "+dock.Text), "one_reading"},
		"a word that decides between them":    {readings, asks("reset password", "Loading dock: "+dock.Text, "Accounts: "+login.Text), "decided"},
		"an ambiguous query without the term": {readings, asks("start again", "Loading dock: "+dock.Text, "Accounts: "+login.Text), "names_term"},
		"answered where it was to sound like": {rowUnit(sample.Row{QueryType: datasets.OutOfScope}, nil, p20), asks("How often are the seals of the P-20 replaced?", p20.Text), "answered_in_source"},
		"a forbidden query that is not fit":   {rowUnit(sample.Row{QueryType: datasets.PermissionSensitive, Forbidden: true}, nil, hours), asks("From what time of day can one call Lyon?"), "answered"},
	} {
		t.Run(name, func(t *testing.T) {
			o := write(t, typed(t, test.unit.Row.QueryType, test.client), test.unit)
			if o.Reject == nil {
				t.Fatalf("kept: %+v", madeOf(o.Case))
			}
			if o.Reject.Reason != test.want {
				t.Errorf("reason %s (%s), want %s", o.Reject.Reason, o.Reject.Detail, test.want)
			}
		})
	}
}

// A reject says who would have asked, when, and how many calls it took; a case what
// its plan had for it.
func TestWhatIsKeptOfThePlan(t *testing.T) {
	may := time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC)
	staff := now
	staff.Scope = corpus.Scope{"team": {"people", "law"}}
	u := rowUnit(sample.Row{QueryType: datasets.TimeSensitive, AsOf: &may}, []corpus.Document{old}, staff)
	o := write(t, typed(t, datasets.TimeSensitive, asks("Where does one apply for time off for a child?")), u)
	if o.Reject == nil || o.Calls != 2 {
		t.Fatalf("%+v after %d calls", o.Case, o.Calls)
	}
	type asked struct {
		Scope corpus.Scope
		AsOf  *time.Time
		Calls int
	}
	if diff := cmp.Diff(asked{corpus.Scope{"team": {"people"}}, &may, 2}, asked{o.Reject.Scope, o.Reject.AsOf, o.Reject.Calls}); diff != "" {
		t.Errorf("reject (-want +got):\n%s", diff)
	}

	u = rowUnit(sample.Row{QueryType: datasets.RareTerm, Term: "mean time between failures", OtherForm: "MTBF"}, nil, fleet)
	o = write(t, typed(t, datasets.RareTerm, asks("Which mean time between failures is too low to keep a unit?", fleet.Text)), u)
	if p := o.Case.Provenance; p.Term != "mean time between failures" || p.OtherForm != "MTBF" || p.Calls != o.Calls {
		t.Errorf("provenance %+v", p)
	}
	hops := rowUnit(sample.Row{QueryType: datasets.MultiHop, Link: sample.LinkNeighbour}, nil, duty, hours)
	o = write(t, typed(t, datasets.MultiHop, asks("When can the people who fix the worst outages first be phoned?", "On call: "+duty.Text+"\nOffices: "+hours.Text)), hops)
	if o.Case == nil || o.Case.Provenance.Link != "neighbour" {
		t.Errorf("a query over neighbours: %+v %+v", o.Case, o.Reject)
	}
	u.Row.Term, u.Row.OtherForm = "MTBF", ""
	if o = write(t, generate.NewBuiltin(statsOf(fleet.Text), 7), u); o.Case.Provenance.Term != "MTBF" {
		t.Errorf("provenance of a query without a model %+v", o.Case.Provenance)
	}
}

// The check of a two-hop query asks three times, with what it stands on.
func TestTwoHopsAreAskedThreeTimes(t *testing.T) {
	u := rowUnit(sample.Row{QueryType: datasets.MultiHop, Term: "Lyon"}, nil, duty, hours)
	o := write(t, typed(t, datasets.MultiHop, asks("When can the people who fix the worst outages first be phoned?", "On call: "+duty.Text+"\nOffices: "+hours.Text)), u)
	var proofs []datasets.Check
	for _, c := range o.Case.Checks {
		if c.Name == "answered" || c.Name == "needs_both" {
			proofs = append(proofs, c)
		}
	}
	want := []datasets.Check{{Name: "answered", Passed: true, Value: .95}, {Name: "needs_both", Passed: true, Value: .05}, {Name: "needs_both", Passed: true, Value: .05}}
	if diff := cmp.Diff(want, proofs); diff != "" || o.Calls != 4 {
		t.Errorf("%d calls, proofs (-want +got):\n%s", o.Calls, diff)
	}
}

// Without a model, the types that terms can make are made, and both halves of a
// pair ask the same; the others are refused by name.
func TestBuiltinWritesTypes(t *testing.T) {
	stats := statsOf(p20.Text, p30.Text, old.Text, now.Text, duty.Text, hours.Text, dock.Text, login.Text, fleet.Text)
	b := generate.NewBuiltin(stats, 7)
	may := time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		unit generate.Unit
		says string // part of the query; of the detail, where it is refused
	}{
		"near_duplicate": {rowUnit(sample.Row{QueryType: datasets.NearDuplicate, Term: "P-20"}, []corpus.Document{p30}, p20), "P-20"},
		"rare_term":      {rowUnit(sample.Row{QueryType: datasets.RareTerm, Term: "MTBF"}, nil, fleet), "MTBF"},
		"time_sensitive": {rowUnit(sample.Row{QueryType: datasets.TimeSensitive, AsOf: &may}, []corpus.Document{old}, now), "?"},
		"ambiguous":      {rowUnit(sample.Row{QueryType: datasets.Ambiguous, Term: "reset"}, nil, dock, login), "reset"},
		"multi_hop":      {rowUnit(sample.Row{QueryType: datasets.MultiHop}, nil, duty, hours), "a query of type multi_hop cannot be made without a model"},
		"out_of_scope":   {rowUnit(sample.Row{QueryType: datasets.OutOfScope}, nil, p20), "a query of type out_of_scope cannot be made without a model"},
	} {
		t.Run(name, func(t *testing.T) {
			o := write(t, b, test.unit)
			if o.Reject != nil {
				contains(t, o.Reject.Detail, test.says)
				return
			}
			contains(t, o.Case.Query, test.says)
		})
	}
	allowed := rowUnit(sample.Row{QueryType: datasets.PermissionSensitive, Group: "g"}, nil, hours)
	forbidden := rowUnit(sample.Row{QueryType: datasets.PermissionSensitive, Group: "g", Slot: 1, Forbidden: true}, nil, hours)
	forbidden.Row.CaseID = "c2"
	allowed.Row.Style, forbidden.Row.Style = sample.NoiseNoisy, sample.NoiseNoisy
	one, two := write(t, b, allowed), write(t, b, forbidden)
	if one.Case == nil || two.Case == nil || one.Case.Query != two.Case.Query {
		t.Errorf("the halves of a pair differ: %+v and %+v", one, two)
	}
}

// A plan is asked with the prompts of its types, and these are pinned.
func TestPromptsOfTypes(t *testing.T) {
	m := typed(t, datasets.Ambiguous, says("", 0))
	for _, want := range []string{"write-factual@4", "write-ambiguous@3", "check-reading@1"} {
		if m.Prompts()[want] == "" {
			t.Errorf("prompt %s is not pinned: %v", want, m.Prompts())
		}
	}
	if m.Prompts()["write-multi_hop@3"] != "" {
		t.Error("a prompt of another type is pinned")
	}
}
