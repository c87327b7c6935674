package retrievetest

import (
	"context"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/goldgen/goldgen/retrieve"
)

// Qdrant is an in-process server with Qdrant's gRPC service, as far as searching
// needs it: collections with named and unnamed dense vectors and sparse ones,
// nearest neighbours by cosine, dot product and both distances, server-made
// sparse vectors, fusion, and filters over payloads. Its errors have Qdrant's
// codes and words.
type Qdrant struct {
	mu          sync.Mutex
	collections map[string]*collection
	requests    []*qdrant.QueryPoints
	failures    []error // of the next calls
}

// collections and points are its services.
type (
	collectionsService struct {
		qdrant.UnimplementedCollectionsServer
		server *Qdrant
	}
	pointsService struct {
		qdrant.UnimplementedPointsServer
		server *Qdrant
	}
)

type collection struct {
	info   *qdrant.CollectionInfo
	points []Point
}

// Point is a stored point. Unindexed ones are found by an exact search only, as
// those that an approximate index misses.
type Point struct {
	ID        uint64
	Dense     map[string][]float32 // by name, "" the unnamed vector
	Text      string               // what the sparse vectors are made of
	Payload   map[string]any
	Unindexed bool
}

// StartQdrant starts a server and returns its address.
func StartQdrant(t testing.TB) (server *Qdrant, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	q := &Qdrant{collections: map[string]*collection{}}
	s := grpc.NewServer()
	qdrant.RegisterCollectionsServer(s, collectionsService{server: q})
	qdrant.RegisterPointsServer(s, pointsService{server: q})
	go s.Serve(listener) // ends with Stop
	t.Cleanup(s.Stop)
	return q, "http://" + listener.Addr().String()
}

// Create makes a collection with points.
func (s *Qdrant) Create(name string, config *qdrant.CollectionConfig, points ...Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collections[name] = &collection{info: &qdrant.CollectionInfo{Config: config}, points: points}
}

// Fail makes the next calls fail, one each; nil lets a page of a scroll pass.
func (s *Qdrant) Fail(errs ...error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, errs...)
}

// Requests are the queries that came so far.
func (s *Qdrant) Requests() []*qdrant.QueryPoints {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Get implements Qdrant's collection info.
func (service collectionsService) Get(_ context.Context, r *qdrant.GetCollectionInfoRequest) (*qdrant.GetCollectionInfoResponse, error) {
	s := service.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	return &qdrant.GetCollectionInfoResponse{Result: c.info}, nil
}

func (s *Qdrant) find(name string) (*collection, error) {
	if c := s.collections[name]; c != nil {
		return c, nil
	}
	return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
}

// Query implements Qdrant's universal search.
func (service pointsService) Query(_ context.Context, r *qdrant.QueryPoints) (*qdrant.QueryResponse, error) {
	s := service.server
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.failures) > 0 {
		err := s.failures[0]
		s.failures = s.failures[1:]
		return nil, err
	}
	c, err := s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	var ranked []scored
	if len(r.GetPrefetch()) > 0 {
		ranked, err = c.fused(r)
	} else {
		ranked, err = c.nearest(search{r.GetQuery(), r.GetUsing(), r.GetFilter(), r.GetParams().GetExact(), r.GetLimit()})
	}
	if err != nil {
		return nil, err
	}
	return &qdrant.QueryResponse{Result: answered(ranked, r)}, nil
}

// Count implements Qdrant's exact count.
func (service pointsService) Count(_ context.Context, r *qdrant.CountPoints) (*qdrant.CountResponse, error) {
	s := service.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	return &qdrant.CountResponse{Result: &qdrant.CountResult{Count: uint64(len(c.points))}}, nil
}

// Scroll implements Qdrant's scroll: points by id, a page at a time, with their whole
// payload and their vectors.
func (service pointsService) Scroll(_ context.Context, r *qdrant.ScrollPoints) (*qdrant.ScrollResponse, error) {
	s := service.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failures) > 0 {
		err := s.failures[0]
		if s.failures = s.failures[1:]; err != nil {
			return nil, err
		}
	}
	c, err := s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	points := slices.SortedFunc(slices.Values(c.points), func(a, b Point) int { return int(a.ID) - int(b.ID) })
	points = slices.DeleteFunc(points, func(p Point) bool { return p.ID < r.GetOffset().GetNum() })
	out := &qdrant.ScrollResponse{}
	if limit := int(r.GetLimit()); len(points) > limit {
		out.NextPageOffset, points = qdrant.NewIDNum(points[limit].ID), points[:limit]
	}
	for _, p := range points {
		out.Result = append(out.Result, stored(p, r.GetWithVectors()))
	}
	return out, nil
}

// stored is a point as Qdrant sends it.
func stored(p Point, with *qdrant.WithVectorsSelector) *qdrant.RetrievedPoint {
	out := &qdrant.RetrievedPoint{Id: qdrant.NewIDNum(p.ID), Payload: qdrant.NewValueMap(p.Payload)}
	named := map[string]*qdrant.VectorOutput{}
	for name, v := range p.Dense {
		vector := &qdrant.VectorOutput{Vector: &qdrant.VectorOutput_Dense{Dense: &qdrant.DenseVector{Data: v}}}
		wanted := with.GetEnable() || slices.Contains(with.GetInclude().GetNames(), name)
		switch {
		case wanted && name == "":
			out.Vectors = &qdrant.VectorsOutput{VectorsOptions: &qdrant.VectorsOutput_Vector{Vector: vector}}
		case wanted:
			named[name] = vector
		}
	}
	if len(named) > 0 {
		out.Vectors = &qdrant.VectorsOutput{VectorsOptions: &qdrant.VectorsOutput_Vectors{Vectors: &qdrant.NamedVectorsOutput{Vectors: named}}}
	}
	return out
}

