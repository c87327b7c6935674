package main

import (
	"fmt"
	"io"
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
	now                           func() time.Time
	mu                            sync.Mutex
	stage                         string
	total, done, rejected, cached int
	began                         time.Time
}

func (t *tally) begin(stage string, total int) {
	t.stage, t.total, t.done, t.rejected, t.cached = stage, total, 0, 0, 0
	t.began = t.now()
}

func (t *tally) step(done, rejected, cached int) {
	t.done += done
	t.rejected += rejected
	t.cached += cached
}

func (t *tally) rate() float64 {
	seconds := t.now().Sub(t.began).Seconds()
	if seconds <= 0 {
		return 0
	}
	return float64(t.done) / seconds
}

// eta is the time that the units left take at the rate so far.
func (t *tally) eta() time.Duration {
	rate := t.rate()
	if rate == 0 || t.done >= t.total {
		return 0
	}
	return time.Duration(float64(t.total-t.done) / rate * float64(time.Second)).Round(time.Second)
}

func (t *tally) cachedShare() float64 {
	if t.done == 0 {
		return 0
	}
	return 100 * float64(t.cached) / float64(t.done)
}

// counted says how many units are done, of how many where that is known.
func (t *tally) counted() string {
	if t.total == 0 {
		return fmt.Sprintf("%s elapsed", t.now().Sub(t.began).Round(time.Second))
	}
	return fmt.Sprintf("%d of %d", t.done, t.total)
}

func (t *tally) figures() string {
	return fmt.Sprintf("%.1f/s, %d rejected, %.0f%% cached, eta %s", t.rate(), t.rejected, t.cachedShare(), t.eta())
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
			fmt.Fprintf(p.w, "goldgen: %s: %s, %s\n", p.stage, p.counted(), p.figures())
			p.mu.Unlock()
		}
	}
}

func (p *lineProgress) Step(done, rejected, cached int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step(done, rejected, cached)
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
	figures := decor.Any(func(decor.Statistics) string {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.figures()
	}, decor.WCSyncSpaceR)
	p.bar = p.bars.AddBar(int64(total), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(stage, decor.WCSyncSpaceR), decor.CountersNoUnit("%d / %d", decor.WCSyncSpaceR)),
		mpb.AppendDecorators(figures))
}

func (p *barProgress) Step(done, rejected, cached int) {
	p.mu.Lock()
	p.step(done, rejected, cached)
	bar, n := p.bar, p.done
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
