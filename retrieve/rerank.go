package retrieve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
)

// RerankConfig says how the best hits of another retriever are put into a new
// order by a server that scores (query, text) pairs, such as a cross-encoder.
// Its templates see .Query, .Documents (the texts), .Model and .N (how many);
// Results finds the list of scores, where Index is a text's place, from 0, and
// Score its score.
type RerankConfig struct {
	RequestConfig `yaml:",inline"`
	Of            string `yaml:"of"`      // SPEC of the retriever
	Depth         int    `yaml:"depth"`   // hits of it that are scored, and the most that are returned
	Batch         int    `yaml:"batch"`   // texts a call, 0 all
	Model         string `yaml:"model"`   // of the server, for .Model
	Content       string `yaml:"content"` // a text within the answer that is the JSON to read; "" the answer itself
	Results       string `yaml:"results"`
	Index         string `yaml:"index"` // "": the results are in the order of the texts
	Score         string `yaml:"score"`
	CallConfig    `yaml:",inline"`
}

// rerankBody is the body that most servers of cross-encoders take.
const rerankBody = `{"model": {{json .Model}}, "query": {{json .Query}}, "documents": {{json .Documents}}, "top_n": {{.N}}, "return_documents": false}`

// DefaultRerank scores the best 50 hits.
func DefaultRerank() RerankConfig {
	return RerankConfig{
		RequestConfig: RequestConfig{Body: rerankBody}, Depth: 50,
		Results: "$.results", Index: "$.index", Score: "$.relevance_score", CallConfig: DefaultCalls(),
	}
}

// rerankData is what a reranker's templates see.
type rerankData struct {
	ID        string
	Query     string
	Documents []string
	Model     string
	N         int
}

// Validate names the field that is wrong.
func (c RerankConfig) Validate() error {
	switch {
	case c.Of == "":
		return errors.New("of: empty, want the retriever whose hits are put in order")
	case c.Batch < 0:
		return fmt.Errorf("batch: %d, want 0 or more", c.Batch)
	case c.Results == "" || c.Score == "":
		return errors.New("results, score: one is empty")
	}
	sample := rerankData{ID: "sample", Query: `a "quoted" query`, Documents: []string{`a "quoted" text`}, Model: c.Model, N: 1}
	if err := c.validate(sample); err != nil {
		return err
	}
	if _, err := c.reader(); err != nil {
		return err
	}
	return errors.Join(checkDepth(c.Depth), c.CallConfig.Validate())
}

func (c RerankConfig) members() map[string]string { return map[string]string{"of": c.Of} }

func (c RerankConfig) settings() map[string]string {
	s := map[string]string{
		"depth": strconv.Itoa(c.Depth), "batch": strconv.Itoa(c.Batch), "model": c.Model,
		"content": c.Content, "results": c.Results, "index": c.Index, "score": c.Score,
	}
	c.addTo(s)
	return s
}

func (c RerankConfig) build(ctx context.Context, b *Builder) (Retriever, error) {
	inner, err := b.member(ctx, c.Of)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	if b.deps.Chunks == nil {
		return nil, wrong("rerank: needs the texts of the chunks")
	}
	for chunk, err := range b.chunks(ctx) {
		if err != nil {
			return nil, err
		}
		texts[chunk.ID] = chunk.Text
	}
	return NewRerank(c, inner, func(id string) (string, bool) { text, ok := texts[id]; return text, ok }, b.deps.Getenv)
}

// scoreReader finds scores in an answer.
type scoreReader struct {
	config                         RerankConfig
	content, results, index, score *jsonpath.Path
}

func (c RerankConfig) reader() (*scoreReader, error) {
	r := &scoreReader{config: c}
	for _, p := range []struct {
		key, text string
		to        **jsonpath.Path
	}{{"content", c.Content, &r.content}, {"results", c.Results, &r.results}, {"index", c.Index, &r.index}, {"score", c.Score, &r.score}} {
		path, err := compilePath(strings.TrimSuffix(p.text, "[*]"))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.key, err)
		}
		*p.to = path
	}
	return r, nil
}

// read gives the score of each of n texts; an answer that lacks one, or has it
// twice, is an error.
func (r *scoreReader) read(answer any, n int) ([]float64, error) {
	var err error
	if r.content != nil {
		if answer, err = contentAt(r.content, r.config.Content, answer); err != nil {
			return nil, err
		}
	}
	found := r.results.Select(answer)
	if len(found) != 1 {
		return nil, fmt.Errorf("nothing at %s (results) in %s", r.config.Results, excerptOf(answer))
	}
	list, ok := found[0].([]any)
	if !ok || len(list) != n {
		return nil, fmt.Errorf("%d texts were sent, and at %s (results) is %s", n, r.config.Results, excerptOf(found[0]))
	}
	scores, seen := make([]float64, n), make([]bool, n)
	for i, item := range list {
		at, err := r.place(item, i)
		if err != nil || at < 0 || at >= n || seen[at] {
			return nil, fmt.Errorf("result %d: %s names no text of %d, or one again", i+1, excerptOf(item), n)
		}
		if scores[at], err = r.scoreOf(item); err != nil {
			return nil, fmt.Errorf("result %d: %w", i+1, err)
		}
		seen[at] = true
	}
	return scores, nil
}

