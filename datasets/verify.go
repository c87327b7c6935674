package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/clip"
	"github.com/goldgen/goldgen/internal/parquetfile"
)

// Kinds of problems that Verify finds.
const (
	ProblemFile     = "file"     // missing, unreadable or changed
	ProblemDigest   = "digest"   // the rows' digest is not the manifest's
	ProblemManifest = "manifest" // a count or value in it is wrong
	ProblemPins     = "pins"     // made for another corpus
	ProblemCase     = "case"     // an unsound row
	ProblemID       = "id"       // a chunk or document that is not there, or a repeated case id
	ProblemEvidence = "evidence" // a quote that is not at its span
)

// Problem is one thing that does not hold. Where names the file, or the case
// and field.
type Problem struct {
	Kind   string `json:"kind"`
	Where  string `json:"where"`
	Detail string `json:"detail"`
}

// Verify derives again everything that the version in dir claims: digests of
// files and rows, counts, ids, and in the corpus each chunk, document and
// evidence span. It reports all problems; an empty list means that the set
// holds. Without a view, whatever needs the corpus is left out. The error is
// for a folder that is no version, a corpus that cannot be read, or a done
// context.
func Verify(ctx context.Context, dir string, view CorpusView) ([]Problem, error) {
	m, err := ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	v := &verifier{problems: []Problem{}, manifest: m}
	for _, name := range pinnedFiles {
		if err := checkFile(dir, name, m); err != nil {
			v.add(ProblemFile, name, "%v", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Files)) {
		if !slices.Contains(pinnedFiles, name) {
			v.add(ProblemManifest, "files", "names %q, which is no file of a set", name)
		}
	}
	set := v.read(dir)
	v.rows(set)
	if view == nil {
		return v.problems, context.Cause(ctx)
	}
	return v.problems, v.corpus(ctx, set, view)
}

// verifier collects problems.
type verifier struct {
	problems []Problem
	manifest *Manifest
	complete bool // both tables could be read
}

func (v *verifier) add(kind, where, format string, args ...any) {
	v.problems = append(v.problems, Problem{kind, where, fmt.Sprintf(format, args...)})
}

// read gets as many of the rows as can be read.
func (v *verifier) read(dir string) *Set {
	set := &Set{Manifest: *v.manifest, Dir: dir}
	v.complete = true
	for row, err := range parquetfile.Rows[caseRow](filepath.Join(dir, casesFile), addedToCases()...) {
		if err != nil {
			v.unreadable(casesFile, err)
			break
		}
		set.Cases = append(set.Cases, row.toCase())
	}
	for row, err := range parquetfile.Rows[rejectRow](filepath.Join(dir, rejectsFile), addedToRejects()...) {
		if err != nil {
			v.unreadable(rejectsFile, err)
			break
		}
		set.Rejects = append(set.Rejects, row.toReject())
	}
	return set
}

func (v *verifier) unreadable(file string, err error) {
	v.complete = false
	if !errors.Is(err, fs.ErrNotExist) { // that is said with the digests
		v.add(ProblemFile, file, "%v", err)
	}
}

// rows checks what needs no corpus.
func (v *verifier) rows(set *Set) {
	for _, err := range v.manifest.validate() {
		v.add(ProblemManifest, manifestFile, "%v", err)
	}
	if v.complete {
		v.claims(set)
	}
	seen := map[string]bool{}
	for i := range set.Cases {
		c := &set.Cases[i]
		if seen[c.ID] {
			v.add(ProblemID, "case "+printable(c.ID), "duplicate case_id")
		}
		seen[c.ID] = true
		for _, f := range c.faults() {
			v.add(ProblemCase, "case "+printable(c.ID)+": "+f.field, "%s", f.detail)
		}
		v.contradictions(c)
	}
	for i := range set.Rejects {
		for _, f := range set.Rejects[i].faults() {
			v.add(ProblemCase, "reject "+printable(set.Rejects[i].CaseID)+": "+f.field, "%s", f.detail)
		}
	}
}

// claims compares the manifest with the rows.
func (v *verifier) claims(set *Set) {
	if got := Digest(set.Cases, set.Rejects); got != v.manifest.Digest {
		v.add(ProblemDigest, manifestFile, "the rows have digest %s, it says %s", got, v.manifest.Digest)
	}
	got, want := CountRows(set.Cases, set.Rejects), v.manifest.Counts
	numbers := []struct {
		name      string
		got, want int
	}{
		{"cases", got.Cases, want.Cases},
		{"active", got.Active, want.Active},
		{"needs_review", got.NeedsReview, want.NeedsReview},
		{"retired", got.Retired, want.Retired},
		{"rejected", got.Rejected, want.Rejected},
		{"judgments", got.Judgments, want.Judgments},
		{"unknown_grades", got.UnknownGrades, want.UnknownGrades},
	}
	for _, n := range numbers {
		if n.got != n.want {
			v.add(ProblemManifest, "counts."+n.name, "the rows have %d, it says %d", n.got, n.want)
		}
	}
	if !maps.Equal(got.ByType, want.ByType) {
		v.add(ProblemManifest, "counts.by_type", "the rows have %v, it says %v", got.ByType, want.ByType)
	}
}

// corpus checks what the rows say of chunks and documents.
func (v *verifier) corpus(ctx context.Context, set *Set, view CorpusView) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	snapshot := view.Manifest()
	if pin := v.manifest.Pins.Corpus; pin.Digest != snapshot.Digest {
		v.add(ProblemPins, "pins.corpus", "made for the corpus %s (%d documents, %d chunks), the snapshot is %s (%d documents, %d chunks)",
			pin.Digest, pin.Documents, pin.Chunks, snapshot.Digest, snapshot.Documents, snapshot.Chunks)
	} else if pin.Documents != snapshot.Documents || pin.Chunks != snapshot.Chunks {
		v.add(ProblemPins, "pins.corpus", "says %d documents and %d chunks, the snapshot has %d and %d",
			pin.Documents, pin.Chunks, snapshot.Documents, snapshot.Chunks)
	}
	f, err := newFinder(set, view)
	if err != nil {
		return err
	}
	for i := range set.Cases {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		v.caseInCorpus(&set.Cases[i], f)
	}
	for i := range set.Rejects {
		r := &set.Rejects[i]
		where := "reject " + printable(r.CaseID)
		if r.ChunkID != "" {
			v.chunk(where+": chunk_id", r.ChunkID, "", f)
		}
		v.evidence(where, r.Evidence, f)
	}
	return nil
}

