// Package prompts owns what is said to a model: templates and reply schemas,
// embedded as files with front matter, each with a version and a digest. How
// they are sent, and what is done with the reply, is left to others.
//
// # A prompt file
//
//	---
//	id: write-factual
//	version: 1
//	types: [factual]
//	languages: [any]
//	vars: [language]
//	data: [text, sentence]
//	schema: |
//	  {"type":"object", ...}
//	---
//	=== system
//	Fixed text.
//	=== user
//	{{.text}}
//	Write in {{.language}} what this answers: {{.sentence}}
//
// Each section is one message. A section may use {{.name}} of a declared
// variable and {{if .name}} ... {{else}} ... {{end}}; everything else is an
// error that names the line. A variable listed under data is text of the corpus
// or of a user: it is put between tags that bear the variable's name, on lines
// of their own, and cannot close them (see fence.go). A variable listed under
// vars is a short value of goldgen's own, written on one line.
//
// Messages stand in the order fixed text, chunk, task, so that all prompts
// about a chunk share a prefix that the server has to read only once.
package prompts

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/llm"
)

//go:embed files
var embedded embed.FS

// ErrUnknown says that there is no prompt of that id.
var ErrUnknown = errors.New("no such prompt")

// Prompt is one template with the schema of its reply.
type Prompt struct {
	ID        string
	Version   int
	Types     []string // query types that it serves; "judge" for grading, "answers" for a system's answers
	Languages []string // ISO 639-1, or "any"
	Vars      []string // short values, on one line
	Data      []string // text of the corpus, delimited
	Digest    string   // sha256:<hex> of Source
	Schema    json.RawMessage
	Source    string // the file's text, line ends as \n
	Path      string // of a file in the embedded one's place, else ""

	sections []section
	asked    []string // names that stand in an {{if}}
}

// Ref names the prompt in provenance: id@version.
func (p *Prompt) Ref() string { return fmt.Sprintf("%s@%d", p.ID, p.Version) }

// Where names the prompt in errors: its file, where a user has one, else its
// reference.
func (p *Prompt) Where() string { return cmp.Or(p.Path, p.Ref()) }

// Blame names the prompt in an error that its schema is to blame for; any other
// stays as it is.
func (p *Prompt) Blame(err error) error {
	if errors.Is(err, llm.KindBadSchema) {
		return fmt.Errorf("prompt %s: %w", p.Where(), err)
	}
	return err
}

// Get returns the embedded prompt of that id. The error of an unknown one wraps
// ErrUnknown and lists the known ids.
func Get(id string) (*Prompt, error) {
	names, err := fs.Glob(embedded, "files/*.md")
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(names))
	for i, name := range names {
		if ids[i] = strings.TrimSuffix(path.Base(name), ".md"); ids[i] == id {
			return load(name)
		}
	}
	return nil, fmt.Errorf("prompt %q: %w (known: %s)", id, ErrUnknown, strings.Join(ids, ", "))
}

// All returns the embedded prompts, ordered by id.
func All() ([]*Prompt, error) {
	names, err := fs.Glob(embedded, "files/*.md")
	if err != nil {
		return nil, err
	}
	all := make([]*Prompt, len(names))
	for i, name := range names {
		if all[i], err = load(name); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b *Prompt) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// load reads an embedded file, which bears its prompt's id.
func load(name string) (*Prompt, error) {
	src, err := embedded.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p, err := Parse(name, src)
	if err == nil && name != "files/"+p.ID+".md" {
		err = fmt.Errorf("%s: id %q is not the file's name", name, p.ID)
	}
	return p, err
}

// Render fills the template. vars must hold exactly the declared variables,
// the data ones as raw text: Render delimits them.
func (p *Prompt) Render(vars map[string]string) ([]llm.Message, error) {
	if err := p.checkVars(vars); err != nil {
		return nil, err
	}
	values := p.values(vars)
	messages := make([]llm.Message, 0, len(p.sections))
	for _, s := range p.sections {
		var b strings.Builder
		if err := s.template.Execute(&b, values); err != nil {
			return nil, fmt.Errorf("prompt %s: %w", p.Ref(), err)
		}
		messages = append(messages, llm.Message{Role: s.role, Content: strings.TrimSpace(b.String())})
	}
	return messages, nil
}

func (p *Prompt) checkVars(vars map[string]string) error {
	for _, name := range slices.Concat(p.Vars, p.Data) {
		if _, ok := vars[name]; !ok {
			return fmt.Errorf("prompt %s: variable %q has no value", p.Ref(), name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !slices.Contains(p.Vars, name) && !slices.Contains(p.Data, name) {
			return fmt.Errorf("prompt %s: it has no variable %q", p.Ref(), name)
		}
	}
	return nil
}

func (p *Prompt) values(vars map[string]string) map[string]string {
	values := make(map[string]string, len(vars))
	for _, name := range p.Vars {
		values[name] = strings.Join(strings.Fields(defuse(vars[name])), " ")
	}
	data := make(map[string]string, len(p.Data))
	for _, name := range p.Data {
		data[name] = defuse(vars[name])
	}
	suffix := fenceSuffix(p.Data, data, values)
	for name, text := range data {
		if values[name] = fence(name+suffix, text); text == "" && slices.Contains(p.asked, name) {
			values[name] = "" // so that {{if .name}} asks whether there is any
		}
	}
	return values
}
