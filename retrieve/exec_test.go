//go:build unix

package retrieve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/retrieve/retrievetest"
)

// programMode makes this test binary the program that exec asks.
const programMode = "GOLDGEN_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if mode := os.Getenv(programMode); mode != "" {
		run := serve
		if mode == mcpMode {
			run = func(string) error { return serveMCP() }
		}
		if err := run(mode); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve answers queries: with BM25 over the test corpus, or with the lines that
// the query's text is, %s standing for its id.
func serve(mode string) error {
	var r retrieve.Retriever
	if mode == "bm25" {
		chunks, err := retrievetest.Corpus()
		if err != nil {
			return err
		}
		if r, err = retrieve.NewBM25(retrievetest.Stream(chunks), retrieve.DefaultBM25()); err != nil {
			return err
		}
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var q retrieve.Query
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		if r == nil {
			say(q)
			continue
		}
		if err := json.NewEncoder(os.Stdout).Encode(answerWith(r, q)); err != nil {
			return err
		}
	}
	return nil
}

func say(q retrieve.Query) {
	switch {
	case strings.HasPrefix(q.Text, "exit "):
		fmt.Fprintln(os.Stderr, "index is gone")
		code, _ := strconv.Atoi(strings.TrimPrefix(q.Text, "exit "))
		os.Exit(code)
	case strings.HasPrefix(q.Text, "start "):
		child := exec.Command("sleep", "600")
		fifo, _ := os.OpenFile(strings.TrimPrefix(q.Text, "start "), os.O_WRONLY, 0)
		child.Stdout = fifo
		_ = child.Start()
		fmt.Printf("{\"id\":%q,\"hits\":[]}\n", q.ID)
	case q.Text != "silent":
		fmt.Println(strings.ReplaceAll(q.Text, "%s", q.ID))
	}
}

