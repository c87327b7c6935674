package generate

import (
	"regexp"
	"sort"
	"strings"
)

// lineKind says what a line of Markdown or plain text is.
type lineKind int

const (
	prose lineKind = iota
	heading
	code
	table
	list
)

var (
	listStart    = regexp.MustCompile(`^\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?`)
	headingStart = regexp.MustCompile(`^\s{0,3}#{1,6}\s`)
	tableRow     = regexp.MustCompile(`^\s*\||\|.*\|`)
	underline    = regexp.MustCompile(`^\s{0,3}(?:=+|-+)\s*$`)
)

// listMarker returns the length of the list marker that s starts with, or 0.
func listMarker(s string) int { return len(listStart.FindString(s)) }

// kindSpans are the kinds of consecutive lines, by the offset of each line.
type kindSpans struct {
	starts []int
	kinds  []lineKind
}

func (k kindSpans) at(offset int) lineKind {
	i := sort.SearchInts(k.starts, offset+1) - 1
	if i < 0 {
		return prose
	}
	return k.kinds[i]
}

// lineKinds classifies the lines of text that touch [from, to). Lines before
// are read for code fences only. Lines that carry on a list item belong to it.
func lineKinds(text string, from, to int) kindSpans {
	var k kindSpans
	fence, inList, front := "", false, strings.HasPrefix(text, "---\n")
	for at := 0; at < to && at < len(text); {
		line, next := lineAt(text, at)
		kind := prose
		switch {
		case front:
			kind, front = code, at == 0 || !underline.MatchString(line)
		case fence != "" || fenceOf(line) != "":
			kind, fence = code, toggle(fence, line)
			inList = false
		default:
			kind, inList = classify(line, text[next:], inList)
		}
		if next > from {
			k.starts, k.kinds = append(k.starts, at), append(k.kinds, kind)
		}
		at = next
	}
	return k
}

func lineAt(text string, at int) (line string, next int) {
	n := strings.IndexByte(text[at:], '\n')
	if n < 0 {
		return text[at:], len(text)
	}
	return text[at : at+n], at + n + 1
}

// classify returns the line's kind and whether a list goes on after it.
func classify(line, rest string, inList bool) (lineKind, bool) {
	following, _ := lineAt(rest, 0)
	switch {
	case strings.TrimSpace(line) == "":
		return prose, false
	case headingStart.MatchString(line):
		return heading, false
	case tableRow.MatchString(line):
		return table, false
	case listMarker(line) > 0:
		return list, true
	case inList:
		return list, true
	case strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t"):
		return code, false
	case underline.MatchString(strings.TrimSuffix(following, "\r")) && strings.TrimSpace(following) != "":
		return heading, false
	}
	return prose, false
}

func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, f := range [...]string{"```", "~~~"} {
		if strings.HasPrefix(line, f) {
			return f
		}
	}
	return ""
}

// toggle opens a fence, or closes the open one.
func toggle(open, line string) string {
	switch f := fenceOf(line); {
	case open == "":
		return f
	case f == open:
		return ""
	}
	return open
}
