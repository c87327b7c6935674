package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goldgen/goldgen/review"
)

// page is a running `goldgen review`.
type page struct {
	cmd         *exec.Cmd
	base, token string
	stderr      *bytes.Buffer
}

// openPage starts the real program and waits for its address.
func openPage(dir string, env []string, args ...string) (*page, error) {
	p := &page{cmd: exec.Command("goldgen", append([]string{"review"}, args...)...), stderr: &bytes.Buffer{}}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = dir, env, p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("no address: %w; %w: %s", err, p.cmd.Wait(), p.stderr)
	}
	var ok bool
	if p.base, p.token, ok = strings.Cut(strings.TrimSpace(line), "/?token="); !ok {
		return nil, fmt.Errorf("no address in %q", line)
	}
	return p, nil
}

// call asks the page's server; answer may be nil.
func (p *page) call(method, path string, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, p.base+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	r.Header.Set(review.TokenHeader, p.token)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	case answer == nil:
		return nil
	}
	return json.Unmarshal(text, answer)
}

func (p *page) label(n, grade int) error {
	return p.call("POST", "/api/items/"+strconv.Itoa(n)+"/label", review.Said{Grade: &grade}, nil)
}

// end stops the page as Ctrl-C does.
func (p *page) end() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// reviewpage SET REVIEWER [finish] [N=GRADE|N=skip|N=WHY...]: opens the page as
// that person, labels items, rejects the case of an item where WHY is no grade,
// and ends the page as Ctrl-C does.
func reviewPage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: reviewpage SET REVIEWER [finish] [N=GRADE...]")
	}
	p, err := openPage(ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH")}, args[0], "--reviewer", args[1], "-n", "20", "--sample", "random")
	ts.Check(err)
	for _, arg := range args[2:] {
		ts.Check(p.act(arg))
	}
	if err := p.end(); err != nil {
		ts.Fatalf("the page ended with %v: %s", err, p.stderr)
	}
	ts.Logf("%s", p.stderr)
}

func (p *page) act(arg string) error {
	if arg == "finish" {
		return p.call("POST", "/api/finish", struct{}{}, nil)
	}
	at, what, _ := strings.Cut(arg, "=")
	n, err := strconv.Atoi(at)
	if err != nil {
		return err
	}
	if grade, err := strconv.Atoi(what); err == nil {
		return p.label(n, grade)
	}
	if what == "skip" {
		return p.call("POST", "/api/items/"+at+"/label", review.Said{Skip: true}, nil)
	}
	var item review.Item
	if err := p.call("GET", "/api/items/"+at, nil, &item); err != nil {
		return err
	}
	return p.call("POST", "/api/cases/"+item.CaseID+"/reject", map[string]string{"reason": what}, nil)
}

// tear PATTERN: puts the beginning of a line at the end of each file, as a kill
// leaves it.
func tear(ts *testscript.TestScript, _ bool, args []string) {
	paths, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(paths) == 0 {
		ts.Fatalf("no file is %s", args[0])
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		ts.Check(err)
		ts.Check(os.WriteFile(path, append(data, "torn"...), 0o644))
	}
}

// The process is killed while labels are on their way, again and again: each
// label that was answered is there afterwards.
func TestNoAnsweredLabelIsLostToAKill(t *testing.T) {
	dir := t.TempDir()
	root, err := filepath.Abs("../../examples/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("goldgen", "-C", dir, "run", "-q")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	const items, kills = 100, 12
	answered := make([]int, items) // grade + 1 of what the server said it kept
	random := rand.New(rand.NewPCG(5, 11))
	for round := range kills + 1 {
		p, err := openPage(dir, nil, "handbook", "--reviewer", "kim", "-n", strconv.Itoa(items), "--sample", "random")
		if err != nil {
			t.Fatal(err)
		}
		sameLabels(t, p, answered, round)
		if round < kills {
			labelUntilKilled(t, p, answered, 3+random.IntN(12), random)
		} else if err := p.end(); err != nil {
			t.Error(err)
		}
	}
}

// labelUntilKilled labels items of three workers' own until so many answers came
// and the process was killed.
func labelUntilKilled(t *testing.T, p *page, answered []int, answers int, random *rand.Rand) {
	t.Helper()
	const workers = 3
	seeds := [workers]uint64{random.Uint64(), random.Uint64(), random.Uint64()}
	came := make(chan struct{}, len(answered))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			own := rand.New(rand.NewPCG(seeds[w], 1))
			for {
				n, grade := w+workers*own.IntN(len(answered)/workers), own.IntN(4)
				if p.label(n, grade) != nil {
					answered[n] = pending(answered[n], grade)
					return
				}
				answered[n] = grade + 1
				select {
				case came <- struct{}{}:
				default:
				}
			}
		})
	}
	for range answers {
		<-came
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
	p.cmd.Wait()
}

// pending marks an item whose last label was not answered: it has what was
// answered before, or that.
func pending(before, grade int) int { return 100 + 10*(before+1) + grade }

// sameLabels wants every answered label, and of unanswered ones either outcome,
// which from then on is what the item has.
func sameLabels(t *testing.T, p *page, answered []int, round int) {
	t.Helper()
	var rows []review.Row
	if err := p.call("GET", "/api/items?limit=1000", nil, &rows); err != nil {
		t.Fatal(err)
	}
	for n, want := range answered {
		got := 0
		if rows[n].Grade != nil {
			got = *rows[n].Grade + 1
		}
		if want >= 100 {
			before, grade := (want-100)/10-1, want%10
			if got != before && got != grade+1 {
				t.Errorf("round %d, item %d: grade %d, want the one before, %d, or the last, %d", round, n, got-1, before-1, grade)
			}
			answered[n] = got
			continue
		}
		if got != want {
			t.Errorf("round %d, item %d: grade %d, want %d, which was answered", round, n, got-1, want-1)
		}
	}
}
