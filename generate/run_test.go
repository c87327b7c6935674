package generate_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/sample"
)

// library is a corpus of small documents, each a chunk, with a plan over it.
type library struct {
	docs map[string]corpus.Document
	plan []sample.Row
}

func newLibrary(n, reserves int) library {
	l := library{docs: map[string]corpus.Document{}}
	for i := range n + reserves {
		name := fmt.Sprintf("q%c%c", 'a'+i/24, 'a'+i%24)
		id := "doc-" + name
		l.docs[id] = corpus.Document{ID: id, Title: "Machine " + name, Text: fmt.Sprintf(
			"Machine %s grinds the coarse barley of mill %s into flour every single morning.\n\nOperators of %s clean the rollers with alcohol after each working shift of grinding.\n", name, name, name)}
		for _, queryType := range []string{"factual", "keyword"} {
			l.plan = append(l.plan, sample.Row{
				CaseID: id + "/" + queryType, ChunkIDs: []string{id + "#0"}, DocIDs: []string{id},
				QueryType: queryType, Stratum: "all", Reserve: i >= n,
			})
		}
	}
	return l
}

func (l library) texts() []string {
	var list []string
	for _, d := range l.docs {
		list = append(list, d.Text)
	}
	return list
}

func (l library) fetch(_ context.Context, row sample.Row) (generate.Unit, error) {
	u := unit(l.docs[row.DocIDs[0]], 0, len(l.docs[row.DocIDs[0]].Text), row.QueryType, row.Slot)
	u.Row = row
	return u, nil
}

// nameIn finds which machine a prompt is about.
var nameIn = regexp.MustCompile(`\bq[a-x]{2}\b`)

// miller is a fake model whose answers depend on the request alone: some of its
// queries repeat each other, some of its checks say no.
func miller(_ context.Context, req llm.Request) (llm.Reply, error) {
	h := fnv.New32a()
	for _, m := range req.Messages {
		h.Write([]byte(m.Content))
	}
	n := h.Sum32() % 7
	if req.Schema == nil {
		return yesNo(math.Min(.95, .2+float64(n)/7)), nil
	}
	if strings.Contains(string(req.Schema), "keywords") {
		return llm.Reply{Text: fmt.Sprintf(`{"keywords":["miller","topic%d"]}`, n*31)}, nil
	}
	return llm.Reply{Text: fmt.Sprintf(`{"question":"Which apparatus turns grain number %d to powder at dawn?"}`, n)}, nil
}

func TestRunDoesNotDependOnConcurrencyOrArrival(t *testing.T) {
	l := newLibrary(20, 20)
	type result struct {
		Records []generate.Record
		Summary generate.Summary
	}
	run := func(concurrency int) result {
		var arrived atomic.Int64
		client := clientFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			for range (arrived.Add(1) * 7919) % 50 { // let others overtake, each time another number
				runtime.Gosched()
			}
			return miller(ctx, req)
		})
		records, sum, err := generate.Run(context.Background(), l.plan, l.fetch, newModel(t, client, options(), l.texts()...),
			generate.Options{Concurrency: concurrency, Spare: generate.DefaultSpare})
		if err != nil {
			t.Fatal(err)
		}
		return result{records, sum}
	}
	want := run(1)
	if want.Summary.Accepted == 0 || want.Summary.Reasons["near_duplicate"] == 0 || want.Summary.Reasons["answered"] == 0 {
		t.Fatalf("the fake does not exercise selection: %+v", want.Summary)
	}
	for _, n := range []int{2, 5, 16} {
		if diff := cmp.Diff(want, run(n)); diff != "" {
			t.Errorf("concurrency %d (-1 +%d):\n%s", n, n, diff)
		}
	}
}

// One failed call among many: all others are kept, and the one is named.
func TestOneFailedCall(t *testing.T) {
	l := newLibrary(40, 0)
	client := clientFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if req.Schema == nil {
			return yesNo(.9), nil
		}
		content := user(req)
		name := nameIn.FindString(content)
		if name == "qbc" && strings.Contains(string(req.Schema), "keywords") {
			return llm.Reply{}, &llm.Error{Kind: llm.KindServerError, Status: 500, Detail: "runner died"}
		}
		if strings.Contains(string(req.Schema), "keywords") {
			return llm.Reply{Text: fmt.Sprintf(`{"keywords":["%s","grinder"]}`, name)}, nil
		}
		return llm.Reply{Text: fmt.Sprintf(`{"question":"What makes powder from grain at %s each day?"}`, name)}, nil
	})
	records, sum, err := generate.Run(context.Background(), l.plan, l.fetch, newModel(t, client, options(), l.texts()...), generate.Options{Concurrency: 4})
	if err != nil {
		t.Fatal(err)
	}
	if sum.Accepted != len(l.plan)-1 || sum.Reasons[generate.ReasonCallFailed] != 1 {
		t.Errorf("%+v", sum)
	}
	for _, r := range records {
		if r.Reject != nil && (r.Reject.CaseID != "doc-qbc/keyword" || !strings.Contains(r.Reject.Detail, "runner died")) {
			t.Errorf("rejected %+v", r.Reject)
		}
	}
}

// replaying keeps replies as the cache does: failed calls are not kept.
func replaying(client llm.Client, made *[]string) llm.Client {
	replies := map[string]llm.Reply{}
	return clientFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if r, ok := replies[req.Key()]; ok {
			return r, nil
		}
		*made = append(*made, user(req))
		r, err := client.Complete(ctx, req)
		if err == nil {
			replies[req.Key()] = r
		}
		return r, err
	})
}

