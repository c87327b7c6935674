//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
	"github.com/goldgen/goldgen/pipeline"
)

// madeUp is a document of made-up words, five sentences long; other seeds share
// hardly a word.
func madeUp(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 1))
	word := func() string {
		var b strings.Builder
		for range 3 {
			b.WriteByte("bcdfgklmnprstvz"[random.IntN(15)])
			b.WriteByte("aeiou"[random.IntN(5)])
		}
		return b.String()
	}
	text := "# The " + word() + " handbook\n\n"
	for range 5 {
		text += fmt.Sprintf("The %s of a %s is opened by the %s when its %s reads more than the %s and the %s has ended. ", word(), word(), word(), word(), word(), word())
	}
	return text + "\n"
}

// madeUpProject is a project over 200 documents in four categories that asks a
// model.
func madeUpProject(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i := range 200 {
		writeText(t, documentOf(dir, i), madeUp(uint64(i)))
	}
	writeText(t, filepath.Join(dir, "goldgen.yaml"), `version: 1
name: handbook
corpus: {source: docs}
sample: {cases: 60, seed: 7}
generate: {provider: ollama, model: fake-chat}
judge: {provider: ollama, model: fake-chat, pool: {bm25: 3, ngram: 0, dense: 0, max: 4}}
eval: {retrievers: []}
`)
	return dir
}

func documentOf(dir string, i int) string {
	return filepath.Join(dir, "docs", fmt.Sprint("part", i%4), fmt.Sprintf("%03d.md", i))
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// refreshed runs refresh --json.
func refreshed(t *testing.T, bin, dir, host string, args ...string) pipeline.Refreshed {
	t.Helper()
	cmd := exec.Command(bin, append([]string{"-C", dir, "-q", "refresh", "--json"}, args...)...)
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+host)
	out, err := cmd.Output()
	if exit := cmd.ProcessState.ExitCode(); exit != exitDone && exit != exitPartly {
		t.Fatalf("refresh: %v\n%s", err, out)
	}
	var r pipeline.Refreshed
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("refresh --json: %v\n%s", err, out)
	}
	return r
}

// TestRefreshCostsWhatChanged changes one document in a hundred, and wants calls in
// proportion: those of as many cases, and the pairs of new text and old queries.
func TestRefreshCostsWhatChanged(t *testing.T) {
	bin := binary(t)
	server := llmtest.NewOllama(llmtest.Config{Handler: actor})
	t.Cleanup(server.Close)
	dir := madeUpProject(t)
	ended(t, t.Context(), bin, dir, server.URL, "run")
	whole := server.Calls()

	writeText(t, documentOf(dir, 17), madeUp(1017))
	if err := os.Remove(documentOf(dir, 30)); err != nil {
		t.Fatal(err)
	}
	writeText(t, documentOf(dir, 202), madeUp(202))
	r := refreshed(t, bin, dir, server.URL)
	if d := r.Drift.Documents; d.Added != 1 || d.Edited != 1 || d.Gone != 1 || !r.Changed {
		t.Errorf("documents: %+v, changed %v", d, r.Changed)
	}
	if r.Kept+r.Added != 60 || r.Active != 60 || r.Added != r.Retired {
		t.Errorf("%d kept, %d retired, %d added, %d active", r.Kept, r.Retired, r.Added, r.Active)
	}
	if made, most := r.Calls.Made, whole/100+30; made > most {
		t.Errorf("%d calls for 1 %% of the corpus, at most %d wanted; the run made %d", made, most, whole)
	}
	t.Logf("%d calls, the run made %d; %d judgments of %d new chunks, %d cases added", r.Calls.Made, whole, r.Drift.Pooled, r.Drift.NewChunks, r.Added)
	verified(t, bin, dir)

	// With nothing changed nobody is asked, even with the server gone.
	server.Close()
	if again := refreshed(t, bin, dir, server.URL); again.Changed || again.Calls.Made != 0 || again.Golden != r.Golden {
		t.Errorf("again: %+v", again)
	}
}

