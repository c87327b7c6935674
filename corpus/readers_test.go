package corpus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/goldgen/goldgen/corpus"
)

// readAll reads documents; their errors, too, as texts.
func readAll(t testing.TB, src corpus.Source) (docs []corpus.Document, errs []string) {
	t.Helper()
	for d, err := range corpus.ReadDocuments(src) {
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		docs = append(docs, d)
	}
	return docs, errs
}

func TestFolder(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"hr/eu/leave.md":     "\ufeff---\r\ntitle: Leave\r\nupdated_at: 2026-02-03\r\ncount: 7\r\ntags: [a, b]\r\n---\r\n\r\nText.\r\n",
		"hr/eu/draft/old.md": "old",
		"hr/plain.txt":       "---\nnot: front matter\n---\n",
		"rule.md":            "---\n\nA rule above.\n",
		"cafe\u0301.md":      "composed id",
		"data.csv":           "a,b",
	})
	docs, errs := readAll(t, corpus.Source{
		Documents: dir, Exclude: []string{"**/draft/**"},
		Paths: []string{"{category}/{scope.region}/{kind}.md"},
	})
	want := []corpus.Document{
		{ID: "caf\u00e9.md", Text: "composed id", Source: "caf\u00e9.md"},
		{ID: "hr/eu/leave.md", Text: "Text.\r\n", Title: "Leave", Source: "hr/eu/leave.md", Category: "hr", UpdatedAt: day("2026-02-03"),
			Metadata: map[string]string{"count": "7", "tags": `["a","b"]`, "kind": "leave"}, Scope: corpus.Scope{"region": {"eu"}}},
		{ID: "hr/plain.txt", Text: "---\nnot: front matter\n---\n", Source: "hr/plain.txt", Category: "hr"},
		{ID: "rule.md", Text: "---\n\nA rule above.\n", Source: "rule.md"},
	}
	if diff := cmp.Diff(want, docs); diff != "" || errs != nil {
		t.Error(diff, errs)
	}
}

