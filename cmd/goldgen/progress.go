package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/goldgen/goldgen/pipeline"
)

// logEvery is how often a pipe is told how a stage goes on.
const logEvery = 10 * time.Second

func (a *app) progress() pipeline.Progress {
	switch {
	case a.quiet:
		return pipeline.NoProgress{}
	case a.errTerminal:
		return &barProgress{w: a.stderr, tally: tally{now: a.now}}
	}
	return &lineProgress{w: a.stderr, tally: tally{now: a.now}}
}

// tally counts the units of one stage.
type tally struct {
	now   func() time.Time
	mu    sync.Mutex
	stage string
	total int // units, 0 unknown
	sum   pipeline.Step
	began time.Time
}

func (t *tally) begin(stage string, total int) {
	t.stage, t.total, t.sum = stage, total, pipeline.Step{}
	t.began = t.now()
}

func (t *tally) step(s pipeline.Step) {
	t.sum.Done += s.Done
	t.sum.Rejected += s.Rejected
	t.sum.Unknown += s.Unknown
	t.sum.Calls += s.Calls
	t.sum.Cached += s.Cached
}

func (t *tally) elapsed() time.Duration { return t.now().Sub(t.began) }

// perSecond is the rate so far, 0 before the first unit.
func (t *tally) perSecond() float64 {
	seconds := t.elapsed().Seconds()
	if seconds <= 0 {
		return 0
	}
	return float64(t.sum.Done) / seconds
}

// rate is the rate in words: a unit of a small machine's model takes many
// seconds.
func rate(perSecond float64) string {
	if perSecond < 1 {
		return fmt.Sprintf("%.1f/min", 60*perSecond)
	}
	return fmt.Sprintf("%.1f/s", perSecond)
}

// counted says how many units are done, of how many where that is known.
func (t *tally) counted() string {
	if t.total == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", t.sum.Done, t.total)
}

// figures says how a stage goes on, and nothing that has no meaning yet.
func (t *tally) figures() string {
	var parts []string
	perSecond := t.perSecond()
	if perSecond > 0 {
		parts = append(parts, rate(perSecond))
	}
	if t.sum.Rejected > 0 {
		parts = append(parts, fmt.Sprintf("%d rejected", t.sum.Rejected))
	}
	if t.sum.Unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown", t.sum.Unknown))
	}
	if t.sum.Calls > 0 {
		parts = append(parts, fmt.Sprintf("%.0f%% cached", 100*float64(t.sum.Cached)/float64(t.sum.Calls)))
	}
	if left := t.total - t.sum.Done; perSecond > 0 && left >= 0 {
		eta := time.Duration(float64(left) / perSecond * float64(time.Second))
		return strings.Join(append(parts, "eta "+eta.Round(time.Second).String()), ", ")
	}
	return strings.Join(append(parts, t.elapsed().Round(time.Second).String()), ", ")
}

// line is the state of a stage where no bar is drawn.
func (t *tally) line() string {
	if counted := t.counted(); counted != "" {
		return t.stage + ": " + counted + ", " + t.figures()
	}
	return t.stage + ": " + t.figures()
}

// lineProgress writes a line every 10 s where nobody watches.
type lineProgress struct {
	w io.Writer
	tally
	stop chan struct{}
}

func (p *lineProgress) Begin(stage string, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(stage, total)
	p.stop = make(chan struct{})
	go p.tick(p.stop)
}

func (p *lineProgress) tick(stop <-chan struct{}) {
	ticker := time.NewTicker(logEvery)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			p.mu.Lock()
			fmt.Fprintf(p.w, "goldgen: %s\n", p.line())
			p.mu.Unlock()
		}
	}
}

func (p *lineProgress) Step(s pipeline.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step(s)
}

func (p *lineProgress) Grow(units int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += units
}

func (p *lineProgress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		close(p.stop)
		p.stop = nil
	}
}

// barProgress draws a bar for a person.
type barProgress struct {
	w io.Writer
	tally
	bars *mpb.Progress
	bar  *mpb.Bar
}

func (p *barProgress) Begin(stage string, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(stage, total)
	p.bars = mpb.New(mpb.WithOutput(p.w), mpb.WithWidth(40))
	p.bar = p.newBar(stage, total)
}

// newBar is a bar where the units are known and a sign of life where not.
func (p *barProgress) newBar(stage string, total int) *mpb.Bar {
	locked := func(text func() string) decor.Decorator {
		return decor.Any(func(decor.Statistics) string {
			p.mu.Lock()
			defer p.mu.Unlock()
			return text()
		}, decor.WCSyncSpaceR)
	}
	style := mpb.BarFillerBuilder(mpb.BarStyle())
	if total == 0 {
		style = mpb.NopStyle()
	}
	return p.bars.New(int64(total), style, mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(stage, decor.WCSyncSpaceR), locked(p.counted)),
		mpb.AppendDecorators(locked(p.figures)))
}

func (p *barProgress) Step(s pipeline.Step) {
	p.mu.Lock()
	p.step(s)
	bar, n := p.bar, p.sum.Done
	p.mu.Unlock()
	if bar != nil {
		bar.SetCurrent(int64(n))
	}
}

func (p *barProgress) Grow(units int) {
	p.mu.Lock()
	p.total += units
	bar, total := p.bar, p.total
	p.mu.Unlock()
	if bar != nil {
		bar.SetTotal(int64(total), false)
	}
}

func (p *barProgress) End() {
	p.mu.Lock()
	bar, bars := p.bar, p.bars
	p.bar, p.bars = nil, nil
	p.mu.Unlock()
	if bar != nil {
		bar.Abort(true)
		bars.Wait()
	}
}
