package retrieve

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/goldgen/goldgen/internal/seeded"
)

const (
	// lsaVersion names how a space is fitted; it changes when spaces do.
	lsaVersion = "log-tf-idf,randomised-svd/1"
	// lsaTerms is how many terms a space has at most: those in most chunks.
	lsaTerms = 50_000
	// lsaOversample and lsaRounds are the randomised SVD's: dimensions beyond
	// the rank, and rounds of power iteration.
	lsaOversample, lsaRounds = 20, 3
	// lsaBlock is how many chunks are placed at a time.
	lsaBlock = 4096
)

// lsaSpace places texts in dim dimensions.
type lsaSpace struct {
	terms map[string]uint32
	idf   []float64 // by term number; 0 for a term that the space leaves out
	at    []int32   // row of basis, by term number
	dim   int
	basis []float64 // right singular vectors, a row of dim for each term
}

// fitLSA finds the space of the leading right singular vectors of the chunks'
// weights by the randomised method of Halko, Martinsson and Tropp (SIAM Review
// 53, 2011, algorithms 4.4 and 5.1), seeded. Only small matrices are dense.
func fitLSA(counts *termCounts, config LSAConfig) *lsaSpace {
	s := newLSASpace(counts)
	a := newWeightMatrix(s, counts, config.Sample)
	size := min(config.Rank+lsaOversample, a.rows, a.columns)
	if size == 0 {
		return s
	}
	z := gaussian(a.columns, size)
	for range lsaRounds {
		y := principal(a.times(z), size)
		z = principal(a.transposedTimes(y), size)
	}
	y := principal(a.times(z), size)
	z = principal(a.transposedTimes(y), config.Rank)
	_, s.dim = z.Dims()
	s.basis = z.RawMatrix().Data
	return s
}

// newLSASpace numbers the terms that the space has and weighs them.
func newLSASpace(counts *termCounts) *lsaSpace {
	s := &lsaSpace{terms: counts.terms, idf: make([]float64, len(counts.df)), at: make([]int32, len(counts.df))}
	order := make([]uint32, len(counts.df))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(counts.df[b], counts.df[a]), cmp.Compare(a, b))
	})
	for row, term := range order[:min(lsaTerms, len(order))] {
		s.at[term] = int32(row)
		s.idf[term] = math.Log(float64(counts.len()+1) / (float64(counts.df[term]) + 0.5))
	}
	return s
}

// weight is (1 + ln tf) idf.
func (s *lsaSpace) weight(c termCount) float64 {
	return float64((1 + math.Log(float64(c.count))) * s.idf[c.term])
}

// counts counts the terms of a text that the corpus has.
func (s *lsaSpace) counts(text string) []termCount {
	return countTerms(text, func(word []byte, joined bool) (ids []uint32) {
		for _, term := range stemmed(string(word), joined) {
			if id, ok := s.terms[term]; ok {
				ids = append(ids, id)
			}
		}
		return ids
	})
}

// project adds the text's weights, times their rows of the basis, to out.
func (s *lsaSpace) project(row []termCount, out []float64) {
	for _, c := range row {
		w := s.weight(c)
		if w == 0 {
			continue
		}
		at := int(s.at[c.term]) * s.dim
		addScaled(out, w, s.basis[at:at+s.dim])
	}
}

// weightMatrix is the sparse matrix of unit rows, one a chunk of the sample,
// with its transpose.
type weightMatrix struct {
	rows, columns int
	byRow, byTerm sparse
}

// sparse is a matrix in compressed rows.
type sparse struct {
	start  []int
	column []int32
	value  []float64
}

func newWeightMatrix(s *lsaSpace, counts *termCounts, sample int) *weightMatrix {
	m := &weightMatrix{columns: min(lsaTerms, len(counts.df)), byRow: sparse{start: []int{0}}}
	for _, i := range sampleRows(counts.len(), sample) {
		from := len(m.byRow.value)
		for _, c := range counts.row(i) {
			if w := s.weight(c); w != 0 {
				m.byRow.column = append(m.byRow.column, s.at[c.term])
				m.byRow.value = append(m.byRow.value, w)
			}
		}
		unitLength(m.byRow.value[from:])
		m.byRow.start = append(m.byRow.start, len(m.byRow.value))
	}
	m.rows = len(m.byRow.start) - 1
	m.byTerm = m.byRow.transposed(m.columns)
	return m
}

// sampleRows draws k of n rows, ascending.
func sampleRows(n, k int) []int {
	rows := seeded.Rand(0, "lsa", "sample").Perm(n)[:min(n, k)]
	slices.Sort(rows)
	return rows
}

func (s *sparse) transposed(columns int) sparse {
	t := sparse{start: make([]int, columns+1), column: make([]int32, len(s.column)), value: make([]float64, len(s.value))}
	for _, c := range s.column {
		t.start[c+1]++
	}
	for c := range columns {
		t.start[c+1] += t.start[c]
	}
	next := slices.Clone(t.start)
	for row := range len(s.start) - 1 {
		for i := s.start[row]; i < s.start[row+1]; i++ {
			at := next[s.column[i]]
			next[s.column[i]]++
			t.column[at], t.value[at] = int32(row), s.value[i]
		}
	}
	return t
}

func (m *weightMatrix) times(x *mat.Dense) *mat.Dense           { return m.byRow.times(x) }
func (m *weightMatrix) transposedTimes(x *mat.Dense) *mat.Dense { return m.byTerm.times(x) }

// times is the product with a dense matrix; each row is summed in order.
func (s *sparse) times(x *mat.Dense) *mat.Dense {
	_, width := x.Dims()
	out := mat.NewDense(len(s.start)-1, width, nil)
	eachRow(len(s.start)-1, func(row int) {
		sum := out.RawRowView(row)
		for i := s.start[row]; i < s.start[row+1]; i++ {
			addScaled(sum, s.value[i], x.RawRowView(int(s.column[i])))
		}
	})
	return out
}

func addScaled(sum []float64, factor float64, v []float64) {
	v = v[:len(sum)]
	for i := range sum {
		sum[i] += float64(factor * v[i])
	}
}

func gaussian(rows, columns int) *mat.Dense {
	rng := seeded.Rand(0, "lsa", "gaussian")
	data := make([]float64, rows*columns)
	for i := range data {
		data[i] = rng.NormFloat64()
	}
	return mat.NewDense(rows, columns, data)
}

// principal returns an orthonormal basis of the k leading left singular vectors
// of x, fewer where its rank is lower, by the eigenvectors of its Gram matrix.
func principal(x *mat.Dense, k int) *mat.Dense {
	_, width := x.Dims()
	var gram mat.SymDense
	gram.SymOuterK(1, x.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		panic("lsa: eigenvalues of a symmetric matrix of finite numbers did not converge")
	}
	values := eigen.Values(nil) // ascending
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	kept := min(k, width)
	for kept > 0 && values[width-kept] <= 1e-10*values[width-1] {
		kept--
	}
	scaled := mat.NewDense(width, max(kept, 1), nil)
	for j := range kept {
		for i := range width {
			scaled.Set(i, j, vectors.At(i, width-1-j)/math.Sqrt(values[width-1-j]))
		}
	}
	var out mat.Dense
	out.Mul(x, scaled)
	return &out
}
