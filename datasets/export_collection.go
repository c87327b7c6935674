package datasets

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// collection is a set as queries and judgments.
type collection struct {
	cases []*Case
	lines [][]exported // of each case
}

// judged gathers the cases that have a known label.
func (e *exporter) judged() (collection, error) {
	var out collection
	for _, c := range e.cases {
		if labels := e.labels(c); len(labels) > 0 {
			out.cases, out.lines = append(out.cases, c), append(out.lines, labels)
			e.count(c, len(labels))
		}
	}
	if len(out.cases) == 0 {
		return out, fmt.Errorf("%w: no case has a known label that is not only a probability", ErrNothingToExport)
	}
	return out, nil
}

// qrels writes a line for each judgment by the layout, which takes the case's
// id, the chunk's id and the grade. Ids that the format would split are refused.
func (c *collection) qrels(header, layout string, splits func(rune) bool) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(header)
	for i, labels := range c.lines {
		for _, l := range labels {
			for _, id := range []string{c.cases[i].ID, l.id} {
				if strings.ContainsFunc(id, splits) {
					return nil, fmt.Errorf("id %q holds white space, which the format takes for the end of a column", id)
				}
			}
			fmt.Fprintf(&b, layout, c.cases[i].ID, l.id, l.grade)
		}
	}
	return b.Bytes(), nil
}

func bytesTo(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// trec writes queries.tsv and qrels.txt.
func (e *exporter) trec(sink Sink) error {
	c, err := e.judged()
	if err != nil {
		return err
	}
	qrels, err := c.qrels("", "%s 0 %s %d\n", unicode.IsSpace)
	if err != nil {
		return err
	}
	if err := sink(ExportQrels, bytesTo(qrels)); err != nil {
		return err
	}
	return sink(ExportQueries, func(w io.Writer) error {
		for _, x := range c.cases {
			if _, err := fmt.Fprintf(w, "%s\t%s\n", x.ID, foldSpace(x.Query)); err != nil {
				return err
			}
		}
		return nil
	})
}

// beirText is a line of BEIR's queries.jsonl and corpus.jsonl.
type beirText struct {
	ID    string `json:"_id"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text"`
}

// beir writes queries.jsonl, corpus.jsonl with all chunks, and qrels/test.tsv.
func (e *exporter) beir(sink Sink) error {
	c, err := e.judged()
	if err != nil {
		return err
	}
	qrels, err := c.qrels("query-id\tcorpus-id\tscore\n", "%s\t%s\t%d\n", func(r rune) bool { return strings.ContainsRune("\t\r\n", r) })
	if err != nil {
		return err
	}
	if err := sink(ExportBEIRQrels, bytesTo(qrels)); err != nil {
		return err
	}
	if err := sink(ExportBEIRQueries, c.beirQueries); err != nil {
		return err
	}
	return sink(ExportBEIRCorpus, func(w io.Writer) error {
		encoder := encoderOf(w)
		for chunk, err := range e.view.Chunks() {
			if err != nil {
				return err
			}
			if err := encoder.Encode(beirText{ID: chunk.ID, Title: strings.Join(chunk.HeadingPath, " > "), Text: chunk.Text}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *collection) beirQueries(w io.Writer) error {
	encoder := encoderOf(w)
	for _, x := range c.cases {
		if err := encoder.Encode(beirText{ID: x.ID, Text: x.Query}); err != nil {
			return err
		}
	}
	return nil
}
