package datasets

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/quotes"
)

// ReasonNotLocated is the reason of rejects whose texts are not in the snapshot.
const ReasonNotLocated = "evidence_not_found"

// foreign is a case of another tool: a query, and the passages that answer it.
type foreign struct {
	line     int
	c        Case // ID "" for a query without one
	passages []passage
}

// passage is a text under an id of the tool, which may be a chunk's. Either may be
// missing.
type passage struct{ id, text string }

// foreigners makes cases of foreign ones.
type foreigners struct {
	relevant int
	chunks   map[string]corpus.Chunk   // by the passages' ids
	sites    map[string][]site         // by the passages' texts
	byDoc    map[string][]corpus.Chunk // of the documents with sites
}

// addForeign takes cases of another tool.
func (im *importer) addForeign(list []foreign, view RebaseView) error {
	im.report.Queries, im.foreign = len(list), true
	if len(list) == 0 {
		return fmt.Errorf("%s: no cases", im.options.Queries)
	}
	if err := im.identify(list); err != nil {
		return err
	}
	f, err := newForeigners(list, view, cmp.Or(im.options.RelevantGrade, 2))
	if err != nil {
		return err
	}
	for i := range list {
		c, lost := f.toCase(&list[i])
		c.Provenance.Generator = filepath.Base(im.options.Queries)
		im.unlocated(&c, lost...)
		if len(lost) > 0 && !answerable(&c) {
			im.rejects = append(im.rejects, Reject{
				CaseID: c.ID, Query: c.Query, QueryType: c.QueryType, Stage: "import", Reason: ReasonNotLocated, Detail: abridged(lost[0]),
			})
			continue
		}
		if err := c.Validate(); err != nil {
			return fmt.Errorf("%s:%d: %w", im.options.Queries, list[i].line, err)
		}
		im.cases, im.lines = append(im.cases, c), append(im.lines, list[i].line)
	}
	return nil
}

// unlocated notes texts of a case that are not there.
func (im *importer) unlocated(c *Case, texts ...string) {
	for _, text := range texts {
		im.report.Unlocated = append(im.report.Unlocated, fmt.Sprintf("%s: %s", printable(c.ID), abridged(text)))
	}
}

// identify gives an id to cases that have none, and refuses one that is there twice.
func (im *importer) identify(list []foreign) error {
	seen := map[string]int{}
	for i := range list {
		x := &list[i]
		if x.c.Query == "" {
			return fmt.Errorf("%s:%d: query is empty", im.options.Queries, x.line)
		}
		if x.c.ID == "" {
			texts := convert(x.passages, func(p passage) string { return p.id + "\x00" + p.text })
			sum := sha256.Sum256(mustJSON([]any{im.options.Format, x.c.Query, texts}))
			x.c.ID = hex.EncodeToString(sum[:8])
		}
		if first, twice := seen[x.c.ID]; twice {
			return fmt.Errorf("%s:%d: duplicate case %q, first on line %d", im.options.Queries, x.line, x.c.ID, first)
		}
		seen[x.c.ID] = x.line
		x.c.Origin, x.c.Status = OriginImported, Active
	}
	return nil
}

// newForeigners looks up every id, and every text that is not the chunk's of its id.
func newForeigners(list []foreign, view RebaseView, relevant int) (*foreigners, error) {
	f := &foreigners{relevant: relevant}
	ids := map[string]bool{}
	for i := range list {
		for _, p := range list[i].passages {
			ids[p.id] = p.id != ""
		}
	}
	maps.DeleteFunc(ids, func(_ string, given bool) bool { return !given })
	var err error
	if f.chunks, err = view.ChunksByID(slices.Sorted(maps.Keys(ids))); err != nil {
		return nil, err
	}
	return f, f.locate(f.texts(list), view)
}

// locate looks for texts, and reads the chunks of the documents that have them.
func (f *foreigners) locate(texts []string, view RebaseView) (err error) {
	if f.sites, err = locate(texts, view); err != nil {
		return err
	}
	docs := map[string]bool{}
	for _, sites := range f.sites {
		for _, s := range sites {
			docs[s.doc] = true
		}
	}
	f.byDoc, err = view.ChunksOfDocuments(slices.Sorted(maps.Keys(docs)))
	return err
}

