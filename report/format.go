package report

import (
	"io"
	"slices"
	"strings"
)

// Format is a form that findings can be written in.
type Format struct {
	Name    string
	Endings []string // of files that hold it
	Texts   bool     // it shows the texts of chunks
	Write   func(io.Writer, *Findings) error
}

// Formats lists all forms; the first is the default. A new one is added here.
func Formats() []Format {
	return []Format{
		{"html", []string{".html", ".htm"}, true, HTML},
		{"markdown", []string{".md", ".markdown"}, false, PullRequest},
		{"junit", []string{".xml"}, false, JUnit},
		{"json", []string{".json"}, false, JSON},
		{"csv", []string{".csv"}, false, CSV},
	}
}

// FormatNames lists the names of all forms.
func FormatNames() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// FormatFor is the form of that name, or without one that of a file's ending,
// or without both the default. The bool is false where no form has the name, or
// the ending that is to tell it.
func FormatFor(name, ending string) (Format, bool) {
	all := Formats()
	at := slices.IndexFunc(all, func(f Format) bool {
		return f.Name == name || name == "" && slices.Contains(f.Endings, strings.ToLower(ending))
	})
	if at < 0 {
		return all[0], name == "" && ending == ""
	}
	return all[at], true
}