// Items that failed are asked again by the next run, and nothing else is.
func TestRunAgainAsksOnlyWhatFailed(t *testing.T) {
	l := newLibrary(8, 0)
	failing := true
	var asked []string
	client := replaying(clientFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		content := user(req)
		if failing && req.Schema != nil && (nameIn.FindString(content) == "qac" || nameIn.FindString(content) == "qaf") {
			return llm.Reply{}, &llm.Error{Kind: llm.KindServerGone}
		}
		if req.Schema == nil {
			return yesNo(.9), nil
		}
		name := nameIn.FindString(content)
		return llm.Reply{Text: fmt.Sprintf(`{"question":"What makes powder from grain at %s each day?"}`, name)}, nil
	}), &asked)
	var plan []sample.Row
	for _, r := range l.plan {
		if r.QueryType == "factual" {
			plan = append(plan, r)
		}
	}
	run := func() generate.Summary {
		_, sum, err := generate.Run(context.Background(), plan, l.fetch, newModel(t, client, options(), l.texts()...), generate.Options{Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	if sum := run(); sum.Accepted != 6 || sum.Rejected != 2 {
		t.Fatalf("first run: %+v", sum)
	}
	failing, asked = false, nil
	if sum := run(); sum.Accepted != 8 {
		t.Errorf("second run: %+v", sum)
	}
	for _, content := range asked {
		if nameIn.FindString(content) != "qac" && nameIn.FindString(content) != "qaf" {
			t.Errorf("asked again: %q", content)
		}
	}
	if len(asked) != 4 {
		t.Errorf("%d calls in the second run, want 2 queries and 2 checks", len(asked))
	}
}

func TestRunEnds(t *testing.T) {
	l := newLibrary(10, 0)
	fatal := &llm.Error{Kind: llm.KindAuth}
	client := clientFunc(func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{}, fatal })
	_, _, err := generate.Run(context.Background(), l.plan, l.fetch, newModel(t, client, options()), generate.Options{Concurrency: 3})
	if !errors.Is(err, llm.KindAuth) {
		t.Errorf("got %v, want the writer's error", err)
	}
	missing := errors.New("no such chunk")
	fetch := func(context.Context, sample.Row) (generate.Unit, error) { return generate.Unit{}, missing }
	if _, _, err := generate.Run(context.Background(), l.plan, fetch, generate.NewBuiltin(statsOf(), 1), generate.Options{Concurrency: 3}); !errors.Is(err, missing) {
		t.Errorf("got %v, want fetch's error", err)
	}
}

// A server that answers nothing is no reason for a set without cases.
func TestRunEndsWhenEveryCallFails(t *testing.T) {
	l := newLibrary(10, 10)
	client := clientFunc(func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{}, &llm.Error{Kind: llm.KindServerError, Status: 500, Detail: "runner died"}
	})
	_, _, err := generate.Run(context.Background(), l.plan, l.fetch, newModel(t, client, options(), l.texts()...), generate.Options{Concurrency: 3})
	if err == nil || !strings.Contains(err.Error(), "every call failed") || !strings.Contains(err.Error(), "runner died") {
		t.Errorf("error %v, want one that says that every call failed, and how", err)
	}
}

func TestRunCancelledBeforeItBegins(t *testing.T) {
	l := newLibrary(3, 0)
	stop := errors.New("stopped by the user")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(stop)
	if _, _, err := generate.Run(ctx, l.plan, l.fetch, generate.NewBuiltin(statsOf(), 1), generate.Options{Concurrency: 2}); !errors.Is(err, stop) {
		t.Errorf("got %v, want the cause", err)
	}
}

// The calls of a chunk follow each other: all writing prompts, then the checks.
func TestCallsOfAChunkAreBackToBack(t *testing.T) {
	l := newLibrary(5, 0)
	// A plan in which a chunk's rows do not follow each other.
	var plan []sample.Row
	for _, queryType := range []string{"factual", "keyword"} {
		for _, r := range l.plan {
			if r.QueryType == queryType {
				plan = append(plan, r)
			}
		}
	}
	var order []string
	client := clientFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		content := user(req)
		kind := "write "
		if req.Schema == nil {
			kind = "check "
		}
		order = append(order, kind+nameIn.FindString(content))
		return miller(ctx, req)
	})
	if _, _, err := generate.Run(context.Background(), plan, l.fetch, newModel(t, client, options(), l.texts()...), generate.Options{Concurrency: 1}); err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(order); i++ {
		if strings.HasPrefix(order[i], "write") && !strings.HasPrefix(order[i+1], "write") && order[i+1][6:] != order[i][6:] {
			t.Errorf("%q is followed by %q", order[i], order[i+1])
		}
	}
	if order[0] != "write qaa" || order[1] != "write qaa" {
		t.Errorf("calls begin %q", order[:4])
	}
}

func TestProgressCounts(t *testing.T) {
	l := newLibrary(6, 6)
	var last generate.Progress
	_, sum, err := generate.Run(context.Background(), l.plan, l.fetch, generate.NewBuiltin(statsOf(l.texts()...), 1),
		generate.Options{Concurrency: 3, Progress: func(p generate.Progress) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	if last.Done != sum.Asked || last.Asked != sum.Asked || last.Calls != 0 {
		t.Errorf("progress %+v, summary %+v", last, sum)
	}
}

func TestOptionsValidate(t *testing.T) {
	for want, o := range map[string]generate.Options{"concurrency": {}, "spare": {Concurrency: 1, Spare: 2}} {
		if _, _, err := generate.Run(context.Background(), nil, nil, nil, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
}
