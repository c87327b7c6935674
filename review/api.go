package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
)

// maxBody is how many bytes of a request's body are read.
const maxBody = 64 << 10

// maxRows is how many items one list holds.
const maxRows = 1000

// API serves a desk as JSON under /api/. It refuses bodies that are not
// application/json or are larger than 64 KiB, and leaves it to the server who
// may ask at all.
func API(d Desk) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/session", answer(func(*http.Request) (any, error) { return d.Session(), nil }))
	mux.HandleFunc("GET /api/items", answer(func(r *http.Request) (any, error) { return list(d, r) }))
	mux.HandleFunc("GET /api/items/{n}", answer(func(r *http.Request) (any, error) { return item(d, r) }))
	mux.HandleFunc("GET /api/items/{n}/text", answer(func(r *http.Request) (any, error) { return text(d, r) }))
	mux.HandleFunc("POST /api/items/{n}/label", answer(func(r *http.Request) (any, error) { return label(d, r) }))
	mux.HandleFunc("POST /api/undo", posted(func(r *http.Request, _ struct{}) (any, error) { return d.Undo(r.Context()) }))
	mux.HandleFunc("POST /api/cases/{case}/query", posted(func(r *http.Request, b wording) (any, error) {
		return d.Rewrite(r.Context(), r.PathValue("case"), b.Query)
	}))
	mux.HandleFunc("POST /api/cases/{case}/reject", posted(func(r *http.Request, b reason) (any, error) {
		return d.Reject(r.Context(), r.PathValue("case"), b.Reason)
	}))
	mux.HandleFunc("GET /api/cases/{case}/search", answer(func(r *http.Request) (any, error) {
		return d.Search(r.Context(), r.PathValue("case"), r.URL.Query().Get("q"))
	}))
	mux.HandleFunc("POST /api/cases/{case}/add", posted(func(r *http.Request, b Added) (any, error) {
		return d.Add(r.Context(), r.PathValue("case"), b)
	}))
	mux.HandleFunc("POST /api/finish", posted(func(r *http.Request, _ struct{}) (any, error) { return d.Finish(r.Context()) }))
	return mux
}

type wording struct {
	Query string `json:"query"`
}

type reason struct {
	Reason string `json:"reason"`
}

func list(d Desk, r *http.Request) (any, error) {
	from, err := number(r.URL.Query().Get("from"), "from", 0)
	if err != nil {
		return nil, err
	}
	limit, err := number(r.URL.Query().Get("limit"), "limit", maxRows)
	if err != nil {
		return nil, err
	}
	return d.Items(from, min(limit, maxRows))
}

func item(d Desk, r *http.Request) (any, error) {
	n, err := number(r.PathValue("n"), "item", -1)
	if err != nil {
		return nil, err
	}
	return d.Item(n)
}

func text(d Desk, r *http.Request) (any, error) {
	n, err := number(r.PathValue("n"), "item", -1)
	if err != nil {
		return nil, err
	}
	start, err := number(r.URL.Query().Get("start"), "start", 0)
	if err != nil {
		return nil, err
	}
	end, err := number(r.URL.Query().Get("end"), "end", min(start, math.MaxInt-MaxWindow)+MaxWindow)
	if err != nil {
		return nil, err
	}
	return d.Text(n, start, end)
}

func label(d Desk, r *http.Request) (any, error) {
	n, err := number(r.PathValue("n"), "item", -1)
	if err != nil {
		return nil, err
	}
	var said Said
	if err := read(r, &said); err != nil {
		return nil, err
	}
	return d.Label(r.Context(), n, said)
}

// number reads a whole number from 0; an empty one is what is given for it,
// and refused when that is negative.
func number(s, name string, empty int) (int, error) {
	if s == "" && empty >= 0 {
		return empty, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, &Problem{Status: http.StatusBadRequest, Text: fmt.Sprintf("%s %q is not a whole number from 0", name, s)}
	}
	return n, nil
}

// posted reads the request's body as a T.
func posted[T any](do func(*http.Request, T) (any, error)) http.HandlerFunc {
	return answer(func(r *http.Request) (any, error) {
		var body T
		if err := read(r, &body); err != nil {
			return nil, err
		}
		return do(r, body)
	})
}

// read decodes a body of one JSON object with known keys.
func read(r *http.Request, into any) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return &Problem{Status: http.StatusUnsupportedMediaType, Text: fmt.Sprintf("content type %q: want application/json", kind)}
	}
	data, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return &Problem{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("the body is larger than %d bytes", maxBody)}
	}
	if err == nil {
		err = decodeOne(data, into)
	}
	if err != nil {
		return &Problem{Status: http.StatusBadRequest, Text: "body: " + err.Error()}
	}
	return nil
}

// answer writes what the function gives as JSON, or its error.
func answer(f func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := f(r)
		status := http.StatusOK
		if err != nil {
			problem := problemOf(err)
			status, value = problem.Status, problem
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(value)
	}
}

// problemOf is the error as the page shows it.
func problemOf(err error) *Problem {
	if p := (*Problem)(nil); errors.As(err, &p) {
		return &Problem{Status: p.Status, Text: err.Error(), Hint: p.Hint}
	}
	return &Problem{Status: http.StatusInternalServerError, Text: err.Error()}
}
