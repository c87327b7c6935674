package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/retrieve"
)

// How far a diagnosis looks: probeDepth hits, or ten times k where that is
// more, and never beyond wholeRanking.
const (
	probeDepth  = 100
	probeFactor = 10
	ownBytes    = 4000 // of a chunk's text as a query
	ownChunks   = 5    // a case with more relevant chunks is not asked for each
)

// Files that a diagnosis adds to a result folder.
const (
	DiagnosisFile = "diagnosis.json"  // eval.Diagnosis with every failed case
	LabellingFile = "labelling.jsonl" // an eval.Unjudged a line
)

// stage is a retriever (retrieve.Rerank) that orders anew what another one
// returns.
type stage interface{ Before() retrieve.Retriever }

// prober asks further queries about failed cases. A query that gets an error
// proves nothing and is counted.
type prober struct {
	*bench
	progress   Progress
	minGrade   int
	k, depth   int
	asked      int                // hits that the rankings were asked for
	retriever  retrieve.Retriever // itself, whatever answers were kept
	replayed   bool               // a run file: it answers no query but its own
	exact      retrieve.Retriever // nil where there is none
	before     retrieve.Retriever // likewise the following
	lexical    retrieve.Retriever
	dense      retrieve.Retriever
	spans      *spanShelf // of hits that are spans; nil where hits are chunks
	failed     atomic.Int64
	firstError atomic.Pointer[error]
}

// keepDiagnosed keeps a result with why its cases failed; without, where finding
// out was cut short.
func (j *evalJob) keepDiagnosed(ctx context.Context, in eval.Input, result *eval.Result) (*Evaluation, error) {
	d, err := j.diagnose(ctx, &in, result.Leaks)
	if err != nil {
		e, kept := j.keep(in, result)
		if kept != nil {
			return nil, errors.Join(err, kept)
		}
		return nil, fmt.Errorf("diagnosis: %w (the result without one is kept in %s)", err, e.Path)
	}
	if j.o.Out == "" {
		j.o.Out = j.p.resultPath(j.set, j.description)
	}
	if d.Labelling.Pairs > 0 {
		d.Labelling.Path = filepath.Join(j.o.Out, LabellingFile)
	}
	result.Diagnosis = d.Summary()
	e, err := j.keep(in, result)
	if err != nil {
		return e, err
	}
	e.Diagnosis, e.Named = d, j.o.Cases
	return e, keepDiagnosis(e.Path, d)
}

// diagnose says why the cases of a result failed. It asks further queries.
func (j *evalJob) diagnose(ctx context.Context, in *eval.Input, leaks []eval.Leak) (*eval.Diagnosis, error) {
	pr, family, notes, err := j.prober(ctx, in.MinGrade)
	if err != nil {
		return nil, err
	}
	defer pr.close()
	cases, of := in.Cases, eval.Corpus(lookup{j.bench.view})
	if in.Unit == eval.UnitSpans {
		pr.spans = newSpanShelf(j.bench.view, in.Cases)
		cases, of = pr.spans.all(in.Cases, in.MinGrade, nil), pr.spans
		notes = append(notes, spanNote(in.Cases))
	}
	probes, err := pr.probe(ctx, cases, eval.FailedCases(cases, leaks, in.MinGrade, pr.k))
	if err != nil {
		return nil, err
	}
	if pr.spans != nil {
		cases = pr.spans.all(in.Cases, in.MinGrade, probes)
	}
	d := eval.Diagnose(eval.DiagnosisInput{
		Cases: cases, Dimensions: in.Dimensions, Leaks: leaks, MinGrade: in.MinGrade, K: pr.k, Depth: pr.depth,
		Probes: probes, Corpus: of, Family: family, BySpan: pr.spans != nil,
	})
	d.Notes = append(d.Notes, notes...)
	hints, notes := j.answerHints(in, pr.k)
	d.Hints, d.Notes = append(d.Hints, hints...), append(d.Notes, notes...)
	if n := pr.failed.Load(); n > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s got an error and %s nothing; one of them: %v", wording.Count(int(n), "further query"), wording.Pick(int(n), "proves", "prove"), *pr.firstError.Load()))
	}
	return d, nil
}

