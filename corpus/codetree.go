package corpus

import (
	"context"
	"path"
	"strings"

	"github.com/goldgen/goldgen/internal/treesitter"
)

// treePattern is one pattern of a query, in tree-sitter's language for queries,
// with the kind of what it finds.
type treePattern struct{ kind, query string }

func pythonPatterns() []treePattern {
	return []treePattern{
		{"class", `(class_definition name: (identifier) @name) @node`},
		{"function", `(function_definition name: (identifier) @name) @node`},
		{nodeWrapper, `(decorated_definition definition: (_) @name) @node`},
		{nodeClosure, `(lambda) @node`},
		{nodeText, `(expression_statement (string) @node)`},
		{nodeComment, `(comment) @node`},
	}
}

func javaPatterns() []treePattern {
	return []treePattern{
		{nodePackage, `(package_declaration [(identifier) (scoped_identifier)] @name) @node`},
		{"class", `(class_declaration name: (identifier) @name) @node`},
		{"interface", `(interface_declaration name: (identifier) @name) @node`},
		{"enum", `(enum_declaration name: (identifier) @name) @node`},
		{"record", `(record_declaration name: (identifier) @name) @node`},
		{"annotation", `(annotation_type_declaration name: (identifier) @name) @node`},
		{"method", `(method_declaration name: (identifier) @name) @node`},
		{"constructor", `(constructor_declaration name: (identifier) @name) @node`},
		{"constructor", `(compact_constructor_declaration name: (identifier) @name) @node`},
		{nodeClosure, `(lambda_expression) @node`},
		{nodeClosure, `(object_creation_expression (class_body)) @node`},
		{nodeComment, `(line_comment) @node`},
		{nodeComment, `(block_comment) @node`},
	}
}

func typescriptPatterns() []treePattern {
	return []treePattern{
		{"namespace", `(internal_module name: (_) @name) @node`},
		{"namespace", `(module name: (_) @name) @node`},
		{"class", `(class_declaration name: (_) @name) @node`},
		{"class", `(abstract_class_declaration name: (_) @name) @node`},
		{"class", `(export_statement value: (class)) @node`},
		{"interface", `(interface_declaration name: (_) @name) @node`},
		{"enum", `(enum_declaration name: (_) @name) @node`},
		{"type", `(type_alias_declaration name: (_) @name) @node`},
		{"function", `(function_declaration name: (_) @name) @node`},
		{"function", `(generator_function_declaration name: (_) @name) @node`},
		{"function", `(function_signature name: (_) @name) @node`},
		{"function", `(lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)])) @node`},
		{"function", `(variable_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)])) @node`},
		{"class", `(lexical_declaration (variable_declarator name: (identifier) @name value: (class))) @node`},
		{"function", `(export_statement value: [(arrow_function) (function_expression) (generator_function)]) @node`},
		{"method", `(method_definition name: (_) @name) @node`},
		{"method", `(class_body (method_signature name: (_) @name) @node)`},
		{"method", `(class_body (abstract_method_signature name: (_) @name) @node)`},
		{"method", `(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @node`},
		{nodeWrapper, `(export_statement declaration: (_) @name) @node`},
		{nodeWrapper, `(ambient_declaration (_) @name) @node`},
		{nodeClosure, `(arrow_function) @node`},
		{nodeClosure, `(function_expression) @node`},
		{nodeClosure, `(generator_function) @node`},
		{nodeDecorator, `(decorator) @node`},
		{nodeComment, `(comment) @node`},
	}
}

// treeParser is the parser of a language and what its patterns find.
type treeParser struct {
	*treesitter.Parser
	patterns []treePattern
}

// newCodeParser returns parsers of all languages; what they need is loaded when
// it is used.
func newCodeParser() codeParser {
	return codeParser{
		"python":     newTreeParser(treesitter.Python, pythonPatterns()),
		"java":       newTreeParser(treesitter.Java, javaPatterns()),
		"typescript": newTreeParser(treesitter.TypeScript, typescriptPatterns()),
		"tsx":        newTreeParser(treesitter.TSX, typescriptPatterns()),
	}
}

func newTreeParser(language treesitter.Language, patterns []treePattern) treeParser {
	var query strings.Builder
	for _, p := range patterns {
		query.WriteString(p.query + "\n")
	}
	return treeParser{treesitter.New(language, query.String()), patterns}
}

// parseTree finds the symbols of a file of Python, TypeScript or Java.
func (p codeParser) parseTree(ctx context.Context, name string, doc Document) (parsedCode, error) {
	tree := p[name]
	matches, err := tree.Find(ctx, doc.Text)
	if err != nil {
		return parsedCode{}, err
	}
	code := parsedCode{language: name, module: moduleOf(name, doc.ID), nodes: make([]codeNode, 0, len(matches))}
	if name == "tsx" {
		code.language = "typescript"
	}
	for _, m := range matches {
		n := codeNode{Span: Span{m.Start, m.End}, kind: tree.patterns[m.Pattern].kind}
		named := Span{m.NameStart, m.NameEnd}
		switch n.kind {
		case nodePackage:
			code.module = []string{doc.Text[named.Start:named.End]}
			continue
		case nodeWrapper:
			n.inner = named
		default:
			n.name = strings.Trim(doc.Text[named.Start:named.End], "\"'`")
		}
		if n.name == "" && (n.kind == "class" || n.kind == "function") {
			n.name = "default"
		}
		code.nodes = append(code.nodes, n)
	}
	return code, nil
}

// moduleOf is the name by which other files import one: of Python a dotted
// path, of TypeScript a path without its extension. Java's packages are in the
// file.
func moduleOf(language, id string) []string {
	bare := strings.TrimSuffix(id, path.Ext(id))
	switch language {
	case "java":
		return nil
	case "python":
		bare = strings.TrimSuffix(bare, "/__init__")
		bare = strings.ReplaceAll(bare, "/", ".")
	}
	return []string{bare}
}
