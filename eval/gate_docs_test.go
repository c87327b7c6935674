package eval_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
)

// TestGateDocs works every example of docs/gates.md.
func TestGateDocs(t *testing.T) {
	text := string(must(os.ReadFile(filepath.Join("..", "docs", "gates.md"))))
	blocks := strings.Split(text, "```gate\n")[1:]
	if len(blocks) < 11 {
		t.Fatalf("found %d examples", len(blocks))
	}
	for i, block := range blocks {
		body, _, closed := strings.Cut(block, "```")
		if !closed {
			t.Fatalf("example %d does not end", i+1)
		}
		e := gateExample{t: t, in: sides(0, 0)}
		for line := range strings.Lines(body) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			e.read(key, value)
		}
		c := compare(t, e.in)
		var got []string
		for _, g := range c.Gates {
			got = append(got, g.Verdict+": "+g.Why)
		}
		if diff := cmp.Diff(e.want, append(got, "verdict: "+c.Verdict)); diff != "" {
			t.Errorf("example %d (-docs +program):\n%s", i+1, diff)
		}
	}
}

// gateExample is one block of docs/gates.md.
type gateExample struct {
	t    *testing.T
	in   eval.CompareInput
	want []string
}

func (e *gateExample) read(key, value string) {
	switch key {
	case "base":
		e.in.Base.Cases = e.cases(value)
	case "candidate":
		e.in.Candidate.Cases = e.cases(value)
	case "gate":
		e.in.Gates = append(e.in.Gates, gates(e.t, value)...)
	case "slices":
		e.slices(strings.Fields(value))
	case "forbidden":
		e.each(value, leak)
	case "critical":
		e.each(value, critical)
	case "trust":
		e.in.Base.Trust, e.in.Candidate.Trust = value, value
	case "sources":
		e.elsewhere()
	case "today":
		e.in.Today = must(time.Parse(time.DateOnly, value))
	case "waiver":
		e.waiver(value)
	default:
		e.want = append(e.want, key+": "+value)
	}
}

// cases reads 1x70 3x30 u40: the ranks of what is relevant, or u for one result
// that nobody has judged.
func (e *gateExample) cases(text string) []eval.Case {
	var out []eval.Case
	for _, part := range strings.Fields(text) {
		rank, count, isRank := strings.Cut(part, "x")
		if !isRank {
			count = strings.TrimPrefix(part, "u")
		}
		for range must(strconv.Atoi(count)) {
			id := fmt.Sprintf("q%03d", len(out))
			c := found(id, 1, "doc of "+id)
			if isRank {
				c = found(id, must(strconv.Atoi(rank)), "doc of "+id)
			} else {
				c.Ranking, c.Scores = []string{"unseen"}, nil
			}
			out = append(out, c)
		}
	}
	labelAll(out)
	return out
}

// slices reads query_type keyword=30 rare_term=3.
func (e *gateExample) slices(parts []string) {
	var values []string
	for _, part := range parts[1:] {
		value, count, _ := strings.Cut(part, "=")
		for range must(strconv.Atoi(count)) {
			values = append(values, value)
		}
	}
	e.in.Base.Dimensions = []eval.Dimension{eval.NewDimension(parts[0], len(values), func(i int) []string { return values[i : i+1] })}
}

// each changes the cases with these numbers, from 1.
func (e *gateExample) each(numbers string, change func(i int) func(*eval.CompareInput)) {
	for _, n := range strings.Fields(numbers) {
		change(must(strconv.Atoi(n)) - 1)(&e.in)
	}
}

// elsewhere has every query written from a chunk that both sides return last.
func (e *gateExample) elsewhere() {
	for i := range e.in.Base.Cases {
		both(&e.in, i, func(c *eval.Case) {
			c.Background.Chunks = []string{"b"}
			c.Ranking, c.Scores = append(c.Ranking, "b"), nil
			c.Labels = append(c.Labels, eval.Label{ID: "b"})
		})
	}
}

// waiver reads OWNER, until DAY, for GATE.
func (e *gateExample) waiver(text string) {
	parts := strings.SplitN(text, ", ", 3)
	e.in.Waivers = append(e.in.Waivers, eval.Waiver{
		Owner: parts[0], Until: strings.TrimPrefix(parts[1], "until "), Gate: strings.TrimPrefix(parts[2], "for "), Reason: "known",
	})
}