// texts are those to look for.
func (f *foreigners) texts(list []foreign) []string {
	texts := map[string]bool{}
	for i := range list {
		for _, p := range list[i].passages {
			if p.text != "" && f.named(p) == nil {
				texts[p.text] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(texts))
}

// named is the chunk that a passage's id names, if it has the passage's text: ids are
// used again for other texts.
func (f *foreigners) named(p passage) *corpus.Chunk {
	chunk, ok := f.chunks[p.id]
	if !ok || p.text != "" && chunk.Text != p.text && quotes.Fold(chunk.Text).Folded() != quotes.Fold(p.text).Folded() {
		return nil
	}
	return &chunk
}

// toCase labels the chunks of a case's passages, and gives the texts that are not
// there.
func (f *foreigners) toCase(x *foreign) (c Case, lost []string) {
	c = x.c
	l := newLabelling(&c, f.relevant)
	var unknown []Judgment
	for _, p := range x.passages {
		chunk := f.named(p)
		switch sites := f.sites[p.text]; {
		case chunk != nil:
			l.add(&carry{given: SourceJudgment(chunk.ID, chunk.DocID), chunk: chunk, share: 1, part: 1, plain: true})
			if p.text != "" {
				c.Evidence = append(c.Evidence, Evidence{chunk.DocID, chunk.ID, chunk.Start, chunk.End, chunk.Text})
			}
		case p.text == "" && p.id != "":
			unknown = append(unknown, SourceJudgment(p.id, "")) // or a document's id
		case len(sites) == 0 || len(sites) > mostPlaces:
			lost = append(lost, p.text)
		default:
			for _, s := range sites {
				c.Evidence = append(c.Evidence, f.addSite(l, SourceJudgment("", s.doc), s)...)
			}
		}
	}
	c.Judgments = append(l.judgments(), unknown...)
	return c, lost
}

// addSite labels the chunks that share bytes with a site as given, and gives the
// evidence.
func (f *foreigners) addSite(l *labelling, given Judgment, s site) []Evidence {
	var held []*corpus.Chunk
	chunks := f.byDoc[s.doc]
	for i := range chunks {
		if share := shareOf(s.span, &chunks[i]); share > 0 {
			held = append(held, &chunks[i])
			l.add(&carry{given: given, chunk: &chunks[i], share: share, part: partOf(s.span, &chunks[i]), spans: []Span{s.span}})
		}
	}
	if len(held) == 0 {
		return nil
	}
	return []Evidence{{s.doc, largest(held, s.span).ID, s.span.Start, s.span.End, s.quote}}
}

// placeQuotes finds the quotes of cases written by hand, in the document that they
// name or anywhere. Where a case has no other label, the chunks that hold them get the
// grade; quotes are by the case's place in the list.
func (im *importer) placeQuotes(quoted map[int][]Evidence, grade int, view RebaseView) error {
	if len(quoted) == 0 {
		return nil
	}
	f := &foreigners{relevant: cmp.Or(im.options.RelevantGrade, min(grade, 2))}
	texts := map[string]bool{}
	for _, evidence := range quoted {
		for _, e := range evidence {
			texts[e.Quote] = true
		}
	}
	if err := f.locate(slices.Sorted(maps.Keys(texts)), view); err != nil {
		return err
	}
	for _, i := range slices.Sorted(maps.Keys(quoted)) {
		c := &im.cases[i]
		l := newLabelling(c, f.relevant)
		for _, e := range quoted[i] {
			sites := slices.DeleteFunc(slices.Clone(f.sites[e.Quote]), func(s site) bool { return e.DocID != "" && s.doc != e.DocID })
			if len(sites) == 0 || len(sites) > mostPlaces {
				im.unlocated(c, e.Quote)
				continue
			}
			for _, s := range sites {
				given := humanJudgment("", grade, filepath.Base(im.options.Queries))
				given.DocID, given.Label = s.doc, LabelRelevant
				c.Evidence = append(c.Evidence, f.addSite(l, given, s)...)
			}
		}
		if len(c.Judgments) == 0 && !c.ExpectedAbstention {
			c.Judgments = l.judgments()
		}
	}
	return nil
}
