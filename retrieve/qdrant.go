package retrieve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/dbaddress"
)

// Ways to search a Qdrant collection.
const (
	searchDense  = "dense"  // by the embedder's vector
	searchSparse = "sparse" // by a sparse vector that the server makes of the query's text
	searchHybrid = "hybrid" // both, fused by the server
)

// QdrantConfig says which collection of a Qdrant server is searched, and where
// its payload has what a query names. A field that Fields does not name is
// category, language, unit, doc_id or a date by that name, else a key of
// `metadata`. A scope key that Scope does not name is a key of `scope`. The keys
// that Scope names restrict every query; others only those that hold them.
type QdrantConfig struct {
	URL         string            `yaml:"url"` // of the gRPC port; its path is the collection
	APIKey      string            `yaml:"api_key"`
	Collection  string            `yaml:"collection"`
	Search      string            `yaml:"search"`       // dense, sparse or hybrid
	Vector      string            `yaml:"vector"`       // name of the dense vector; "": the only one
	Sparse      string            `yaml:"sparse"`       // name of the sparse vector
	SparseModel string            `yaml:"sparse_model"` // that the server makes it with
	Fusion      string            `yaml:"fusion"`       // hybrid: rrf or dbsf
	Depth       int               `yaml:"depth"`        // hybrid: hits of each that are fused
	Model       string            `yaml:"model"`        // that made the dense vectors
	ChunkID     string            `yaml:"chunk_id"`     // payload key, "" where hits are spans
	PointID     bool              `yaml:"point_id"`     // the point's own id is the chunk's
	DocID       string            `yaml:"doc_id"`       // payload key, with Start and End
	Start       string            `yaml:"start"`        // payload key, byte offset
	End         string            `yaml:"end"`          // payload key, exclusive
	Fields      map[string]string `yaml:"fields"`
	Scope       map[string]string `yaml:"scope"`
	HNSWEf      int               `yaml:"hnsw_ef"` // 0: the collection's
	Exact       bool              `yaml:"exact"`
	CallConfig  `yaml:",inline"`
}

// DefaultQdrant searches the only dense vector of points that carry their
// chunk's id.
func DefaultQdrant() QdrantConfig {
	return QdrantConfig{
		Search: searchDense, SparseModel: "qdrant/bm25", Fusion: "rrf", Depth: 100, ChunkID: "chunk_id", CallConfig: DefaultCalls(),
	}
}

// Validate names the field that is wrong.
func (c QdrantConfig) Validate() error {
	if err := dbaddress.CheckQdrant(c.URL); err != nil {
		return err
	}
	switch {
	case c.APIKey != "" && !named.MatchString(c.APIKey):
		return errors.New("api_key: a secret must come from the environment, as in ${QDRANT_API_KEY}")
	case c.collection() == "":
		return errors.New("collection: empty")
	case !slices.Contains([]string{searchDense, searchSparse, searchHybrid}, c.Search):
		return fmt.Errorf("search: %q, valid are dense, sparse, hybrid", c.Search)
	case c.Search != searchDense && (c.Sparse == "" || c.SparseModel == ""):
		return fmt.Errorf("sparse, sparse_model: search %s needs both", c.Search)
	case c.Fusion != "rrf" && c.Fusion != "dbsf":
		return fmt.Errorf("fusion: %q, valid are rrf, dbsf", c.Fusion)
	case !c.PointID && c.ChunkID == "" && (c.DocID == "" || c.Start == "" || c.End == ""):
		return errors.New("chunk_id: empty, and not all of doc_id, start, end are set")
	case c.HNSWEf < 0:
		return fmt.Errorf("hnsw_ef: %d, want 0 or more", c.HNSWEf)
	}
	return errors.Join(checkDepth(c.Depth), c.CallConfig.Validate())
}

func (QdrantConfig) argument() string { return "URL" }

func (c *QdrantConfig) take(arg string) error { c.URL = arg; return nil }

func (c QdrantConfig) collection() string { return dbaddress.Collection(c.URL, c.Collection) }

func (c QdrantConfig) settings() map[string]string {
	s := map[string]string{
		"url": c.URL, "collection": c.collection(), "search": c.Search, "vector": c.Vector, "model": c.Model,
		"chunk_id": c.ChunkID, "point_id": strconv.FormatBool(c.PointID), "doc_id": c.DocID, "start": c.Start, "end": c.End,
		"hnsw_ef": strconv.Itoa(c.HNSWEf), "exact": strconv.FormatBool(c.Exact),
	}
	if c.Search != searchDense {
		s["sparse"], s["sparse_model"] = c.Sparse, c.SparseModel
	}
	if c.Search == searchHybrid {
		s["fusion"], s["depth"] = c.Fusion, strconv.Itoa(c.Depth)
	}
	addMap(s, "field.", c.Fields)
	addMap(s, "scope.", c.Scope)
	return s
}

