package corpus

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
)

// tableChunk is one row of a chunk table.
type tableChunk struct {
	Where       string
	ID          string
	DocID       string
	Text        string
	Start, End  *int
	HeadingPath []string
	Embedding   floats
	Attributes  attributes
}

// readTableChunk reads a record of a chunk table.
func readTableChunk(rec TableRow, m mapping) (c tableChunk, err error) {
	c.Where = rec.Where
	if c.ID, err = m.text(rec.Fields, "chunk_id", "id", "_id"); err == nil {
		err = checkID("chunk", c.ID)
	}
	if err == nil {
		if c.DocID, err = m.text(rec.Fields, "doc_id"); err == nil {
			err = checkID("document", c.DocID)
		}
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", rec.Where, err)
	}
	if c.Text, err = recordText(rec, m); err != nil {
		return c, err
	}
	if err := c.readRest(rec, m); err != nil {
		return c, fmt.Errorf("%s: chunk %s: %w", rec.Where, c.ID, err)
	}
	return c, nil
}

func (c *tableChunk) readRest(rec TableRow, m mapping) (err error) {
	if c.Start, err = m.offset(rec.Fields, "start"); err != nil {
		return err
	}
	if c.End, err = m.offset(rec.Fields, "end"); err != nil {
		return err
	}
	if (c.Start == nil) != (c.End == nil) {
		return errors.New("one of start and end is missing")
	}
	if c.Embedding, err = m.embedding(rec.Fields); err != nil {
		return err
	}
	if v, ok := m.take(rec.Fields, "heading_path"); ok {
		c.HeadingPath = headingPath(v)
	}
	c.Attributes, err = m.attributes(rec.Fields)
	return err
}

func headingPath(v any) []string {
	list, ok := v.([]any)
	if !ok {
		return []string{render(v)}
	}
	path := make([]string, len(list))
	for i := range list {
		path[i] = render(list[i])
	}
	return filled(path)
}

func checkUnit(unit string) error {
	if unit != "" && !slices.Contains(Units(), unit) {
		return fmt.Errorf("unit %q: want one of %s", unit, strings.Join(Units(), ", "))
	}
	return nil
}

// offset takes a whole number, 0 or more; nil when it is not given.
func (m mapping) offset(fields map[string]any, name string) (*int, error) {
	v, ok := m.take(fields, name)
	if !ok {
		return nil, nil
	}
	n, err := strconv.ParseInt(render(v), 10, 64)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("field %q: want an offset in bytes, not %s", m.name(name), render(v))
	}
	i := int(n)
	return &i, nil
}

// embedding takes a list of numbers; nil when it is not given.
func (m mapping) embedding(fields map[string]any) ([]float32, error) {
	v, ok := m.take(fields, "embedding")
	if !ok {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("field %q: want a list of numbers", m.name("embedding"))
	}
	out := make([]float32, len(list))
	for i, item := range list {
		f, ok := number(item)
		if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("field %q: %s is no number", m.name("embedding"), render(item))
		}
		out[i] = float32(f)
	}
	return out, nil
}

// floats are kept on disk as bytes: exact, and quick to read.
type floats []float32

