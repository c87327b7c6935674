package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// gitWait is how long git may take to end after it was told to.
const gitWait = 2 * time.Second

// GateEval says what a scored retriever is held to.
type GateEval struct {
	GateChoice
	Gate     bool   // hold the result to the gates of goldgen.yaml; gates that were given are always looked at
	Baseline string // folder, best or git:REF
}

// Gated is an evaluation with what its gates say: a Comparison where there is
// a baseline, else Gates where any were asked for.
type Gated struct {
	*Evaluation
	Baseline   *Baseline
	Comparison *eval.Comparison
	Gates      *eval.GateCheck
}

// Verdict is that of the gates, "" where none were asked for.
func (g *Gated) Verdict() string {
	switch {
	case g.Comparison != nil:
		return g.Comparison.Verdict
	case g.Gates != nil:
		return g.Gates.Verdict
	}
	return ""
}

// EvalGated scores a retriever, then looks at its gates. What cannot work (a
// gate, the baseline, the set's trust) is said before a query is asked.
func (p *Project) EvalGated(ctx context.Context, o EvalOptions, g GateEval) (*Gated, error) {
	options, err := p.gatesOf(g)
	if err != nil {
		return nil, err
	}
	var base *Baseline
	if len(options.Gates) > 0 || g.Baseline != "" {
		set, filled, err := p.gatedSet(o, options)
		if err != nil {
			return nil, err
		}
		if base, err = p.baselineFor(ctx, g, set, filled, options.Gates); err != nil {
			return nil, err
		}
		o.gates = options.Gates
	}
	e, err := p.Eval(ctx, o)
	if err != nil {
		return nil, err
	}
	out := &Gated{Evaluation: e, Baseline: base}
	return out, p.verdict(out, g, options)
}

// gatesOf reads the gates. Those that compare need a baseline: given without
// one they are a mistake, in goldgen.yaml they wait for one.
func (p *Project) gatesOf(g GateEval) (eval.GateOptions, error) {
	if g.Gate && len(g.Gates) == 0 && len(p.Config.Eval.Gates) == 0 && !p.Config.Golden.holds() {
		return eval.GateOptions{}, fmt.Errorf("%w: --gates: eval.gates of %s names none, and golden asks nothing of the set", ErrConfig, ConfigFile)
	}
	options, err := p.gateOptions(g.GateChoice, g.Gate || g.Baseline != "")
	if err == nil {
		err = checkSlices(options.Gates)
	}
	if err != nil || g.Baseline != "" {
		return options, err
	}
	for _, gate := range options.Gates {
		if gate.NeedsBaseline() && len(g.Gates) > 0 {
			return options, fmt.Errorf("%w: --gate %q compares two results, and there is no --baseline", ErrConfig, gate)
		}
	}
	options.Gates = slices.DeleteFunc(options.Gates, eval.Gate.NeedsBaseline)
	return options, nil
}

// checkSlices refuses gates by what no golden set can be cut by.
func checkSlices(gates []eval.Gate) error {
	for _, g := range gates {
		if d := g.Dimension(); d != "" {
			if err := oneOf("by", d, eval.SliceNames()...); err != nil {
				return fmt.Errorf("%w: gate %q: %w", ErrConfig, g, err)
			}
		}
	}
	return nil
}

// gatedSet loads the set and refuses gates on one that nobody judged.
func (p *Project) gatedSet(o EvalOptions, options eval.GateOptions) (*datasets.Set, EvalOptions, error) {
	if o.RetryFailed != "" {
		k, err := readKept(o.RetryFailed)
		if err != nil {
			return nil, o, fmt.Errorf("--retry-failed: %w", err)
		}
		fillFrom(&o, k)
	}
	p.fillEval(&o)
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, o, err
	}
	if slices.ContainsFunc(options.Gates, onMeans) && set.Manifest.Trust.Level == datasets.TrustNone && !options.AcceptUntrusted {
		return nil, o, gateTrouble(fmt.Errorf("golden set %s: %w", set.Ref(), eval.ErrUntrusted))
	}
	return set, o, nil
}

// onMeans reports a gate that rests on labels: others may look at a set that
// nobody judged.
func onMeans(g eval.Gate) bool {
	_, ok := g.Measure()
	return ok
}

func (p *Project) baselineFor(ctx context.Context, g GateEval, set *datasets.Set, o EvalOptions, gates []eval.Gate) (*Baseline, error) {
	if g.Baseline == "" {
		return nil, nil
	}
	name, err := p.retrieverName(o.Retriever)
	if err != nil {
		return nil, err
	}
	mode, err := set.Manifest.Trust.SourceMode(o.Source)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	base, err := p.baseline(ctx, g.Baseline, sought{
		set: set.Ref(), retriever: name, measure: headline(gates, o.K), k: o.K, source: string(mode),
	})
	if err == nil && o.Out != "" && p.relative(base.Path) == p.relative(o.Out) {
		return nil, fmt.Errorf("%w: --out %s: is the baseline, which the new result would take the place of", ErrConfig, o.Out)
	}
	return base, err
}

// retrieverName is what results call a retriever.
func (p *Project) retrieverName(spec string) (string, error) {
	parsed, err := retrieve.ParseSpec(spec, p.Config.Retrievers)
	if err != nil {
		return "", err
	}
	return parsed.Name, nil
}

// verdict looks at the gates of a result that was kept.
func (p *Project) verdict(out *Gated, g GateEval, options eval.GateOptions) (err error) {
	switch {
	case out.TooManyFailed:
	case out.Baseline != nil:
		out.Comparison, err = Compare(p, CompareOptions{Base: out.Baseline.Path, Candidate: out.Path, GateChoice: g.GateChoice})
	case len(options.Gates) > 0:
		kept, e := readKept(out.Path)
		if e != nil {
			return e
		}
		if err = kept.sliceFor(nil, options.Gates); err == nil {
			out.Gates, err = eval.CheckGates(kept.Input, options)
		}
	}
	if err == nil && (g.Gate || len(options.Gates) > 0) && !out.TooManyFailed && out.Comparison == nil {
		out.Gates = p.withSetGates(out.Gates, out.Result.Golden)
	}
	return gateTrouble(err)
}

// WithoutBaseline lists the gates of goldgen.yaml that wait for a baseline.
func (p *Project) WithoutBaseline() string {
	gates, _ := ParseGates(p.Config.Eval.Gates) // read with the file
	var waiting []string
	for _, g := range gates {
		if g.NeedsBaseline() {
			waiting = append(waiting, g.String())
		}
	}
	return strings.Join(waiting, ", ")
}
