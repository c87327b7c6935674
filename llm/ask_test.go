package llm_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
)

// usableFrom answers JSON from attempt n on, and prose before.
func usableFrom(n int) *llmtest.Model {
	return &llmtest.Model{Handler: func(r llm.Request) llm.Reply {
		if r.Attempt < n {
			return llm.Reply{Text: "Sure! Here it is", PromptTokens: 10, OutputTokens: 4}
		}
		return llm.Reply{Text: fmt.Sprintf(`{"attempt":%d}`, r.Attempt), PromptTokens: 10, OutputTokens: 4}
	}}
}

func parseAttempt(r llm.Reply) (int, error) {
	v, err := llm.ParseJSON[struct{ Attempt int }](r, nil)
	return v.Attempt, err
}

func TestAskUsesFurtherAttempts(t *testing.T) {
	for _, usable := range []int{0, 1, 2} {
		fake := usableFrom(usable)
		got, asked, err := llm.AskWith(t.Context(), fake, request("q"), parseAttempt, llm.AskOptions{})
		if err != nil || got != usable {
			t.Errorf("usable from %d: got %d, %v", usable, got, err)
		}
		want := llm.Asked{Attempts: usable + 1, Made: usable + 1, TokensIn: 10 * (usable + 1), TokensOut: 4 * (usable + 1)}
		asked.Reply = llm.Reply{}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Error(diff)
		}
		for i, r := range fake.Requests() {
			if r.Attempt != i || r.Options.Seed != request("q").Options.Seed+int64(i) {
				t.Errorf("call %d has attempt %d and seed %d", i, r.Attempt, r.Options.Seed)
			}
		}
	}
}

func TestAskGivesUpAndSaysWhy(t *testing.T) {
	fake := usableFrom(100)
	_, asked, err := llm.AskWith(t.Context(), fake, request("q"), parseAttempt, llm.AskOptions{})
	unusable, ok := errors.AsType[*llm.Unusable](err)
	if !ok || unusable.Attempts != 3 || !errors.Is(err, llm.KindNotJSON) || asked.Attempts != 3 {
		t.Errorf("error %v after %d attempts, want unusable, not JSON, 3", err, asked.Attempts)
	}
	if llm.EndsRun(err) {
		t.Error("an unusable reply ends the run")
	}
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Model != "m" {
		t.Errorf("error %v does not name the model", err)
	}
}

// A later run repeats what is in the cache, also what --retry-unknown found.
func TestAskIsStableOverRuns(t *testing.T) {
	fake := usableFrom(4)
	path := filepath.Join(t.TempDir(), "cache.db")
	run := func(retry bool) (string, int) {
		cache, err := llm.OpenCache(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer cache.Close()
		before := len(fake.Requests())
		got, _, err := llm.AskWith(t.Context(), llm.Cached(fake, cache), request("q"), parseAttempt, llm.AskOptions{RetryUnknown: retry})
		return fmt.Sprint(got, " ", llm.KindOf(err)), len(fake.Requests()) - before
	}
	type result struct {
		Result string
		Calls  int
	}
	var got []result
	for _, retry := range []bool{false, false, true, false, true} {
		r, calls := run(retry)
		got = append(got, result{r, calls})
	}
	want := []result{{"0 not json", 3}, {"0 not json", 0}, {"4 ", 2}, {"4 ", 0}, {"4 ", 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ordinary, ordinary, retry, ordinary, retry:\n%s", diff)
	}
}

func TestRetryUnknownMakesThreeNewAttemptsEachTime(t *testing.T) {
	fake := usableFrom(100)
	client := llm.Cached(fake, openCache(t, cachePath(t)))
	var made []int
	for _, retry := range []bool{false, true, true, false} {
		_, asked, err := llm.AskWith(t.Context(), client, request("q"), parseAttempt, llm.AskOptions{RetryUnknown: retry})
		if !errors.Is(err, llm.KindNotJSON) {
			t.Fatal(err)
		}
		made = append(made, asked.Made)
	}
	if diff := cmp.Diff([]int{3, 3, 3, 0}, made); diff != "" {
		t.Error(diff)
	}
}

func TestRetryUnknownWithoutCache(t *testing.T) {
	fake := usableFrom(5)
	got, asked, err := llm.AskWith(t.Context(), fake, request("q"), parseAttempt, llm.AskOptions{RetryUnknown: true})
	if err != nil || got != 5 || asked.Made != 6 {
		t.Errorf("got %d after %d calls, %v", got, asked.Made, err)
	}
}

func TestAskEndsWithAFailedCall(t *testing.T) {
	server := llmtest.NewOllama(llmtest.Config{})
	defer server.Close()
	server.FailNext(llmtest.Status(400, "the input length exceeds the context length"))
	req := request("q")
	req.Model.Name = "fake-chat"
	_, asked, err := llm.AskWith(t.Context(), ollamaClient(t, server.URL, -1), req, parseAttempt, llm.AskOptions{})
	if !errors.Is(err, llm.KindPromptTooLong) || asked.Attempts != 0 {
		t.Errorf("error %v, %d attempts", err, asked.Attempts)
	}
	if _, ok := errors.AsType[*llm.Unusable](err); ok {
		t.Error("a failed call is told as an unusable reply")
	}
}

func ExampleAskWith() {
	client := &llmtest.Model{Handler: func(llm.Request) llm.Reply { return llm.Reply{Text: `{"query":"how deep is the lake?"}`} }}
	type answer struct{ Query string }
	req := llm.Request{
		Model:    llm.Model{Provider: "ollama", Name: "llama3.1:8b"},
		Messages: []llm.Message{{Role: "user", Content: "Write a query."}},
		Options:  llm.Options{NumCtx: 4096, NumPredict: 100},
	}
	got, asked, err := llm.AskWith(context.Background(), client, req, func(r llm.Reply) (answer, error) {
		return llm.ParseJSON[answer](r, []byte(`{"type":"object","properties":{"query":{"type":"string"}}}`))
	}, llm.AskOptions{})
	fmt.Println(got.Query, asked.Attempts, err)
	// Output: how deep is the lake? 1 <nil>
}
