package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
	"github.com/goldgen/goldgen/review/audit"
)

// auditAtTerminal asks until the person quits or nothing is open.
func (a *app) auditAtTerminal(ctx context.Context, p *pipeline.Project, o auditOptions) (err error) {
	in, ok := a.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return usagef("no terminal to ask on: --write FILE makes a sheet to fill in, --labels FILE reads it, --report prints what was said")
	}
	desk, err := p.OpenAudit(o.AuditOptions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, desk.Close()) }()
	a.notes(desk.Notes)
	s := &auditScreen{desk: desk, in: in, out: in, color: a.mayColor()}
	if f, ok := a.stderr.(*os.File); ok && a.errTerminal {
		s.out = f
	}
	err = s.run(ctx)
	labelled, skipped, of := desk.Progress()
	fmt.Fprintf(a.stderr, "goldgen: %d of %d labelled by %s, %d skipped; kept in %s\n", labelled, of, report.Escape(o.Reviewer), skipped, report.Escape(desk.Path))
	return err
}

// Keys that a terminal in raw mode sends.
const (
	keyInterrupt = 3 // Ctrl-C
	keyEnd       = 4 // Ctrl-D
	keyEscape    = 27
)

// The other screen of a terminal, so that what was on it is there again after.
const (
	otherScreen = "\x1b[?1049h"
	firstScreen = "\x1b[?1049l"
	clearScreen = "\x1b[2J\x1b[H"
)

// auditScreen is one person's terminal.
type auditScreen struct {
	desk  *pipeline.AuditDesk
	in    *os.File
	out   *os.File
	color bool
	said  string // what the last key did, where that cannot be seen
	help  bool
	key   string // of the query on the screen
	page  int    // of its evidence, where that does not fit
}

func (s *auditScreen) run(ctx context.Context) (err error) {
	before, err := term.MakeRaw(int(s.in.Fd()))
	if err != nil {
		return err
	}
	io.WriteString(s.out, otherScreen)
	defer func() {
		io.WriteString(s.out, firstScreen)
		err = errors.Join(err, term.Restore(int(s.in.Fd()), before))
	}()
	keys := keysOf(ctx, s.in)
	for {
		if _, _, open := s.desk.Current(); !open {
			return nil
		}
		s.draw()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case key, open := <-keys:
			if !open {
				return errors.New("the terminal was closed; what was said is kept")
			}
			if done, err := s.press(key); done || err != nil {
				return err
			}
		}
	}
}

