package corpus

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// markdownSections cuts a Markdown text at its headings. Their pieces are the
// top-level blocks and together cover the text. A heading without a body of its
// own stands at the start of the deeper section that follows.
func markdownSections(markdown parser.Parser, source string) []section {
	body := frontMatterEnd(source)
	src := []byte(source[body:])
	root := markdown.Parse(text.NewReader(src))
	b := &sectionBuilder{source: source, levels: []heading{}}
	if body > 0 {
		b.block(0, false)
	}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		start := lineStart(source, body+max(n.Pos(), 0))
		if h, ok := n.(*ast.Heading); ok {
			b.heading(start, h.Level, strings.TrimSpace(string(h.Lines().Value(src))))
			continue
		}
		b.block(start, isSolid(n))
	}
	return b.finish()
}

func isSolid(n ast.Node) bool {
	switch n.Kind() {
	case ast.KindFencedCodeBlock, ast.KindCodeBlock, extast.KindTable:
		return true
	}
	return false
}

func lineStart(source string, i int) int {
	return strings.LastIndexByte(source[:min(i, len(source))], '\n') + 1
}

type heading struct {
	level int
	title string
}

// sectionBuilder gathers blocks in order; each block ends where the next starts.
type sectionBuilder struct {
	source   string
	levels   []heading
	sections []section
	bare     bool // the last section holds headings only
}

// closeLast ends the last piece at offset end.
func (b *sectionBuilder) closeLast(end int) {
	if n := len(b.sections); n > 0 {
		pieces := b.sections[n-1].pieces
		pieces[len(pieces)-1].End = end
	}
}

func (b *sectionBuilder) heading(start, level int, title string) {
	b.closeLast(start)
	deeper := len(b.levels) > 0 && level > b.levels[len(b.levels)-1].level
	for len(b.levels) > 0 && b.levels[len(b.levels)-1].level >= level {
		b.levels = b.levels[:len(b.levels)-1]
	}
	b.levels = append(b.levels, heading{level, title})
	if n := len(b.sections); n > 0 && b.bare && deeper {
		b.sections[n-1].path = b.path()
		return
	}
	b.sections = append(b.sections, section{path: b.path(), pieces: []piece{{Span: Span{start, start}}}})
	b.bare = true
}

func (b *sectionBuilder) path() []string {
	path := make([]string, len(b.levels))
	for i, h := range b.levels {
		path[i] = h.title
	}
	return path
}

// block adds a block to the last section. The first block of prose after a
// heading is one piece with it.
func (b *sectionBuilder) block(start int, solid bool) {
	if len(b.sections) == 0 {
		b.sections = append(b.sections, section{pieces: []piece{{Span{start, start}, solid}}})
		return
	}
	if b.bare && !solid {
		b.bare = false
		return
	}
	b.bare = false
	b.closeLast(start)
	last := &b.sections[len(b.sections)-1]
	last.pieces = append(last.pieces, piece{Span{start, start}, solid})
}

func (b *sectionBuilder) finish() []section {
	b.closeLast(len(b.source))
	if len(b.sections) > 0 {
		b.sections[0].pieces[0].Start = 0
	}
	return b.sections
}
