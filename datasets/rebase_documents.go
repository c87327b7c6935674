package datasets

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/quotes"
)

// RebaseView is what Rebase needs of a corpus; *corpus.Snapshot satisfies it.
type RebaseView interface {
	CorpusView
	// Documents yields all documents with their text digests.
	Documents() iter.Seq2[corpus.Document, error]
	// ChunksOfDocuments reads the chunks of documents, in order, by document id.
	ChunksOfDocuments(ids []string) (map[string][]corpus.Chunk, error)
}

var _ RebaseView = (*corpus.Snapshot)(nil)

// A document whose id stayed has another text when fewer than otherTriples of the
// word triples, by estimate, and less than otherBytes of the shorter text, in
// order, are in both.
const (
	otherTriples = 0.05
	otherBytes   = 0.5
)

// fate is what became of a document.
type fate int

const (
	gone      fate = iota // or its id is another text's now
	stayed                // the same text under the same id
	renamed               // the same text under another id
	edited                // another version of the text under the same id
	rewritten             // renamed and edited at once
)

// moved is a document of the old corpus and what became of it.
type moved struct {
	id     string
	fate   fate
	to     string // its id in the new corpus
	reused bool   // gone, and its id is another text's

	old, now string // both texts of one that was edited
	aligned  *alignment
	folded   *quotes.Text // of now
	words    []wordAt     // of folded
	held     *foldedTexts
}

// mostFolded bounds the texts, in bytes, that are held folded at once: folded they
// take many times their size.
const mostFolded = 16 << 20

// foldedTexts are the documents that hold their folded text.
type foldedTexts struct {
	docs  []*moved
	bytes int
}

// add lets go of the others where they and m would be too much.
func (f *foldedTexts) add(m *moved) {
	if f.bytes+len(m.now) > mostFolded {
		for _, other := range f.docs {
			other.folded, other.words = nil, nil
		}
		*f = foldedTexts{}
	}
	f.docs, f.bytes = append(f.docs, m), f.bytes+len(m.now)
}

// changed reports whether the text is another one than before.
func (m *moved) changed() bool { return m.fate == edited || m.fate == rewritten }

// alignment is made when it is first asked for.
func (m *moved) alignment() *alignment {
	if m.aligned == nil {
		m.aligned = align(m.old, m.now)
	}
	return m.aligned
}

// foldedNow is made when it is first asked for, or again.
func (m *moved) foldedNow() *quotes.Text {
	if m.folded == nil {
		m.held.add(m)
		m.folded = quotes.Fold(m.now)
	}
	return m.folded
}

// exact gives where a span stands all of whose bytes are still together.
func (m *moved) exact(s Span) (Span, bool) {
	switch {
	case m == nil || m.fate == gone:
		return Span{}, false
	case !m.changed():
		return s, true
	}
	return m.alignment().exact(s)
}

// inner is what is left of a span, where that is at least half of it.
func (m *moved) inner(s Span) (Span, bool) {
	if at, ok := m.exact(s); ok || m == nil || m.fate == gone {
		return at, ok
	}
	at, share := m.alignment().inner(s)
	return at, share >= 0.5
}

// outer is where whatever became of a span stands.
func (m *moved) outer(s Span) (Span, bool) {
	if at, ok := m.exact(s); ok || m == nil || m.fate == gone {
		return at, ok
	}
	return m.alignment().outer(s), true
}

// documents says what became of each document of a corpus.
type documents struct {
	from, to RebaseView
	fates    map[string]*moved
	order    []string            // ids of the old documents
	olds     map[string]string   // old id -> digest of its text
	news     map[string]string   // new id -> digest of its text
	first    map[string]string   // digest -> the first new id with that text
	free     map[string][]string // digest -> new ids that had another text before, or none
}

