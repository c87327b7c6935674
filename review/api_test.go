package review_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/review"
)

// asked is one call of the API: its status and the answer's JSON.
func asked(t *testing.T, d review.Desk, method, path, kind, body string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	w := httptest.NewRecorder()
	review.API(d).ServeHTTP(w, r)
	data, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil && w.Code == http.StatusOK {
		out = map[string]any{"list": string(data)}
	}
	return w.Code, out
}

func TestEveryPathAnswersItsPart(t *testing.T) {
	const plain = "application/json"
	s := seat(t, t.TempDir(), threeCases(), fivePairs, func(o *review.Setting) { o.Work.Check = gate })
	for _, call := range []struct {
		method, path, body string
		keys               []string // of the answer, some of them
	}{
		{"GET", "/api/session", "", []string{"set", "reviewer", "total", "grades", "interval"}},
		{"GET", "/api/items/1", "", []string{"n", "query", "text", "passage", "evidence", "label", "revealed"}},
		{"GET", "/api/items/1/text?start=2&end=6", "", []string{"text", "text_start", "document_bytes"}},
		{"GET", "/api/items?from=1&limit=2", "", []string{"list"}},
		{"POST", "/api/items/0/label", `{"grade":2,"label":"","skip":false}`, []string{"item", "session", "next"}},
		{"POST", "/api/undo", `{}`, []string{"item", "session"}},
		{"POST", "/api/cases/c0/query", `{"query":"asked better"}`, []string{"kept", "checks", "item"}},
		{"GET", "/api/cases/c0/search?q=number", "", []string{"list"}},
		{"POST", "/api/cases/c0/add", `{"chunk_id":"d5","grade":1}`, []string{"item", "session"}},
		{"POST", "/api/cases/c1/reject", `{"reason":"nonsense"}`, []string{"item", "session", "next"}},
	} {
		kind := ""
		if call.method == "POST" {
			kind = plain + "; charset=utf-8"
		}
		status, answer := asked(t, s, call.method, call.path, kind, call.body)
		if status != http.StatusOK {
			t.Errorf("%s %s: %d %v", call.method, call.path, status, answer)
		}
		for _, key := range call.keys {
			if _, ok := answer[key]; !ok {
				t.Errorf("%s %s: no %s in %v", call.method, call.path, key, answer)
			}
		}
	}
}

func TestWhatTheAPIRefuses(t *testing.T) {
	const plain = "application/json"
	s := seat(t, t.TempDir(), threeCases(), fivePairs, nil)
	for name, test := range map[string]struct {
		method, path, kind, body string
		status                   int
	}{
		"no such item":          {"GET", "/api/items/5", "", "", http.StatusNotFound},
		"an item of no number":  {"GET", "/api/items/x", "", "", http.StatusBadRequest},
		"a negative item":       {"GET", "/api/items/-1", "", "", http.StatusBadRequest},
		"a limit of no number":  {"GET", "/api/items?limit=many", "", "", http.StatusBadRequest},
		"no such case":          {"GET", "/api/cases/c9/search?q=x", "", "", http.StatusNotFound},
		"a label by GET":        {"GET", "/api/items/0/label", "", "", http.StatusMethodNotAllowed},
		"no such path":          {"GET", "/api/nothing", "", "", http.StatusNotFound},
		"a form":                {"POST", "/api/items/0/label", "application/x-www-form-urlencoded", "grade=2", http.StatusUnsupportedMediaType},
		"plain text":            {"POST", "/api/items/0/label", "text/plain", `{"grade":2}`, http.StatusUnsupportedMediaType},
		"no type":               {"POST", "/api/undo", "", `{}`, http.StatusUnsupportedMediaType},
		"no JSON":               {"POST", "/api/items/0/label", plain, `grade 2`, http.StatusBadRequest},
		"cut JSON":              {"POST", "/api/items/0/label", plain, `{"grade":2`, http.StatusBadRequest},
		"an unknown key":        {"POST", "/api/items/0/label", plain, `{"grade":2,"rank":1}`, http.StatusBadRequest},
		"two values":            {"POST", "/api/items/0/label", plain, `{"grade":2}{"grade":3}`, http.StatusBadRequest},
		"a skip with a grade":   {"POST", "/api/items/0/label", plain, `{"grade":1,"skip":true}`, http.StatusBadRequest},
		"a skip with a label":   {"POST", "/api/items/0/label", plain, `{"label":"stale","skip":true}`, http.StatusBadRequest},
		"a grade in words":      {"POST", "/api/items/0/label", plain, `{"grade":"two"}`, http.StatusBadRequest},
		"a body that is large":  {"POST", "/api/cases/c0/query", plain, `{"query":"` + strings.Repeat("x", 70<<10) + `"}`, http.StatusRequestEntityTooLarge},
		"nothing to undo":       {"POST", "/api/undo", plain, `{}`, http.StatusConflict},
		"nothing to finish":     {"POST", "/api/finish", plain, `{}`, http.StatusNotImplemented},
		"a query without gates": {"POST", "/api/cases/c0/query", plain, `{"query":"asked better"}`, http.StatusNotImplemented},
	} {
		t.Run(name, func(t *testing.T) {
			status, answer := asked(t, s, test.method, test.path, test.kind, test.body)
			if status != test.status {
				t.Errorf("status %d, want %d: %v", status, test.status, answer)
			}
			if answer["error"] == "" {
				t.Error("no word of why")
			}
		})
	}
	if n := s.Session(); n.Labelled != 0 {
		t.Errorf("something was labelled: %+v", n)
	}
}

func TestATextBeyondTheEndIsEmpty(t *testing.T) {
	s := seat(t, t.TempDir(), threeCases(), fivePairs, nil)
	for _, start := range []string{"1000", "9223372036854775807"} {
		status, answer := asked(t, s, "GET", "/api/items/0/text?start="+start, "", "")
		if status != http.StatusOK || answer["text"] != "" {
			t.Errorf("from %s: status %d: %v", start, status, answer)
		}
	}
}

func TestAnErrorOfTheMachineIsNotTheAskers(t *testing.T) {
	d := newDesk(3)
	d.breakWith(errors.New("disk full"))
	status, answer := asked(t, d, "POST", "/api/items/0/label", "application/json", `{"grade":2}`)
	if diff := cmp.Diff(map[string]any{"error": "disk full", "hint": ""}, answer); status != http.StatusInternalServerError || diff != "" {
		t.Errorf("status %d (-want +got):\n%s", status, diff)
	}
}

func TestAPassageThatCouldNotBeKeptIsNoItem(t *testing.T) {
	s := seat(t, t.TempDir(), threeCases(), fivePairs, nil)
	before := s.Session()
	if err := s.Close(); err != nil { // so that nothing more can be written
		t.Fatal(err)
	}
	status, answer := asked(t, s, "POST", "/api/cases/c0/add", "application/json", `{"chunk_id":"d9","grade":2}`)
	if status != http.StatusInternalServerError {
		t.Errorf("status %d: %v", status, answer)
	}
	if diff := cmp.Diff(before, s.Session()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}
