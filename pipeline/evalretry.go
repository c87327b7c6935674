package pipeline

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/retrieve"
)

// readKept reads a result folder whole.
func readKept(dir string) (*Kept, error) {
	stored, err := ReadResult(dir)
	if err != nil {
		return nil, err
	}
	return stored.Read()
}

// fillFrom takes what the options leave open from an earlier result.
func fillFrom(o *EvalOptions, k *Kept) {
	r := k.Result
	if o.Golden == "" && r.Golden != nil {
		o.Golden = r.Golden.Ref
	}
	if o.Retriever == "" {
		o.Retriever = r.Retriever.Spec
	}
	if len(o.K) == 0 {
		o.K = r.Conventions.K
	}
	if o.Measures == "" {
		o.Measures = strings.Join(k.Scoring.Measures, ",")
	}
	if o.MinGrade == 0 {
		o.MinGrade = k.Scoring.MinGrade
	}
	if o.Source == "" {
		o.Source = r.Conventions.Source
	}
	if len(o.SliceBy) == 0 {
		o.SliceBy = k.Scoring.SliceBy
	}
}

// checkEarlier refuses to mix answers of different retrievers or depths.
func (j *evalJob) checkEarlier() error {
	k := j.earlier
	if k.Index != j.indexVersion() {
		differs := k.Retriever.Differs(j.description)
		if len(differs) == 0 {
			differs = []string{"corpus or embedding"}
		}
		return fmt.Errorf("%w: --retry-failed %s: its answers are of another retriever: %s", ErrNotComparable, k.Dir, strings.Join(differs, ", "))
	}
	if k.Result.Golden == nil || k.Result.Golden.Digest != j.set.Ref().Digest {
		return fmt.Errorf("%w: --retry-failed %s: it was made over another golden set than %s", ErrNotComparable, k.Dir, j.set.Ref())
	}
	if depth := fmt.Sprint(k.Result.Conventions.Pins["depth"]); depth != fmt.Sprint(j.depth) {
		return fmt.Errorf("%w: --retry-failed %s: it asked for %s hits a query, now it would be %d", ErrNotComparable, k.Dir, depth, j.depth)
	}
	if k.failedCases() == 0 {
		return fmt.Errorf("%w: --retry-failed %s: no query failed in it", ErrConfig, k.Dir)
	}
	return nil
}

func (k *Kept) failedCases() int { return len(k.Result.Failed) }

// before answers from the earlier result, and asks next what failed there.
func (k *Kept) before(next retrieve.Retriever) retrieve.Retriever {
	answered := make(map[string]*eval.Case, len(k.Input.Cases))
	for i := range k.Input.Cases {
		if c := &k.Input.Cases[i]; c.Failed == "" {
			answered[c.ID] = c
		}
	}
	return &answeredBefore{answered, k.Input.Unit == eval.UnitSpans, next}
}

type answeredBefore struct {
	answered map[string]*eval.Case
	bySpan   bool // its hits are spans of documents
	next     retrieve.Retriever
}

// Retrieve implements retrieve.Retriever.
func (a *answeredBefore) Retrieve(ctx context.Context, q retrieve.Query) (retrieve.Result, error) {
	c, ok := a.answered[q.ID]
	if !ok {
		return a.next.Retrieve(ctx, q)
	}
	out := retrieve.Result{Took: c.Took}
	for i, id := range c.Ranking {
		hit := retrieve.Hit{ChunkID: id}
		if a.bySpan && id == spanName(c.Spans[i]) {
			hit = retrieve.Hit{DocID: c.Spans[i].Doc, Start: c.Spans[i].Start, End: c.Spans[i].End}
		}
		if c.Scores != nil {
			hit.Score = c.Scores[i]
		}
		out.Hits = append(out.Hits, hit)
	}
	return out, nil
}

// spanName is how rankings call a hit that is a span and no chunk.
func spanName(s eval.Span) string { return fmt.Sprintf("%s[%d,%d)", s.Doc, s.Start, s.End) }

// noticed counts what a retriever sent that was put right before it was scored.
type noticed struct{ duplicates, cut atomic.Int64 }

// noticing counts what its retriever's answers needed.
type noticing struct {
	retrieve.Retriever
	seen *noticed
}

// Retrieve implements retrieve.Retriever.
func (n *noticing) Retrieve(ctx context.Context, q retrieve.Query) (retrieve.Result, error) {
	out, err := n.Retriever.Retrieve(ctx, q)
	n.seen.duplicates.Add(int64(out.Notices.Duplicates))
	n.seen.cut.Add(int64(out.Notices.Cut))
	return out, err
}

// duplicates counts the results that repeated an id, those of an earlier
// result included, and those that were dropped when a run file was read.
func (j *evalJob) duplicates() int {
	n := int(j.noticed.duplicates.Load())
	if r, ok := j.retriever.(*retrieve.RunRetriever); ok {
		n += r.Run().Duplicates
	}
	if j.earlier != nil {
		n += j.earlier.Scoring.Duplicates
	}
	return n
}

// checkRun refuses a run file none of whose queries is a case of the set, and
// notes how many are not.
func (j *evalJob) checkRun() error {
	r, ok := j.retriever.(*retrieve.RunRetriever)
	if !ok {
		return nil
	}
	strange := j.strangers(r)
	switch queries := r.Run().Queries; {
	case len(strange) == 0:
	case len(strange) == len(queries):
		return fmt.Errorf("%s: none of its %s (%s) is a case of %s", j.description.Name, wording.Count(len(queries), "query"), firstFew(strange), j.set.Ref())
	default:
		j.notes = append(j.notes, fmt.Sprintf("%s of the run %s no case of %s and left out: %s", wording.Count(len(strange), "query"), wording.Pick(len(strange), "is", "are"), j.set.Ref(), firstFew(strange)))
	}
	return nil
}

// strangers are the queries of a run file that are no case of the set.
func (j *evalJob) strangers(r *retrieve.RunRetriever) (out []string) {
	known := make(map[string]bool, len(j.set.Cases))
	for i := range j.set.Cases {
		known[j.set.Cases[i].ID] = true
	}
	for _, id := range r.Run().Queries {
		if !known[id] {
			out = append(out, id)
		}
	}
	return out
}
