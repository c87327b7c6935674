package pipeline_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/retrieve"
)

// TestServiceOverHTTP asks a service as goldgen.yaml says, six queries at once:
// scope and filters are sent, what comes back is judged, hidden chunks included,
// and no secret is kept.
func TestServiceOverHTTP(t *testing.T) {
	b := newBench(t, everyField)
	var mu sync.Mutex
	asked := map[string]retrieve.Query{}
	now, most := 0, 0
	six := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var q retrieve.Query
		if err := json.NewDecoder(req.Body).Decode(&q); err != nil || req.Header.Get("X-Token") != "s3cret" {
			http.Error(w, fmt.Sprint(err), http.StatusForbidden)
			return
		}
		mu.Lock()
		asked[q.ID] = q
		if now++; now == 6 && most < 6 {
			close(six)
		}
		most = max(most, now)
		mu.Unlock()
		<-six
		fmt.Fprintf(w, `{"id": %q, "hits": [{"chunk_id": "d37", "score": 3}, {"chunk_id": "d02", "score": 2}]}`, q.ID)
		mu.Lock()
		now--
		mu.Unlock()
	}))
	defer s.Close()
	b.Getenv = func(name string) string { return map[string]string{"SEARCH_TOKEN": "s3cret"}[name] }
	b.configure(t, fmt.Sprintf("{kind: http, url: %s, concurrency: 6, headers: {X-Token: \"${SEARCH_TOKEN}\"}}", s.URL))

	e := b.score(t, "mine", pipeline.EvalOptions{K: []int{2}})
	if most != 6 || len(asked) != benchCases {
		t.Errorf("%d queries, at most %d at once, want %d and 6", len(asked), most, benchCases)
	}
	leaks := map[string]int{}
	for _, l := range e.Result.Leaks {
		leaks[l.Kind+" "+l.Chunk]++
	}
	if diff := cmp.Diff(map[string]int{"scope d37": benchCases, "forbidden d02": 1}, leaks); diff != "" {
		t.Errorf("leaks (-want +got):\n%s", diff)
	}
	sent := 0
	set, err := b.Store().Load("records")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range set.Cases {
		q := asked[c.ID]
		if diff := cmp.Diff([]any{len(c.Scope), len(c.Filters)}, []any{len(q.Scope), len(q.Filters)}); diff != "" {
			t.Errorf("%s: scope and filters (-case +sent):\n%s", c.ID, diff)
		}
		sent += len(q.Filters)
	}
	if sent == 0 {
		t.Error("no case has a filter")
	}
	noSecret(t, b.Dir)
}

// configure gives the project a retriever called mine.
func (b *bench) configure(t *testing.T, text string) {
	t.Helper()
	if err := yaml.Unmarshal([]byte("mine: "+text), &b.Config.Retrievers); err != nil {
		t.Fatal(err)
	}
}

// noSecret reads every file of a project.
func noSecret(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "s3cret") {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