type scored struct {
	point *Point
	score float64
}

// search is one nearest-neighbour search.
type search struct {
	query  *qdrant.Query
	using  string
	filter *qdrant.Filter
	exact  bool
	limit  uint64
}

func (c *collection) nearest(s search) ([]scored, error) {
	score, err := c.scorer(s)
	if err != nil {
		return nil, err
	}
	var found []scored
	for i := range c.points {
		p := &c.points[i]
		if !passes(p.Payload, s.filter) || (p.Unindexed && !s.exact) {
			continue
		}
		if x, ok := score(p); ok {
			found = append(found, scored{p, x})
		}
	}
	return best(found, s.limit), nil
}

// best orders by score, then by id.
func best(found []scored, limit uint64) []scored {
	slices.SortStableFunc(found, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return int(a.point.ID) - int(b.point.ID)
	})
	return found[:min(uint64(len(found)), limit)]
}

// scorer is how a point compares with the query, higher better; false for a
// point without the vector.
func (c *collection) scorer(s search) (func(*Point) (float64, bool), error) {
	input := s.query.GetNearest()
	params := c.info.GetConfig().GetParams()
	if document := input.GetDocument(); document != nil {
		if params.GetSparseVectorsConfig().GetMap()[s.using] == nil {
			return nil, noVector(s.using)
		}
		return shares(document.GetText()), nil
	}
	vector := params.GetVectorsConfig().GetParams()
	if s.using != "" {
		vector = params.GetVectorsConfig().GetParamsMap().GetMap()[s.using]
	}
	if vector == nil {
		return nil, noVector(s.using)
	}
	query := input.GetDense().GetData()
	if uint64(len(query)) != vector.GetSize() {
		return nil, status.Errorf(codes.InvalidArgument, "Wrong input: Vector dimension error: expected dim: %d, got %d", vector.GetSize(), len(query))
	}
	return func(p *Point) (float64, bool) {
		stored, ok := p.Dense[s.using]
		return compare(vector.GetDistance(), stored, query), ok
	}, nil
}

func noVector(name string) error {
	return status.Errorf(codes.InvalidArgument, "Wrong input: Not existing vector name error: %s", name)
}

// shares scores by the terms that a point's text shares with the query.
func shares(text string) func(*Point) (float64, bool) {
	terms := retrieve.Terms(text)
	return func(p *Point) (float64, bool) {
		sum := 0.0
		for _, term := range retrieve.Terms(p.Text) {
			if slices.Contains(terms, term) {
				sum++
			}
		}
		return sum, sum > 0
	}
}

// compare is higher for nearer vectors; distances are negated.
func compare(d qdrant.Distance, a, b []float32) float64 {
	var dot, aa, bb, square, abs float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
		square, abs = square+(x-y)*(x-y), abs+math.Abs(x-y)
	}
	switch d {
	case qdrant.Distance_Cosine:
		return dot / math.Sqrt(aa*bb)
	case qdrant.Distance_Euclid:
		return -math.Sqrt(square)
	case qdrant.Distance_Manhattan:
		return -abs
	}
	return dot
}

// fused fuses prefetches by reciprocal rank as Qdrant does: 1/(2+position).
func (c *collection) fused(r *qdrant.QueryPoints) ([]scored, error) {
	if r.GetQuery().GetFusion() != qdrant.Fusion_RRF {
		return nil, status.Error(codes.Unimplemented, "this server fuses by RRF only")
	}
	sums := map[*Point]float64{}
	for _, p := range r.GetPrefetch() {
		ranked, err := c.nearest(search{p.GetQuery(), p.GetUsing(), p.GetFilter(), p.GetParams().GetExact(), p.GetLimit()})
		if err != nil {
			return nil, err
		}
		for position, s := range ranked {
			sums[s.point] += 1 / float64(2+position)
		}
	}
	var found []scored
	for point, sum := range sums {
		if passes(point.Payload, r.GetFilter()) {
			found = append(found, scored{point, sum})
		}
	}
	return best(found, r.GetLimit()), nil
}

// answered are points as Qdrant sends them, with the payload that was asked for.
func answered(ranked []scored, r *qdrant.QueryPoints) []*qdrant.ScoredPoint {
	points := make([]*qdrant.ScoredPoint, len(ranked))
	for i, s := range ranked {
		score := s.score
		if score < 0 { // a distance
			score = -score
		}
		payload := map[string]any{}
		for _, path := range r.GetWithPayload().GetInclude().GetFields() {
			key, _, _ := strings.Cut(path, ".")
			if v, ok := s.point.Payload[key]; ok {
				payload[key] = v
			}
		}
		points[i] = &qdrant.ScoredPoint{Id: qdrant.NewIDNum(s.point.ID), Score: float32(score), Payload: qdrant.NewValueMap(payload)}
	}
	return points
}
