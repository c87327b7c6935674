package retrieve

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// records keep what decides which chunks a query may see. Chunks that agree in
// scope, validity and everything else a filter reads but the document share
// one group, so that a query is decided once a group.
type records struct {
	ids     []string
	docs    []string
	groupOf []uint32
	groups  []corpus.Chunk    // what filters read, without DocID
	byKey   map[string]uint32 // group of a key
	number  map[string]uint32 // chunk number of an id
	fields  map[string]bool   // metadata keys that occur
}

// add takes in the next chunk; an id that was there before is an error.
func (r *records) add(c *corpus.Chunk) error {
	if r.number == nil {
		r.number, r.byKey, r.fields = map[string]uint32{}, map[string]uint32{}, map[string]bool{}
	}
	if _, ok := r.number[c.ID]; ok {
		return fmt.Errorf("chunk %s: duplicate id", c.ID)
	}
	id := strings.Clone(c.ID)
	r.number[id] = uint32(len(r.ids))
	r.ids = append(r.ids, id)
	r.docs = append(r.docs, r.docOf(c.DocID))
	r.groupOf = append(r.groupOf, r.groupFor(c))
	return nil
}

// docOf shares the string of the document before, as chunks come by document.
func (r *records) docOf(doc string) string {
	if n := len(r.docs); n > 0 && r.docs[n-1] == doc {
		return r.docs[n-1]
	}
	return strings.Clone(doc)
}

func (r *records) groupFor(c *corpus.Chunk) uint32 {
	key := groupKey(c)
	if group, ok := r.byKey[string(key)]; ok {
		return group
	}
	group := uint32(len(r.groups))
	r.byKey[string(key)] = group
	r.groups = append(r.groups, groupRecord(c))
	for field := range r.groups[group].Metadata {
		r.fields[field] = true
	}
	return group
}

// groupRecord copies what filters read; the chunk's strings may share memory
// with much else.
func groupRecord(c *corpus.Chunk) corpus.Chunk {
	g := corpus.Chunk{
		Unit: strings.Clone(c.Unit), Category: strings.Clone(c.Category), Language: strings.Clone(c.Language),
		ValidFrom: c.ValidFrom, ValidTo: c.ValidTo, UpdatedAt: c.UpdatedAt,
	}
	for k, v := range c.Metadata {
		if g.Metadata == nil {
			g.Metadata = make(map[string]string, len(c.Metadata))
		}
		g.Metadata[strings.Clone(k)] = strings.Clone(v)
	}
	for k, values := range c.Scope {
		if g.Scope == nil {
			g.Scope = make(corpus.Scope, len(c.Scope))
		}
		for _, v := range values {
			g.Scope[strings.Clone(k)] = append(g.Scope[k], strings.Clone(v))
		}
		if len(values) == 0 {
			g.Scope[strings.Clone(k)] = nil
		}
	}
	return g
}

// groupKey spells what groupRecord keeps, each part with its length before it.
func groupKey(c *corpus.Chunk) []byte {
	var key []byte
	put := func(s string) { key = append(binary.AppendUvarint(key, uint64(len(s))), s...) }
	put(c.Unit)
	put(c.Category)
	put(c.Language)
	for _, t := range [...]*time.Time{c.ValidFrom, c.ValidTo, c.UpdatedAt} {
		if t == nil {
			put("")
		} else {
			put(t.UTC().Format(time.RFC3339Nano))
		}
	}
	key = binary.AppendUvarint(key, uint64(len(c.Metadata)))
	for _, k := range slices.Sorted(maps.Keys(c.Metadata)) {
		put(k)
		put(c.Metadata[k])
	}
	for _, k := range slices.Sorted(maps.Keys(c.Scope)) {
		put(k)
		key = binary.AppendUvarint(key, uint64(len(c.Scope[k])))
		for _, v := range c.Scope[k] {
			put(v)
		}
	}
	return key
}

// admit checks a query and decides which chunks it may see.
func (r *records) admit(q Query) (*admission, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if err := corpus.ValidateFilters(q.Filters, r.fieldNames()); err != nil {
		return nil, fmt.Errorf("query %s: %w", q.ID, err)
	}
	a := &admission{records: r, query: q, open: make([]byte, len(r.groups))}
	a.byDoc = slices.ContainsFunc(q.Filters, func(f corpus.Filter) bool { return f.Field == "doc_id" })
	return a, nil
}

// fieldNames is nil, which checks no field, for an empty index.
func (r *records) fieldNames() []string {
	if len(r.ids) == 0 {
		return nil
	}
	return append([]string{}, slices.Sorted(maps.Keys(r.fields))...)
}

// admission answers, for one query, which chunks may be returned.
type admission struct {
	records *records
	query   Query
	open    []byte // of each group: 0 not decided, else 1 + the answer
	byDoc   bool   // a filter reads the document, so groups do not decide
}

func (a *admission) has(chunk uint32) bool {
	group := a.records.groupOf[chunk]
	if a.byDoc {
		record := a.records.groups[group]
		record.DocID = a.records.docs[chunk]
		return corpus.Match(&record, a.query.Scope, a.query.Filters, a.query.AsOf)
	}
	if a.open[group] == 0 {
		a.open[group] = 1
		if corpus.Match(&a.records.groups[group], a.query.Scope, a.query.Filters, a.query.AsOf) {
			a.open[group] = 2
		}
	}
	return a.open[group] == 2
}
