package retrieve

import (
	"context"
	"hash/fnv"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/seeded"
)

// termFacts are what a weight may rest on.
type termFacts struct {
	tf     float64 // of the term in the chunk
	length float64 // terms of the chunk, as quantised
	count  float64 // of the term in the query
	idf    float64
	share  float64 // of the term among all terms of the corpus
}

// termWeight is how a term that query and chunk share adds to the score.
type termWeight interface {
	weight(f termFacts) float64
	// perChunk is added once for a chunk that shares a term, given the number of
	// terms of the query that the corpus has.
	perChunk(length, terms float64) float64
}

// termScorer ranks chunks by a sum of weights over shared terms. norms, where
// not nil, divide it.
type termScorer struct {
	index *index
	of    termWeight
	norms []float64
}

func newTermScorer(x *index, of termWeight) *termScorer {
	s := &termScorer{index: x, of: of}
	if _, ok := of.(tfidfWeight); ok {
		s.norms = tfidfNorms(x)
	}
	return s
}

// Retrieve implements Retriever.
func (s *termScorer) Retrieve(ctx context.Context, q Query) (Result, error) {
	start := time.Now()
	allowed, err := s.index.records.admit(q)
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	a := s.index.scores.Get().(*accumulator)
	defer func() { a.reset(); s.index.scores.Put(a) }()
	terms := s.accumulate(a, q.Text)
	best := newTop(q.K, s.index.records.ids)
	for _, chunk := range a.touched {
		if !allowed.has(chunk) {
			continue
		}
		score := a.sums[chunk] + s.of.perChunk(s.length(chunk), terms)
		if s.norms != nil {
			score /= s.norms[chunk]
		}
		best.add(chunk, quantise(score))
	}
	return Result{Hits: best.hits(), Took: time.Since(start)}, nil
}

func (s *termScorer) length(chunk uint32) float64 {
	return float64(lengthOf(s.index.lengths[chunk]))
}

// accumulate adds the weights of the query's terms and returns how many there
// are.
func (s *termScorer) accumulate(a *accumulator, text string) (terms float64) {
	for _, q := range s.index.queryTerms(text) {
		list := &s.index.lists[s.index.terms[q.term]]
		f := termFacts{count: float64(q.count), idf: s.index.idf(list.df)}
		list.each(func(_ uint32, tf float64) { f.share += tf / float64(s.index.total) })
		list.each(func(chunk uint32, tf float64) {
			f.tf, f.length = tf, s.length(chunk)
			a.add(chunk, s.of.weight(f))
		})
		terms += f.count
	}
	return terms
}

// tfidfWeight is the cosine of (1 + ln tf) idf, but for the query's length.
type tfidfWeight struct{}

func (tfidfWeight) weight(f termFacts) float64 {
	return float64((1 + math.Log(f.tf)) * f.idf * f.count * f.idf)
}
func (tfidfWeight) perChunk(_, _ float64) float64 { return 0 }

func tfidfNorms(x *index) []float64 {
	norms := make([]float64, len(x.lengths))
	for i := range x.lists {
		idf := x.idf(x.lists[i].df)
		x.lists[i].each(func(chunk uint32, tf float64) {
			w := (1 + math.Log(tf)) * idf
			norms[chunk] += float64(w * w)
		})
	}
	for i := range norms {
		norms[i] = math.Sqrt(norms[i])
	}
	return norms
}

// dirichlet is the query likelihood with Dirichlet smoothing (Zhai and Lafferty
// 2004).
type dirichlet struct{ mu float64 }

func (d dirichlet) weight(f termFacts) float64 {
	return float64(f.count * math.Log1p(f.tf/(d.mu*f.share)))
}

func (d dirichlet) perChunk(length, terms float64) float64 {
	return float64(terms * math.Log(d.mu/(length+d.mu)))
}

// jelinekMercer is the query likelihood with linear smoothing (ibid.); lambda is
// the corpus's part.
type jelinekMercer struct{ lambda float64 }

func (j jelinekMercer) weight(f termFacts) float64 {
	return float64(f.count * math.Log1p((1-j.lambda)*f.tf/(j.lambda*max(f.length, 1)*f.share)))
}
func (jelinekMercer) perChunk(_, _ float64) float64 { return 0 }

// coordination counts shared words.
type coordination struct{}

func (coordination) weight(termFacts) float64      { return 1 }
func (coordination) perChunk(_, _ float64) float64 { return 0 }

// reordered takes the first hits of a retriever and orders them by other scores.
type reordered struct {
	first  Retriever
	depth  int
	scores func(text string, ids []string) []float64
}

// Retrieve implements Retriever.
func (r *reordered) Retrieve(ctx context.Context, q Query) (Result, error) {
	if err := q.Validate(); err != nil {
		return Result{}, err
	}
	asked := q
	asked.K = max(q.K, r.depth)
	result, err := r.first.Retrieve(ctx, asked)
	if err != nil {
		return Result{}, err
	}
	head := result.Hits[:min(r.depth, len(result.Hits))]
	ids := make([]string, len(head))
	for i := range head {
		ids[i] = head[i].ChunkID
	}
	for i, score := range r.scores(q.Text, ids) {
		if math.IsNaN(score) {
			score = -1
		}
		head[i].Score = score
	}
	slices.SortFunc(head, compareHits)
	result.Hits = head[:min(q.K, len(head))]
	return result, nil
}

// shuffledScores are pseudo-random, by text and id.
func shuffledScores(text string, ids []string) []float64 {
	scores := make([]float64, len(ids))
	for i, id := range ids {
		h := fnv.New64a()
		_, _ = h.Write([]byte(text + "\x00" + id)) // a hash takes everything
		scores[i] = float64(h.Sum64()>>12) / (1 << 52)
	}
	return scores
}

// halved asks for every second word of the query.
type halved struct{ of Retriever }

// Retrieve implements Retriever.
func (h *halved) Retrieve(ctx context.Context, q Query) (Result, error) {
	words := ContentWords(q.Text)
	var kept []string
	for i := 0; i < len(words); i += 2 {
		kept = append(kept, words[i])
	}
	q.Text = strings.Join(kept, " ")
	return h.of.Retrieve(ctx, q)
}

// projection shortens vectors by a random matrix of normal numbers, which keeps
// cosines about as they are (Johnson and Lindenstrauss 1984).
type projection struct {
	to       int
	embedder QueryEmbedder
}

func (p *projection) apply(v []float32) []float32 {
	out := make([]float64, p.to)
	rng := seeded.Rand(0, "projection", "")
	for _, x := range v {
		for j := range out {
			out[j] += float64(float64(x) * rng.NormFloat64())
		}
	}
	short := make([]float32, p.to)
	for j := range out {
		short[j] = float32(out[j])
	}
	return short
}

// EmbedQuery implements QueryEmbedder.
func (p *projection) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := p.embedder.EmbedQuery(ctx, text)
	if err != nil {
		return nil, err
	}
	return p.apply(v), nil
}

func (p *projection) vectors(from Vectors) iter.Seq2[corpus.Vector, error] {
	return func(yield func(corpus.Vector, error) bool) {
		for v, err := range from {
			if err == nil {
				v.Values = p.apply(v.Values)
			}
			if !yield(v, err) {
				return
			}
		}
	}
}