func (c QdrantConfig) build(ctx context.Context, b *Builder) (Retriever, error) {
	if c.Search != searchSparse {
		if err := b.checkEmbedder(c.Model, 0); err != nil {
			return nil, err
		}
	}
	fields, err := b.fields(ctx)
	if err != nil {
		return nil, err
	}
	r, err := NewQdrant(ctx, c, b.deps.Embedder, fields, b.deps.Getenv)
	if err != nil {
		return nil, err
	}
	if c.Search == searchSparse {
		return r, nil
	}
	if err := b.checkEmbedder(r.model, r.dim); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Qdrant searches a collection of a Qdrant server.
type Qdrant struct {
	*gate
	config   QdrantConfig
	client   *qdrant.Client
	env      environment
	name     string // address and collection, for errors
	vector   string // name of the dense vector, "" the unnamed one
	dim      int
	model    string // that the collection says made it, "" where it does not
	distance qdrant.Distance
	embedder QueryEmbedder
	fields   []string // of the corpus; nil where that is not known
}

// NewQdrant connects and looks at the collection: a server that is down, a
// collection or vector that is missing is said at once. fields are the metadata
// keys that filters may name beside those configured, nil for any; getenv gives
// the values of ${NAME}.
func NewQdrant(ctx context.Context, c QdrantConfig, embedder QueryEmbedder, fields []string, getenv func(string) string) (*Qdrant, error) {
	if err := c.Validate(); err != nil {
		return nil, wrong("qdrant: %w", err)
	}
	r := &Qdrant{gate: newGate(c.CallConfig), config: c, env: newEnvironment(getenv), embedder: embedder, fields: fields}
	if fields != nil {
		r.fields = append(slices.Collect(maps.Keys(c.Fields)), fields...)
	}
	if err := r.connect(); err != nil {
		return nil, err
	}
	err := r.within(ctx, func(ctx context.Context) error {
		info, err := r.client.GetCollectionInfo(ctx, c.collection())
		if err != nil {
			return err
		}
		return r.readCollection(info)
	})
	if err != nil {
		return nil, errors.Join(r.explain(ctx, err), r.client.Close())
	}
	return r, nil
}

// connect prepares the connection; nothing is sent.
func (r *Qdrant) connect() error {
	key, err := parseTemplate("api_key", r.config.APIKey, r.env)
	if err != nil {
		return wrong("qdrant: %w", err)
	}
	secret, err := render(key, nil)
	if err != nil {
		return wrong("qdrant: %w", err)
	}
	client, host, err := dbaddress.NewQdrant(r.config.URL, secret, maxAnswer)
	if err != nil {
		return wrong("qdrant: %w", err)
	}
	r.client, r.name = client, host+"/"+r.config.collection()
	return nil
}

// readCollection finds the dense vector and what is known of it.
func (r *Qdrant) readCollection(info *qdrant.CollectionInfo) error {
	params := info.GetConfig().GetParams()
	if r.config.Search != searchDense {
		sparse := params.GetSparseVectorsConfig().GetMap()
		if sparse[r.config.Sparse] == nil {
			return wrong("no sparse vector %s; there are %s", r.config.Sparse, listed(sparse))
		}
	}
	if r.config.Search == searchSparse {
		return nil
	}
	dense, err := r.denseParams(params.GetVectorsConfig())
	if err != nil {
		return err
	}
	r.dim, r.distance, r.model = int(dense.GetSize()), dense.GetDistance(), r.config.Model
	if r.model == "" {
		r.model = info.GetConfig().GetMetadata()["embedding_model"].GetStringValue()
	}
	return nil
}

// denseParams are those of the configured vector, or of the only one.
func (r *Qdrant) denseParams(c *qdrant.VectorsConfig) (*qdrant.VectorParams, error) {
	r.vector = r.config.Vector
	if single := c.GetParams(); single != nil && r.vector == "" {
		return single, nil
	}
	byName := c.GetParamsMap().GetMap()
	if r.vector == "" && len(byName) == 1 {
		r.vector = slices.Collect(maps.Keys(byName))[0]
	}
	if byName[r.vector] == nil {
		return nil, wrong("no vector %q; there are %s", r.vector, listed(byName))
	}
	return byName[r.vector], nil
}

// listed names the keys of a map.
func listed[V any](m map[string]V) string {
	if len(m) == 0 {
		return "none with a name"
	}
	return strings.Join(sortedKeys(m), ", ")
}

// Close ends the connection.
func (r *Qdrant) Close() error { return r.client.Close() }

// Exact returns a retriever over the same collection that compares with every
// vector; false if this one does. It shares the connection.
func (r *Qdrant) Exact() (Retriever, bool) {
	if r.config.Exact || r.config.Search == searchSparse {
		return nil, false
	}
	exact := *r
	exact.config.Exact, exact.gate = true, newGate(r.config.CallConfig)
	return sharing{&exact}, true
}

// Retrieve implements Retriever. The server's order is the ranking. A query of
// white space alone has no hits.
func (r *Qdrant) Retrieve(ctx context.Context, q Query) (Result, error) {
	return r.ask(ctx, q, func(ctx context.Context) ([]Hit, error) {
		if err := corpus.ValidateFilters(q.Filters, r.fields); err != nil {
			return nil, err
		}
		if isBlank(q.Text) {
			return []Hit{}, nil
		}
		request, err := r.request(ctx, q)
		if err != nil {
			return nil, err
		}
		points, err := retrying(ctx, r.calls(), qdrantAgain, func() (points []*qdrant.ScoredPoint, err error) {
			err = r.within(ctx, func(ctx context.Context) error {
				points, err = r.client.Query(ctx, request)
				return err
			})
			return points, err
		})
		if err != nil {
			return nil, r.explain(ctx, err)
		}
		return r.hits(points)
	})
}

// request is the query as Qdrant takes it.
func (r *Qdrant) request(ctx context.Context, q Query) (*qdrant.QueryPoints, error) {
	filter, err := r.config.filter(q)
	if err != nil {
		return nil, err
	}
	request := &qdrant.QueryPoints{
		CollectionName: r.config.collection(), Limit: qdrant.PtrOf(uint64(q.K)), Filter: filter,
		WithPayload: qdrant.NewWithPayloadInclude(r.payloadKeys()...),
	}
	var dense []float32
	if r.config.Search != searchSparse {
		if dense, err = embedQuery(ctx, r.embedder, q.Text); err != nil {
			return nil, err
		}
	}
	sparse := qdrant.NewQueryDocument(&qdrant.Document{Text: q.Text, Model: r.config.SparseModel})
	switch r.config.Search {
	case searchDense:
		request.Query, request.Using, request.Params = qdrant.NewQueryDense(dense), optional(r.vector), r.params()
	case searchSparse:
		request.Query, request.Using = sparse, &r.config.Sparse
	default:
		limit := qdrant.PtrOf(uint64(max(q.K, r.config.Depth)))
		request.Prefetch = []*qdrant.PrefetchQuery{
			{Query: qdrant.NewQueryDense(dense), Using: optional(r.vector), Filter: filter, Params: r.params(), Limit: limit},
			{Query: sparse, Using: &r.config.Sparse, Filter: filter, Limit: limit},
		}
		request.Query = qdrant.NewQueryFusion(map[string]qdrant.Fusion{"rrf": qdrant.Fusion_RRF, "dbsf": qdrant.Fusion_DBSF}[r.config.Fusion])
	}
	return request, nil
}

// params say how exact the search is.
func (r *Qdrant) params() *qdrant.SearchParams {
	p := &qdrant.SearchParams{Exact: &r.config.Exact}
	if r.config.HNSWEf > 0 {
		p.HnswEf = qdrant.PtrOf(uint64(r.config.HNSWEf))
	}
	return p
}

// optional is nil for an empty name.
func optional(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

func (r *Qdrant) payloadKeys() []string {
	return slices.DeleteFunc([]string{r.config.ChunkID, r.config.DocID, r.config.Start, r.config.End}, func(key string) bool { return key == "" })
}

func (r *Qdrant) hits(points []*qdrant.ScoredPoint) ([]Hit, error) {
	hits := make([]Hit, len(points))
	for i, p := range points {
		h, err := r.hit(p)
		if err != nil {
			return nil, fmt.Errorf("hit %d: point %s: %w", i+1, pointID(p), err)
		}
		hits[i] = h
	}
	return hits, nil
}

// hit is a point as a hit. Distances are negated.
func (r *Qdrant) hit(p *qdrant.ScoredPoint) (Hit, error) {
	h := Hit{Score: float64(p.GetScore())}
	if math.IsNaN(h.Score) || math.IsInf(h.Score, 0) {
		return Hit{}, fmt.Errorf("score %v is not finite", h.Score)
	}
	far := r.distance == qdrant.Distance_Euclid || r.distance == qdrant.Distance_Manhattan
	if r.config.Search == searchDense && far {
		h.Score = 0 - h.Score
	}
	payload := p.GetPayload()
	switch {
	case r.config.PointID:
		h.ChunkID = pointID(p)
	case r.config.ChunkID != "":
		h.ChunkID = payloadText(at(payload, r.config.ChunkID))
		if h.ChunkID == "" {
			return Hit{}, fmt.Errorf("no payload %s", r.config.ChunkID)
		}
	default:
		h.DocID = payloadText(at(payload, r.config.DocID))
		h.Start, h.End = payloadOffset(at(payload, r.config.Start)), payloadOffset(at(payload, r.config.End))
	}
	return h, answerHit{ChunkID: h.ChunkID, DocID: h.DocID, Start: h.Start, End: h.End, Score: &h.Score}.check()
}

// at follows a dotted path into a payload.
func at(payload map[string]*qdrant.Value, path string) *qdrant.Value {
	key, rest, deeper := strings.Cut(path, ".")
	if !deeper || payload[key] == nil {
		return payload[key]
	}
	return at(payload[key].GetStructValue().GetFields(), rest)
}

// payloadText is a text, or a whole number as text.
func payloadText(v *qdrant.Value) string {
	if _, ok := v.GetKind().(*qdrant.Value_IntegerValue); ok {
		return strconv.FormatInt(v.GetIntegerValue(), 10)
	}
	return v.GetStringValue()
}

// payloadOffset is an offset, -1 where there is none.
func payloadOffset(v *qdrant.Value) int {
	if _, ok := v.GetKind().(*qdrant.Value_IntegerValue); !ok {
		return -1
	}
	return int(v.GetIntegerValue())
}

func pointID(p *qdrant.ScoredPoint) string {
	if id := p.GetId().GetUuid(); id != "" {
		return id
	}
	return strconv.FormatUint(p.GetId().GetNum(), 10)
}

// qdrantAgain reports an error that another attempt may not meet, and how long
// the server asks to wait.
func qdrantAgain(err error) (time.Duration, bool) {
	if busy, ok := errors.AsType[*qdrant.QdrantResourceExhaustedError](err); ok {
		return time.Duration(busy.RetryAfterS) * time.Second, true
	}
	code := status.Code(err)
	return 0, code == codes.Unavailable || code == codes.ResourceExhausted || code == codes.Aborted
}

// explain names the server in an error.
func (r *Qdrant) explain(ctx context.Context, err error) error {
	if failed, ok := errors.AsType[*qdrant.QdrantError](err); ok {
		err = failed.Unwrap()
	}
	s, isStatus := status.FromError(err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errTimeout), errors.Is(err, ErrSpec):
	case !isStatus:
		err = errors.New(excerpt([]byte(r.env.scrub(err.Error()))))
	case s.Code() == codes.Unavailable:
		err = fmt.Errorf("%w: %s%s", errDown, excerpt([]byte(r.env.scrub(dialWords(s.Message())))), portHint(r.name))
	case s.Code() == codes.NotFound:
		err = wrong("%s", r.said(s))
	default:
		err = errors.New(r.said(s))
	}
	return fmt.Errorf("qdrant %s: %w", r.name, err)
}

// said is what the server answered, bounded.
func (r *Qdrant) said(s *status.Status) string {
	return fmt.Sprintf("%s: %s", strings.ToLower(s.Code().String()), excerpt([]byte(r.env.scrub(s.Message()))))
}

// dialWords is why gRPC could not connect, without what it wraps that in.
func dialWords(message string) string {
	if strings.HasPrefix(message, "connection error: ") {
		message = message[strings.LastIndex(message, ": ")+2:]
	}
	return strings.Trim(message, `"`)
}

// portHint helps those who name the port of the other protocol.
func portHint(name string) string {
	host, _, _ := strings.Cut(name, "/")
	if _, port, err := net.SplitHostPort(host); err == nil && port == "6333" {
		return " (6333 is Qdrant's HTTP port; goldgen asks the gRPC port, by default 6334)"
	}
	return ""
}
