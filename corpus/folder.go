package corpus

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"
)

// knownTexts is what a folder is read for when nothing is said.
func knownTexts() []string {
	return []string{"**/*.{md,markdown,mdx,txt,text,rst,adoc,html,htm}"}
}

// folderFile is a file to read: its id and its place on disk.
type folderFile struct{ id, path string }

// folderFiles lists the files of a folder that the globs choose, sorted by id.
// Names beginning with a dot are left out unless an include glob names one.
// A symbolic link is read when it leads to a file inside the folder; others,
// and links to folders, are left out: what is inside is found anyway.
func folderFiles(root string, src Source) ([]folderFile, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, fmt.Errorf("no such folder: %w", err)
	}
	include := src.included()
	var files []folderFile
	err = filepath.WalkDir(real, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(real, p)
		if err != nil || rel == "." {
			return err
		}
		slash := norm.NFC.String(filepath.ToSlash(rel))
		if d.IsDir() {
			if hidden(slash) && !namesHidden(include) || matchAny(src.Exclude, slash+"/") {
				return fs.SkipDir
			}
			return nil
		}
		if src.Wants(slash) && readable(real, p, d) {
			files = append(files, folderFile{slash, p})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b folderFile) int { return strings.Compare(a.id, b.id) })
	return files, err
}

// included are the globs of what a folder is read for.
func (s Source) included() []string {
	if len(s.Include) == 0 {
		return knownTexts()
	}
	return s.Include
}

// Files lists the files that the source is read from: those of a folder that
// its globs choose, sorted by id, and its tables.
func (s Source) Files() ([]string, error) {
	var files []string
	for _, path := range []string{s.Documents, s.Chunks} {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		chosen, err := folderFiles(path, s)
		if err != nil {
			return nil, err
		}
		for _, f := range chosen {
			files = append(files, f.path)
		}
	}
	return files, nil
}

// Wants reports whether a folder of documents is read for the file at that slash path.
func (s Source) Wants(slash string) bool {
	include := s.included()
	slash = norm.NFC.String(slash)
	if !namesHidden(include) && slices.ContainsFunc(strings.Split(slash, "/"), hidden) {
		return false
	}
	return matchAny(include, slash) && !matchAny(s.Exclude, slash)
}

func hidden(slash string) bool { return strings.HasPrefix(path.Base(slash), ".") }

func namesHidden(globs []string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return strings.HasPrefix(g, ".") || strings.Contains(g, "/.") })
}

func matchAny(globs []string, slash string) bool {
	return slices.ContainsFunc(globs, func(g string) bool {
		return doublestar.MatchUnvalidated(norm.NFC.String(g), slash)
	})
}

// readable reports whether an entry is a file, or a link to one below root.
func readable(root, p string, d fs.DirEntry) bool {
	if d.Type().IsRegular() {
		return true
	}
	if d.Type()&fs.ModeSymlink == 0 {
		return false
	}
	target, err := filepath.EvalSymlinks(p)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(root, target)
	info, statErr := os.Stat(target)
	return err == nil && filepath.IsLocal(rel) && statErr == nil && info.Mode().IsRegular()
}

// folderDocuments reads the files of a folder in order of their ids.
func folderDocuments(root string, src Source) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		files, err := folderFiles(root, src)
		if err != nil {
			yield(Document{}, err)
			return
		}
		reader, err := newFileReader(src)
		if err != nil {
			yield(Document{}, err)
			return
		}
		for _, f := range files {
			if !yield(reader.read(f)) {
				return
			}
		}
	}
}

// fileReader turns one file into a document.
type fileReader struct {
	fields mapping
	unit   string
	paths  []pathPattern
}

func newFileReader(src Source) (*fileReader, error) {
	r := &fileReader{fields: src.Fields, unit: src.Unit}
	for _, p := range src.Paths {
		parsed, err := parsePathPattern(p)
		if err != nil {
			return nil, err
		}
		r.paths = append(r.paths, parsed)
	}
	return r, nil
}

func (r *fileReader) read(f folderFile) (Document, error) {
	if err := checkID("document", f.id); err != nil {
		return Document{}, &badFile{where: f.id, why: err}
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		return Document{}, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := checkText(f.id, data); err != nil {
		return Document{}, err
	}
	doc, err := r.document(f, string(data))
	if err != nil {
		return Document{}, fmt.Errorf("%s: %w", f.id, err)
	}
	return doc, nil
}

// document gives a file's text its fields: from front matter, else from the
// first path pattern that fits, else by default.
func (r *fileReader) document(f folderFile, content string) (Document, error) {
	text, fields, err := textAndFields(f.id, content)
	if err != nil {
		return Document{}, err
	}
	for name, v := range r.pathFields(f.id) {
		if _, given := fields[r.fields.name(name)]; !given {
			fields[r.fields.name(name)] = v
		}
	}
	if _, mapped := r.fields["category"]; !mapped && fields["category"] == nil {
		fields["category"] = firstSegment(f.id)
	}
	a, err := r.fields.attributes(fields)
	if err != nil {
		return Document{}, err
	}
	a.Unit = cmp.Or(a.Unit, r.unit)
	a.Source = cmp.Or(a.Source, f.id)
	return newDocument(f.id, text, a), nil
}

func (r *fileReader) pathFields(id string) map[string]any {
	for _, p := range r.paths {
		if fields, ok := p.fields(id); ok {
			return fields
		}
	}
	return nil
}

// textAndFields reads a file by its extension. The fields are never nil.
func textAndFields(id, content string) (text string, fields map[string]any, err error) {
	fields = map[string]any{}
	switch strings.ToLower(path.Ext(id)) {
	case ".md", ".markdown", ".mdx":
		given, body, err := splitFrontMatter(content)
		if given != nil {
			fields = given
		}
		return body, fields, err
	case ".html", ".htm":
		title, body, err := htmlText(content)
		if title != "" {
			fields["title"] = title
		}
		return body, fields, err
	}
	return content, fields, nil
}

// newDocument fills a document; detect sets what is derived of its text.
func newDocument(id, text string, a attributes) Document {
	return Document{
		ID: id, Text: text, Title: a.Title, Source: a.Source, Category: a.Category, Language: a.Language, Unit: a.Unit,
		Metadata: a.Metadata, Scope: a.Scope, ValidFrom: a.ValidFrom, ValidTo: a.ValidTo, UpdatedAt: a.UpdatedAt,
	}
}

// detect sets the document's text digest and, where none is given, its
// language, which prose shows: of code its comments.
func (d *Document) detect(prose string) {
	d.TextDigest = textDigest(d.Text)
	if d.Language == "" {
		d.Language = Language(prose)
	}
}
