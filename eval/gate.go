package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// gateKind is one form of gate.
type gateKind uint8

const (
	floorGate    gateKind = iota // measure >= x
	dropGate                     // measure drop <= x
	latencyGate                  // p95 <= 180ms
	leaksGate                    // leaks = 0
	criticalGate                 // critical failures@k = 0
)

// Gate is a condition on a result, or on what lies between two.
type Gate struct {
	text      string
	kind      gateKind
	measure   Measure       // of a floor or a drop
	bound     float64       // the floor, or the margin of a drop
	dimension string        // of a gate by slice, or ""
	latency   time.Duration // at most, of the percentile
	quantile  string        // p50, p95 or p99
	k         int           // of critical failures; 0 means the largest k of the conventions
}

// String is the gate as it was written, spaces apart.
func (g Gate) String() string { return g.text }

// Measure is what a floor or a drop looks at; the bool is false for other gates.
func (g Gate) Measure() (Measure, bool) { return g.measure, g.tested() }

// Dimension is the dimension whose slices each must pass, or "".
func (g Gate) Dimension() string { return g.dimension }

// NeedsBaseline reports whether the gate looks at two results.
func (g Gate) NeedsBaseline() bool { return g.kind == dropGate }

// tested reports whether the gate is a test of a mean.
func (g Gate) tested() bool { return g.kind == floorGate || g.kind == dropGate }

// needsLabels reports whether the gate's answer depends on labels.
func (g Gate) needsLabels() bool { return g.tested() || g.kind == criticalGate }

// GateError says what is wrong with a gate and where. Of a gate that cannot be
// read, At is a character of it; of one that names what the results lack, that
// name begins there.
type GateError struct {
	Gate string
	At   int // byte offset in Gate
	Why  string
	Near []string // names that look alike, best first
}

func (e *GateError) Error() string {
	return "gate " + pointed(e.Gate, e.At, e.Why, e.Near)
}

// Caret shows the gate with a mark under the character that is wrong.
func (e *GateError) Caret() string {
	return caret(e.Gate, e.At)
}

// latencyNames are the percentiles that a gate can bound.
var latencyNames = []string{"p50", "p95", "p99"}

// ParseGate reads a gate; an error is a *GateError:
//
//	recall@10 >= 0.80                      a floor
//	recall@10 drop <= 0.02                 against the baseline
//	recall@10 drop <= 0.02 by query_type   in each slice; floors likewise
//	p95 <= 180ms                           latency: p50, p95 or p99
//	leaks = 0
//	critical failures = 0                  cases tagged critical; failures@5 for a cut
func ParseGate(text string) (Gate, error) {
	p := newGateParser(text)
	switch first := p.next(); {
	case first.text == "":
		p.fail(first, "expected a gate, such as recall@10 drop <= 0.02")
	case first.text == "leaks":
		p.gate.kind = leaksGate
		p.zero("leaks are never within a tolerance")
	case first.text == "critical":
		p.critical()
	case slices.Contains(latencyNames, first.text):
		p.latency(first.text)
	default:
		p.tested(first)
	}
	return p.finish()
}

// gateWord is a word or an operator of a gate. An empty one is the end.
type gateWord struct {
	text string
	at   int
}

// gateWords splits at spaces and around runs of <, >, = and !, but for those
// within parentheses.
func gateWords(text string) []gateWord {
	var out []gateWord
	depth, last := 0, gateSpace
	for i := range len(text) {
		class := classOf(text[i], depth)
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if class != gateSpace && class != last {
			out = append(out, gateWord{at: i})
		}
		if class != gateSpace {
			word := &out[len(out)-1]
			word.text = text[word.at : i+1]
		}
		last = class
	}
	return append(out, gateWord{at: len(text)})
}

type gateClass uint8

const (
	gateSpace gateClass = iota
	gateOperator
	gateLetter
)

func classOf(b byte, depth int) gateClass {
	switch {
	case b == ' ' || b == '\t' || b == '\n' || b == '\r':
		return gateSpace
	case depth <= 0 && strings.IndexByte("<>=!", b) >= 0:
		return gateOperator
	}
	return gateLetter
}