// keysOf reads keys until the terminal ends. What begins with an escape is a key
// that means nothing here, such as an arrow.
func keysOf(ctx context.Context, in io.Reader) <-chan byte {
	keys := make(chan byte)
	go func() {
		defer close(keys)
		buf := make([]byte, 64)
		for {
			n, err := in.Read(buf)
			if n > 0 && buf[0] == keyEscape {
				n = 0
			}
			for _, key := range buf[:n] {
				select {
				case keys <- key:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return keys
}

// press does what a key says; done ends the sitting.
func (s *auditScreen) press(key byte) (done bool, err error) {
	s.said = ""
	switch key {
	case ' ':
		s.page++
	case 'y', 'Y':
		return false, s.desk.Answer(true)
	case 'n', 'N':
		return false, s.desk.Answer(false)
	case 's', 'S':
		s.desk.Skip()
	case 'u', 'U', '\b', 127:
		undone, err := s.desk.Undo()
		if !undone && err == nil {
			s.said = "nothing to undo"
		}
		return false, err
	case '?', 'h':
		s.help = !s.help
	case 'q', 'Q', keyEnd:
		return true, nil
	case keyInterrupt:
		return true, &codeError{code: exitInterrupted, why: "interrupted"}
	default:
		s.said = fmt.Sprintf("%q means nothing here", key)
	}
	return false, nil
}

// widest is how wide text is set: longer lines are hard to read.
const widest = 100

// draw shows the query of the current question. A terminal in raw mode wants a
// carriage return with each new line.
func (s *auditScreen) draw() {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 20 || height < 10 {
		width, height = 80, 24
	}
	width = min(width-1, widest)
	if item, _, _ := s.desk.Current(); item.Key != s.key {
		s.key, s.page = item.Key, 0
	}
	above, evidence, below := s.lines(width)
	shown := window(evidence, height-1-len(above)-len(below), s.page)
	io.WriteString(s.out, clearScreen+strings.Join(slices.Concat(above, shown, below), "\r\n"))
}

// window is a page of lines that do not all fit, with a line that says so; after
// the last page comes the first. It is never smaller than two lines.
func window(lines []string, room, page int) []string {
	if len(lines) <= room {
		return lines
	}
	size := max(room-1, 1)
	pages := (len(lines) + size - 1) / size
	from := page % pages * size
	to := min(from+size, len(lines))
	return append(slices.Clone(lines[from:to]), fmt.Sprintf("          (%d-%d of %d, space: more)", from+1, to, len(lines)))
}

// lines are the screen's: what must be seen, and the evidence, which may be cut.
func (s *auditScreen) lines(width int) (above, evidence, below []string) {
	item, now, _ := s.desk.Current()
	labelled, skipped, of := s.desk.Progress()
	above = append(above, fmt.Sprintf("%s   query %d of %d   %d labelled, %d skipped", report.Escape(s.desk.Ref.String()), labelled+skipped+1, of, labelled, skipped), "")
	above = append(above, beside("query", item.Query, width, s.bold)...)
	above = append(above, beside("type", item.Type, width, nil)...)
	if asker := item.Asker(); asker != "" {
		above = append(above, beside("asker", asker, width, nil)...)
	}
	above = append(above, "")
	evidence = s.evidence(item, width)
	below = append(below, "")
	for _, q := range audit.Questions() {
		below = append(below, s.question(item, q, now, width)...)
	}
	below = append(below, "")
	if s.help {
		below = append(below, wrap(auditHelp, width)...)
	}
	if s.said != "" {
		below = append(below, s.said)
	}
	return above, evidence, append(below, wrap("y yes   n no   u undo   s skip   ? help   q quit, labels are saved", width)...)
}

const auditHelp = "Say what is true of the query as it stands; a query is valid when all four are yes. " +
	"Answerable: somebody who has the evidence and nothing else can answer all that is asked. " +
	"Self-contained: it needs no words from the text, such as what \"it\" or \"the method\" is. " +
	"Docs: docs/audit.md."

func (s *auditScreen) evidence(item *audit.Item, width int) []string {
	if len(item.Evidence) == 0 {
		return beside("evidence", "none", width, nil)
	}
	var out []string
	for i, quote := range item.Quotes() {
		name := ""
		if i == 0 {
			name = "evidence"
		}
		out = append(out, beside(name, item.Evidence[i].DocID, width, s.faint)...)
		out = append(out, beside("", quote, width, nil)...)
	}
	return out
}

// question is one of the four with its answer, or a mark at the one to answer now.
func (s *auditScreen) question(item *audit.Item, q, now audit.Question, width int) []string {
	mark, answer := "  ", ""
	if yes, said := s.desk.Answers(item)[q]; said {
		answer = map[bool]string{true: "  yes", false: "  no"}[yes]
	}
	if q == now {
		mark, answer = "> ", "  y/n"
	}
	lines := wrap(report.Escape(item.Ask(q))+answer, width-len(mark))
	for i := range lines {
		if q == now {
			lines[i] = s.bold(lines[i])
		}
		lines[i] = mark + lines[i]
		mark = "  "
	}
	return lines
}

// beside is a name and its text, wrapped beside it.
func beside(name, value string, width int, paint func(string) string) []string {
	const margin = 10
	lines := wrap(report.Escape(value), width-margin)
	for i := range lines {
		if paint != nil {
			lines[i] = paint(lines[i])
		}
		lines[i] = fmt.Sprintf("%-*s%s", margin, name, lines[i])
		name = ""
	}
	return lines
}

func wrap(s string, width int) []string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

func (s *auditScreen) bold(line string) string { return s.paint(line, text.Bold) }

func (s *auditScreen) faint(line string) string { return s.paint(line, text.Faint) }

func (s *auditScreen) paint(line string, how text.Color) string {
	if !s.color {
		return line
	}
	return text.Colors{how}.EscapeSeq() + line + text.EscapeReset
}
