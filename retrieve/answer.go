package retrieve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
)

// AnswerPaths say where a server's JSON has what is read of it, as JSONPath (RFC
// 9535). Hits starts from the answer and finds one list, or the hits themselves;
// ChunkID, DocID, Start, End and Score start from a hit. An empty path is not
// looked for.
type AnswerPaths struct {
	Content  string `yaml:"content"`  // a text within the answer that is the JSON to read; "" the answer itself
	ID       string `yaml:"id"`       // where there, must be the query's id
	Error    string `yaml:"error"`    // where there, the query failed
	Hits     string `yaml:"hits"`     //
	ChunkID  string `yaml:"chunk_id"` // text or number
	DocID    string `yaml:"doc_id"`   // for hits that name no chunk, with Start and End
	Start    string `yaml:"start"`    // byte offset in the document's text
	End      string `yaml:"end"`      // exclusive
	Score    string `yaml:"score"`    // "": the score is 1/rank
	Distance bool   `yaml:"distance"` // Score is smaller for better hits
}

// DefaultAnswer are the paths of the answer that exec programs give.
func DefaultAnswer() AnswerPaths {
	return AnswerPaths{
		ID: "$.id", Error: "$.error", Hits: "$.hits",
		ChunkID: "$.chunk_id", DocID: "$.doc_id", Start: "$.start", End: "$.end", Score: "$.score",
	}
}

// Validate names the path that is none.
func (p AnswerPaths) Validate() error {
	if _, err := p.compile(); err != nil {
		return err
	}
	switch {
	case p.Hits == "":
		return errors.New("answer.hits: empty")
	case p.ChunkID == "" && p.DocID == "":
		return errors.New("answer: chunk_id and doc_id are both empty")
	}
	return nil
}

// fields are the paths by their keys in goldgen.yaml.
func (p AnswerPaths) fields() map[string]string {
	return map[string]string{
		"content": p.Content, "id": p.ID, "error": p.Error, "hits": p.Hits, "chunk_id": p.ChunkID,
		"doc_id": p.DocID, "start": p.Start, "end": p.End, "score": p.Score,
	}
}

// addTo adds the paths to a description.
func (p AnswerPaths) addTo(settings map[string]string) {
	for key, path := range p.fields() {
		settings["answer."+key] = path
	}
	settings["answer.distance"] = strconv.FormatBool(p.Distance)
}

// answerReader reads hits from answers.
type answerReader struct {
	paths    map[string]*jsonpath.Path // nil for an empty one
	text     map[string]string
	distance bool
}

func (p AnswerPaths) compile() (*answerReader, error) {
	r := &answerReader{paths: map[string]*jsonpath.Path{}, text: p.fields(), distance: p.Distance}
	// A list that is missing is an error, which [*] would hide.
	r.text["hits"] = strings.TrimSuffix(r.text["hits"], "[*]")
	for key, text := range r.text {
		path, err := compilePath(text)
		if err != nil {
			return nil, fmt.Errorf("answer.%s: %w", key, err)
		}
		r.paths[key] = path
	}
	return r, nil
}

// compilePath reads a JSONPath, nil for an empty one.
func compilePath(text string) (*jsonpath.Path, error) {
	if text == "" {
		return nil, nil
	}
	path, err := jsonpath.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%q: %s", text, strings.TrimPrefix(err.Error(), jsonpath.ErrPathParse.Error()+": "))
	}
	return path, nil
}

// parseJSON reads one JSON value; numbers keep their digits.
func parseJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("goes on after its JSON")
	}
	return v, nil
}

// read takes the hits out of an answer to q.
func (r *answerReader) read(q Query, answer any) ([]Hit, error) {
	answer, err := r.content(answer)
	if err != nil {
		return nil, err
	}
	if said, ok := r.first("error", answer); ok && said != "" && said != false {
		return nil, fmt.Errorf("the server says: %s", excerptOf(said))
	}
	if id, ok := r.first("id", answer); ok && textOf(id) != q.ID {
		return nil, fmt.Errorf("the answer is to query %s (answer.id %s), not to this one", excerptOf(id), r.text["id"])
	}
	list, err := r.list(answer)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, len(list))
	for i, h := range list {
		if hits[i], err = r.hit(h, i+1); err != nil {
			return nil, fmt.Errorf("hit %d: %w", i+1, err)
		}
	}
	return hits, nil
}

