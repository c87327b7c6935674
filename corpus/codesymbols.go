package corpus

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// maxNesting bounds how deep symbols are cut out of one another; what lies
// deeper stays in the last one.
const maxNesting = 16

// symbol is a part of code that gets a chunk.
type symbol struct {
	Span // with the comments that belong to it
	kind string
	path []string // module, the types around it, its name
}

// holds reports whether the symbols in one of this kind are cut out of it.
func holds(kind string) bool {
	switch kind {
	case "class", "interface", "enum", "record", "annotation", "namespace":
		return true
	}
	return false
}

// symbols orders what was found, drops what lies in functions, and gives each
// symbol its path, wrapper and comments.
func (c parsedCode) symbols(text string) []symbol {
	nodes := slices.Clone(c.nodes)
	slices.SortStableFunc(nodes, func(a, b codeNode) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	wrappers, notes := map[Span]Span{}, []codeNode{}
	for _, n := range nodes {
		switch n.kind {
		case nodeWrapper:
			wrappers[n.inner] = n.Span
		case nodeComment, nodeDecorator:
			notes = append(notes, n)
		}
	}
	stack := &symbolStack{module: c.module}
	var found []symbol
	for _, n := range nodes {
		if s, ok := stack.push(n); ok {
			s.Span = widen(text, s.Span, wrappers, notes)
			found = append(found, s)
		}
	}
	return found
}

// symbolStack follows which nodes lie in which.
type symbolStack struct {
	module []string
	open   []codeNode
}

// push reports the node as a symbol, unless it is none, lies in a function or is
// the one around it by another name.
func (s *symbolStack) push(n codeNode) (symbol, bool) {
	switch n.kind {
	case nodeComment, nodeDecorator, nodeText, nodeWrapper:
		return symbol{}, false
	}
	for len(s.open) > 0 && s.open[len(s.open)-1].End <= n.Start {
		s.open = s.open[:len(s.open)-1]
	}
	if depth := len(s.open); depth > 0 {
		top := s.open[depth-1]
		if !holds(top.kind) || n.Span == top.Span || depth >= maxNesting {
			return symbol{}, false
		}
		if n.kind == "function" && top.kind != "namespace" {
			n.kind = "method"
		}
	}
	path := slices.Clone(s.module)
	for _, o := range s.open {
		path = append(path, o.name)
	}
	s.open = append(s.open, n)
	if n.kind == nodeClosure {
		return symbol{}, false
	}
	if n.owner != "" {
		path = append(path, n.owner)
	}
	return symbol{n.Span, n.kind, append(path, n.name)}, true
}

// widen takes in what belongs to a symbol: what wraps it, comments right above
// it, and one that begins behind it on its last line. notes are in order.
func widen(text string, s Span, wrappers map[Span]Span, notes []codeNode) Span {
	for outer, ok := wrappers[s]; ok; outer, ok = wrappers[s] {
		delete(wrappers, s)
		s = outer
	}
	from := func(n codeNode, at int) int { return cmp.Compare(n.Start, at) }
	i, _ := slices.BinarySearchFunc(notes, s.Start, from)
	for i--; i >= 0 && above(text, notes[i].Span, s.Start); i-- {
		s.Start = notes[i].Start
	}
	i, _ = slices.BinarySearchFunc(notes, s.End, from)
	if i < len(notes) && notes[i].kind == nodeComment && strings.Trim(text[s.End:notes[i].Start], " \t,;") == "" {
		s.End = notes[i].End
	}
	return s
}

// above reports whether a comment stands on lines of its own with no blank line
// between it and what begins at the offset, or on one line with that.
func above(text string, note Span, at int) bool {
	if note.End > at {
		return false
	}
	gap := text[note.End:at]
	before := text[lineStart(text, note.Start):note.Start]
	breaks := strings.Count(gap, "\n")
	return strings.TrimSpace(gap) == "" && (breaks == 0 || breaks == 1 && strings.TrimSpace(before) == "")
}

// codeCutter makes cuts of symbols and of what stands between them.
type codeCutter struct {
	chunker *Chunker
	ruler   *ruler
	module  []string
	open    []symbol // those whose inner symbols are being cut out
	at      int      // all before it is in cuts
	cuts    []cut
}

// cutCode gives each symbol a chunk, whatever its length: of a type whose
// methods have chunks of their own, up to the first of them. What stands between
// symbols is cut by lines, at most Size units each; only brackets and
// punctuation are left out.
func (k *Chunker) cutCode(r *ruler, code parsedCode) []cut {
	c := &codeCutter{chunker: k, ruler: r, module: code.module}
	symbols := code.symbols(r.text)
	for i, s := range symbols {
		c.close(s.Start)
		c.rest(s.Start)
		end := s.End
		if i+1 < len(symbols) && symbols[i+1].Start < s.End {
			end = symbols[i+1].Start
			c.open = append(c.open, s)
		}
		c.symbol(s, end)
	}
	c.close(len(r.text))
	c.rest(len(r.text))
	return c.cuts
}

// close ends the open symbols that end at or before the offset.
func (c *codeCutter) close(at int) {
	for n := len(c.open); n > 0 && c.open[n-1].End <= at; n-- {
		c.rest(c.open[n-1].End)
		c.open = c.open[:n-1]
	}
}

func (c *codeCutter) symbol(s symbol, end int) {
	t := trim(c.ruler.text, Span{max(s.Start, c.at), end})
	c.at = max(c.at, end)
	if t.Start < t.End {
		c.cuts = append(c.cuts, cut{Span: t, path: s.path, kind: s.kind})
	}
}

// rest cuts the text up to an offset that no symbol has.
func (c *codeCutter) rest(to int) {
	gap := Span{c.at, max(c.at, to)}
	c.at = gap.End
	says := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if !strings.ContainsFunc(c.ruler.text[gap.Start:gap.End], says) {
		return
	}
	path := c.module
	if n := len(c.open); n > 0 {
		path = c.open[n-1].path
	}
	pieces := c.chunker.split(c.ruler, piece{Span: trim(c.ruler.text, gap)}, levelParagraphs)
	c.cuts = append(c.cuts, c.chunker.pack(c.ruler, section{path: path, pieces: pieces})...)
}
