package generate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/sample"
)

// A case's style is the one that its query has.
func TestStyleOfACaseIsWhatWasGiven(t *testing.T) {
	const (
		question = "When do people have to change the worn rings?"
		trouble  = "I am stuck as the rings are worn and leak on the floor"
		words    = "worn sealing rings change"
		long     = "I run a night shift on my own and would like to know when worn rings are due for a change"
	)
	for _, test := range []struct{ language, asked, query, want string }{
		{"en", "plain", question, "plain"},
		{"en", "question,medium,clean", question, "question,medium,clean"},
		{"en", "question,medium,noisy", question, "question,medium,noisy"},
		{"en", "command,clean", question, "question,clean"},
		{"en", "command", trouble, "command"},
		{"en", "problem,as new hire", trouble, "problem,as new hire"},
		{"en", "problem,short", "Can't turn off the worn pump", "problem,short"},
		{"en", "question,short", trouble, "problem,medium"},
		{"en", "keywords,short,clean", words, "keywords,short,clean"},
		{"en", "question", words, "keywords"},
		{"en", "keywords,short", long, "long"},
		{"en", "keywords", long, "plain"},
		{"en", "medium", long, "long"},
		{"de", "command,short", "Wann werden abgenutzte Ringe gewechselt?", "question,short"},
		{"zh", "command,short", "什么时候更换磨损的密封圈", "question,short"},
	} {
		u := whole("d", pumpText, datasets.Factual)
		u.Row.Style, u.Row.Language = test.asked, test.language
		o := write(t, newModel(t, says(fmt.Sprintf(`{"question":%q}`, test.query), .9), options(), pumpText), u)
		if o.Case == nil {
			t.Errorf("%q was rejected: %+v", test.query, o.Reject)
		} else if o.Case.Style != test.want {
			t.Errorf("%q, asked for in the style %s, has %s, want %s", test.query, test.asked, o.Case.Style, test.want)
		}
	}
}

// What a model did not give is named by style. Types that are told no style do not
// count.
func TestStylesThatWereNotGivenAreAShortfall(t *testing.T) {
	styles := []string{"command,short", "command,short", "keywords,short", "question,long"}
	l := newLibrary(4, 0)
	for i := range l.plan {
		l.plan[i].Style = styles[i/2]
		if l.plan[i].QueryType == datasets.Keyword {
			l.plan[i].Style = sample.FormProblem
		}
	}
	client := clientFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		name := nameIn.FindString(user(req))
		reply := `{"question":"Who grinds with ` + name + ` at dawn?"}`
		if strings.Contains(string(req.Schema), "keywords") {
			reply = `{"keywords":["` + name + `","miller"]}`
		}
		return says(reply, .9)(ctx, req)
	})
	_, summary, err := generate.Run(t.Context(), l.plan, l.fetch, newModel(t, client, options(), l.texts()...), generate.Options{Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := []datasets.Shortfall{
		{Stratum: "style=keywords", Wanted: 1, Got: 0, Reason: "asked for in this style and written in another: question 1"},
		{Stratum: "style=command", Wanted: 2, Got: 0, Reason: "asked for in this style and written in another: question 2"},
		{Stratum: "style=long", Wanted: 1, Got: 0, Reason: "asked for in this style and written in another: short 1"},
	}
	if diff := cmp.Diff(want, summary.Shortfall); diff != "" {
		t.Errorf("shortfall (-want +got):\n%s", diff)
	}
}