// spanNote says by what results that are spans are looked at.
func spanNote(cases []eval.Case) string {
	note, bare := "results are spans of documents: one that holds a whole span of evidence is what is looked for", 0
	for i := range cases {
		if !cases[i].Abstain && len(cases[i].Background.Evidence) == 0 {
			bare++
		}
	}
	if bare > 0 {
		note += fmt.Sprintf("; %s without evidence %s left out", wording.Count(bare, "case"), wording.Pick(bare, "is", "are"))
	}
	return note
}

// prober finds out whom to ask.
func (j *evalJob) prober(ctx context.Context, minGrade int) (pr *prober, family string, notes []string, err error) {
	k := slices.Max(j.o.K)
	pr = &prober{
		bench: j.bench, progress: j.p.Progress, minGrade: minGrade,
		k: k, depth: max(j.depth, min(wholeRanking, max(probeDepth, probeFactor*k))), asked: j.depth,
		replayed: replayed(j.description),
	}
	if pr.retriever, _, err = j.bench.retriever(ctx, j.o.Retriever); err != nil {
		return nil, "", nil, err
	}
	if a, ok := pr.retriever.(retrieve.Approximate); ok {
		pr.exact, _ = a.Exact()
	}
	if s, ok := pr.retriever.(stage); ok {
		pr.before = s.Before()
	}
	family = familyOf(j.description)
	notes, err = pr.others(ctx, family)
	if pr.replayed {
		notes = append(notes, "a run file answers no further query: what the index holds and what filters hide was not looked at")
	}
	return pr, family, notes, err
}

// others builds the retriever of the other kind.
func (pr *prober) others(ctx context.Context, family string) (notes []string, err error) {
	switch {
	case family == eval.FamilyDense:
		pr.lexical, _, err = pr.bench.retriever(ctx, retrieve.KindBM25)
	case family == eval.FamilyLexical && pr.hasVectors:
		pr.dense, _, err = pr.bench.retriever(ctx, retrieve.KindDense)
	case family == eval.FamilyLexical:
		notes = append(notes, "the snapshot has no vectors: whether they find what terms miss was not looked at")
	}
	return notes, err
}

// close ends the exact search, which the bench does not know of.
func (pr *prober) close() {
	if c, ok := pr.exact.(io.Closer); ok {
		c.Close()
	}
}

// replayed reports a retriever that answers from a run file, or one of whose
// members does.
func replayed(d retrieve.Description) bool {
	if d.Kind == retrieve.KindRun {
		return true
	}
	for key, value := range d.Settings {
		if strings.HasSuffix(key, ".kind") && value == retrieve.KindRun {
			return true
		}
	}
	return false
}

// familyOf says what a retriever matches by, where that is one thing.
func familyOf(d retrieve.Description) string {
	switch d.Kind {
	case retrieve.KindBM25, retrieve.KindNGram:
		return eval.FamilyLexical
	case retrieve.KindDense, retrieve.KindLSA, retrieve.KindPGVector:
		return eval.FamilyDense
	case retrieve.KindQdrant:
		return map[string]string{"dense": eval.FamilyDense, "sparse": eval.FamilyLexical}[d.Settings["search"]]
	}
	return ""
}

// lookup is a snapshot as diagnosis looks into it.
type lookup struct{ view *view }

// Chunk implements eval.Corpus.
func (l lookup) Chunk(id string) (*corpus.Chunk, bool) { return l.view.chunk(id) }

// ChunksOf implements eval.Corpus.
func (l lookup) ChunksOf(doc string) []*corpus.Chunk {
	var chunks []*corpus.Chunk
	for _, i := range l.view.DocChunks(doc) {
		chunks = append(chunks, l.view.Chunk(i))
	}
	return chunks
}

// keepDiagnosis adds a diagnosis to a result folder: every failed case, and the
// labelling list where there is something to label.
func keepDiagnosis(dir string, d *eval.Diagnosis) error {
	if err := atomicfile.WriteJSON(filepath.Join(dir, DiagnosisFile), 0o644, d); err != nil {
		return err
	}
	if d.Labelling.Pairs == 0 {
		return nil
	}
	return atomicfile.Write(filepath.Join(dir, LabellingFile), 0o644, func(w io.Writer) error {
		lines := json.NewEncoder(w)
		for _, line := range d.Labelling.List {
			if err := lines.Encode(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReadDiagnosis reads the diagnosis of a result folder, nil where none was
// asked for.
func ReadDiagnosis(dir string) (*eval.Diagnosis, error) {
	path := filepath.Join(dir, DiagnosisFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var d eval.Diagnosis
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return &d, nil
}
