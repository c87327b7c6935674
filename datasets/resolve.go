package datasets

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goldgen/goldgen/corpus"
)

// resolver turns the ids that people wrote into chunk ids.
type resolver struct {
	chunks  map[string]corpus.Chunk    // by chunk id
	alias   map[string]string          // document id -> its only chunk
	docs    map[string]corpus.Document // those that evidence names
	missing map[string]int             // ids that are not there -> rows that name them
}

// newResolver looks up every id that the cases name. A document with several
// chunks is an error that names it.
func newResolver(cases []Case, view CorpusView) (*resolver, error) {
	ids, docs := map[string]bool{}, map[string]bool{}
	for i := range cases {
		for _, list := range cases[i].idLists() {
			for _, id := range *list {
				ids[id] = true
			}
		}
		for _, j := range cases[i].Judgments {
			ids[j.ChunkID] = true
		}
		for _, e := range cases[i].Evidence {
			ids[e.ChunkID], docs[e.DocID] = true, true
		}
	}
	r := &resolver{alias: map[string]string{}, missing: map[string]int{}}
	var err error
	if r.chunks, err = view.ChunksByID(slices.Sorted(maps.Keys(ids))); err != nil {
		return nil, err
	}
	if r.docs, err = view.DocumentsByID(slices.Sorted(maps.Keys(docs))); err != nil {
		return nil, err
	}
	maps.DeleteFunc(ids, func(id string, _ bool) bool { _, ok := r.chunks[id]; return ok })
	return r, r.resolveDocuments(ids, view)
}

// resolveDocuments finds the ids that are documents' and the chunk of each.
func (r *resolver) resolveDocuments(ids map[string]bool, view CorpusView) error {
	if len(ids) == 0 {
		return nil
	}
	count := map[string]int{}
	for info, err := range view.ChunkInfos() {
		if err != nil {
			return err
		}
		if ids[info.DocID] {
			count[info.DocID]++
			r.alias[info.DocID] = info.ChunkID
		}
	}
	for _, id := range slices.Sorted(maps.Keys(count)) {
		if count[id] > 1 {
			return fmt.Errorf("%w: %q has %d; make the snapshot with chunking: {method: document}, or judge chunks", ErrSeveralChunks, id, count[id])
		}
	}
	found, err := view.ChunksByID(slices.Sorted(maps.Values(r.alias)))
	maps.Copy(r.chunks, found)
	return err
}

// idLists are the case's lists of chunk ids.
func (c *Case) idLists() []*[]string { return []*[]string{&c.Source, &c.Forbidden, &c.HardNegatives} }

// resolve rewrites the case's ids to chunk ids, and leaves out, counted, what
// names none. Evidence must be exact.
func (r *resolver) resolve(c *Case) error {
	for _, list := range c.idLists() {
		kept := make([]string, 0, len(*list))
		for _, id := range *list {
			if chunk, ok := r.find(id); ok {
				kept = append(kept, chunk.ID)
			}
		}
		*list = kept
	}
	if err := r.resolveJudgments(c); err != nil {
		return err
	}
	for i := range c.Evidence {
		if err := r.checkEvidence(&c.Evidence[i]); err != nil {
			return fmt.Errorf("evidence %d: %w", i, err)
		}
	}
	return nil
}

// resolveJudgments rewrites and folds judgments: two ids of a case may turn out
// to be one chunk.
func (r *resolver) resolveJudgments(c *Case) error {
	first := map[[2]string]*Judgment{}
	kept := make([]Judgment, 0, len(c.Judgments))
	for _, j := range c.Judgments {
		chunk, ok := r.find(j.ChunkID)
		if !ok {
			continue
		}
		named := j.ChunkID
		j.ChunkID, j.DocID = chunk.ID, chunk.DocID
		key := [2]string{j.ChunkID, j.By}
		if old := first[key]; old == nil {
			kept = append(kept, j)
			first[key] = &kept[len(kept)-1]
		} else if !sameGrade(old.Grade, j.Grade) {
			return fmt.Errorf("%q is chunk %q, which has another grade already", named, chunk.ID)
		}
	}
	c.Judgments = kept
	return nil
}

func sameGrade(a, b *int) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }

// find gives the chunk that an id means; an unknown id is counted.
func (r *resolver) find(id string) (corpus.Chunk, bool) {
	if c, ok := r.chunks[id]; ok {
		return c, true
	}
	if c, ok := r.chunks[r.alias[id]]; ok {
		return c, true
	}
	r.missing[id]++
	return corpus.Chunk{}, false
}

// checkEvidence refuses a quote that is not at its span: promise one is that
// every span can be pointed at.
func (r *resolver) checkEvidence(e *Evidence) error {
	chunk, ok := r.find(e.ChunkID)
	if !ok {
		return fmt.Errorf("chunk %q is not in the snapshot", e.ChunkID)
	}
	e.ChunkID = chunk.ID
	doc, ok := r.docs[e.DocID]
	switch {
	case !ok:
		return fmt.Errorf("document %q is not in the snapshot", e.DocID)
	case e.Start < 0 || e.End > len(doc.Text) || e.Start >= e.End:
		return fmt.Errorf("[%d,%d) is outside of document %q of %d bytes", e.Start, e.End, e.DocID, len(doc.Text))
	case doc.Text[e.Start:e.End] != e.Quote:
		return fmt.Errorf("document %q has %s at [%d,%d), the quote is %s", e.DocID, abridged(doc.Text[e.Start:e.End]), e.Start, e.End, abridged(e.Quote))
	}
	return nil
}

// unknown lists the ids that were not found, and how many rows named them.
func (r *resolver) unknown() (ids []string, rows int) {
	ids = make([]string, 0, len(r.missing))
	for id, n := range r.missing {
		ids = append(ids, id)
		rows += n
	}
	slices.Sort(ids)
	return ids, rows
}
