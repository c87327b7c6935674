package retrieve

import (
	"context"
	"fmt"
)

// HTTPConfig is how a search service is asked over HTTP and its answers are
// read. The defaults send and read what exec programs do.
type HTTPConfig struct {
	RequestConfig `yaml:",inline"`
	Model         string      `yaml:"model"` // that made the service's vectors, where .Vector is sent
	Answer        AnswerPaths `yaml:"answer"`
	CallConfig    `yaml:",inline"`
}

// protocolBody is the query as exec programs read it.
const protocolBody = `{"id": {{json .ID}}, "query": {{json .Query}}, "k": {{.K}}, ` +
	`"scope": {{json .Scope}}, "filters": {{json .Filters}}{{with .AsOf}}, "as_of": {{json .}}{{end}}}`

// DefaultHTTP posts the query as exec programs read it.
func DefaultHTTP() HTTPConfig {
	return HTTPConfig{Answer: DefaultAnswer(), CallConfig: DefaultCalls()}
}

// withDefaults sends the protocol's body where neither body nor GET is asked
// for.
func (c HTTPConfig) withDefaults() HTTPConfig {
	if c.Body == "" && c.Method == "" {
		c.Body = protocolBody
	}
	return c
}

// Validate names the field that is wrong.
func (c HTTPConfig) Validate() error {
	c = c.withDefaults()
	if err := c.validate(sampleQuery()); err != nil {
		return err
	}
	if err := c.Answer.Validate(); err != nil {
		return err
	}
	return c.CallConfig.Validate()
}

func (HTTPConfig) argument() string { return "URL" }

// take accepts http:http://HOST/PATH, and http://HOST/PATH itself.
func (c *HTTPConfig) take(arg string) error {
	c.URL = arg
	if len(arg) > 2 && arg[:2] == "//" {
		c.URL = KindHTTP + ":" + arg
	}
	return nil
}

func (c HTTPConfig) settings() map[string]string {
	c = c.withDefaults()
	settings := map[string]string{}
	if c.Model != "" {
		settings["model"] = c.Model
	}
	c.addTo(settings)
	c.Answer.addTo(settings)
	return settings
}

func (c HTTPConfig) build(_ context.Context, b *Builder) (Retriever, error) {
	c = c.withDefaults()
	if usesVector(c.URL, c.Body) {
		if err := b.checkEmbedder(c.Model, 0); err != nil {
			return nil, err
		}
	}
	return NewHTTP(c, b.deps.Embedder, b.deps.Getenv)
}

// HTTP asks a search service over HTTP.
type HTTP struct {
	*gate
	endpoint *endpoint
	reader   *answerReader
	embedder QueryEmbedder
}

// NewHTTP prepares to ask a service; nothing is sent before the first query.
// The embedder may be nil where no template uses .Vector; getenv gives the
// values of ${NAME}.
func NewHTTP(c HTTPConfig, embedder QueryEmbedder, getenv func(string) string) (*HTTP, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, wrong("http: %w", err)
	}
	e, err := newEndpoint(c.RequestConfig, c.CallConfig, newEnvironment(getenv))
	if err != nil {
		return nil, err
	}
	reader, err := c.Answer.compile()
	if err != nil {
		return nil, wrong("http: %w", err)
	}
	return &HTTP{gate: newGate(c.CallConfig), endpoint: e, reader: reader, embedder: embedder}, nil
}

// Retrieve implements Retriever. The order of the answer is the ranking.
func (h *HTTP) Retrieve(ctx context.Context, q Query) (Result, error) {
	return h.ask(ctx, q, func(ctx context.Context) ([]Hit, error) {
		answer, err := h.endpoint.call(ctx, dataOf(q, func() ([]float32, error) { return embedQuery(ctx, h.embedder, q.Text) }))
		if err != nil {
			return nil, err
		}
		hits, err := h.reader.read(q, answer)
		if err != nil {
			return nil, h.endpoint.explain(ctx, err)
		}
		return hits, nil
	})
}

// embedQuery is the vector of a query for a server that searches by vectors, as
// the embedder gives it.
func embedQuery(ctx context.Context, e QueryEmbedder, text string) ([]float32, error) {
	if e == nil {
		return nil, wrong("needs the query's vector, and no embedder is configured")
	}
	v, err := e.EmbedQuery(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("embedding: %w", err)
	}
	if _, err := appendUnit(nil, v); err != nil {
		return nil, fmt.Errorf("its vector: %w", err)
	}
	return v, nil
}