func TestFolderGlobs(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.md": "a", "b/c.txt": "c", "b/d.log": "d", ".hidden/e.md": "e"})
	for name, c := range map[string]struct {
		include []string
		want    []string
	}{
		"default":       {nil, []string{"a.md", "b/c.txt"}},
		"any extension": {[]string{"b/*"}, []string{"b/c.txt", "b/d.log"}},
		"hidden":        {[]string{".hidden/**"}, []string{".hidden/e.md"}},
	} {
		t.Run(name, func(t *testing.T) {
			var ids []string
			docs, _ := readAll(t, corpus.Source{Documents: dir, Include: c.include})
			for _, d := range docs {
				ids = append(ids, d.ID)
			}
			if diff := cmp.Diff(c.want, ids); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSymlinksStayInside(t *testing.T) {
	outside := writeFiles(t, map[string]string{"secret.md": "secret"})
	dir := writeFiles(t, map[string]string{"a.md": "a", "sub/b.md": "b"})
	for link, target := range map[string]string{
		"leak.md": filepath.Join(outside, "secret.md"), "leakdir": outside,
		"loop": dir, "sub/again.md": filepath.Join(dir, "a.md"), "dangling.md": filepath.Join(dir, "none.md"),
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	docs, errs := readAll(t, corpus.Source{Documents: dir})
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.ID)
	}
	if diff := cmp.Diff([]string{"a.md", "sub/again.md", "sub/b.md"}, ids); diff != "" || errs != nil {
		t.Error(diff, errs)
	}
}

func TestHTML(t *testing.T) {
	dir := writeFiles(t, map[string]string{"p.html": "<title>A &amp; B</title><nav>menu</nav><h1>H</h1><table><tr><th>x</th></tr><tr><td>1</td></tr></table><script>bad()</script>"})
	docs, _ := readAll(t, corpus.Source{Documents: dir})
	if diff := cmp.Diff("A & B|# H\n\n| x |\n|---|\n| 1 |", docs[0].Title+"|"+docs[0].Text); diff != "" {
		t.Error(diff)
	}
}

func TestJSONLDocuments(t *testing.T) {
	long := strings.Repeat("long line ", 1<<20)
	path := filepath.Join(writeFiles(t, map[string]string{"d.jsonl": strings.Join([]string{
		`{"id":"a","text":"A","title":"T","category":"c","scope":{"tenant":["y","x"],"user":"u"},"metadata":{"n":1.50,"b":true,"z":null},"updated_at":"2026-01-02T03:04:05Z","extra":"e"}`,
		``,
		`{"_id":17,"title":"Beir","text":"body","metadata":{}}`,
		`{"id":"long","text":"` + long + `"}`,
	}, "\n")}), "d.jsonl")
	docs, errs := readAll(t, corpus.Source{Documents: path})
	want := []corpus.Document{
		{ID: "a", Text: "A", Title: "T", Category: "c", Scope: corpus.Scope{"tenant": {"x", "y"}, "user": {"u"}},
			Metadata: map[string]string{"n": "1.50", "b": "true", "extra": "e"}, UpdatedAt: day("2026-01-02T03:04:05Z")},
		{ID: "17", Text: "Beir\n\nbody", Title: "Beir"},
		{ID: "long", Text: long},
	}
	if diff := cmp.Diff(want, docs); diff != "" || errs != nil {
		t.Error(diff, errs)
	}
}

func TestFieldMapping(t *testing.T) {
	path := filepath.Join(writeFiles(t, map[string]string{"d.jsonl": `{"key":"a","body":{"content":"A","lang":"de"},"label":"c"}`}), "d.jsonl")
	docs, errs := readAll(t, corpus.Source{Documents: path, Fields: map[string]string{"id": "key", "text": "body.content", "language": "body.lang", "category": "label"}})
	if diff := cmp.Diff([]corpus.Document{{ID: "a", Text: "A", Language: "de", Category: "c"}}, docs); diff != "" || errs != nil {
		t.Error(diff, errs)
	}
}

func TestParquetDocuments(t *testing.T) {
	type row struct {
		ID    string              `parquet:"id"`
		Text  string              `parquet:"text"`
		When  int64               `parquet:"updated_at,timestamp(microsecond)"`
		Scope map[string][]string `parquet:"scope"`
		Meta  map[string]string   `parquet:"metadata"`
		Note  *string             `parquet:"note"`
	}
	path := filepath.Join(t.TempDir(), "d.parquet")
	rows := []row{{ID: "a", Text: "A", When: day("2026-01-02").UnixMicro(), Scope: map[string][]string{"t": {"x"}}, Meta: map[string]string{"k": "v"}}}
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	docs, errs := readAll(t, corpus.Source{Documents: path})
	want := []corpus.Document{{ID: "a", Text: "A", UpdatedAt: day("2026-01-02"), Scope: corpus.Scope{"t": {"x"}}, Metadata: map[string]string{"k": "v"}}}
	if diff := cmp.Diff(want, docs); diff != "" || errs != nil {
		t.Error(diff, errs)
	}
}

func TestParquetSchemaIsCheckedFirst(t *testing.T) {
	dir := t.TempDir()
	missing, wrong, none := filepath.Join(dir, "m.parquet"), filepath.Join(dir, "w.parquet"), filepath.Join(dir, "n.parquet")
	type noText struct {
		ID   string `parquet:"id"`
		Body string `parquet:"body"`
	}
	type badText struct {
		ID   string `parquet:"id"`
		Text int64  `parquet:"text"`
	}
	if err := parquet.WriteFile(missing, []noText{{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(wrong, []badText{{"a", 1}}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(none, []byte("PAR1 but not really PAR1"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		missing: `no column "text" (it has id, body)`,
		wrong:   `column "text": want strings`,
		none:    "truncated or no Parquet file",
	} {
		_, errs := readAll(t, corpus.Source{Documents: path})
		if len(errs) != 1 || !strings.Contains(errs[0], want) || !strings.Contains(errs[0], path) {
			t.Errorf("errors %q, want %q", errs, want)
		}
	}
}

// TestBadInput builds from sources that must be refused, and looks that nothing
// is left behind.
func TestBadInput(t *testing.T) {
	dir := writeFiles(t, map[string]string{
		"bad/latin.md":    "caf\xe9",
		"bin/nul.txt":     "a\x00b",
		"empty/none.csv":  "x",
		"empty/more.csv":  "x",
		"code/a.py":       "x = 1",
		"code/README":     "x",
		"code/x/b.py":     "x = 1",
		"memory/m.jsonl":  "{}",
		"blank/a.md":      "",
		"front/a.md":      "---\na: [\n---\nText",
		"date/a.md":       "---\nvalid_from: soon\n---\nText",
		"never/a.md":      "---\nvalid_from: 2026-02-01\nvalid_to: 2026-01-01\n---\nText",
		"parse.jsonl":     "{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":",
		"array.jsonl":     "[1]\n",
		"two.jsonl":       `{"id":"a","text":"x"} {"id":"b","text":"x"}`,
		"dup.jsonl":       "{\"id\":\"same\",\"text\":\"x\"}\n{\"id\":\"same\",\"text\":\"y\"}\n",
		"control.jsonl":   `{"id":"a\u001b[31m","text":"x"}`,
		"noid.jsonl":      `{"text":"x"}`,
		"notext.jsonl":    `{"id":"a"}`,
		"textlist.jsonl":  `{"id":"a","text":["x"]}`,
		"utf8.jsonl":      "{\"id\":\"a\",\"text\":\"caf\xe9\"}",
		"scope.jsonl":     `{"id":"a","text":"x","scope":"all"}`,
		"nothing.parquet": "",
		"wide/wide.md":    "O\x00p\x00e\x00n\x00\n\x00",
		"wide.jsonl":      "{\x00\"\x00i\x00d\x00\"\x00",
		"nul.jsonl":       `{"id":"a","text":"Open\u0000 now"}`,
		"words.docx":      "x",
	})
	for name, c := range map[string]struct {
		source string
		want   string
	}{
		"not UTF-8":       {"bad", "latin.md: not UTF-8 text"},
		"binary":          {"bin", "nul.txt: a NUL byte at offset "},
		"no file fits":    {"empty", "empty: no documents were found: none of its files (2 .csv) is taken; corpus.include names others"},
		"code alone":      {"code", "none of its files (2 .py, 1 without extension) is taken; chunking: {method: code} takes code"},
		"a table alone":   {"memory", "none of its files (1 .jsonl) is taken; corpus.source takes one table of records, such as m.jsonl"},
		"no text":         {"blank", "is empty: 1 document without any text"},
		"front matter":    {"front", "a.md: front matter:"},
		"date":            {"date", `a.md: field "valid_from": time "soon"`},
		"never valid":     {"never", `a.md: field "valid_to": 2026-01-01T00:00:00Z is not after valid_from 2026-02-01T00:00:00Z`},
		"no such folder":  {"missing", "no such folder or file"},
		"line":            {"parse.jsonl", "parse.jsonl:2: JSON ends too early"},
		"array":           {"array.jsonl", "array.jsonl:1: want a JSON object, not array"},
		"two values":      {"two.jsonl", "two.jsonl:1: more than one JSON value"},
		"duplicate":       {"dup.jsonl", `duplicate document id "same"`},
		"control in id":   {"control.jsonl", `control.jsonl:1: document id "a\x1b[31m" has control characters`},
		"no id":           {"noid.jsonl", "noid.jsonl:1: document id is empty"},
		"no text field":   {"notext.jsonl", `notext.jsonl:1: no field "text"`},
		"text is a list":  {"textlist.jsonl", `textlist.jsonl:1: field "text": want a string`},
		"line not UTF-8":  {"utf8.jsonl", "utf8.jsonl:1: not UTF-8 text"},
		"UTF-16 document": {"wide", "wide.md: it is UTF-16LE, want UTF-8 (iconv -f UTF-16LE -t UTF-8)"},
		"UTF-16 line":     {"wide.jsonl", "wide.jsonl:1: it is UTF-16LE"},
		"NUL in a text":   {"nul.jsonl", "nul.jsonl:1: a NUL byte at offset 4"},
		"scope no map":    {"scope.jsonl", `scope.jsonl:1: field "scope": want a map from key to values, such as {team: [a, b]}, not `},
		"empty Parquet":   {"nothing.parquet", "nothing.parquet: truncated or no Parquet file"},
		"unknown kind":    {"words.docx", "want a folder, or a .jsonl or .parquet file"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			_, _, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: corpus.Source{Documents: filepath.Join(dir, c.source)}}, root)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if left, _ := os.ReadDir(root); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestSkipBad(t *testing.T) {
	dir := writeFiles(t, map[string]string{"a.md": "Good text.", "bad.md": "caf\xe9", "new\nline.md": "Text."})
	root := t.TempDir()
	source := corpus.Source{Documents: dir, SkipBad: true}
	for range 2 { // the second finds the snapshot made, and still names what it left out
		s, _, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: source}, root)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"bad.md", "new\nline.md"}, s.Manifest().SkippedBad); diff != "" {
			t.Error(diff)
		}
	}
	source.SkipBad = false
	_, _, err := corpus.Build(t.Context(), corpus.BuildOptions{Source: source, Chunking: corpus.Chunking{}}, root)
	if err == nil || !strings.Contains(err.Error(), "bad.md") {
		t.Errorf("error %v, want one that names bad.md", err)
	}
}

func FuzzJSONL(f *testing.F) {
	f.Add([]byte(`{"id":"a","text":"x","scope":{"t":[1]},"metadata":{"a":{"b":2}},"updated_at":"2026"}`))
	f.Add([]byte("{\"_id\":1}\n\xff\nnull\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "f.jsonl")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		for d, err := range corpus.ReadDocuments(corpus.Source{Documents: path}) {
			if err == nil && d.ID == "" {
				t.Fatal("a document without an id")
			}
			if err != nil && !strings.Contains(err.Error(), "f.jsonl:") {
				t.Fatalf("error does not name the line: %v", err)
			}
		}
	})
}
