package retrieve

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// weights are BM25's: idf as in Lucene, lengths quantised to a byte as Lucene
// stores them, without the constant factor k1+1.
type weights struct{ k1, b float64 }

// index is an inverted index scored by BM25. What a word contributes is decided
// by expand: its stem, or its character n-grams. Postings are kept as varints
// of document distance and frequency, so that a million chunks fit in memory;
// text is not kept.
type index struct {
	expand  func(word string, joined bool) []string
	records records
	terms   map[string]uint32
	lists   []postings
	words   map[string][]uint32 // memo of expand; nil once built
	lengths []byte              // of each chunk, by lengthByte
	total   int                 // terms of all chunks
	filled  int                 // chunks with at least one term
	scores  sync.Pool           // *accumulator
}

type postings struct {
	data []byte
	last uint32 // chunk number of the last entry, plus one
	df   uint32
}

// indexChunks reads all chunks; headings puts the heading path before the text.
func indexChunks(chunks Chunks, headings bool, expand func(string, bool) []string) (*index, error) {
	x := &index{expand: expand, terms: map[string]uint32{}, words: map[string][]uint32{}}
	counts := map[uint32]uint32{}
	for c, err := range chunks {
		if err != nil {
			return nil, err
		}
		if err := x.records.add(&c); err != nil {
			return nil, err
		}
		x.addText(indexedText(&c, headings), counts)
	}
	x.words, x.records.byKey = nil, nil
	x.scores.New = func() any { return &accumulator{sums: make([]float64, len(x.lengths))} }
	return x, nil
}

func indexedText(c *corpus.Chunk, headings bool) string {
	if !headings || len(c.HeadingPath) == 0 {
		return c.Text
	}
	return strings.Join(c.HeadingPath, "\n") + "\n" + c.Text
}

func (x *index) addText(text string, counts map[uint32]uint32) {
	chunk, length := uint32(len(x.lengths)), 0
	eachWord(text, func(word []byte, joined bool) {
		ids := x.termIDs(word, joined)
		length += len(ids)
		for _, id := range ids {
			counts[id]++
		}
	})
	for id, tf := range counts {
		x.lists[id].add(chunk, tf)
	}
	clear(counts)
	x.lengths = append(x.lengths, lengthByte(length))
	x.total += length
	if length > 0 {
		x.filled++
	}
}

func (x *index) termIDs(word []byte, joined bool) []uint32 {
	if ids, ok := x.words[string(word)]; ok {
		return ids
	}
	ids := []uint32{}
	for _, term := range x.expand(string(word), joined) {
		id, ok := x.terms[term]
		if !ok {
			id = uint32(len(x.lists))
			x.terms[term] = id
			x.lists = append(x.lists, postings{})
		}
		ids = append(ids, id)
	}
	x.words[string(word)] = ids
	return ids
}

// add appends an entry: the distance to the chunk before, shifted left by one,
// with the low bit saying that the frequency is 1; else the frequency follows.
func (p *postings) add(chunk, tf uint32) {
	gap := uint64(chunk+1-p.last) << 1
	if tf == 1 {
		p.data = binary.AppendUvarint(p.data, gap|1)
	} else {
		p.data = binary.AppendUvarint(binary.AppendUvarint(p.data, gap), uint64(tf))
	}
	p.last = chunk + 1
	p.df++
}

// each calls f with every entry in order of chunk number.
func (p *postings) each(f func(chunk uint32, tf float64)) {
	next := uint32(0)
	for data := p.data; len(data) > 0; {
		gap, n := binary.Uvarint(data)
		data = data[n:]
		tf := uint64(1)
		if gap&1 == 0 {
			tf, n = binary.Uvarint(data)
			data = data[n:]
		}
		next += uint32(gap >> 1)
		f(next-1, float64(tf))
	}
}

