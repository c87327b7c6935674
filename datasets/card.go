package datasets

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/template"
	"unicode"
)

//go:embed card.md.tmpl
var cardTemplate string

// writeCard writes the dataset card: front matter as the Hugging Face hub reads
// it, then what a reader needs before using the set. It is a function of the
// manifest without costs and creation time, so that equal sets have equal
// cards.
func writeCard(w io.Writer, m *Manifest) error {
	return fill(w, cardTemplate, m)
}

// fill executes the template of a card.
func fill(w io.Writer, text string, data any) error {
	t, err := template.New("card").Funcs(template.FuncMap{
		"md":     escapeMarkdown,
		"yaml":   quoteYAML,
		"sorted": sortedCounts,
		"model":  modelLine,
		"size":   sizeCategory,
	}).Parse(text)
	if err != nil {
		return fmt.Errorf("card: %w", err)
	}
	return t.Execute(w, data)
}

// count is one line of a table of counts.
type count struct {
	Name string
	N    int
}

// sortedCounts orders counts by size, then by name.
func sortedCounts(m map[string]int) []count {
	var out []count
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, count{name, m[name]})
	}
	slices.SortStableFunc(out, func(a, b count) int { return cmp.Compare(b.N, a.N) })
	return out
}

// modelLine names a model, or says that there was none.
func modelLine(m *ModelPin) string {
	if m == nil {
		return "none"
	}
	line := strings.Trim(m.Provider+"/"+m.Model, "/")
	if m.Digest != "" {
		line += "@" + m.Digest
	}
	if m.Revision != "" {
		line += " revision " + m.Revision
	}
	return line
}

// sizeCategory is the hub's word for a number of rows.
func sizeCategory(n int) string {
	switch {
	case n < 1000:
		return "n<1K"
	case n < 10_000:
		return "1K<n<10K"
	case n < 100_000:
		return "10K<n<100K"
	}
	return "100K<n<1M"
}

// quoteYAML writes a string as YAML: a JSON string is one.
func quoteYAML(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// escapeMarkdown keeps text of the corpus, such as the names of strata, from
// being read as markup, as a table's cell border or as HTML; line breaks and
// control characters become spaces.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*_[]()!|#~$", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
