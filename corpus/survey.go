package corpus

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Survey is what a folder holds that could be a corpus, its own hidden files and
// other people's code apart.
type Survey struct {
	Files  int            // all of them
	Texts  int            // read where nothing is said
	Code   int            // read with chunking method code
	Tables []string       // ids of .jsonl and .parquet files, sorted: each is a source by itself
	Kinds  map[string]int // files by extension, such as .py; "" for none
}

// Look surveys a folder, without what the globs exclude.
func Look(folder string, exclude []string) (Survey, error) {
	files, err := folderFiles(folder, Source{Include: []string{"**"}, Exclude: slices.Concat(exclude, othersCode())})
	s := Survey{Files: len(files), Kinds: map[string]int{}}
	for _, f := range files {
		s.Kinds[strings.ToLower(path.Ext(f.id))]++
		switch {
		case matchAny(knownTexts(), f.id):
			s.Texts++
		case matchAny(codeFiles(), f.id):
			s.Code++
		case tableKind(f.id) != "":
			s.Tables = append(s.Tables, f.id)
		}
	}
	return s, err
}

// kindsShown is how many extensions are named.
const kindsShown = 4

// words list the most frequent extensions.
func (s *Survey) words() string {
	kinds := slices.SortedFunc(maps.Keys(s.Kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Kinds[b], s.Kinds[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, kind := range kinds[:min(kindsShown, len(kinds))] {
		parts = append(parts, fmt.Sprintf("%d %s", s.Kinds[kind], cmp.Or(kind, "without extension")))
	}
	if more := len(kinds) - len(parts); more > 0 {
		parts = append(parts, "...")
	}
	return strings.Join(parts, ", ")
}

// WhyNothing says why no document was found in a source, and what would read what
// is there.
func (s Source) WhyNothing() string {
	const nothing = "no documents were found"
	seen, err := Look(s.Documents, s.Exclude)
	if err != nil || seen.Files == 0 {
		return nothing
	}
	what := fmt.Sprintf("%s: none of its files (%s) is taken; ", nothing, seen.words())
	switch {
	case slices.Equal(s.Include, codeFiles()):
		return what + "chunking method code takes Go, Python, TypeScript and Java, corpus.include others"
	case len(s.Include) > 0:
		return what + "corpus.include chooses which are"
	case seen.Code > 0:
		return what + "chunking: {method: code} takes code"
	case len(seen.Tables) > 0:
		return what + "corpus.source takes one table of records, such as " + seen.Tables[0]
	}
	return what + "corpus.include names others"
}

// sampled is how many records of a table TableFields looks at.
const sampled = 100

// TableFields are the fields that the first records of a table have, by its own
// names, each with the first value that is not null.
func TableFields(table string) (map[string]any, error) {
	fields, n := map[string]any{}, 0
	for row, err := range records(table, mapping{}, nil) {
		if err != nil {
			return nil, err
		}
		for name, v := range row.Fields {
			if fields[name] == nil {
				fields[name] = v
			}
		}
		if n++; n == sampled {
			break
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("%s: no record in it", table)
	}
	return fields, nil
}
