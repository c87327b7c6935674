package llm_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/connect"
	"github.com/goldgen/goldgen/llm/llmtest"
	"github.com/goldgen/goldgen/llm/ollama"
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
// whole stack and through the same provider's client with nothing around it. The
// two take turns, so that what else the machine does meets both, and the median
// over the pairs is reported of the share of the bare client's throughput that the
// stack reaches. Beside it: how busy the server was, and what one call of the stack
// cost this process more than a bare one, in microseconds of processor time.
func BenchmarkBusyShare(b *testing.B) {
	const delay, rounds = 50 * time.Millisecond, 20
	for _, inFlight := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(inFlight), func(b *testing.B) {
			address := serverProcess(b, delay)
			stack, err := connect.Open(b.Context(), connect.Config{
				Provider: "ollama", Model: "fake-chat", Endpoints: []string{address}, Concurrency: inFlight, CachePath: cachePath(b),
			})
			if err != nil {
				b.Fatal(err)
			}
			defer stack.Close()
			bare := bareClient(b, address, inFlight)
			calls := rounds * inFlight
			askAll(b, bare, inFlight, inFlight, 0) // connections, probes
			askAll(b, stack.Client, inFlight, inFlight, 0)
			var ratios, busy, cost []float64
			for next := inFlight; b.Loop(); next += calls {
				without, with := inTurn(len(ratios)%2 == 1,
					func() spent { return askAll(b, bare, calls, inFlight, next) },
					func() spent { return askAll(b, stack.Client, calls, inFlight, next) })
				ratios = append(ratios, without.time.Seconds()/with.time.Seconds())
				busy = append(busy, (rounds*delay).Seconds()/with.time.Seconds())
				cost = append(cost, float64((with.processor-without.processor).Microseconds())/float64(calls))
			}
			b.ReportMetric(100*median(ratios), "%bare")
			b.ReportMetric(100*median(busy), "%busy")
			b.ReportMetric(median(cost), "cpu-µs/call")
		})
	}
}

// bareClient is the provider's client over a transport of the standard library.
func bareClient(b *testing.B, address string, connections int) llm.Client {
	transport := &http.Transport{MaxIdleConns: connections, MaxIdleConnsPerHost: connections}
	b.Cleanup(transport.CloseIdleConnections)
	c, err := ollama.New(ollama.Config{Endpoint: address, HTTP: &http.Client{Transport: transport, Timeout: time.Minute}})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// inTurn does both, the second first where swapped.
func inTurn(swapped bool, first, second func() spent) (spent, spent) {
	if swapped {
		s := second()
		return first(), s
	}
	f := first()
	return f, second()
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// spent is the time that calls took, by the clock and of the processor.
type spent struct{ time, processor time.Duration }

// askAll makes calls, so many in flight, and says how long they took.
func askAll(b *testing.B, client llm.Client, calls, inFlight, from int) spent {
	start, used := time.Now(), processorTime(b)
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
	return spent{time.Since(start), processorTime(b) - used}
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkThousandInFlight reports the memory of a process with 1,000 calls in
// flight; the fake server is another process.
func BenchmarkThousandInFlight(b *testing.B) {
	stack, err := connect.Open(b.Context(), connect.Config{
		Provider: "ollama", Model: "fake-chat", Endpoints: []string{serverProcess(b, 2*time.Second)}, Concurrency: 1000, CachePath: cachePath(b),
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

// serverProcess starts a fake server in a process of its own, which takes so long
// for each answer, and gives its address.
func serverProcess(b *testing.B, delay time.Duration) string {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "GOLDGEN_TEST_SERVE="+delay.String())
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
