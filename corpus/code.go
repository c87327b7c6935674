package corpus

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/internal/treesitter"
)

// Metadata of chunks that are cut from code.
const (
	MetaCodeLanguage = "code_language" // go, python, typescript or java
	MetaSymbolKind   = "symbol_kind"   // such as function, method, class; symbols alone have it
)

// codeFiles are the globs of what can be cut by symbols.
func codeFiles() []string { return []string{"**/*.{go,py,pyi,ts,tsx,mts,cts,java}"} }

// othersCode are folders of dependencies, which are not the corpus's own.
func othersCode() []string {
	return []string{"**/node_modules/**", "**/vendor/**", "**/site-packages/**"}
}

// ForChunking returns the source with the globs that a chunking implies: method
// code reads source code and no dependencies, unless Include says otherwise.
func (s Source) ForChunking(c Chunking) Source {
	if c.Method == "code" && len(s.Include) == 0 {
		s.Include, s.Exclude = codeFiles(), slices.Concat(s.Exclude, othersCode())
	}
	return s
}

// codeLanguage is the programming language of a document by its id, else by
// where it was read from; "" for what is cut as Markdown.
func codeLanguage(doc Document) string {
	for _, name := range []string{doc.ID, doc.Source} {
		switch strings.ToLower(path.Ext(name)) {
		case ".go":
			return "go"
		case ".py", ".pyi":
			return "python"
		case ".ts", ".mts", ".cts":
			return "typescript"
		case ".tsx":
			return "tsx"
		case ".java":
			return "java"
		}
	}
	return ""
}

// codeNode is something that a parser found.
type codeNode struct {
	Span
	kind  string
	name  string
	owner string // type that a Go method belongs to
	inner Span   // of nodeWrapper: what it wraps
}

// Kinds of nodes that are no symbols.
const (
	nodeComment   = "comment"   // stands with the symbol below it
	nodeDecorator = "decorator" // the same, but no prose
	nodeText      = "text"      // a doc string: prose inside a symbol
	nodeClosure   = "closure"   // what is declared in it is nobody's business
	nodeWrapper   = "wrapper"   // belongs to the symbol in it: export, Python's decorators
	nodePackage   = "package"
)

// parsedCode is what is known of a document of code.
type parsedCode struct {
	language string
	module   []string // package or module, if it has a name
	nodes    []codeNode
}

// codeParser parses all languages that can be cut by symbols. The parsers are by
// what codeLanguage says; Go has its own.
type codeParser map[string]treeParser

// parse reads a document of code. The error of one that does not parse is an
// *unparsed.
func (p codeParser) parse(ctx context.Context, language string, doc Document) (parsedCode, error) {
	if language == "go" {
		return parseGo(doc)
	}
	code, err := p.parseTree(ctx, language, doc)
	var syntax *treesitter.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return code, unparsedAt(doc, language, syntax.Offset)
	case errors.Is(err, treesitter.ErrTooLarge):
		return code, &unparsed{doc.ID + ": " + treesitter.ErrTooLarge.Error()}
	}
	return code, err
}

// unparsed is a document of code that does not parse.
type unparsed struct{ text string }

func (e *unparsed) Error() string { return e.text }

func unparsedAt(doc Document, language string, offset int) error {
	head := doc.Text[:min(offset, len(doc.Text))]
	line, column := 1+strings.Count(head, "\n"), len(head)-strings.LastIndexByte(head, '\n')
	return &unparsed{fmt.Sprintf("%s:%d:%d: does not parse as %s", doc.ID, line, column, languageTitle(language))}
}

func languageTitle(language string) string {
	switch language {
	case "go":
		return "Go"
	case "python":
		return "Python"
	case "java":
		return "Java"
	}
	return "TypeScript"
}

// prose is what people wrote in the code for people, for telling its language.
func (c parsedCode) prose(text string) string {
	var b strings.Builder
	for _, n := range c.nodes {
		if n.kind != nodeComment && n.kind != nodeText {
			continue
		}
		for line := range strings.Lines(text[n.Start:n.End]) {
			b.WriteString(strings.Trim(line, " \t\r\n/*#\"'"))
			b.WriteByte(' ')
		}
		if b.Len() > maxDetected {
			break
		}
	}
	return b.String()
}