// TestRefreshFollowsTheLog has a query log go on while the corpus stays: what was asked
// since joins, at the cost of these queries, none that repeats one that is there, and no
// more than the set may hold; then both stay, and nobody is asked.
func TestRefreshFollowsTheLog(t *testing.T) {
	bin := binary(t)
	server := llmtest.NewOllama(llmtest.Config{Handler: actor})
	t.Cleanup(server.Close)
	dir := madeUpProject(t)
	yaml := filepath.Join(dir, "goldgen.yaml")
	text, err := os.ReadFile(yaml)
	if err != nil {
		t.Fatal(err)
	}
	writeText(t, yaml, strings.Replace(string(text), "seed: 7", "seed: 7, queries: log.csv", 1))
	log := "query,count,time\n"
	ask := func(day string, seeds ...uint64) {
		for _, seed := range seeds {
			log += fmt.Sprintf("%s,%d,2026-01-%s\n", madeUpQuery(seed), 1+seed%7, day)
		}
		writeText(t, filepath.Join(dir, "log.csv"), log)
	}
	for seed := range uint64(60) { // twice as many as the set takes
		ask("01", seed)
	}
	ended(t, t.Context(), bin, dir, server.URL, "run")
	whole := server.Calls()

	ask("02", 100, 101, 102, 103)
	log += madeUpQuery(101) + " please,3,2026-01-02\n"
	ask("02", 1) // what was asked before is not new
	r := refreshed(t, bin, dir, server.URL)
	joined := logged(t, dir, 2)
	if !r.Changed || r.Kept != 60 || r.Retired != 0 || r.Added != len(joined) || r.Added < 1 || r.Added > 4 {
		t.Errorf("%d kept, %d retired, %d added", r.Kept, r.Retired, r.Added)
	}
	asked := map[string]bool{}
	for _, seed := range []uint64{100, 101, 102, 103} {
		asked[madeUpQuery(seed)] = true
	}
	for _, c := range joined {
		if !asked[strings.TrimSuffix(c.Query, " please")] || c.Status != datasets.NeedsReview {
			t.Errorf("%q is %s", c.Query, c.Status)
		}
	}
	if most := whole/10 + 1; r.Calls.Made > most {
		t.Errorf("%d calls for four queries, at most %d wanted; the run made %d", r.Calls.Made, most, whole)
	}
	t.Logf("%d calls, the run made %d; %d cases added", r.Calls.Made, whole, r.Added)

	for seed := range uint64(60) {
		ask("03", 200+seed)
	}
	more := refreshed(t, bin, dir, server.URL)
	if size := more.Kept + more.Added; size != 66 || more.Retired != 0 {
		t.Errorf("%d cases where 60 are planned and a tenth more may be: %d kept, %d added", size, more.Kept, more.Added)
	}
	verified(t, bin, dir)

	server.Close()
	if again := refreshed(t, bin, dir, server.URL); again.Changed || again.Calls.Made != 0 || again.Golden != more.Golden {
		t.Errorf("again: %+v", again)
	}
}

// logged are the cases of the log that a version brought.
func logged(t *testing.T, dir string, version int) []datasets.Case {
	t.Helper()
	set, err := (&datasets.Store{Root: filepath.Join(dir, "golden")}).Load("handbook")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(set.Cases, func(c datasets.Case) bool {
		return c.Origin != datasets.OriginLog || c.Since != fmt.Sprint("v", version)
	})
}

// madeUpQuery is what nobody asks in other words.
func madeUpQuery(seed uint64) string {
	return strings.TrimPrefix(strings.Join(strings.Fields(madeUp(seed))[1:7], " "), "The ")
}

