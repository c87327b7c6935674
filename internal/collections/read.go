package collections

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var (
	cranfieldDoc   = regexp.MustCompile(`(?s)<docno>\s*(\d+)\s*</docno>\s*<title>(.*?)</title>.*?<text>(.*?)</text>`)
	cranfieldTopic = regexp.MustCompile(`(?s)<num>\s*\d+\s*</num>\s*<title>(.*?)</title>`)
)

// readCranfield numbers queries by their position, as the qrels do.
func readCranfield(dir string) (c Collection, err error) {
	docs, err := os.ReadFile(filepath.Join(dir, "cran.all.1400.xml"))
	if err != nil {
		return c, err
	}
	for _, m := range cranfieldDoc.FindAllSubmatch(docs, -1) {
		c.Documents = append(c.Documents, Document{ID: string(m[1]), Title: squeeze(string(m[2])), Text: strings.TrimSpace(string(m[3]))})
	}
	topics, err := os.ReadFile(filepath.Join(dir, "cran.qry.xml"))
	if err != nil {
		return c, err
	}
	for i, m := range cranfieldTopic.FindAllSubmatch(topics, -1) {
		c.Queries = append(c.Queries, Query{ID: strconv.Itoa(i + 1), Text: squeeze(string(m[1]))})
	}
	return c, c.readQrels(filepath.Join(dir, "cranqrel.trec.txt"))
}

// readQrels reads TREC's four columns.
func (c *Collection) readQrels(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for n, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.Fields(line)
		if len(f) != 4 {
			return fmt.Errorf("%s: line %d: %d columns, want 4", path, n+1, len(f))
		}
		grade, err := strconv.Atoi(f[3])
		if err != nil {
			return fmt.Errorf("%s: line %d: %w", path, n+1, err)
		}
		c.judge(f[0], f[2], min(max(grade, 0), 1))
	}
	return nil
}

var (
	cacmDate  = regexp.MustCompile(`(?m)^ *(CACM +\w+ *,? *\d{4}|CA\d{6} )`)
	cacmTopic = regexp.MustCompile(`(?s)<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>`)
)

// readCACM takes title and abstract of a document, up to the line of the issue.
func readCACM(dir string) (c Collection, err error) {
	if c.Documents, err = cacmDocuments(filepath.Join(dir, "cacm.tar.gz")); err != nil {
		return c, err
	}
	topics, err := os.ReadFile(filepath.Join(dir, "topics.cacm.txt"))
	if err != nil {
		return c, err
	}
	for _, m := range cacmTopic.FindAllSubmatch(topics, -1) {
		c.Queries = append(c.Queries, Query{ID: string(m[1]), Text: squeeze(string(m[2]))})
	}
	return c, c.readQrels(filepath.Join(dir, "qrels.cacm.txt"))
}

func cacmDocuments(path string) ([]Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var docs []Document
	for files := tar.NewReader(zipped); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		page, err := io.ReadAll(files)
		if err != nil {
			return nil, err
		}
		_, text, _ := bytes.Cut(page, []byte("<pre>"))
		if end := cacmDate.FindIndex(text); end != nil {
			docs = append(docs, cacmDocument(header.Name, strings.TrimSpace(string(text[:end[0]]))))
		}
	}
}

func cacmDocument(file, text string) Document {
	title, _, _ := strings.Cut(text, "\n\n")
	return Document{ID: strings.TrimSuffix(filepath.Base(file), ".html"), Title: squeeze(title), Text: text}
}

// readCISI takes title and abstract of a document, without its citations.
func readCISI(dir string) (c Collection, err error) {
	docs, err := os.ReadFile(filepath.Join(dir, "CISI.ALL"))
	if err != nil {
		return c, err
	}
	for _, r := range smartRecords(string(docs)) {
		title := squeeze(r["T"])
		c.Documents = append(c.Documents, Document{ID: r["I"], Title: title, Text: title + "\n\n" + strings.TrimSpace(r["W"])})
	}
	queries, err := os.ReadFile(filepath.Join(dir, "CISI.QRY"))
	if err != nil {
		return c, err
	}
	for _, r := range smartRecords(string(queries)) {
		c.Queries = append(c.Queries, Query{ID: r["I"], Text: squeeze(r["T"] + " " + r["W"])})
	}
	return c, c.readPairs(filepath.Join(dir, "CISI.REL"))
}

// smartRecords reads SMART's format: a field begins with a line of a full stop
// and a letter; field I starts a record and stands on the same line.
func smartRecords(text string) []map[string]string {
	var records []map[string]string
	field := ""
	for line := range strings.Lines(text) {
		name := strings.TrimRight(line, " \r\n")
		switch {
		case strings.HasPrefix(name, ".I "):
			records = append(records, map[string]string{"I": strings.TrimSpace(name[3:])})
			field = ""
		case len(name) == 2 && name[0] == '.' && name[1] >= 'A' && name[1] <= 'Z':
			field = name[1:]
		case field != "" && len(records) > 0:
			records[len(records)-1][field] += line
		}
	}
	return records
}

// readPairs reads lines of query and document, whatever follows: all relevant.
func (c *Collection) readPairs(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for n, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' })
		if len(f) < 2 {
			return fmt.Errorf("%s: line %d: %d columns, want 2 or more", path, n+1, len(f))
		}
		c.judge(f[0], f[1], 1)
	}
	return nil
}
