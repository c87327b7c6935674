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
		labels := e.known(c)
		if len(labels) == 0 {
			e.report.WithoutLabels++
			continue
		}
		out.cases, out.lines = append(out.cases, c), append(out.lines, labels)
		e.count(c, len(labels))
	}
	if len(out.cases) == 0 {
		return out, fmt.Errorf("%w: no case has a known label that is not only a probability", ErrNothingToExport)
	}
	return out, nil
}

// layout is how a format of lines writes a judgment, and which ids it has no place
// for.
type layout struct {
	header, line string // line takes the case's id, the chunk's and the grade
	splits       func(rune) bool
	starts       string // characters that an id must not begin with
}

// trecLayout is that of trec_eval. A line that begins with # is a comment to some
// readers, one that begins with < a topic's mark.
func trecLayout() layout { return layout{"", "%s 0 %s %d\n", unicode.IsSpace, "#<\ufeff"} }

// beirLayout is that of BEIR, whose loader takes a quotation mark at the beginning of
// a column for that of a quoted one.
func beirLayout() layout {
	splits := func(r rune) bool { return strings.ContainsRune("\t\r\n", r) }
	return layout{"query-id\tcorpus-id\tscore\n", "%s\t%s\t%d\n", splits, "#\"\ufeff"}
}

// check refuses an id that a reader would split or take for something else: two ids
// must never become one.
func (l *layout) check(id string) error {
	switch {
	case strings.ContainsFunc(id, l.splits):
		return fmt.Errorf("id %q holds white space, which the format takes for the end of a column; ranx, csv and jsonl take any id", id)
	case id == "" || strings.ContainsAny(id[:1], l.starts) || strings.HasPrefix(id, "\ufeff"):
		return fmt.Errorf("id %q begins with what readers of the format do not take for an id; ranx, csv and jsonl take any", id)
	}
	return nil
}

// qrels writes a line for each judgment.
func (c *collection) qrels(l layout) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(l.header)
	for i, labels := range c.lines {
		for _, judged := range labels {
			for _, id := range []string{c.cases[i].ID, judged.id} {
				if err := l.check(id); err != nil {
					return nil, err
				}
			}
			fmt.Fprintf(&b, l.line, c.cases[i].ID, judged.id, judged.grade)
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
	qrels, err := c.qrels(trecLayout())
	if err != nil {
		return err
	}
	var queries bytes.Buffer
	for _, x := range c.cases {
		text := foldSpace(x.Query)
		if text == "" {
			return fmt.Errorf("case %s: the query is white space alone, which the format has no place for", printable(x.ID))
		}
		fmt.Fprintf(&queries, "%s\t%s\n", x.ID, text)
	}
	if err := sink(ExportQrels, bytesTo(qrels)); err != nil {
		return err
	}
	return sink(ExportQueries, bytesTo(queries.Bytes()))
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
	qrels, err := c.qrels(beirLayout())
	if err != nil {
		return err
	}
	if err := sink(ExportBEIRQrels, bytesTo(qrels)); err != nil {
		return err
	}
	queries := convert(c.cases, func(x *Case) beirText { return beirText{ID: x.ID, Text: x.Query} })
	if err := jsonLines(sink, ExportBEIRQueries, queries); err != nil {
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

// ranx writes qrels as ranx reads them: an object of queries, each one of chunks and
// grades.
func (e *exporter) ranx(sink Sink) error {
	c, err := e.judged()
	if err != nil {
		return err
	}
	qrels := make(map[string]map[string]int, len(c.cases))
	for i, labels := range c.lines {
		grades := make(map[string]int, len(labels))
		for _, l := range labels {
			grades[l.id] = l.grade
		}
		qrels[c.cases[i].ID] = grades
	}
	return sink("", func(w io.Writer) error { return encoderOf(w).Encode(qrels) })
}