// refreshProject is a project that asks a model, whose set is of a corpus before and
// whose documents are those after.
func refreshProject(t *testing.T, bin, host string) string {
	t.Helper()
	dir := newProject(t)
	ended(t, t.Context(), bin, dir, host, "run")
	later, err := filepath.Abs("../../examples/quickstart/docs-v2")
	if err != nil {
		t.Fatal(err)
	}
	docs := filepath.Join(dir, "docs")
	if err := os.RemoveAll(docs); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"api", "billing", "install"} {
		if err := os.CopyFS(filepath.Join(docs, part), os.DirFS(filepath.Join(later, part))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRefreshKilledAtAnyPoint kills refresh 20 times at random moments. After each
// kill the newest version is whole, the old one or the new one; in the end the bytes
// are those of a refresh that was left alone.
func TestRefreshKilledAtAnyPoint(t *testing.T) {
	bin := binary(t)
	server := llmtest.NewOllama(llmtest.Config{Handler: actor, Delay: 2 * time.Millisecond})
	t.Cleanup(server.Close)
	alone := refreshProject(t, bin, server.URL)
	ended(t, t.Context(), bin, alone, server.URL, "refresh")
	bytes := setBytes(t, alone)
	if err := os.RemoveAll(filepath.Join(alone, "golden", "handbook", "v0002")); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	ended(t, t.Context(), bin, alone, server.URL, "refresh") // from the cache
	whole := time.Since(start)

	dir := refreshProject(t, bin, server.URL)
	second := filepath.Join(dir, "golden", "handbook", "v0002")
	k := &killer{random: rand.New(rand.NewPCG(5, 6)), whole: whole}
	for attempt := 0; k.more(t, attempt); attempt++ {
		if err := os.RemoveAll(second); err != nil {
			t.Fatal(err)
		}
		k.strike(t, bin, dir, server.URL, "refresh")
		if _, err := os.Stat(second); err == nil {
			wantWhole(t, bin, dir, second)
		}
	}
	ended(t, t.Context(), bin, dir, server.URL, "refresh")
	if diff := cmp.Diff(bytes, setBytes(t, dir)); diff != "" {
		t.Errorf("killed 20 times, it made other bytes:\n%s", diff)
	}
	verified(t, bin, dir)
}

// heldRefresh is a refresh whose model does not answer yet.
type heldRefresh struct {
	bin, dir, host string
	goOn           chan struct{}
	ended          chan error // with what it wrote to stderr
}

func newHeldRefresh(t *testing.T) *heldRefresh {
	t.Helper()
	h := &heldRefresh{bin: binary(t), goOn: make(chan struct{}), ended: make(chan error, 1)}
	began := make(chan struct{})
	var once sync.Once
	var holding atomic.Bool
	server := llmtest.NewOllama(llmtest.Config{Handler: func(req llm.Request) llm.Reply {
		if holding.Load() {
			once.Do(func() { close(began) })
			<-h.goOn
		}
		return actor(req)
	}})
	t.Cleanup(server.Close)
	h.host = server.URL
	h.dir = refreshProject(t, h.bin, h.host)
	holding.Store(true)
	cmd := exec.Command(h.bin, "-C", h.dir, "-q", "refresh")
	cmd.Env = append(os.Environ(), "OLLAMA_HOST="+h.host)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	go func() {
		err := cmd.Run()
		if cmd.ProcessState.ExitCode() == exitPartly {
			err = nil
		}
		if err != nil {
			err = fmt.Errorf("%w: %s", err, stderr.String())
		}
		h.ended <- err
	}()
	<-began
	return h
}

// release lets the model answer and waits for the refresh to end.
func (h *heldRefresh) release() error {
	close(h.goOn)
	return <-h.ended
}

// TestTwoRefreshesAtOnce starts two: one does the work, the other says who is at
// work and ends with a code of its own.
func TestTwoRefreshesAtOnce(t *testing.T) {
	h := newHeldRefresh(t)
	metrics := filepath.Join(h.dir, "second.prom")
	cmd := exec.Command(h.bin, "-C", h.dir, "-q", "refresh", "--metrics", metrics)
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != exitBusy || !strings.Contains(string(out), "another refresh is at work: process ") {
		t.Errorf("the second ended with %d: %s", code, out)
	}
	if _, err := os.Stat(metrics); err == nil {
		t.Error("the second wrote metrics")
	}
	if err := h.release(); err != nil {
		t.Errorf("the first: %v", err)
	}
	verified(t, h.bin, h.dir)
}

// TestRefreshWritesOverNobody has somebody make a version during a refresh: that one
// stands, and the next refresh goes on from it.
func TestRefreshWritesOverNobody(t *testing.T) {
	h := newHeldRefresh(t)
	set, err := (&datasets.Store{Root: filepath.Join(h.dir, "golden")}).Load("handbook")
	if err != nil {
		t.Fatal(err)
	}
	gone := set.Cases[0].ID
	ended(t, t.Context(), h.bin, h.dir, h.host, "datasets", "retire", "handbook", gone, "--reason", "asks for two things")
	if err := h.release(); err == nil || !strings.Contains(err.Error(), "somebody made a version meanwhile") {
		t.Errorf("the refresh ended with %v", err)
	}
	r := refreshed(t, h.bin, h.dir, h.host)
	if r.Golden.Version != 3 || !r.Changed {
		t.Errorf("the next refresh: %+v", r.Golden)
	}
	set, err = (&datasets.Store{Root: filepath.Join(h.dir, "golden")}).Load("handbook")
	if err != nil {
		t.Fatal(err)
	}
	if c := set.Case(gone); c == nil || c.Status != datasets.Retired || c.RetiredIn != "v2" {
		t.Errorf("the case that was retired meanwhile: %+v", c)
	}
	verified(t, h.bin, h.dir)
}

// TestRefreshExamples runs the command of each example of examples/refresh.
func TestRefreshExamples(t *testing.T) {
	bin := binary(t)
	dir := rebaseProject(t, bin)
	listed := regexp.MustCompile(`command: \[(.*)\]`)
	command := regexp.MustCompile(`(?m)goldgen (?:-C \S+ )?-q refresh [^|>\n]*`)
	for _, name := range []string{"goldgen-refresh.service", "crontab", "cronjob.yaml", "github-actions.yml"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "examples", "refresh", name))
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		if m := listed.FindStringSubmatch(text); m != nil {
			text = strings.ReplaceAll(m[1], ",", "")
		}
		args := strings.Fields(strings.NewReplacer("/srv/handbook", dir, "/var/lib/node_exporter/textfile", dir).Replace(command.FindString(text)))
		if len(args) < 3 {
			t.Fatalf("%s: no command in it", name)
		}
		cmd := exec.Command(bin, args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %v\n%s", name, args, err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "golden", "handbook", "v0002")); err != nil {
		t.Errorf("no version was made: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "goldgen-handbook.prom")); err != nil {
		t.Errorf("no metrics were written: %v", err)
	}
}
