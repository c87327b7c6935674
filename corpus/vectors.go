package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// ProviderTable is the provider of vectors that came with a chunk table.
const ProviderTable = "table"

// Vector is the embedding of one chunk.
type Vector struct {
	ChunkID string
	Values  []float32
}

// vectorRow is a row of vectors/<key>.parquet.
type vectorRow struct {
	ChunkID string    `parquet:"chunk_id"`
	Vector  []float32 `parquet:"vector,list" parquet-element:",uncompressed"`
}

// Key is the digest that names the embedding's vectors: 16 hex digits.
func (e Embedding) Key() string {
	data, err := json.Marshal(e)
	if err != nil {
		panic(err) // strings, numbers and booleans only
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// VectorSet finds the vectors of an embedding's key.
func (s *Snapshot) VectorSet(key string) (VectorSet, bool) {
	for _, v := range s.manifest.Vectors {
		if v.Key == key {
			return v, true
		}
	}
	return VectorSet{}, false
}

// unitVector is v at unit length. Its sum is taken in float64, in order.
func unitVector(v []float32, dimensions int) ([]float32, error) {
	if len(v) != dimensions {
		return nil, fmt.Errorf("vector has %d dimensions, want %d", len(v), dimensions)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, errors.New("vector is zero or not finite")
	}
	norm := math.Sqrt(sum)
	unit := make([]float32, len(v))
	for i, x := range v {
		unit[i] = float32(float64(x) / norm)
	}
	return unit, nil
}

// WriteVectors stores the vectors of all chunks that are not flagged empty. They
// must come in snapshot order; each is brought to unit length. A zero vector,
// one of another length, one too many or one missing is an error, and then
// nothing is kept. cut says, once all have come, how many texts were shortened
// for the embedder; nil means none. The manifest on disk and that of s name the
// set afterwards; the snapshot's digest does not cover it. s must not be used by
// others meanwhile.
func (s *Snapshot) WriteVectors(ctx context.Context, e Embedding, cut func() int, vectors iter.Seq2[Vector, error]) error {
	root := filepath.Dir(s.dir)
	temp, err := atomicfile.NewTempDir(root)
	if err != nil {
		return err
	}
	defer temp.Remove()
	file := filepath.Join(temp.Path, e.Key()+".parquet")
	set := VectorSet{Embedding: e, Key: e.Key()}
	if set.File, set.Count, err = s.writeVectorFile(ctx, file, e.Dimensions, vectors); err != nil {
		return fmt.Errorf("vectors of %s: %w", e.Model, err)
	}
	if cut != nil {
		set.Cut = cut()
	}
	return s.commitVectors(ctx, file, set)
}

func (s *Snapshot) writeVectorFile(ctx context.Context, file string, dimensions int, vectors iter.Seq2[Vector, error]) (FileInfo, int, error) {
	out, err := newTableWriter[vectorRow](file)
	if err != nil {
		return FileInfo{}, 0, err
	}
	defer out.abort()
	next, stop := iter.Pull2(s.embeddable())
	defer stop()
	n := 0
	for v, err := range vectors {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return FileInfo{}, 0, err
		}
		if err := expectNext(next, v.ChunkID); err != nil {
			return FileInfo{}, 0, err
		}
		unit, err := unitVector(v.Values, dimensions)
		if err != nil {
			return FileInfo{}, 0, fmt.Errorf("chunk %s: %w", v.ChunkID, err)
		}
		if err := out.add(vectorRow{v.ChunkID, unit}, 4*len(unit)); err != nil {
			return FileInfo{}, 0, err
		}
		n++
	}
	if id, err, more := next(); err != nil || more {
		return FileInfo{}, 0, errors.Join(err, fmt.Errorf("chunk %s: no vector", id))
	}
	info, err := out.close()
	return info, n, err
}

// embeddable yields the ids of the chunks that have a text to embed.
func (s *Snapshot) embeddable() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for c, err := range s.ChunkInfos() {
			if err == nil && slices.Contains(c.Flags, FlagEmpty) {
				continue
			}
			if !yield(c.ChunkID, err) {
				return
			}
		}
	}
}

func expectNext(next func() (string, error, bool), got string) error {
	want, err, more := next()
	switch {
	case err != nil:
		return err
	case !more:
		return fmt.Errorf("chunk %s: a vector too many", got)
	case want != got:
		return fmt.Errorf("vector of chunk %s where that of %s is due", got, want)
	}
	return nil
}

