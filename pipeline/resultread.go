package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/filedigest"
	"github.com/goldgen/goldgen/internal/parquetfile"
	"github.com/goldgen/goldgen/retrieve"
)

// ErrDamaged marks a result folder that is cut short or was changed.
var ErrDamaged = errors.New("damaged result")

// StoredResult is a result folder: what was scored and how, the numbers, and,
// through Input, all that scoring it again needs.
type StoredResult struct {
	Dir string
	resultManifest
}

// ReadResult reads the numbers of a result folder of any format.
func ReadResult(dir string) (*StoredResult, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	return &StoredResult{Dir: dir, resultManifest: m}, nil
}

func readManifest(dir string) (resultManifest, error) {
	var m resultManifest
	path := filepath.Join(dir, resultFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, hinted("a result is a folder that goldgen eval made: under results/, or the one of --out",
			"no result in %s: %s is missing", dir, resultFile)
	}
	if err != nil {
		return m, err
	}
	if kind, err := kindOfResult(data); err == nil && kind == KindAnswers {
		return m, fmt.Errorf("%w: %s: a result of answers, and one of retrieval is wanted", ErrConfig, dir)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	switch {
	case m.Format < 1 || m.Format > ResultFormat:
		return m, fmt.Errorf("%s: format %d, this version reads 1 to %d", path, m.Format, ResultFormat)
	case m.Result == nil:
		return m, fmt.Errorf("%w: %s: holds no result", ErrDamaged, path)
	}
	return m, checkResult(path, data)
}

// Kept is a result read whole. Input is what Evaluate took: scored again it
// gives the result's numbers.
type Kept struct {
	*StoredResult
	Input  eval.Input
	slices [][]sliceRow    // of each case, in the order of Input.Cases
	golden []datasets.Case // of Input.Cases, where they were put under another version of the set
}

// Read gives everything that the folder keeps, after checking that nothing of
// it is missing or was changed. A folder of format 1 keeps too little.
func (r *StoredResult) Read() (*Kept, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	k := &Kept{StoredResult: r}
	err := k.readInput()
	if err != nil {
		return nil, err
	}
	if k.Input.Dimensions, err = k.Dimensions(r.Scoring.SliceBy); err != nil {
		return nil, err
	}
	k.Input.Slicing, err = k.Dimensions(k.SliceNames())
	return k, err
}

// check reports what keeps a folder from being read whole.
func (r *StoredResult) check() error {
	if r.Format < ResultFormat {
		return hinted("score the retriever again with goldgen eval: the new result keeps what is needed",
			"result %s: format %d keeps no labels, so it cannot be scored again or compared", r.Dir, r.Format)
	}
	return r.checkFile(filepath.Join(r.Dir, casesFile))
}

// readInput fills Input but for its slices.
func (k *Kept) readInput() (err error) {
	k.Input = eval.Input{
		MinGrade: k.Scoring.MinGrade, KeepEmpty: k.Scoring.KeepEmpty, Seed: k.Scoring.Seed, Duplicates: k.Scoring.Duplicates,
		Header: k.header(),
	}
	if k.Input.Measures, err = eval.ParseMeasures(strings.Join(k.Scoring.Measures, ",")); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(k.Dir, resultFile), err)
	}
	path := filepath.Join(k.Dir, casesFile)
	if err := k.readCases(path); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if n := len(k.Input.Cases); n != k.Cases {
		return fmt.Errorf("%w: %s: %d cases where %s says %d", ErrDamaged, path, n, resultFile, k.Cases)
	}
	return nil
}

// checkFile refuses a file that is not the one that was written.
func (r *StoredResult) checkFile(path string) error {
	digest, err := filedigest.SHA256(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is missing", ErrDamaged, path)
	}
	if err != nil {
		return err
	}
	if digest != r.Files[casesFile] {
		return hinted("score the retriever again with goldgen eval",
			"%w: %s: it is not the file that eval wrote: cut short or changed", ErrDamaged, path)
	}
	return nil
}

