package corpus

import (
	"regexp"
	"strings"
)

// textBlock is a run of lines that belong together. A block that is not prose
// (heading, table row, code) is never cut into sentences.
type textBlock struct {
	span  Span
	prose bool
	blank []Span // line ends and markers inside the span that are no part of the sentences
}

var (
	fenceLine   = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	headingLine = regexp.MustCompile(`^ {0,3}#{1,6}(?:[ \t]+|$)`)
	ruleLine    = regexp.MustCompile(`^ {0,3}(?:=+|-{2,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})[ \t]*$`)
	markerLine  = regexp.MustCompile(`^[ \t]*(?:>[ \t]?)*[ \t]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)`)
	quoteLine   = regexp.MustCompile(`^[ \t]*(?:>[ \t]?)+`)
)

// blockScanner reads lines and gathers them to blocks.
type blockScanner struct {
	text   string
	blocks []textBlock
	open   *textBlock // the paragraph that the next line may go on
	fence  string     // marker of the open code fence
}

// textBlocks cuts a text into blocks by its lines alone: it needs no whole
// document, so it works on a chunk that begins in the middle of one.
func textBlocks(text string) []textBlock {
	s := &blockScanner{text: text}
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		s.line(Span{start, end})
		start = end
	}
	s.flush()
	return s.blocks
}

func (s *blockScanner) flush() {
	if s.open != nil {
		s.blocks = append(s.blocks, *s.open)
	}
	s.open = nil
}

func (s *blockScanner) line(l Span) {
	line := strings.TrimRight(s.text[l.Start:l.End], "\r\n")
	if s.fence != "" {
		s.open.span.End = l.End
		if strings.HasPrefix(strings.TrimLeft(line, " "), s.fence) {
			s.fence = ""
			s.flush()
		}
		return
	}
	bare := strings.TrimSpace(line)
	switch {
	case bare == "" || ruleLine.MatchString(line):
		s.flush()
	case fenceLine.MatchString(line):
		s.flush()
		s.fence = fenceLine.FindStringSubmatch(line)[1]
		s.open = &textBlock{span: l}
	case headingLine.MatchString(line):
		s.single(Span{l.Start + len(headingLine.FindString(line)), l.End})
	case strings.HasPrefix(bare, "|") || s.open == nil && strings.HasPrefix(line, "    "):
		s.single(l)
	default:
		s.prose(l, line)
	}
}

// single adds a block of one line.
func (s *blockScanner) single(l Span) {
	s.flush()
	s.blocks = append(s.blocks, textBlock{span: l})
}

// prose begins a paragraph or list item, or goes on with the open one.
func (s *blockScanner) prose(l Span, line string) {
	content := Span{l.Start, l.Start + len(line)}
	marker := markerLine.FindString(line)
	if marker != "" || s.open == nil {
		s.flush()
		if marker == "" {
			marker = quoteLine.FindString(line)
		}
		content.Start += len(marker)
		s.open = &textBlock{span: content, prose: true}
		return
	}
	gap := Span{s.open.span.End, content.Start + len(quoteLine.FindString(line))}
	s.open.blank = append(s.open.blank, gap)
	s.open.span.End = content.End
}
