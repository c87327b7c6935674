package prompts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"go.yaml.in/yaml/v4"
)

// maxLength is the largest maxLength that may stand in a schema: larger ones
// kill the runner of some servers, as any pattern does.
const maxLength = 1500

type section struct {
	role     string
	template *template.Template
}

type frontMatter struct {
	ID        string   `yaml:"id"`
	Version   int      `yaml:"version"`
	Types     []string `yaml:"types"`
	Languages []string `yaml:"languages"`
	Vars      []string `yaml:"vars"`
	Data      []string `yaml:"data"`
	Schema    string   `yaml:"schema"`
}

// Parse reads a prompt file; name stands in errors, with the line.
func Parse(name string, src []byte) (*Prompt, error) {
	text := strings.ReplaceAll(string(src), "\r\n", "\n")
	head, body, line, err := splitFrontMatter(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p, err := parseHead(text, head)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.Source = text
	sum := sha256.Sum256([]byte(text))
	p.Digest = "sha256:" + hex.EncodeToString(sum[:])
	if err := p.parseBody(name, body, line); err != nil {
		return nil, err
	}
	return p, nil
}

// splitFrontMatter returns the front matter, the body, and the number of the
// body's first line.
func splitFrontMatter(text string) (head, body string, line int, err error) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", "", 0, errors.New("line 1: a prompt file begins with ---")
	}
	head, body, ok = strings.Cut(rest, "\n---\n")
	if !ok {
		return "", "", 0, errors.New("the front matter does not end with ---")
	}
	return head, body, strings.Count(head, "\n") + 4, nil
}

// parseHead reads the front matter of a file's text.
func parseHead(text, head string) (*Prompt, error) {
	var fm frontMatter
	// The line of --- stays, so that lines in errors are the file's.
	dec, err := yaml.NewLoader(strings.NewReader("\n"+head), yaml.WithKnownFields())
	if err != nil {
		return nil, fmt.Errorf("front matter: %w", err)
	}
	if err := dec.Load(&fm); err != nil {
		return nil, fmt.Errorf("front matter: %w", err)
	}
	if fm.ID == "" || fm.Version < 1 {
		return nil, errors.New("front matter: id and version (from 1) are needed")
	}
	p := &Prompt{ID: fm.ID, Version: fm.Version, Types: fm.Types, Languages: fm.Languages, Vars: fm.Vars, Data: fm.Data}
	if fm.Schema == "" {
		return p, nil
	}
	if p.Schema, err = checkSchema(fm.Schema); err != nil {
		return nil, fmt.Errorf("line %d: schema: %w", lineOf(text, "schema:"), err)
	}
	return p, nil
}

// lineOf is the number of the first line of a file's text that begins so, else
// that of the front matter's end, where it is missing.
func lineOf(text, prefix string) int {
	n := 0
	for line := range strings.Lines(text) {
		if n++; strings.HasPrefix(line, prefix) || n > 1 && strings.TrimSpace(line) == "---" {
			return n
		}
	}
	return n
}

// checkSchema compacts the schema and refuses what servers die of.
func checkSchema(text string) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	if err := checkNode(v); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func checkNode(v any) error {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["pattern"].(string); ok {
			return errors.New("pattern is not allowed: some servers die of it")
		}
		if n, ok := v["maxLength"].(float64); ok && n > maxLength {
			return fmt.Errorf("maxLength %g is over %d", n, maxLength)
		}
		for _, child := range v {
			if err := checkNode(child); err != nil {
				return err
			}
		}
	case []any:
		for _, child := range v {
			if err := checkNode(child); err != nil {
				return err
			}
		}
	}
	return nil
}

// parseBody cuts the body at its "=== role" lines.
func (p *Prompt) parseBody(name, body string, line int) error {
	var role string
	var text []string
	start := line
	flush := func() error {
		if role == "" {
			if strings.TrimSpace(strings.Join(text, "")) != "" {
				return fmt.Errorf("%s:%d: text before the first === line", name, start)
			}
			return nil
		}
		return p.addSection(name, role, strings.Join(text, "\n"), start)
	}
	for i, l := range strings.Split(body, "\n") {
		next, ok := strings.CutPrefix(l, "=== ")
		if !ok {
			text = append(text, l)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		role, text, start = strings.TrimSpace(next), nil, line+i+1
		if !slices.Contains([]string{"system", "user", "assistant"}, role) {
			return fmt.Errorf("%s:%d: role %q is none of system, user, assistant", name, line+i, role)
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if len(p.sections) == 0 {
		return fmt.Errorf("%s:%d: no === section", name, line)
	}
	return nil
}

func (p *Prompt) addSection(name, role, text string, line int) error {
	t, err := template.New(name).Option("missingkey=error").Parse(text)
	if err != nil {
		return fmt.Errorf("%s: section %s at line %d: %w", name, role, line, err)
	}
	if t.Tree != nil && t.Root != nil {
		if err := p.checkList(t.Root, text); err != nil {
			at := line + strings.Count(text[:err.pos], "\n")
			return fmt.Errorf("%s:%d: %s", name, at, err.msg)
		}
	}
	p.sections = append(p.sections, section{role: role, template: t})
	return nil
}

type nodeError struct {
	pos int
	msg string
}

// checkList allows text, {{.name}} and {{if .name}}, and nothing else.
func (p *Prompt) checkList(list *parse.ListNode, text string) *nodeError {
	if list == nil {
		return nil
	}
	for _, n := range list.Nodes {
		if err := p.checkTemplateNode(n, text); err != nil {
			return err
		}
	}
	return nil
}

func (p *Prompt) checkTemplateNode(n parse.Node, text string) *nodeError {
	switch n := n.(type) {
	case *parse.TextNode:
		return nil
	case *parse.ActionNode:
		_, err := p.variableOf(n.Pipe)
		return err
	case *parse.IfNode:
		name, err := p.variableOf(n.Pipe)
		if err != nil {
			return err
		}
		p.asked = append(p.asked, name)
		if err := p.checkList(n.List, text); err != nil {
			return err
		}
		return p.checkList(n.ElseList, text)
	}
	return &nodeError{int(n.Position()), fmt.Sprintf("only {{.name}} and {{if .name}} are allowed, not %s", n)}
}

// variableOf gives the name of the variable that a pipe must be.
func (p *Prompt) variableOf(pipe *parse.PipeNode) (string, *nodeError) {
	bad := &nodeError{int(pipe.Pos), fmt.Sprintf("only a variable is allowed, not {{%s}}", pipe)}
	if len(pipe.Decl) != 0 || len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return "", bad
	}
	field, ok := pipe.Cmds[0].Args[0].(*parse.FieldNode)
	if !ok || len(field.Ident) != 1 {
		return "", bad
	}
	name := field.Ident[0]
	if !slices.Contains(p.Vars, name) && !slices.Contains(p.Data, name) {
		return "", &nodeError{int(field.Pos), fmt.Sprintf("unknown variable %q", name)}
	}
	return name, nil
}