// readCases reads row after row, as rows take more memory than cases.
func (k *Kept) readCases(path string) error {
	known := newSeen()
	for row, err := range parquetfile.Rows[caseRow](path) {
		if err != nil {
			return err
		}
		c, err := row.toCase(k.Result.Golden == nil)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		c.Unplaced = k.Scoring.Unplaced[c.ID]
		known.add(&row)
		k.Input.Cases, k.slices = append(k.Input.Cases, c), append(k.slices, row.Slices)
	}
	known.tell(&k.Input)
	return nil
}

func (r *StoredResult) header() eval.Header {
	c := r.Result.Conventions
	ref := r.Result.Retriever
	ref.Kind = r.Retriever.Kind // which a name of goldgen.yaml does not show
	h := eval.Header{
		Golden: r.Result.Golden, Trust: r.Result.Trust, TrustDetail: r.Result.TrustDetail, Retriever: ref,
		Source: c.Source, SourceOnly: c.SourceOnly, K: c.K, Unit: c.Unit, SpanUnit: c.SpanUnit, Pins: c.Pins,
	}
	if a := r.Result.Abstention; a != nil && a.Threshold != nil {
		h.FalseAnswers = &a.Threshold.Target
	}
	if r.Pins != nil {
		h.Corpus = r.Pins.Corpus.Digest
	}
	return h
}

// Dimensions cuts the kept cases by the named slices. An error lists those
// that the result has.
func (k *Kept) Dimensions(names []string) ([]eval.Dimension, error) {
	if k.golden != nil {
		return dimensionsOf(k.golden, names)
	}
	var out []eval.Dimension
	for _, name := range names {
		if !k.hasSlice(name) {
			return nil, fmt.Errorf("%w: slice by %q: result %s has %s", ErrConfig, name, k.Dir, orNone(k.SliceNames()))
		}
		out = append(out, eval.NewDimension(name, len(k.slices), func(i int) []string { return sliceValues(k.slices[i], name) }))
	}
	return out, nil
}

func sliceValues(of []sliceRow, name string) []string {
	var values []string
	for _, s := range of {
		if s.Name == name {
			values = append(values, s.Value)
		}
	}
	return values
}

// hasSlice reports whether the cases can be cut by name.
func (k *Kept) hasSlice(name string) bool {
	return slices.Contains(k.Scoring.SliceBy, name) || slices.Contains(k.SliceNames(), name)
}

// SliceNames lists, sorted, what the kept cases can be cut by.
func (k *Kept) SliceNames() []string {
	if k.golden != nil {
		return eval.SliceNames()
	}
	names := map[string]bool{}
	for _, of := range k.slices {
		for _, s := range of {
			names[s.Name] = true
		}
	}
	return sortedKeys(names)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "no slices"
	}
	return strings.Join(names, ", ")
}

// rankingRow is what of a case's row every format has.
type rankingRow struct {
	CaseID  string   `parquet:"case_id"`
	Ranking []hitRow `parquet:"ranking,list"`
}

// rankings yields each case's hits in the order of their ranks, each chunk
// once; it reads every format.
func (r *StoredResult) rankings(each func(caseID string, hits []retrieve.Hit)) error {
	for row, err := range parquetfile.Rows[rankingRow](filepath.Join(r.Dir, casesFile)) {
		if err != nil {
			return err
		}
		slices.SortFunc(row.Ranking, func(a, b hitRow) int { return int(a.Rank - b.Rank) })
		each(row.CaseID, firstHits(row.Ranking))
	}
	return nil
}

// firstHits leaves out results whose chunk came before.
func firstHits(ranking []hitRow) []retrieve.Hit {
	hits, seen := make([]retrieve.Hit, 0, len(ranking)), make(map[string]bool, len(ranking))
	for _, h := range ranking {
		if seen[h.ChunkID] {
			continue
		}
		seen[h.ChunkID] = true
		hit := retrieve.Hit{ChunkID: h.ChunkID}
		if h.Score != nil {
			hit.Score = *h.Score
		}
		hits = append(hits, hit)
	}
	return hits
}
