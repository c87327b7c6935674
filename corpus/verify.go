package corpus

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/goldgen/goldgen/internal/parquetfile"
)

// Problem is one thing that Verify found wrong.
type Problem struct {
	Kind   string `json:"kind"`  // file, digest, document, chunk, vectors, manifest
	Where  string `json:"where"` // file, or id of the record
	Detail string `json:"detail"`
}

// Verify derives again everything that a snapshot says of itself and reports
// all problems, not the first: file digests, the digest of rows, counts, each
// text's digest, ids, each chunk's place in its document, groups and vectors.
// The error is for a run that was cancelled.
func (s *Snapshot) Verify(ctx context.Context) ([]Problem, error) {
	v := &verifier{s: s, digest: newRowDigest(), groups: newGrouper(), docIDs: idSet{}, chunkIDs: idSet{}}
	v.files()
	if len(v.problems) > 0 && !v.readable() {
		return v.problems, context.Cause(ctx)
	}
	v.rows(ctx)
	v.derived(ctx)
	v.vectors(ctx)
	return v.problems, context.Cause(ctx)
}

type verifier struct {
	s        *Snapshot
	problems []Problem
	digest   *rowDigest
	groups   *grouper
	docIDs   idSet
	chunkIDs idSet
	docs     int
	chunks   int
}

func (v *verifier) report(kind, where, format string, args ...any) {
	v.problems = append(v.problems, Problem{kind, where, fmt.Sprintf(format, args...)})
}

// files compares every file with its digest.
func (v *verifier) files() {
	files := v.s.manifest.Files
	for _, set := range v.s.manifest.Vectors {
		files = append(files[:len(files):len(files)], set.File)
	}
	for _, f := range files {
		if err := checkFile(v.s.dir, f, -1); err != nil {
			v.report("file", f.Name, "%v", err)
		}
	}
}

// readable reports whether the rows can be examined although a file is altered.
func (v *verifier) readable() bool {
	for _, name := range []string{documentsFile, chunksFile} {
		f, _, err := parquetfile.Open(filepath.Join(v.s.dir, name))
		if err != nil {
			return false
		}
		f.Close()
	}
	return true
}

// rows walks documents and chunks side by side.
func (v *verifier) rows(ctx context.Context) {
	w := &chunkWalk{v: v, minhash: newMinhasher()}
	defer w.start()()
	for row, err := range tableRows[documentRow](filepath.Join(v.s.dir, documentsFile)) {
		if err != nil {
			v.report("file", documentsFile, "%v", err)
			return
		}
		if ctx.Err() != nil {
			return
		}
		v.document(row)
		v.groups.nextDocument()
		w.ofDocument(row)
	}
	w.rest()
	v.totals()
}

func (v *verifier) document(row *documentRow) {
	v.docs++
	v.digest.document(row)
	if err := checkID("document", row.DocID); err != nil {
		v.report("document", row.DocID, "%v", err)
	}
	if !v.docIDs.add(row.DocID) {
		v.report("document", row.DocID, "duplicate document id %q", row.DocID)
	}
	if got := textDigest(row.Text); got != row.document().TextDigest {
		v.report("document", row.DocID, "text digest is %s, recorded %s", got, row.document().TextDigest)
	}
}

func (v *verifier) totals() {
	m := v.s.manifest
	if v.docs != m.Documents || v.chunks != m.Chunks {
		v.report("manifest", manifestFile, "%d documents and %d chunks, recorded %d and %d", v.docs, v.chunks, m.Documents, m.Chunks)
	}
	if got := v.digest.sum(); got != m.Digest {
		v.report("digest", manifestFile, "digest of rows is %s, recorded %s", got, m.Digest)
	}
}

// chunkWalk reads chunks as far as they belong to the document at hand.
type chunkWalk struct {
	v       *verifier
	minhash *minhasher
	next    func() (*chunkRow, error, bool)
	row     *chunkRow
	ended   bool
}

// chunk checks one chunk against its document; nil where it has none.
func (w *chunkWalk) chunk(doc *documentRow, row *chunkRow) {
	v := w.v
	v.chunks++
	v.digest.chunk(row)
	v.groups.add(traitsOf(w.minhash, row.Text))
	if err := checkID("chunk", row.ChunkID); err != nil {
		v.report("chunk", row.ChunkID, "%v", err)
	}
	if !v.chunkIDs.add(row.ChunkID) {
		v.report("chunk", row.ChunkID, "duplicate chunk id %q", row.ChunkID)
	}
	if got := textDigest(row.Text); got != row.chunk().TextDigest {
		v.report("chunk", row.ChunkID, "text digest is %s, recorded %s", got, row.chunk().TextDigest)
	}
	switch {
	case doc == nil:
		v.report("chunk", row.ChunkID, "its document %q is not there", row.DocID)
	case row.Start < 0 || row.Start > row.End || row.End > int64(len(doc.Text)):
		v.report("chunk", row.ChunkID, "offsets %d to %d are outside document %s of %d bytes", row.Start, row.End, doc.DocID, len(doc.Text))
	case doc.Text[row.Start:row.End] != row.Text:
		v.report("chunk", row.ChunkID, "its text is not what document %s has at %d to %d", doc.DocID, row.Start, row.End)
	}
}
