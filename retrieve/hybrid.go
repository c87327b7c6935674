package retrieve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// HybridConfig is how hybrid fuses: each member gives its best Depth hits, a
// hit at rank r adds weight*(RRF+1)/(RRF+r) (Cormack, Clarke, Büttcher 2009).
// Members and Weights say what a builder fuses; bm25 and dense alike if empty.
type HybridConfig struct {
	Members []string  `yaml:"members"` // SPECs
	Weights []float64 `yaml:"weights"` // one a member, 1 if empty
	RRF     float64   `yaml:"rrf"`
	Depth   int       `yaml:"depth"` // never under the query's k
}

// DefaultHybrid has the constant of the paper.
func DefaultHybrid() HybridConfig { return HybridConfig{RRF: 60, Depth: 100} }

// Validate names the field out of range and its value.
func (c HybridConfig) Validate() error {
	if names, weights := c.weighted(); len(names) != len(weights) {
		return fmt.Errorf("weights: %d for %d members", len(weights), len(names))
	}
	if !(c.RRF > 0 && c.RRF <= 1e6) {
		return fmt.Errorf("rrf: %v is not within 0 to 1000000", c.RRF)
	}
	return checkDepth(c.Depth)
}

func checkDepth(depth int) error {
	if depth < 1 || depth > 1_000_000 {
		return fmt.Errorf("depth: %d is not within 1 to 1000000", depth)
	}
	return nil
}

// weighted are the members and their weights, the defaults where none are
// configured.
func (c HybridConfig) weighted() ([]string, []float64) {
	names, weights := c.Members, c.Weights
	if len(names) == 0 {
		names = []string{KindBM25, KindDense}
	}
	if len(weights) == 0 {
		weights = slices.Repeat([]float64{1}, len(names))
	}
	return names, weights
}

func (c HybridConfig) members() map[string]string {
	names, _ := c.weighted()
	members := map[string]string{}
	for _, name := range names {
		members["member."+name] = name
	}
	return members
}

func (c HybridConfig) settings() map[string]string {
	s := map[string]string{"rrf": number(c.RRF), "depth": strconv.Itoa(c.Depth)}
	names, weights := c.weighted()
	for i, name := range names {
		s["member."+name+".weight"] = number(weights[i])
	}
	return s
}

func (c HybridConfig) build(ctx context.Context, b *Builder) (Retriever, error) {
	names, weights := c.weighted()
	members := make([]Member, len(names))
	for i, name := range names {
		r, err := b.member(ctx, name)
		if err != nil {
			return nil, err
		}
		members[i] = Member{Name: name, Weight: weights[i], Retriever: r}
	}
	return NewHybrid(members, c)
}

// Member is one retriever of a hybrid. Weight is above 0.
type Member struct {
	Name      string
	Weight    float64
	Retriever Retriever
}

// Hybrid fuses rankings by reciprocal rank (Cormack, Clarke, Büttcher 2009):
// the score of a chunk is the sum of weight*(RRF+1)/(RRF+rank) over the members
// that return it, so that the first of one member has that member's weight.
type Hybrid struct {
	members []Member
	config  HybridConfig
}

// NewHybrid fuses members, in the order of their names: results do not depend
// on the order given.
func NewHybrid(members []Member, config HybridConfig) (*Hybrid, error) {
	if err := config.Validate(); err != nil {
		return nil, wrong("hybrid: %w", err)
	}
	if len(members) < 2 {
		return nil, wrong("hybrid: has %d members, needs at least 2", len(members))
	}
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	for i, m := range members {
		if i > 0 && m.Name == members[i-1].Name {
			return nil, wrong("hybrid: member %s is named twice", m.Name)
		}
		if !(m.Weight > 0) || math.IsInf(m.Weight, 0) {
			return nil, wrong("hybrid: member %s: weight %v is not above 0", m.Name, m.Weight)
		}
	}
	return &Hybrid{members: members, config: config}, nil
}

// Retrieve implements Retriever. A member that fails fails the query: a fusion
// of the rest would be another retriever.
func (h *Hybrid) Retrieve(ctx context.Context, q Query) (Result, error) {
	start := time.Now()
	if err := q.Validate(); err != nil {
		return Result{}, err
	}
	asked := q
	asked.K = max(q.K, h.config.Depth)
	sums := map[Hit]float64{}
	for _, m := range h.members {
		result, err := m.Retriever.Retrieve(ctx, asked)
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", m.Name, err)
		}
		for i, hit := range result.Hits {
			hit.Score = 0
			sums[hit] += float64(m.Weight * (h.config.RRF + 1) / (h.config.RRF + float64(i+1)))
		}
	}
	return Result{Hits: bestOf(sums, q.K), Took: time.Since(start)}, nil
}

// Close closes the members that hold something.
func (h *Hybrid) Close() error {
	var errs []error
	for _, m := range h.members {
		if c, ok := m.Retriever.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// bestOf orders hits by score, then by what they name.
func bestOf(sums map[Hit]float64, k int) []Hit {
	hits := make([]Hit, 0, len(sums))
	for hit, sum := range sums {
		hit.Score = quantise(sum)
		hits = append(hits, hit)
	}
	slices.SortFunc(hits, compareHits)
	return hits[:min(k, len(hits))]
}

// compareHits orders by score descending, then chunk id, document and span
// ascending.
func compareHits(a, b Hit) int {
	switch {
	case a.Score > b.Score:
		return -1
	case a.Score < b.Score:
		return 1
	}
	if c := strings.Compare(a.ChunkID, b.ChunkID); c != 0 {
		return c
	}
	if c := strings.Compare(a.DocID, b.DocID); c != 0 {
		return c
	}
	if a.Start != b.Start {
		return a.Start - b.Start
	}
	return a.End - b.End
}
