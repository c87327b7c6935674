package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
)

// ReadDocuments yields the documents of src.Documents: those of a folder sorted
// by id, those of a table in its order. An error that is not the last is about
// one file or line; Build stops at the first unless SkipBad allows it. Language
// is as given and TextDigest is not set: Build derives them, several documents
// at once.
func ReadDocuments(src Source) iter.Seq2[Document, error] {
	st, err := os.Stat(src.Documents)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return failed(fmt.Errorf("corpus: no such folder or file: %s", src.Documents))
	case err != nil:
		return failed(err)
	case st.IsDir():
		return folderDocuments(src.Documents, src)
	case tableKind(src.Documents) == "":
		return failed(fmt.Errorf("corpus: %s: want a folder, or a .jsonl or .parquet file", src.Documents))
	}
	return tableDocuments(src)
}

func failed(err error) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) { yield(Document{}, err) }
}

// tableDocuments reads documents from JSONL or Parquet.
func tableDocuments(src Source) iter.Seq2[Document, error] {
	need := columns{{"id", "_id"}, {"text"}}
	return func(yield func(Document, error) bool) {
		for rec, err := range records(src.Documents, src.Fields, need) {
			var doc Document
			if err == nil {
				doc, err = recordDocument(rec, src.Fields)
				doc.Unit = cmp.Or(doc.Unit, src.Unit)
			}
			if !yield(doc, err) {
				return
			}
		}
	}
}

// recordDocument reads one record. A BEIR record (_id) has its title put before
// the text, as that collection means it.
func recordDocument(rec TableRow, m mapping) (Document, error) {
	_, beir := rec.Fields["_id"]
	if _, own := rec.Fields["id"]; own {
		beir = false
	}
	id, err := m.text(rec.Fields, "id", "_id")
	if err == nil {
		err = checkID("document", id)
	}
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", rec.Where, err)
	}
	text, err := recordText(rec, m)
	if err != nil {
		return Document{}, err
	}
	a, err := m.attributes(rec.Fields)
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", rec.Where, err)
	}
	if beir && strings.TrimSpace(a.Title) != "" {
		text = a.Title + "\n\n" + text
	}
	return newDocument(id, text, a), nil
}

// recordText takes the text, which must be there and a string, if an empty one.
func recordText(rec TableRow, m mapping) (string, error) {
	v, ok := m.take(rec.Fields, "text")
	text, isString := v.(string)
	switch {
	case !ok:
		return "", fmt.Errorf("%s: no field %q", rec.Where, m.name("text"))
	case !isString:
		return "", fmt.Errorf("%s: field %q: want a string, not %s", rec.Where, m.name("text"), render(v))
	}
	return text, checkText(rec.Where, []byte(text))
}
