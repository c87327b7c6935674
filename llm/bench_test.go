package llm_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/connect"
	"github.com/goldgen/goldgen/llm/llmtest"
)

// numbered is a request of the size of a judge's: some 2,500 bytes.
func numbered(i int) llm.Request {
	r := request(strings.Repeat("a passage about rivers and lakes ", 75) + strconv.Itoa(i))
	r.Options.NumPredict, r.Options.TopLogprobs = 1, 20
	return r
}

// BenchmarkReplay replays 100,000 cached judge's replies, each with 20
// log-probabilities.
func BenchmarkReplay(b *testing.B) {
	const calls = 100_000
	cache := openCache(b, cachePath(b))
	client := llm.Cached(&llmtest.Model{Handler: manyLogprobs}, cache)
	for i := range calls {
		if _, err := client.Complete(b.Context(), numbered(i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := cache.Flush(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for i := range calls {
			if r, err := client.Complete(b.Context(), numbered(i)); err != nil || !r.Cached {
				b.Fatalf("call %d: cached %v, %v", i, r.Cached, err)
			}
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/100k")
}

func manyLogprobs(llm.Request) llm.Reply {
	t := llm.TokenLogprob{Token: "2", Logprob: -0.25}
	for i := range 20 {
		t.Top = append(t.Top, llm.TopLogprob{Token: strconv.Itoa(i), Logprob: -0.251234567 * float64(i)})
	}
	return llm.Reply{Text: "2", FinishReason: llm.FinishLength, PromptTokens: 600, OutputTokens: 1, Logprobs: []llm.TokenLogprob{t}}
}

// BenchmarkFill writes new replies through the batching writer.
func BenchmarkFill(b *testing.B) {
	cache := openCache(b, cachePath(b))
	client := llm.Cached(&llmtest.Model{Handler: manyLogprobs}, cache)
	i := 0
	for b.Loop() {
		i++
		if _, err := client.Complete(b.Context(), numbered(i)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBusyShare asks a server that takes 50 ms for each answer, through the
// whole stack and through the bare client, and reports the share of the bare
// client's throughput that the stack reaches.
func BenchmarkBusyShare(b *testing.B) {
	for _, inFlight := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(inFlight), func(b *testing.B) {
			server := llmtest.NewOllama(llmtest.Config{Delay: 50 * time.Millisecond, Handler: manyLogprobs})
			defer server.Close()
			stack, err := connect.Open(b.Context(), connect.Config{
				Provider: "ollama", Model: "fake-chat", Endpoints: []string{server.URL}, Concurrency: inFlight, CachePath: cachePath(b),
			})
			if err != nil {
				b.Fatal(err)
			}
			defer stack.Close()
			bare := ollamaClient(b, server.URL, 0)
			calls := 20 * inFlight
			askAll(b, bare, inFlight, inFlight, 0) // connections, probes
			askAll(b, stack.Client, inFlight, inFlight, 0)
			next := 1000
			var with, without time.Duration
			for b.Loop() {
				without += askAll(b, bare, calls, inFlight, next)
				with += askAll(b, stack.Client, calls, inFlight, next)
				next += calls
			}
			b.ReportMetric(100*without.Seconds()/with.Seconds(), "%bare")
			b.ReportMetric(100*0.05*float64(calls/inFlight*b.N)/with.Seconds(), "%busy")
		})
	}
}

// askAll makes calls, so many in flight, and says how long they took.
func askAll(b *testing.B, client llm.Client, calls, inFlight, from int) time.Duration {
	start := time.Now()
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range inFlight {
		wg.Go(func() {
			for i := range jobs {
				req := numbered(i)
				req.Model.Name = "fake-chat"
				if _, err := client.Complete(b.Context(), req); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range calls {
		jobs <- from + i
	}
	close(jobs)
	wg.Wait()
	return time.Since(start)
}

// BenchmarkThousandInFlight reports the memory of a process with 1,000 calls in
// flight; the fake server is another process.
func BenchmarkThousandInFlight(b *testing.B) {
	stack, err := connect.Open(b.Context(), connect.Config{
		Provider: "ollama", Model: "fake-chat", Endpoints: []string{serverProcess(b)}, Concurrency: 1000, CachePath: cachePath(b),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer stack.Close()
	peak, stop := uint64(0), make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.Sys-m.HeapReleased)
			}
		}
	})
	next := 0
	for b.Loop() {
		askAll(b, stack.Client, 2000, 1000, next)
		next += 2000
	}
	close(stop)
	watch.Wait()
	b.ReportMetric(float64(peak)/(1<<20), "MB")
}

// serverProcess starts a fake server of its own process, with answers after 2 s,
// and gives its address.
func serverProcess(b *testing.B) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GOLDGEN_TEST_SERVE=2s")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		b.Fatal(err)
	}
	return address
}

// serve is that process: it answers until it is killed.
func serve(delay string) {
	d, err := time.ParseDuration(delay)
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(llmtest.NewOllama(llmtest.Config{Delay: d, Handler: manyLogprobs}).URL)
	select {}
}