// gateParser reads word by word; after the first error it reads on without
// effect.
type gateParser struct {
	text  string
	words []gateWord
	gate  Gate
	err   error
}

func newGateParser(text string) *gateParser {
	return &gateParser{text: text, words: gateWords(text), gate: Gate{text: strings.Join(strings.Fields(text), " ")}}
}

// finish is the gate, if nothing is left to read.
func (p *gateParser) finish() (Gate, error) {
	if rest := p.next(); p.err == nil && rest.text != "" {
		p.fail(rest, "expected nothing more")
	}
	if p.err != nil {
		return Gate{}, p.err
	}
	return p.gate, nil
}

func (p *gateParser) next() gateWord {
	w := p.words[0]
	if len(p.words) > 1 {
		p.words = p.words[1:]
	}
	return w
}

func (p *gateParser) peek() string { return p.words[0].text }

func (p *gateParser) fail(w gateWord, why string) {
	if p.err == nil {
		p.err = &GateError{Gate: p.text, At: w.at, Why: why}
	}
}

func (p *gateParser) expect(word, what string) {
	if w := p.next(); w.text != word {
		p.fail(w, "expected "+what)
	}
}

// zero reads "= 0".
func (p *gateParser) zero(why string) {
	p.expect("=", `"= 0": `+why)
	p.expect("0", "0: "+why)
}

// critical reads what follows "critical".
func (p *gateParser) critical() {
	p.gate.kind = criticalGate
	w := p.next()
	name, cut, has := strings.Cut(w.text, "@")
	if name != "failures" {
		p.fail(w, `expected "failures", as in critical failures = 0`)
		return
	}
	if has {
		k, ok := wholeNumber(cut)
		if !ok || k < 1 || k > MaxCut {
			p.fail(gateWord{at: w.at + len("failures@")}, fmt.Sprintf("expected a rank from 1 to %d", MaxCut))
		}
		p.gate.k = k
	}
	p.zero("a critical case must not fail")
}

// wholeNumber reads digits alone.
func wholeNumber(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && strings.Trim(text, "0123456789") == ""
}

func (p *gateParser) latency(name string) {
	p.gate.kind, p.gate.quantile = latencyGate, name
	p.expect("<=", `"<="`)
	w := p.next()
	d, err := time.ParseDuration(w.text)
	if err != nil || d <= 0 {
		p.fail(w, "expected a time, such as 180ms")
	}
	p.gate.latency = d
}

// tested reads a floor or a drop.
func (p *gateParser) tested(first gateWord) {
	m, err := ParseMeasure(first.text)
	if err != nil {
		p.err = measureInGate(p.text, first, err)
		return
	}
	if m.aggregate() != mean {
		p.fail(first, m.Name+" is no mean over cases")
	}
	p.gate.measure = m
	p.floorOrDrop()
}

// floorOrDrop reads what follows a measure.
func (p *gateParser) floorOrDrop() {
	p.gate.kind = floorGate
	if p.peek() == "drop" {
		p.next()
		p.gate.kind = dropGate
		p.expect("<=", `"<="`)
	} else {
		p.expect(">=", `">=" or "drop <="`)
	}
	p.bound()
	p.by()
}

// measureInGate moves a measure's error to where the measure stands.
func measureInGate(text string, at gateWord, err error) error {
	out := &GateError{Gate: text, At: at.at, Why: err.Error()}
	if e, ok := err.(*MeasureError); ok {
		out.At, out.Why, out.Near = at.at+e.At, e.Why, e.Near
	}
	return out
}

func (p *gateParser) bound() {
	w := p.next()
	x, ok := plainNumber(w.text)
	if !ok || (p.gate.measure.bounded() && x > 1) {
		p.fail(w, "expected a number from 0 to 1, such as 0.02")
	}
	p.gate.bound = x
}

// by reads "by query_type", if it is there.
func (p *gateParser) by() {
	if p.peek() != "by" {
		return
	}
	p.next()
	w := p.next()
	if w.text == "" {
		p.fail(w, "expected what to slice by, such as query_type")
	}
	p.gate.dimension = w.text
}