// MarshalJSON writes the bytes of the numbers, little end first, in base64.
func (f floats) MarshalJSON() ([]byte, error) {
	data := make([]byte, 0, 4*len(f))
	for _, x := range f {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return json.Marshal(data)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *floats) UnmarshalJSON(text []byte) error {
	var data []byte
	if err := json.Unmarshal(text, &data); err != nil {
		return err
	}
	*f = nil
	for ; len(data) >= 4; data = data[4:] {
		*f = append(*f, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return nil
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float32:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// tableBundles reads a chunk table: first all rows, which may come in any order,
// into a file in dir, then document by document. Without src.Documents the
// documents' texts are put together from their chunks, and documents come in
// the order in which the table first names them; with it they come in its
// order, and those without chunks come, too.
func tableBundles(ctx context.Context, src Source, dir string, skip func(error) bool) iter.Seq2[bundle, error] {
	return func(yield func(bundle, error) bool) {
		table, err := spillTable(ctx, src, dir, skip)
		if err != nil {
			yield(bundle{}, err)
			return
		}
		defer table.close()
		if src.Documents != "" {
			placeAll(src, table, yield)
			return
		}
		for _, id := range table.order {
			chunks, err := table.chunks(id)
			var b bundle
			if err == nil {
				b, err = assemble(id, chunks)
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// placeAll finds the chunks of each document of the source in its text.
func placeAll(src Source, table *spilled, yield func(bundle, error) bool) {
	for doc, err := range ReadDocuments(src.documentsOnly()) {
		var b bundle
		if err == nil {
			b, err = placeIn(doc, table)
		}
		if !yield(b, err) {
			return
		}
	}
	for _, id := range table.order {
		if !table.used[id] {
			yield(bundle{}, fmt.Errorf("%s: document %q of the chunk table is not in %s", src.Chunks, id, src.Documents))
			return
		}
	}
}

// documentsOnly is the source of the texts beside a chunk table: the field
// mapping is the table's, but for what documents have as well.
func (s Source) documentsOnly() Source {
	s.Chunks = ""
	return s
}

func placeIn(doc Document, table *spilled) (bundle, error) {
	chunks, err := table.chunks(doc.ID)
	if err != nil {
		return bundle{}, err
	}
	table.used[doc.ID] = true
	spans := make([]Span, len(chunks))
	from := 0
	for i := range chunks {
		c := &chunks[i]
		if spans[i], err = locate(doc, c, from); err != nil {
			return bundle{}, fmt.Errorf("%s: chunk %s: %w", c.Where, c.ID, err)
		}
		from = min(spans[i].Start+1, len(doc.Text)) // an equal chunk is further on
	}
	return bundleOf(doc, chunks, spans), nil
}

// locate finds a chunk in its document: at its offsets, else at the first
// place of its text at or after from, else at the first at all.
func locate(doc Document, c *tableChunk, from int) (Span, error) {
	if c.Start != nil {
		if *c.End > len(doc.Text) || *c.Start > *c.End {
			return Span{}, fmt.Errorf("offsets %d to %d are outside document %s of %d bytes", *c.Start, *c.End, doc.ID, len(doc.Text))
		}
		if doc.Text[*c.Start:*c.End] != c.Text {
			return Span{}, fmt.Errorf("its text is not what document %s has at %d to %d", doc.ID, *c.Start, *c.End)
		}
		return Span{*c.Start, *c.End}, nil
	}
	at := strings.Index(doc.Text[from:], c.Text)
	if at >= 0 {
		at += from
	} else if at = strings.Index(doc.Text, c.Text); at < 0 {
		return Span{}, fmt.Errorf("its text is not in document %s", doc.ID)
	}
	return Span{at, at + len(c.Text)}, nil
}

// assemble makes a document of its chunks.
func assemble(id string, chunks []tableChunk) (bundle, error) {
	text, spans, err := assembleText(id, chunks)
	if err != nil {
		return bundle{}, err
	}
	a := chunks[0].Attributes
	for _, c := range chunks[1:] {
		if c.Attributes.Language != a.Language {
			a.Language = "" // chunks in several languages: the text decides
		}
	}
	return bundleOf(newDocument(id, text, a), chunks, spans), nil
}

func assembleText(id string, chunks []tableChunk) (string, []Span, error) {
	for _, c := range chunks {
		if (c.Start == nil) != (chunks[0].Start == nil) {
			return "", nil, fmt.Errorf("%s: chunk %s: document %s has chunks with offsets and chunks without", c.Where, c.ID, id)
		}
	}
	if chunks[0].Start != nil {
		return overlay(id, chunks)
	}
	var text strings.Builder
	spans := make([]Span, len(chunks))
	for i, c := range chunks {
		if i > 0 {
			text.WriteByte('\n')
		}
		spans[i] = Span{text.Len(), text.Len() + len(c.Text)}
		text.WriteString(c.Text)
	}
	return text.String(), spans, nil
}

// maxAssembled bounds a text that is put together at offsets: a larger one is
// an offset that went wrong.
const maxAssembled = 1 << 30

// overlay puts chunks at their offsets and fills gaps with spaces.
func overlay(id string, chunks []tableChunk) (string, []Span, error) {
	size := 0
	spans := make([]Span, len(chunks))
	for i, c := range chunks {
		spans[i] = Span{*c.Start, *c.End}
		if *c.Start > *c.End || *c.End-*c.Start != len(c.Text) {
			return "", nil, fmt.Errorf("%s: chunk %s: offsets %d to %d, but its text is %d bytes long", c.Where, c.ID, *c.Start, *c.End, len(c.Text))
		}
		size = max(size, *c.End)
	}
	if size > maxAssembled {
		return "", nil, fmt.Errorf("document %s: offsets up to %d: over %d bytes", id, size, maxAssembled)
	}
	text := []byte(strings.Repeat(" ", size))
	taken := make([]bool, size)
	for _, c := range chunks {
		for i := range len(c.Text) {
			at := *c.Start + i
			if taken[at] && text[at] != c.Text[i] {
				return "", nil, fmt.Errorf("%s: chunk %s: disagrees with another chunk of document %s at byte %d", c.Where, c.ID, id, at)
			}
			text[at], taken[at] = c.Text[i], true
		}
	}
	return string(text), spans, nil
}

// bundleOf makes the chunks of a document. What a row does not say of itself
// is the document's. Their tokens are still to be counted.
func bundleOf(doc Document, rows []tableChunk, spans []Span) bundle {
	b := bundle{doc: doc, chunks: make([]Chunk, len(rows)), vectors: make([][]float32, len(rows))}
	for i, row := range rows {
		c := newChunk(doc, i, cut{Span: spans[i], path: row.HeadingPath}, 0)
		c.ID = row.ID
		row.Attributes.override(&c)
		b.chunks[i], b.vectors[i] = c, row.Embedding
	}
	return b
}

func (a *attributes) override(c *Chunk) {
	for _, f := range []struct {
		to   *string
		from string
	}{{&c.Unit, a.Unit}, {&c.Category, a.Category}, {&c.Language, a.Language}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	if a.Scope != nil {
		c.Scope = a.Scope
	}
	if a.Metadata != nil {
		c.Metadata = a.Metadata
	}
	if a.ValidFrom != nil || a.ValidTo != nil {
		c.ValidFrom, c.ValidTo = a.ValidFrom, a.ValidTo
	}
	if a.UpdatedAt != nil {
		c.UpdatedAt = a.UpdatedAt
	}
}