// idf is Lucene's: ln(1 + (N - df + 0.5) / (df + 0.5)), N the chunks that have
// a term.
func (x *index) idf(df uint32) float64 {
	return math.Log(1 + (float64(x.filled)-float64(df)+0.5)/(float64(df)+0.5))
}

func (x *index) docFreq(term string) uint32 {
	if id, ok := x.terms[term]; ok {
		return x.lists[id].df
	}
	return 0
}

// queryTerm is a term of a query that the index has, and how often the query
// has it.
type queryTerm struct {
	term  string
	count int
}

// queryTerms returns the known terms of a text in byte order: the order of
// their sum.
func (x *index) queryTerms(text string) []queryTerm {
	counts := map[string]int{}
	eachWord(text, func(word []byte, joined bool) {
		for _, term := range x.expand(string(word), joined) {
			if _, ok := x.terms[term]; ok {
				counts[term]++
			}
		}
	})
	terms := make([]queryTerm, 0, len(counts))
	for term, n := range counts {
		terms = append(terms, queryTerm{term, n})
	}
	slices.SortFunc(terms, func(a, b queryTerm) int { return strings.Compare(a.term, b.term) })
	return terms
}

// accumulator sums the scores of one query's chunks; sums is all zero between
// queries.
type accumulator struct {
	sums    []float64
	touched []uint32
}

func (a *accumulator) add(chunk uint32, score float64) {
	if a.sums[chunk] == 0 {
		a.touched = append(a.touched, chunk)
	}
	a.sums[chunk] += score
}

func (a *accumulator) reset() {
	for _, chunk := range a.touched {
		a.sums[chunk] = 0
	}
	a.touched = a.touched[:0]
}

// accumulate adds the weights of every query term to a.
func (x *index) accumulate(a *accumulator, text string, w weights) {
	norms := x.norms(w)
	for _, q := range x.queryTerms(text) {
		list := &x.lists[x.terms[q.term]]
		factor := float64(q.count) * x.idf(list.df)
		list.each(func(chunk uint32, tf float64) {
			a.add(chunk, factor*(tf/(tf+norms[x.lengths[chunk]])))
		})
	}
}

// norms holds k1*(1-b+b*length/average) for each length byte.
func (x *index) norms(w weights) *[256]float64 {
	average := float64(x.total) / float64(max(x.filled, 1))
	var norms [256]float64
	for i := range norms {
		relative := float64(w.b * (float64(lengthOf(byte(i))) / average))
		norms[i] = w.k1 * (1 - w.b + relative)
	}
	return &norms
}

// retrieve ranks the chunks that q may see.
func (x *index) retrieve(ctx context.Context, q Query, w weights) (Result, error) {
	start := time.Now()
	allowed, err := x.records.admit(q)
	if err != nil {
		return Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, context.Cause(ctx)
	}
	a := x.scores.Get().(*accumulator)
	defer func() { a.reset(); x.scores.Put(a) }()
	x.accumulate(a, q.Text, w)
	top := newTop(q.K, x.records.ids)
	for _, chunk := range a.touched {
		if allowed.has(chunk) {
			top.add(chunk, quantise(a.sums[chunk]))
		}
	}
	return Result{Hits: top.hits(), Took: time.Since(start)}, nil
}

// scoresOf returns the scores of given chunks, 0 for one that shares no term
// with the text or is not in the index.
func (x *index) scoresOf(text string, ids []string, w weights) []float64 {
	a := x.scores.Get().(*accumulator)
	defer func() { a.reset(); x.scores.Put(a) }()
	x.accumulate(a, text, w)
	scores := make([]float64, len(ids))
	for i, id := range ids {
		if chunk, ok := x.records.number[id]; ok {
			scores[i] = quantise(a.sums[chunk])
		}
	}
	return scores
}

// quantise rounds a score to 1e-6, so that sums which differ in their last bits
// tie.
func quantise(score float64) float64 { return math.Round(score*1e6) / 1e6 }