// content is the JSON to read, which may stand as text within the answer.
func (r *answerReader) content(answer any) (any, error) {
	if r.paths["content"] == nil {
		return answer, nil
	}
	return contentAt(r.paths["content"], r.text["content"], answer)
}

// contentAt reads the JSON of a text within an answer.
func contentAt(path *jsonpath.Path, name string, answer any) (any, error) {
	found := path.Select(answer)
	text, ok := "", false
	if len(found) == 1 {
		text, ok = found[0].(string)
	}
	if !ok {
		return nil, fmt.Errorf("no text at %s in %s", name, excerptOf(answer))
	}
	v, err := parseJSON([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the text at %s is no JSON: %s: %w", name, excerpt([]byte(text)), err)
	}
	return v, nil
}

// list finds the hits.
func (r *answerReader) list(answer any) ([]any, error) {
	found := r.paths["hits"].Select(answer)
	if len(found) == 1 {
		if list, ok := found[0].([]any); ok {
			return list, nil
		}
	}
	switch singular := r.paths["hits"].Query().Singular() != nil; {
	case singular && len(found) == 0:
		return nil, fmt.Errorf("nothing at %s (answer.hits) in %s", r.text["hits"], excerptOf(answer))
	case singular:
		return nil, fmt.Errorf("no list at %s (answer.hits) but %s", r.text["hits"], excerptOf(found[0]))
	}
	return found, nil
}

// first is the value at a path; null is none.
func (r *answerReader) first(key string, from any) (any, bool) {
	if r.paths[key] == nil {
		return nil, false
	}
	found := r.paths[key].Select(from)
	if len(found) == 0 || found[0] == nil {
		return nil, false
	}
	return found[0], true
}

func (r *answerReader) hit(from any, rank int) (Hit, error) {
	score, err := r.score(from, rank)
	if err != nil {
		return Hit{}, err
	}
	h := answerHit{ChunkID: r.id("chunk_id", from), DocID: r.id("doc_id", from), Score: &score}
	if h.ChunkID == "" && h.DocID == "" {
		return Hit{}, fmt.Errorf("no id at %s in %s", r.idPaths(), excerptOf(from))
	}
	if h.Start, err = r.offset("start", from); err == nil {
		h.End, err = r.offset("end", from)
	}
	if err != nil && h.ChunkID == "" {
		return Hit{}, fmt.Errorf("document %s: %w", h.DocID, err)
	}
	return h.hit(), h.check()
}

// id is the text at a key's path, "" where there is none.
func (r *answerReader) id(key string, from any) string {
	v, _ := r.first(key, from)
	return textOf(v)
}

func (r *answerReader) idPaths() string {
	return strings.Trim(r.text["chunk_id"]+" or "+r.text["doc_id"], " or")
}

// score is the hit's, negated where it is a distance.
func (r *answerReader) score(from any, rank int) (float64, error) {
	if r.paths["score"] == nil {
		return 1 / float64(rank), nil
	}
	v, ok := r.first("score", from)
	if !ok {
		return 0, fmt.Errorf("no score at %s in %s", r.text["score"], excerptOf(from))
	}
	score, err := numberOf(v)
	if err != nil {
		return 0, fmt.Errorf("score %s: %w", excerptOf(v), err)
	}
	if r.distance {
		return 0 - score, nil
	}
	return score, nil
}

// numberOf reads a JSON number.
func numberOf(v any) (float64, error) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, errors.New("is no number")
	}
	x, err := n.Float64()
	if err != nil || math.IsInf(x, 0) {
		return 0, errors.New("is not finite")
	}
	return x, nil
}

// offset is a byte offset, 0 where there is none.
func (r *answerReader) offset(key string, from any) (int, error) {
	v, ok := r.first(key, from)
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(textOf(v))
	if err != nil {
		return 0, fmt.Errorf("%s %s: is no whole number", key, excerptOf(v))
	}
	return n, nil
}

// textOf is an id as text: ids may be numbers.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// excerptOf shows the beginning of a JSON value.
func excerptOf(v any) string {
	if s, ok := v.(string); ok {
		return excerpt([]byte(s))
	}
	text, err := toJSON(v)
	if err != nil {
		return err.Error()
	}
	return excerpt([]byte(text))
}
