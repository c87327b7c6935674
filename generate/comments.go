package generate

import (
	"regexp"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// comment is a comment or a doc string without its marks: a text of its own.
type comment struct {
	text string
	at   []int // where in the code each byte of text stands
	doc  bool  // it is about the whole piece of code, not about a line in it
}

// rawComment is a comment by its lines in the code, their marks left out.
type rawComment struct {
	lines []corpus.Span
	doc   bool
}

// span is where the bytes [start, end) of the text stand in the code. They are
// never none.
func (c comment) span(start, end int) (int, int) { return c.at[start], c.at[end-1] + 1 }

// isCode reports whether a chunk was cut from code.
func isCode(chunk *corpus.Chunk) bool { return chunk.Metadata[corpus.MetaCodeLanguage] != "" }

// notice is what the head of a file says of its owners.
var notice = regexp.MustCompile(`(?i)\bcopyright\b|\blicen[cs]ed? (?:under|to|agreement)\b`)

// commentsOf gives the comments of a chunk of code, in their order, without
// notices of copyright. Line comments that follow each other are one. A chunk
// begins outside of strings and comments, so it is read by itself.
func commentsOf(chunk *corpus.Chunk) []comment {
	r := commentReader{code: chunk.Text, python: chunk.Metadata[corpus.MetaCodeLanguage] == "python"}
	var out []comment
	for _, raw := range r.all() {
		if c := raw.join(r.code); strings.TrimSpace(c.text) != "" && !notice.MatchString(c.text) {
			out = append(out, c)
		}
	}
	return out
}

// pieceKind says what a piece of code is.
type pieceKind int

const (
	pieceCode  pieceKind = iota // a byte of code, or a whole literal
	pieceLine                   // comment to the end of the line
	pieceBlock                  // comment or doc string over any number of lines
)

// commentReader finds comments in the code of a language. It knows what hides
// them: strings, and nothing else of the grammar.
type commentReader struct {
	code   string
	python bool
	last   byte // of the code read so far, white space left out; 0 at the start
}

// all gives the comments in their order.
func (r *commentReader) all() []rawComment {
	var out []rawComment
	lineEnd := -1 // of the line comment before
	for at := 0; at < len(r.code); {
		kind, end := r.piece(at)
		switch {
		case kind == pieceBlock:
			out = append(out, rawComment{blockLines(r.code, at, end), r.last == 0 || r.python})
		case kind == pieceLine && lineEnd >= 0 && follows(r.code[lineEnd:at]):
			before := &out[len(out)-1]
			before.lines = append(before.lines, unmarked(r.code, at, end, lineMark))
		case kind == pieceLine:
			out = append(out, rawComment{[]corpus.Span{unmarked(r.code, at, end, lineMark)}, r.last == 0})
		case strings.TrimSpace(r.code[at:end]) != "":
			r.last = r.code[end-1]
		}
		if kind == pieceLine {
			lineEnd = end
		}
		at = end
	}
	return out
}

// follows reports whether what stands between two line comments is no more than
// the end of a line.
func follows(between string) bool {
	return strings.TrimSpace(between) == "" && strings.Count(between, "\n") == 1
}

var (
	lineMark  = regexp.MustCompile(`^(?://+|#+)!?[ \t]?`)
	blockMark = regexp.MustCompile(`^(?:/\*+|[rRuU]?(?:"""|'''))[ \t]*`)
	starMark  = regexp.MustCompile(`^[ \t]*\*+[ \t]?`)
	docString = regexp.MustCompile(`^[rRuU]?(?:"""|''')`)
)

// piece is the piece of code that begins at a byte, and where it ends.
func (r *commentReader) piece(at int) (pieceKind, int) {
	rest := r.code[at:]
	doc := docString.FindString(rest)
	switch {
	case r.python && rest[0] == '#', !r.python && strings.HasPrefix(rest, "//"):
		line, _ := lineAt(rest, 0)
		return pieceLine, at + len(line)
	case !r.python && strings.HasPrefix(rest, "/*"):
		return pieceBlock, at + behind(rest, 2, "*/")
	case r.python && doc != "":
		kind, end := pieceCode, at+behind(rest, len(doc), doc[len(doc)-3:])
		if r.last == 0 || r.last == ':' { // the first statement of a module, class or function
			kind = pieceBlock
		}
		return kind, end
	case !r.python && rest[0] == '`':
		return pieceCode, at + behind(rest, 1, "`")
	case rest[0] == '"' || rest[0] == '\'':
		return pieceCode, at + literal(rest)
	}
	return pieceCode, at + 1
}

// behind is the offset behind the next occurrence of end from a byte on, else the
// text's length.
func behind(text string, from int, end string) int {
	if n := strings.Index(text[from:], end); n >= 0 {
		return from + n + len(end)
	}
	return len(text)
}

// literal is the length of the string or character that a text begins with. It
// ends with its line at the latest.
func literal(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n':
			return i
		case text[0]:
			return i + 1
		}
	}
	return len(text)
}

// unmarked is the span [start, end) without the mark that it begins with.
func unmarked(code string, start, end int, mark *regexp.Regexp) corpus.Span {
	return corpus.Span{Start: start + len(mark.FindString(code[start:end])), End: end}
}

// blockLines gives the lines of a block comment or a doc string without its marks
// and without the indentation that all lines but the first share.
func blockLines(code string, start, end int) []corpus.Span {
	first := unmarked(code, start, end, blockMark)
	body := strings.TrimRight(code[first.Start:end], "*/\"'")
	var lines []corpus.Span
	indent := len(body)
	for at := first.Start; at < first.Start+len(body); {
		line, next := lineAt(code[:first.Start+len(body)], at)
		span := corpus.Span{Start: at, End: at + len(line)}
		if at > first.Start {
			span = unmarked(code, span.Start, span.End, starMark)
			text := code[span.Start:span.End]
			if bare := strings.TrimLeft(text, " \t"); strings.TrimSpace(bare) != "" {
				indent = min(indent, len(text)-len(bare))
			}
		}
		lines = append(lines, span)
		at = next
	}
	for i := 1; i < len(lines); i++ {
		lines[i].Start = min(lines[i].Start+indent, lines[i].End)
	}
	return lines
}

var (
	directive = regexp.MustCompile(`^(?:go:|nolint|noqa|type:|pylint|eslint|prettier|@ts-|-\*-)`)
	docTag    = regexp.MustCompile(`^\s*(?:@\w+|:\w+[^:\n]*:)(?:\s|$)`)
)

// join makes one text of a comment's lines. Orders to tools and what tags of
// documentation say (@param, :return:), up to an empty line, give empty ones.
func (c rawComment) join(code string) comment {
	var text strings.Builder
	var at []int
	tagged := false
	for _, line := range c.lines {
		said := strings.TrimRight(code[line.Start:line.End], " \t\r")
		tagged = said != "" && (tagged || docTag.MatchString(said))
		if tagged || directive.MatchString(said) {
			said = ""
		}
		text.WriteString(said + "\n")
		for i := range len(said) + 1 {
			at = append(at, line.Start+i)
		}
	}
	return comment{text.String(), at, c.doc}
}

var commentMarks = regexp.MustCompile(`(?m)^[ \t]*(?://+|#+|\*+(?:[ \t]|$))`)

// said is a quote as people read it: of code, without the marks that comments
// have at the beginnings of lines.
func said(chunk *corpus.Chunk, quote string) string {
	if !isCode(chunk) {
		return quote
	}
	return strings.Join(strings.Fields(commentMarks.ReplaceAllString(quote, " ")), " ")
}