func (v *verifier) caseInCorpus(c *Case, f *finder) {
	where := "case " + printable(c.ID)
	for _, ids := range []struct {
		field string
		ids   []string
	}{{"source", c.Source}, {"forbidden", c.Forbidden}, {"hard_negatives", c.HardNegatives}} {
		for i, id := range ids.ids {
			v.chunk(fmt.Sprintf("%s: %s[%d]", where, ids.field, i), id, "", f)
		}
	}
	for i, j := range c.Judgments {
		at := fmt.Sprintf("%s: judgments[%d]", where, i)
		v.chunk(at, j.ChunkID, j.DocID, f)
		for _, s := range j.Spans {
			if doc, ok := f.docs[j.DocID]; ok && s.End > len(doc.Text) {
				v.add(ProblemEvidence, at+".spans", "[%d,%d) is outside of document %q of %d bytes", s.Start, s.End, j.DocID, len(doc.Text))
			}
		}
	}
	v.evidence(where, c.Evidence, f)
	v.grounds(c, f)
}

// chunk checks that a chunk exists and, where docID is given, whose it is.
func (v *verifier) chunk(where, id, docID string, f *finder) {
	switch c, ok := f.chunks[id]; {
	case !ok:
		v.add(ProblemID, where, "chunk %q is not in the snapshot", id)
	case docID != "" && c.DocID != docID:
		v.add(ProblemID, where, "chunk %q is of document %q, not %q", id, c.DocID, docID)
	}
}

// evidence checks that each quote is the document's bytes at its span, and that
// its chunk holds some of it.
func (v *verifier) evidence(where string, evidence []Evidence, f *finder) {
	for i, e := range evidence {
		at := fmt.Sprintf("%s: evidence[%d]", where, i)
		v.chunk(at, e.ChunkID, e.DocID, f)
		doc, ok := f.docs[e.DocID]
		switch {
		case !ok:
			v.add(ProblemID, at, "document %q is not in the snapshot", e.DocID)
		case e.Start < 0 || e.End > len(doc.Text) || e.Start >= e.End:
			v.add(ProblemEvidence, at, "[%d,%d) is outside of document %q of %d bytes", e.Start, e.End, e.DocID, len(doc.Text))
		case doc.Text[e.Start:e.End] != e.Quote:
			v.add(ProblemEvidence, at, "document %q has %s at [%d,%d), the quote is %s", e.DocID,
				abridged(doc.Text[e.Start:e.End]), e.Start, e.End, abridged(e.Quote))
		}
		if c, ok := f.chunks[e.ChunkID]; ok && (e.End <= c.Start || c.End <= e.Start) {
			v.add(ProblemEvidence, at, "[%d,%d) is outside of chunk %q, which is [%d,%d)", e.Start, e.End, e.ChunkID, c.Start, c.End)
		}
	}
}

// abridged quotes a text, control characters escaped, cut at 60 bytes.
func abridged(s string) string {
	const most = 60
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q...", clip.Bytes(s, most))
}

// finder holds the corpus rows that a set mentions.
type finder struct {
	chunks map[string]corpus.Chunk
	docs   map[string]corpus.Document
}

func newFinder(set *Set, view CorpusView) (*finder, error) {
	chunks, docs := set.mentioned()
	var f finder
	var err error
	if f.chunks, err = view.ChunksByID(slices.Sorted(maps.Keys(chunks))); err != nil {
		return nil, err
	}
	f.docs, err = view.DocumentsByID(slices.Sorted(maps.Keys(docs)))
	return &f, err
}

// mentioned are the ids of the chunks that a set names, and of the documents of
// its spans.
func (s *Set) mentioned() (chunks, docs map[string]bool) {
	chunks, docs = map[string]bool{}, map[string]bool{}
	mention := func(evidence []Evidence) {
		for _, e := range evidence {
			chunks[e.ChunkID], docs[e.DocID] = true, true
		}
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		for _, id := range slices.Concat(c.Source, c.Forbidden, c.HardNegatives) {
			chunks[id] = true
		}
		for _, j := range c.Judgments {
			chunks[j.ChunkID] = true
			if len(j.Spans) > 0 {
				docs[j.DocID] = true
			}
		}
		mention(c.Evidence)
	}
	for i := range s.Rejects {
		chunks[s.Rejects[i].ChunkID] = true
		mention(s.Rejects[i].Evidence)
	}
	return chunks, docs
}