func matchDocuments(ctx context.Context, from, to RebaseView) (*documents, error) {
	d := &documents{
		from: from, to: to, fates: map[string]*moved{}, olds: map[string]string{}, news: map[string]string{},
		first: map[string]string{}, free: map[string][]string{},
	}
	for doc, err := range from.Documents() {
		if err != nil {
			return nil, fmt.Errorf("the corpus of the set: %w", err)
		}
		d.order = append(d.order, doc.ID)
		d.olds[doc.ID] = doc.TextDigest
	}
	for doc, err := range to.Documents() {
		if err != nil {
			return nil, fmt.Errorf("the new corpus: %w", err)
		}
		d.news[doc.ID] = doc.TextDigest
		if d.first[doc.TextDigest] == "" {
			d.first[doc.TextDigest] = doc.ID
		}
		if d.olds[doc.ID] != doc.TextDigest {
			d.free[doc.TextDigest] = append(d.free[doc.TextDigest], doc.ID)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	d.byDigest()
	return d, d.byResemblance()
}

// byDigest finds the documents whose text is the same, by id and then by text. Of
// several with one text the first old id goes with the first new one; one without
// a partner was a copy, and goes with the first of the others.
func (d *documents) byDigest() {
	taken, held := map[string]int{}, &foldedTexts{}
	for _, id := range d.order {
		m := &moved{id: id, held: held}
		d.fates[id] = m
		digest := d.olds[id]
		text, there := d.news[id]
		targets, copied := d.free[digest], d.first[digest]
		switch {
		case there && text == digest:
			m.fate, m.to = stayed, id
		case taken[digest] < len(targets):
			m.fate, m.to = renamed, targets[taken[digest]]
			taken[digest]++
		case copied != "":
			m.fate, m.to = renamed, copied
		case there:
			m.fate, m.to = edited, id
		}
	}
}

// byResemblance takes from the edited documents those whose id is another text's,
// and looks for them and for those without an id among the documents that nothing
// became yet.
func (d *documents) byResemblance() error {
	open := map[string]bool{}
	for id, m := range d.fates {
		if m.fate == gone || m.fate == edited {
			open[id] = true
		}
	}
	if len(open) == 0 {
		return nil
	}
	old, err := sketches(d.from, func(id string) bool { return open[id] })
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, m := range d.fates {
		used[m.to] = used[m.to] || m.fate == renamed || m.fate == stayed
	}
	now, err := sketches(d.to, func(id string) bool { return !used[id] })
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(old)) {
		if err := d.checkReuse(d.fates[id], old, now); err != nil {
			return err
		}
		if d.fates[id].fate == edited {
			delete(old, id)
			delete(now, id)
		}
	}
	d.follow(old, now)
	return nil
}

// sketches reads the documents that are wanted.
func sketches(view RebaseView, wanted func(id string) bool) (map[string]corpus.Sketch, error) {
	out, sketcher := map[string]corpus.Sketch{}, corpus.NewSketcher()
	for doc, err := range view.Documents() {
		if err != nil {
			return nil, err
		}
		if wanted(doc.ID) {
			out[doc.ID] = sketcher.Sketch(doc.Text)
		}
	}
	return out, nil
}

// checkReuse makes an edited document one that is gone where its id is another
// text's.
func (d *documents) checkReuse(m *moved, old, now map[string]corpus.Sketch) error {
	if m.fate != edited {
		return nil
	}
	a, b := old[m.id], now[m.id]
	if a.Resemblance(&b) >= otherTriples {
		return nil
	}
	if err := d.load([]*moved{m}); err != nil {
		return err
	}
	if m.alignment().kept() < otherBytes {
		*m = moved{id: m.id, reused: true, held: m.held}
	}
	return nil
}

// follow finds documents that were renamed and edited at once.
func (d *documents) follow(old, now map[string]corpus.Sketch) {
	oldIDs, newIDs := slices.Sorted(maps.Keys(old)), slices.Sorted(maps.Keys(now))
	for _, m := range corpus.FindAlike(inOrderOf(oldIDs, old), inOrderOf(newIDs, now)) {
		doc := d.fates[oldIDs[m.Old]]
		doc.fate, doc.to = rewritten, newIDs[m.New]
	}
}

func inOrderOf(ids []string, by map[string]corpus.Sketch) []corpus.Sketch {
	out := make([]corpus.Sketch, len(ids))
	for i, id := range ids {
		out[i] = by[id]
	}
	return out
}

// load reads both texts of documents that changed.
func (d *documents) load(docs []*moved) error {
	var olds, news []string
	for _, m := range docs {
		if m.changed() && m.aligned == nil {
			olds, news = append(olds, m.id), append(news, m.to)
		}
	}
	before, err := d.from.DocumentsByID(olds)
	if err != nil {
		return err
	}
	after, err := d.to.DocumentsByID(news)
	if err != nil {
		return err
	}
	for _, m := range docs {
		if m.changed() && m.aligned == nil {
			m.old, m.now = before[m.id].Text, after[m.to].Text
		}
	}
	return nil
}