// place is which text a result is about.
func (r *scoreReader) place(item any, i int) (int, error) {
	if r.index == nil {
		return i, nil
	}
	found := r.index.Select(item)
	if len(found) != 1 {
		return 0, errors.New("no index")
	}
	return strconv.Atoi(textOf(found[0]))
}

func (r *scoreReader) scoreOf(item any) (float64, error) {
	found := r.score.Select(item)
	if len(found) != 1 {
		return 0, fmt.Errorf("no score at %s in %s", r.config.Score, excerptOf(item))
	}
	score, err := numberOf(found[0])
	if err != nil {
		return 0, fmt.Errorf("score %s: %w", excerptOf(found[0]), err)
	}
	return score, nil
}

// Rerank puts the best hits of a retriever into the order of a server's scores.
type Rerank struct {
	*gate
	config   RerankConfig
	inner    Retriever
	text     func(chunkID string) (string, bool)
	endpoint *endpoint
	reader   *scoreReader
}

// NewRerank prepares a stage over inner; nothing is sent. text gives the texts
// of chunks, getenv the values of ${NAME}.
func NewRerank(c RerankConfig, inner Retriever, text func(chunkID string) (string, bool), getenv func(string) string) (*Rerank, error) {
	if err := c.Validate(); err != nil {
		return nil, wrong("rerank: %w", err)
	}
	e, err := newEndpoint(c.RequestConfig, c.CallConfig, newEnvironment(getenv))
	if err != nil {
		return nil, err
	}
	reader, err := c.reader()
	if err != nil {
		return nil, wrong("rerank: %w", err)
	}
	return &Rerank{gate: newGate(c.CallConfig), config: c, inner: inner, text: text, endpoint: e, reader: reader}, nil
}

// Before is the retriever whose hits are put into order.
func (r *Rerank) Before() Retriever { return r.inner }

// Close closes the retriever below, where it holds something.
func (r *Rerank) Close() error {
	if c, ok := r.inner.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Retrieve implements Retriever: at most Depth hits, in the order of the
// server's scores, equal ones in the order that they had. The ranking does not
// depend on k; the time taken is that of both stages.
func (r *Rerank) Retrieve(ctx context.Context, q Query) (Result, error) {
	if err := q.Validate(); err != nil {
		return Result{}, err
	}
	first := q
	first.K = r.config.Depth
	found, err := r.inner.Retrieve(ctx, first)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", r.config.Of, err)
	}
	if len(found.Hits) == 0 {
		return found, nil
	}
	result, err := r.ask(ctx, q, func(ctx context.Context) ([]Hit, error) { return r.order(ctx, q, found.Hits) })
	if err != nil {
		return Result{}, err
	}
	// What is beyond k is not the reranker's doing.
	result.Took, result.Notices = result.Took+found.Took, found.Notices
	return result, nil
}

// order scores hits and sorts them.
func (r *Rerank) order(ctx context.Context, q Query, hits []Hit) ([]Hit, error) {
	texts := make([]string, len(hits))
	for i, h := range hits {
		text, ok := r.text(h.ChunkID)
		if !ok {
			return nil, fmt.Errorf("hit %s%s: the snapshot has no text of it", h.ChunkID, h.DocID)
		}
		texts[i] = text
	}
	hits = slices.Clone(hits)
	batch := r.config.Batch
	if batch == 0 {
		batch = len(texts)
	}
	for from := 0; from < len(texts); from += batch {
		to := min(from+batch, len(texts))
		scores, err := r.score(ctx, q, texts[from:to])
		if err != nil {
			return nil, err
		}
		for i, score := range scores {
			hits[from+i].Score = score
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return hits, nil
}

func (r *Rerank) score(ctx context.Context, q Query, texts []string) ([]float64, error) {
	data := rerankData{ID: q.ID, Query: q.Text, Documents: texts, Model: r.config.Model, N: len(texts)}
	answer, err := r.endpoint.call(ctx, data)
	if err != nil {
		return nil, err
	}
	scores, err := r.reader.read(answer, len(texts))
	if err != nil {
		return nil, r.endpoint.explain(ctx, err)
	}
	return scores, nil
}
