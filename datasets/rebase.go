package datasets

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// ErrLoss is in the error of Rebase when the new corpus lacks half of the old
// one's documents, or more.
var ErrLoss = errors.New("the new corpus lacks too many documents")

// mostLost is the share of lost documents from which on Rebase refuses.
const mostLost = 0.5

// Rebase moves a set to another corpus or to other chunks of it, without a model:
// from is the corpus that it was made over, to the new one. It refuses, with
// ErrLoss, a corpus that lost half of its documents, unless acceptLoss is set; the
// report says then too what was lost. The caller commits the draft; of its pins
// Rebase sets the corpus and the chunking.
//
// A span of evidence stays where its document did not change, under whatever id.
// In another version of the document it is found by an alignment of the two texts,
// by its bytes, by its words, or with a few words changed, in this order; else it
// is lost, and its case is retired with the reason. A judgment moves with the span
// that it rests on: the evidence in its chunk where it says relevant, else the
// whole chunk, to each new chunk that shares bytes with it; see carry.
func Rebase(ctx context.Context, set *Set, from, to RebaseView, acceptLoss bool) (Draft, *RebaseReport, error) {
	docs, err := matchDocuments(ctx, from, to)
	if err != nil {
		return Draft{}, nil, err
	}
	report := newRebaseReport(docs)
	if lost := report.Documents.LostShare; lost >= mostLost && !acceptLoss {
		return Draft{}, report, fmt.Errorf("%w: %.0f %% of %d documents are neither there nor under another id", ErrLoss, 100*lost, report.Documents.Before)
	}
	r := &rebaser{docs: docs, relevant: set.Manifest.RelevantGrade, report: report}
	if err := r.load(set); err != nil {
		return Draft{}, nil, err
	}
	draft := Draft{Manifest: set.Manifest}
	for i := range set.Cases {
		if err := context.Cause(ctx); err != nil {
			return Draft{}, nil, err
		}
		draft.Cases = append(draft.Cases, r.move(&set.Cases[i]))
	}
	for i := range set.Rejects {
		draft.Rejects = append(draft.Rejects, r.moveReject(set.Rejects[i]))
	}
	draft.Manifest = rebasedManifest(set, to, report)
	return draft, report, nil
}

// rebasedManifest is the set's with the pins of the new corpus. What was estimated
// or counted over the old one is not said of the new one.
func rebasedManifest(set *Set, to RebaseView, report *RebaseReport) Manifest {
	m, s := set.Manifest, to.Manifest()
	before := m.Pins.Corpus.Digest
	m.Pins.Corpus = CorpusPin{Digest: s.Digest, Documents: s.Documents, Chunks: s.Chunks}
	m.Pins.Chunking = s.Chunking
	m.Missed, m.Coverage, m.Costs, m.Drift = nil, nil, Costs{}, nil
	m.Notes = slices.DeleteFunc(slices.Clone(m.Notes), func(note string) bool { return strings.HasPrefix(note, movedNote) })
	m.Notes = append(m.Notes, fmt.Sprintf(movedNote+"%.12s to %.12s without a model: %d cases kept, %d of them with other labels, %d retired",
		before, s.Digest, report.Kept, report.Regraded, report.Retired))
	return m
}

// movedNote begins the note about a set's last move: those before it are in the
// versions before.
const movedNote = "moved from corpus "

// rebaser moves cases.
type rebaser struct {
	docs     *documents
	relevant int
	chunks   map[string]corpus.Chunk   // of the old corpus, those that the set names
	now      map[string][]corpus.Chunk // of the new corpus, by document
	report   *RebaseReport
}

// load reads the chunks that the set names, and of the documents of those and of
// evidence what became of them.
func (r *rebaser) load(set *Set) error {
	chunks, docs := set.mentioned()
	var err error
	if r.chunks, err = r.docs.from.ChunksByID(slices.Sorted(maps.Keys(chunks))); err != nil {
		return fmt.Errorf("the corpus of the set: %w", err)
	}
	for _, c := range r.chunks {
		docs[c.DocID] = true
	}
	var wanted []*moved
	targets := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(docs)) {
		if m := r.docs.fates[id]; m != nil && m.fate != gone {
			wanted, targets[m.to] = append(wanted, m), true
		}
	}
	if err := r.docs.load(wanted); err != nil {
		return err
	}
	if r.now, err = r.docs.to.ChunksOfDocuments(slices.Sorted(maps.Keys(targets))); err != nil {
		return fmt.Errorf("the new corpus: %w", err)
	}
	return nil
}

// plain finds the new chunk that is an old one: the same bytes, cut at the same
// places.
func (r *rebaser) plain(old *corpus.Chunk) *corpus.Chunk {
	m := r.docs.fates[old.DocID]
	at, ok := m.exact(spanOf(old))
	if !ok {
		return nil
	}
	chunks := r.now[m.to]
	for i := range chunks {
		if c := &chunks[i]; spanOf(c) == at && c.Text == old.Text {
			return c
		}
	}
	return nil
}

// overlapping yields the new chunks that share bytes with a span of a document.
func (r *rebaser) overlapping(doc string, s Span) []*corpus.Chunk {
	var out []*corpus.Chunk
	chunks := r.now[doc]
	for i := range chunks {
		if overlap(s, spanOf(&chunks[i])) > 0 {
			out = append(out, &chunks[i])
		}
	}
	return out
}

// successors are the new chunks in which an old one, whole or in part, stands now,
// or what it was replaced by.
func (r *rebaser) successors(id string) []*corpus.Chunk {
	old, ok := r.chunks[id]
	if !ok {
		return nil
	}
	if c := r.plain(&old); c != nil {
		return []*corpus.Chunk{c}
	}
	m := r.docs.fates[old.DocID]
	if at, ok := m.outer(spanOf(&old)); ok {
		return r.overlapping(m.to, at)
	}
	return nil
}

// largest is the chunk that shares most with a span, the first of several; nil for
// no chunks.
func largest(chunks []*corpus.Chunk, s Span) *corpus.Chunk {
	var best *corpus.Chunk
	for _, c := range chunks {
		if best == nil || overlap(s, spanOf(c)) > overlap(s, spanOf(best)) {
			best = c
		}
	}
	return best
}

// moveReject moves what a reject says of chunks; what is lost is left out.
func (r *rebaser) moveReject(x Reject) Reject {
	old, ok := r.chunks[x.ChunkID]
	x.ChunkID = ""
	if c := r.plain(&old); ok && c != nil {
		x.ChunkID = c.ID
	} else if at, found := r.docs.fates[old.DocID].inner(spanOf(&old)); ok && found {
		if c := largest(r.overlapping(r.docs.fates[old.DocID].to, at), at); c != nil {
			x.ChunkID = c.ID
		}
	}
	var kept []Evidence
	for _, e := range x.Evidence {
		if moved, p := r.moveEvidence(e); p.lost == "" {
			kept = append(kept, moved)
		}
	}
	x.Evidence = kept
	return x
}