func startExec(t *testing.T, mode string, timeout time.Duration) *retrieve.Exec {
	t.Helper()
	t.Setenv(programMode, mode)
	e, err := retrieve.NewExec(`"`+os.Args[0]+`"`, retrieve.ExecConfig{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestExecConformance(t *testing.T) {
	retrievetest.TestRetriever(t, startExec(t, "bm25", time.Minute), testCorpus(t))
}

func TestExecSendsTheContract(t *testing.T) {
	path := filepath.Join(t.TempDir(), "asked")
	e, err := retrieve.NewExec(`sh -c 'head -n 1 > "$0"; echo "{\"id\":\"q1\",\"hits\":[]}"; cat' `+path, retrieve.DefaultExec())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Retrieve(t.Context(), retrieve.Query{ID: "q1", Text: "kiln & <room>", K: 7}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"q1","query":"kiln & <room>","k":7,"scope":{},"filters":[]}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestExecAnswers(t *testing.T) {
	e := startExec(t, "say", time.Minute)
	for name, tc := range map[string]struct {
		line string
		want retrieve.Result
	}{
		"chunks and spans": {
			`{"id":"%s","hits":[{"chunk_id":"a","score":2},{"doc_id":"d","start":3,"end":9,"score":1},{"doc_id":"e","score":0}],"more":1}`,
			retrieve.Result{Hits: []retrieve.Hit{{ChunkID: "a", Score: 2}, {DocID: "d", Start: 3, End: 9, Score: 1}, {DocID: "e"}}},
		},
		"chunks with their spans, usable or not": {
			`{"id":"%s","hits":[{"chunk_id":"a","doc_id":"d","start":3,"end":9,"score":2},{"chunk_id":"a","doc_id":"d","start":9,"end":12,"score":1},{"chunk_id":"b","doc_id":"d","start":9,"end":3,"score":0}]}`,
			retrieve.Result{
				Hits:    []retrieve.Hit{{ChunkID: "a", DocID: "d", Start: 3, End: 9, Score: 2}, {ChunkID: "b", DocID: "d"}},
				Notices: retrieve.Notices{Duplicates: 1},
			},
		},
		"none": {`{"id":"%s","hits":[]}`, retrieve.Result{Hits: []retrieve.Hit{}}},
		"repeated, rising, too many": {
			`{"id":"%s","hits":[{"chunk_id":"a","score":1},{"chunk_id":"a","score":5},{"chunk_id":"b","score":3},{"chunk_id":"c","score":2},{"chunk_id":"d","score":1}]}`,
			retrieve.Result{
				Hits:    []retrieve.Hit{{ChunkID: "a", Score: 1}, {ChunkID: "b", Score: 3}, {ChunkID: "c", Score: 2}},
				Notices: retrieve.Notices{Duplicates: 1, Cut: 1, NonMonotone: 1},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := e.Retrieve(t.Context(), retrieve.Query{ID: "q-" + name, Text: tc.line, K: 3})
			if err != nil {
				t.Fatal(err)
			}
			if got.Took <= 0 {
				t.Errorf("took %v", got.Took)
			}
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(retrieve.Result{}, "Took")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each bad answer fails its own query, by name, and the next one is answered.
func TestExecBadAnswers(t *testing.T) {
	e := startExec(t, "say", time.Minute)
	if _, err := e.Retrieve(t.Context(), retrieve.Query{ID: "before", Text: `{"id":"%s","hits":[]}`, K: 1}); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		`garbage`:                     `answer "garbage": invalid character 'g' looking for beginning of value`,
		`<html><body>502 Bad Gateway`: `answer "<html><body>502 Bad Gateway": invalid character '<' looking for beginning of value`,
		`{"id":"%s","hits":[{"chunk_id":"a","score":NaN}]}`: `answer "{\"id\":\"q\",\"hits\":[{\"chunk_id\":\"a\",\"score\":NaN}]}": invalid character 'N' looking for beginning of value`,
		`{"hits":[]}`:                           `answer "{\"hits\":[]}": has no id`,
		`{"id":"%s"}`:                           `answer has neither hits nor error`,
		`{"id":"%s","hits":null}`:               `answer has neither hits nor error`,
		`{"id":"%s","error":"no index"}`:        `the program says: "no index"`,
		`{"id":"someone","hits":[]}`:            `answered query "someone", which was not asked`,
		`{"id":"before","hits":[]}`:             `answered query "before" a second time`,
		`{"id":"%s","hits":[{"chunk_id":"a"}]}`: `hit 1: has no score`,
		`{"id":"%s","hits":[{"chunk_id":"a","score":1},{"score":1}]}`:     `hit 2: has neither chunk_id nor doc_id`,
		`{"id":"%s","hits":[{"doc_id":"d","start":9,"end":3,"score":1}]}`: `hit 1: document d: [9, 3) is no span`,
	} {
		_, err := e.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: line, K: 1})
		if err == nil || err.Error() != "query q: exec: "+want {
			t.Errorf("%s:\n got %v\nwant query q: exec: %s", line, err, want)
		}
	}
	if _, err := e.Retrieve(t.Context(), retrieve.Query{ID: "after", Text: `{"id":"%s","hits":[]}`, K: 1}); err != nil {
		t.Errorf("the next query: %v", err)
	}
}

// A late answer is dropped when it comes, and the query after it has its own.
func TestExecLateAnswer(t *testing.T) {
	e := startExec(t, "say", 300*time.Millisecond)
	_, err := e.Retrieve(t.Context(), retrieve.Query{ID: "slow", Text: "silent", K: 1})
	if err == nil || err.Error() != "query slow: exec: no answer in time (300ms)" {
		t.Fatalf("got %v", err)
	}
	both := `{"id":"slow","hits":[{"chunk_id":"late","score":1}]}` + "\n" + `{"id":"%s","hits":[{"chunk_id":"own","score":1}]}`
	got, err := e.Retrieve(t.Context(), retrieve.Query{ID: "next", Text: both, K: 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]retrieve.Hit{{ChunkID: "own", Score: 1}}, got.Hits); diff != "" {
		t.Error(diff)
	}
}

func TestExecThatHangs(t *testing.T) {
	e := startExec(t, "say", 10*time.Millisecond)
	var last error
	for i := range 4 {
		_, last = e.Retrieve(t.Context(), retrieve.Query{ID: fmt.Sprint("q", i), Text: "silent", K: 1})
	}
	want := "query q3: exec: not asked: the program let 3 queries in a row go without an answer"
	if last == nil || last.Error() != want {
		t.Errorf("got %v, want %s", last, want)
	}
}

func TestExecThatEnds(t *testing.T) {
	e := startExec(t, "say", time.Minute)
	want := `exec: the program has ended: exit status 4; its standard error ends in "index is gone"`
	for _, id := range []string{"q1", "q2"} {
		_, err := e.Retrieve(t.Context(), retrieve.Query{ID: id, Text: "exit 4", K: 1})
		if err == nil || err.Error() != "query "+id+": "+want {
			t.Errorf("got %v, want query %s: %s", err, id, want)
		}
	}
}

func TestExecCancelled(t *testing.T) {
	e := startExec(t, "say", time.Minute)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("interrupted")
	time.AfterFunc(20*time.Millisecond, func() { cancel(stop) })
	if _, err := e.Retrieve(ctx, retrieve.Query{ID: "q", Text: "silent", K: 1}); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// Close ends the program and what it started: the child holds a pipe open that
// ends with it.
func TestExecClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(path)
		ended <- err
	}()
	e := startExec(t, "say", time.Minute)
	if _, err := e.Retrieve(t.Context(), retrieve.Query{ID: "q", Text: "start " + path, K: 1}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the program's child still runs")
	}
	if _, err := e.Retrieve(t.Context(), retrieve.Query{ID: "q2", Text: "silent", K: 1}); err == nil {
		t.Error("a closed program has an answer")
	}
}

func TestExecCommands(t *testing.T) {
	for command, want := range map[string]string{
		"":                    `exec: "": no command`,
		`a "b`:                `exec: "a \"b": `,
		"goldgen-none --help": `exec goldgen-none: exec: "goldgen-none": executable file not found in $PATH`,
	} {
		_, err := retrieve.NewExec(command, retrieve.DefaultExec())
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", command, err, want)
		}
	}
}
