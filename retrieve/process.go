package retrieve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"
)

const (
	maxAnswer  = 32 << 20        // bytes of one line
	maxStderr  = 4 << 10         // bytes kept of the end of standard error
	closeGrace = 2 * time.Second // for a program whose input has ended
	drainDelay = time.Second     // for output that a program's children hold open
)

// process is a program with a pipe for lines each way.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	lines  *lineWriter
	stderr *tail
	ended  chan struct{} // closed when it has ended; err is set
	err    error
	once   sync.Once
}

func startProcess(words []string, dir string) (*process, error) {
	p := &process{
		cmd:    exec.Command(words[0], words[1:]...),
		lines:  &lineWriter{lines: make(chan []byte), closed: make(chan struct{})},
		stderr: &tail{},
		ended:  make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = dir, p.lines, p.stderr, drainDelay
	ownGroup(p.cmd)
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.wait()
	return p, nil
}

// wait takes note of the program's end.
func (p *process) wait() {
	err := p.cmd.Wait()
	p.lines.end()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if err == nil {
		err = errors.New("exit status 0")
	}
	p.err = err
	close(p.ended)
}

// send writes a line, or gives up with the context; the line is then written
// when the program reads on.
func (p *process) send(ctx context.Context, line []byte) error {
	written := make(chan error, 1)
	go func() {
		_, err := p.stdin.Write(line)
		written <- err
	}()
	select {
	case err := <-written:
		if err != nil {
			return p.gone(ctx)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// gone waits until the program, which does not read any more, has ended, and
// says how.
func (p *process) gone(ctx context.Context) error {
	select {
	case <-p.ended:
		return p.endError()
	case line := <-p.lines.lines:
		return fmt.Errorf("the program stopped reading; its last line is %s%s", excerpt(line), p.complaint())
	case <-ctx.Done():
		return fmt.Errorf("the program stopped reading%s", p.complaint())
	}
}

func (p *process) endError() error {
	return fmt.Errorf("the program has ended: %w%s", p.err, p.complaint())
}

// receive returns the next line.
func (p *process) receive(ctx context.Context) ([]byte, error) {
	select {
	case line := <-p.lines.lines:
		return line, nil
	case <-p.ended:
		return nil, p.endError()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// complaint is the end of standard error, for a message.
func (p *process) complaint() string {
	if text := bytes.TrimSpace(p.stderr.bytes()); len(text) > 0 {
		return fmt.Sprintf("; its standard error ends in %q", text)
	}
	return ""
}

func (p *process) close() error {
	p.once.Do(func() {
		p.stdin.Close()
		close(p.lines.closed)
		grace := time.NewTimer(closeGrace)
		defer grace.Stop()
		select {
		case <-p.ended:
		case <-grace.C:
		}
		endGroup(p.cmd)
		<-p.ended
	})
	return nil
}

// lineWriter cuts what is written into lines and hands each over; the writer
// waits until it is taken. Once closed, it drops them.
type lineWriter struct {
	lines  chan []byte
	closed chan struct{}
	mu     sync.Mutex // a writer that waits holds it
	rest   []byte
	long   bool // within a line over maxAnswer
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(b)
	for {
		line, rest, found := bytes.Cut(b, []byte("\n"))
		w.take(line)
		if !found {
			return n, nil
		}
		w.handOver()
		b = rest
	}
}

func (w *lineWriter) take(part []byte) {
	if len(w.rest)+len(part) > maxAnswer {
		part, w.long = part[:max(0, maxAnswer-len(w.rest))], true
	}
	w.rest = append(w.rest, part...)
}

// end hands over a last line that does not end in a newline.
func (w *lineWriter) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handOver()
}

// handOver gives the line gathered so far to the reader; one that is empty is
// none.
func (w *lineWriter) handOver() {
	line := bytes.TrimSpace(w.rest)
	if w.long {
		line = line[:min(len(line), maxExcerpt)]
	}
	w.rest, w.long = nil, false
	if len(line) == 0 {
		return
	}
	select {
	case w.lines <- line:
	case <-w.closed:
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - maxStderr; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.kept)
}
