package corpus

import (
	"context"
	"iter"
	"path/filepath"
)

// start begins to read the chunks; the returned function ends that.
func (w *chunkWalk) start() (stop func()) {
	w.next, stop = iter.Pull2(tableRows[chunkRow](filepath.Join(w.v.s.dir, chunksFile)))
	w.advance()
	return stop
}

func (w *chunkWalk) advance() {
	row, err, more := w.next()
	if err != nil {
		w.v.report("file", chunksFile, "%v", err)
	}
	w.row, w.ended = row, err != nil || !more
}

// ofDocument checks the chunks that follow as long as they are the document's.
func (w *chunkWalk) ofDocument(doc *documentRow) {
	for n := int32(0); !w.ended && w.row.DocID == doc.DocID; n++ {
		if w.row.Ordinal != n {
			w.v.report("chunk", w.row.ChunkID, "ordinal %d, want %d", w.row.Ordinal, n)
		}
		w.chunk(doc, w.row)
		w.advance()
	}
}

// rest checks chunks that no document took.
func (w *chunkWalk) rest() {
	for !w.ended {
		w.chunk(nil, w.row)
		w.advance()
	}
}

// derived compares groups and flags with those that this version derives.
func (v *verifier) derived(ctx context.Context) {
	if v.s.manifest.Derived != DerivedVersion || len(v.problems) > 0 {
		return
	}
	v.groups.finish()
	i := 0
	for row, err := range tableRows[chunkRow](filepath.Join(v.s.dir, chunksFile)) {
		if err != nil || ctx.Err() != nil {
			return
		}
		want := *row
		v.groups.fill(i, &want)
		if want.ExactGroup != row.ExactGroup || want.NearGroup != row.NearGroup || want.Flags != row.Flags {
			v.report("chunk", row.ChunkID, "groups and flags are (%s %s %q), recorded (%s %s %q)",
				groupName(want.ExactGroup), groupName(want.NearGroup), want.Flags,
				groupName(row.ExactGroup), groupName(row.NearGroup), row.Flags)
		}
		i++
	}
}

// vectors checks each set against the chunks.
func (v *verifier) vectors(ctx context.Context) {
	for _, set := range v.s.manifest.Vectors {
		next, stop := iter.Pull2(v.s.embeddable())
		n, failed := 0, false
		for vec, err := range v.s.Vectors(set.Key) {
			if err == nil {
				err = expectNext(next, vec.ChunkID)
			}
			if err == nil {
				_, err = unitVector(vec.Values, set.Embedding.Dimensions)
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				v.report("vectors", set.Key, "%v", err)
				failed = true
				break
			}
			n++
		}
		if id, _, more := next(); more && !failed {
			v.report("vectors", set.Key, "chunk %s: no vector", id)
		}
		stop()
		if !failed && n != set.Count {
			v.report("vectors", set.Key, "%d vectors, recorded %d", n, set.Count)
		}
	}
}
