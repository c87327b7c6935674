package corpus

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strings"
)

// parseGo finds the functions, methods and types of a Go file.
func parseGo(doc Document) (parsedCode, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", doc.Text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return parsedCode{}, goError(doc, err)
	}
	g := &goReader{text: doc.Text, file: fset.File(file.FileStart)}
	for _, group := range file.Comments {
		for _, c := range group.List {
			g.comment(c)
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			g.function(d)
		case *ast.GenDecl:
			g.types(d)
		}
	}
	return parsedCode{language: "go", module: []string{file.Name.Name}, nodes: g.nodes}, nil
}

func goError(doc Document, err error) error {
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return unparsedAt(doc, "go", list[0].Pos.Offset)
	}
	return unparsedAt(doc, "go", 0)
}

// goReader gathers nodes, with offsets instead of positions.
type goReader struct {
	text  string
	file  *token.File
	nodes []codeNode
}

func (g *goReader) span(from, to token.Pos) Span {
	return Span{g.file.Offset(from), g.file.Offset(to)}
}

// comment adds a comment with its end as it is in the text: the parser's
// comments have no carriage returns, so their own ends are too early.
func (g *goReader) comment(c *ast.Comment) {
	s := g.span(c.Slash, c.Slash)
	end, width := "*/", 2
	if strings.HasPrefix(c.Text, "//") {
		end, width = "\n", 0
	}
	if i := strings.Index(g.text[s.Start+2:], end); i >= 0 {
		s.End = s.Start + 2 + i + width
	} else {
		s.End = len(g.text)
	}
	g.nodes = append(g.nodes, codeNode{Span: trim(g.text, s), kind: nodeComment})
}

func (g *goReader) function(d *ast.FuncDecl) {
	n := codeNode{Span: g.span(d.Pos(), d.End()), kind: "function", name: d.Name.Name}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		n.kind, n.owner = "method", receiver(d.Recv.List[0].Type)
	}
	g.nodes = append(g.nodes, n)
}

// receiver is the name of the type of a method.
func receiver(t ast.Expr) string {
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// types adds the types of a declaration. The first of a group begins where the
// group does.
func (g *goReader) types(d *ast.GenDecl) {
	if d.Tok != token.TYPE {
		return
	}
	for i, spec := range d.Specs {
		t, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		from, to := t.Pos(), t.End()
		if i == 0 {
			from = d.Pos()
		}
		if len(d.Specs) == 1 {
			to = d.End()
		}
		g.nodes = append(g.nodes, codeNode{Span: g.span(from, to), kind: goKind(t), name: t.Name.Name})
	}
}

func goKind(t *ast.TypeSpec) string {
	switch t.Type.(type) {
	case *ast.StructType:
		return "struct"
	case *ast.InterfaceType:
		return "interface"
	}
	return "type"
}