// commitVectors moves a finished file to its place and names it in the manifest.
func (s *Snapshot) commitVectors(ctx context.Context, file string, set VectorSet) error {
	unlock, err := lock(ctx, filepath.Dir(s.dir))
	if err != nil {
		return err
	}
	defer unlock()
	m, err := readManifest(s.dir)
	if err != nil {
		return err
	}
	folder := filepath.Join(s.dir, vectorsFolder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.Rename(file, filepath.Join(folder, filepath.Base(file))); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(folder); err != nil {
		return err
	}
	set.File.Name = vectorsFolder + "/" + set.Key + ".parquet"
	m.Vectors = slices.DeleteFunc(m.Vectors, func(v VectorSet) bool { return v.Key == set.Key })
	m.Vectors = append(m.Vectors, set)
	if err := writeManifest(s.dir, m); err != nil {
		return err
	}
	s.manifest = m
	return nil
}

// CheckVectors reports an error where the file of an embedding's key is not there
// as it was written.
func (s *Snapshot) CheckVectors(key string) error {
	set, ok := s.VectorSet(key)
	if !ok {
		return fmt.Errorf("%s: no vectors of embedding %s", s.dir, key)
	}
	return checkFile(s.dir, set.File, hashedOnOpen)
}

// Vectors yields the vectors of an embedding's key in snapshot order, each of
// unit length; chunks flagged empty have none.
func (s *Snapshot) Vectors(key string) iter.Seq2[Vector, error] {
	return func(yield func(Vector, error) bool) {
		if err := s.CheckVectors(key); err != nil {
			yield(Vector{}, err)
			return
		}
		set, _ := s.VectorSet(key)
		for row, err := range tableRows[vectorRow](filepath.Join(s.dir, filepath.FromSlash(set.File.Name))) {
			if err == nil && len(row.Vector) != set.Embedding.Dimensions {
				err = fmt.Errorf("%s: chunk %s: %d dimensions, want %d", set.File.Name, row.ChunkID, len(row.Vector), set.Embedding.Dimensions)
			}
			if err != nil {
				yield(Vector{}, err)
				return
			}
			if !yield(Vector{row.ChunkID, row.Vector}, nil) {
				return
			}
		}
	}
}

// vectorStage gathers the vectors that a chunk table brings while it is read.
type vectorStage struct {
	dir        string
	out        *tableWriter[vectorRow]
	hash       hash.Hash
	dimensions int
	count      int
	without    string // a chunk that had none
}

// add takes the vector of the next chunk; nil means that it has none.
func (v *vectorStage) add(id string, vector []float32, empty bool) error {
	if len(vector) == 0 {
		if !empty && v.without == "" {
			v.without = id
		}
		return nil
	}
	if empty {
		return nil
	}
	if v.out == nil {
		if err := v.begin(len(vector)); err != nil {
			return err
		}
	}
	unit, err := unitVector(vector, v.dimensions)
	if err != nil {
		return fmt.Errorf("chunk %s: %w", id, err)
	}
	for _, x := range unit {
		v.hash.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
	}
	v.count++
	return v.out.add(vectorRow{id, unit}, 4*len(unit))
}

func (v *vectorStage) begin(dimensions int) (err error) {
	v.dimensions, v.hash = dimensions, sha256.New()
	v.out, err = newTableWriter[vectorRow](filepath.Join(v.dir, "table-vectors.parquet"))
	return err
}

// store ends the file and moves it below the snapshot's folder; nil when the
// table had no vectors.
func (v *vectorStage) store(dir string) (*VectorSet, error) {
	if v.out == nil {
		return nil, nil
	}
	if v.without != "" {
		return nil, fmt.Errorf("chunk %s: no embedding, where other chunks of the table have one", v.without)
	}
	info, err := v.out.close()
	if err != nil {
		return nil, err
	}
	e := Embedding{
		Provider: ProviderTable, Model: "given", Digest: hex.EncodeToString(v.hash.Sum(nil)),
		Dimensions: v.dimensions, Long: "fail",
	}
	if err := os.Mkdir(filepath.Join(dir, vectorsFolder), 0o755); err != nil {
		return nil, err
	}
	name := vectorsFolder + "/" + e.Key() + ".parquet"
	if err := os.Rename(filepath.Join(dir, info.Name), filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		return nil, err
	}
	info.Name = name
	return &VectorSet{Embedding: e, Key: e.Key(), Count: v.count, File: info}, nil
}

func (v *vectorStage) close() {
	if v.out != nil {
		v.out.abort()
	}
}
