package pipeline_test

import (
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
	"github.com/goldgen/goldgen/llm/ollama"
	"github.com/goldgen/goldgen/pipeline"
)

// BenchmarkBusyShare runs generate and judge of the quickstart's corpus with a
// server that takes 50 ms for each answer. Right after each stage a bare client
// asks for the same, so many in flight. The shares are the time from the first call
// to the last answer of the bare client over that of the stage: they hold all that
// stands between two calls of a slot, and the ends of the rounds, where units with
// several calls in a row leave other slots idle. What a stage does before its first
// call and after its last answer is reported apart, in milliseconds: it comes once.
func BenchmarkBusyShare(b *testing.B) {
	for _, load := range []struct{ inFlight, cases int }{{1, 12}, {8, 200}} {
		b.Run(fmt.Sprint(load.inFlight), func(b *testing.B) {
			f := newBusyFixture(b, load.inFlight)
			var generated, judged []stageShare
			for b.Loop() {
				g, j := f.run(b, load.cases)
				generated, judged = append(generated, g), append(judged, j)
			}
			report(b, "generate", generated)
			report(b, "judge", judged)
		})
	}
}

// stageShare is one stage's share of the bare client's throughput, and its time
// outside of calls.
type stageShare struct {
	share  float64
	around time.Duration
}

func report(b *testing.B, stage string, runs []stageShare) {
	slices.SortFunc(runs, func(x, y stageShare) int { return cmp.Compare(x.share, y.share) })
	m := runs[len(runs)/2]
	b.ReportMetric(100*m.share, "%"+stage)
	b.ReportMetric(float64(m.around.Milliseconds()), "ms-around-"+stage)
}

// busyFixture is a server that notes when it answered, and a bare client of it.
type busyFixture struct {
	server   *llmtest.Server
	bare     llm.Client
	inFlight int

	mu       sync.Mutex
	answered []time.Time
}

const answerDelay = 50 * time.Millisecond

func newBusyFixture(b *testing.B, inFlight int) *busyFixture {
	f := &busyFixture{inFlight: inFlight}
	f.server = llmtest.NewOllama(llmtest.Config{Delay: answerDelay, Handler: func(req llm.Request) llm.Reply {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.answered = append(f.answered, time.Now())
		return agreeable(req)
	}})
	b.Cleanup(f.server.Close)
	transport := &http.Transport{MaxIdleConns: inFlight, MaxIdleConnsPerHost: inFlight}
	b.Cleanup(transport.CloseIdleConnections)
	bare, err := ollama.New(ollama.Config{Endpoint: f.server.URL, HTTP: &http.Client{Transport: transport, Timeout: time.Minute}})
	if err != nil {
		b.Fatal(err)
	}
	f.bare = bare
	return f
}

// agreeable passes every gate that asks a model, and grades.
func agreeable(req llm.Request) llm.Reply {
	if req.Options.NumPredict > 1 {
		return llmtest.Answer(req)
	}
	top := []llm.TopLogprob{{Token: "yes", Logprob: -.1}, {Token: "2", Logprob: -.2}, {Token: "0", Logprob: -.3}}
	return llm.Reply{Text: "yes", FinishReason: llm.FinishLength, Logprobs: []llm.TokenLogprob{{Token: "yes", Logprob: -.1, Top: top}}}
}

// run makes a set and measures both stages.
func (f *busyFixture) run(b *testing.B, cases int) (generate, judge stageShare) {
	p := f.project(b, cases)
	defer p.Close()
	plan, rows, err := p.Sample(b.Context(), "")
	if err != nil {
		b.Fatal(err)
	}
	var written *pipeline.Generated
	generate = f.measure(b, func() error {
		written, err = p.Generate(b.Context(), plan, rows)
		return err
	})
	judge = f.measure(b, func() error {
		_, err := p.Judge(b.Context(), written.Header, written.Records)
		return err
	})
	return generate, judge
}

func (f *busyFixture) project(b *testing.B, cases int) *pipeline.Project {
	dir := b.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "examples", "quickstart"))); err != nil {
		b.Fatal(err)
	}
	p, err := pipeline.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	p.Config.Sample.Cases = cases
	p.Config.Judge.Pool = map[string]int{"bm25": 3, "random": 1}
	p.Config.Endpoints = []string{f.server.URL}
	for _, m := range []*pipeline.ModelConfig{&p.Config.Generate.ModelConfig, &p.Config.Judge.ModelConfig} {
		m.Provider, m.Model, m.Concurrency = "ollama", "fake-chat", f.inFlight
	}
	if _, _, err := p.MakeSnapshot(b.Context(), ""); err != nil {
		b.Fatal(err)
	}
	return p
}

func (f *busyFixture) measure(b *testing.B, stage func() error) stageShare {
	before := len(f.server.Requests())
	whole, calling := f.timed(b, stage)
	requests := f.server.Requests()[before:]
	_, bare := f.timed(b, func() error {
		group, ctx := errgroup.WithContext(b.Context())
		group.SetLimit(f.inFlight)
		for _, req := range requests {
			group.Go(func() error { _, err := f.bare.Complete(ctx, req); return err })
		}
		return group.Wait()
	})
	return stageShare{share: bare.Seconds() / calling.Seconds(), around: whole - calling}
}

// timed is how long the work took, and how long it was from its first call to its
// last answer.
func (f *busyFixture) timed(b *testing.B, work func() error) (whole, calling time.Duration) {
	f.answered = nil
	start := time.Now()
	if err := work(); err != nil {
		b.Fatal(err)
	}
	whole = time.Since(start)
	return whole, f.answered[len(f.answered)-1].Sub(f.answered[0]) + answerDelay
}
