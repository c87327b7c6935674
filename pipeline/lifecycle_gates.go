package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/bucket"
)

// GoldenConfig says what gates ask of the golden set itself.
type GoldenConfig struct {
	MaxAge    string `yaml:"max_age"`    // 30d, 36h; "" asks nothing
	MinActive int    `yaml:"min_active"` // cases; 0 asks nothing

	SizeWithin float64 `yaml:"size_within"` // share by which a refresh lets the set be larger than sample.cases
	MixWithin  float64 `yaml:"mix_within"`  // by which it lets the share of a stratum or type differ from the plan's

	Remote string `yaml:"remote,omitempty"` // where datasets push and pull go without a place: s3://bucket/prefix or a folder
}

const day = 24 * time.Hour

// parseAge reads a number of days (30d) or weeks (2w), or a duration as Go writes
// it.
func parseAge(text string) (time.Duration, error) {
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		digits, ok := strings.CutSuffix(text, suffix)
		if n, err := strconv.Atoi(digits); ok && err == nil && n > 0 && n <= 36_500 {
			return time.Duration(n) * unit, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q, want an age such as 30d, 2w or 36h", text)
}

func (g GoldenConfig) validate() error {
	var age, least error
	if g.MaxAge != "" {
		_, age = parseAge(g.MaxAge)
	}
	if g.MinActive < 0 {
		least = fmt.Errorf("min_active: %d, want 0 or more", g.MinActive)
	}
	var remote error
	if bucket.IsRemote(g.Remote) {
		_, remote = bucket.Open(g.Remote, func(string) string { return "" })
	}
	return errors.Join(keyed("max_age", age), least, keyed("remote", remote), shareOf("size_within", g.SizeWithin), shareOf("mix_within", g.MixWithin))
}

// shareOf refuses what is no share.
func shareOf(key string, v float64) error {
	if !(v >= 0 && v <= 1) {
		return fmt.Errorf("%s: %v, want a share between 0 and 1", key, v)
	}
	return nil
}

// holds reports whether anything is asked of the set.
func (g GoldenConfig) holds() bool { return g.MaxAge != "" || g.MinActive > 0 }

// withSetGates adds to the gates of a result what is asked of its set; nil where
// nobody asked for any.
func (p *Project) withSetGates(check *eval.GateCheck, golden *eval.GoldenRef) *eval.GateCheck {
	more := p.setGates(golden)
	if check == nil && len(more) == 0 {
		return nil
	}
	out := eval.GateCheck{Verdict: eval.Pass, Notes: []string{}}
	if check != nil {
		out = *check
	}
	out.Gates = slices.Concat(more, out.Gates)
	out.Verdict = p.lowered(out.Verdict, more)
	return &out
}

// holdSet adds them to a comparison's, of the candidate's set. A comparison
// outside of a project, or of TREC files, has no set that could be looked at.
func (p *Project) holdSet(c *eval.Comparison) {
	if p == nil || !c.Comparable {
		return
	}
	more := p.setGates(c.Golden)
	c.Gates = slices.Concat(more, c.Gates)
	c.Verdict = p.lowered(c.Verdict, more)
}

// lowered is a verdict with what gates on the set say.
func (p *Project) lowered(verdict string, gates []eval.GateResult) string {
	says := func(v string) bool {
		return slices.ContainsFunc(gates, func(g eval.GateResult) bool { return g.Verdict == v })
	}
	switch {
	case says(eval.Fail):
		return eval.Fail
	case says(eval.CannotTell) && verdict == eval.Pass && p.Config.Gate.CannotTell != cannotTellPasses:
		return eval.CannotTell
	}
	return verdict
}

// cannotTellPasses is the policy under which what cannot be told keeps nothing
// from passing.
const cannotTellPasses = "pass"

// setGates holds the set of a result to goldgen.yaml's golden.
func (p *Project) setGates(golden *eval.GoldenRef) []eval.GateResult {
	g := p.Config.Golden
	if golden == nil || !g.holds() {
		return nil
	}
	m, err := p.manifestOf(golden)
	var out []eval.GateResult
	if g.MaxAge != "" {
		r := eval.GateResult{Gate: "golden.max_age " + g.MaxAge}
		r.Verdict, r.Why = p.ageOf(m, err)
		out = append(out, r)
	}
	if g.MinActive > 0 {
		r := eval.GateResult{Gate: fmt.Sprintf("golden.min_active %d", g.MinActive)}
		r.Verdict, r.Why = g.sizeOf(m, err)
		out = append(out, r)
	}
	return out
}

// manifestOf finds the version that a result names, by its digest.
func (p *Project) manifestOf(golden *eval.GoldenRef) (*datasets.Manifest, error) {
	ref, err := p.Store().Resolve(golden.Ref)
	if err != nil || ref.Digest != golden.Digest {
		ref, err = p.Store().Resolve(golden.Name + "@" + golden.Digest)
	}
	if err != nil {
		ref, err = p.Store().Resolve(p.Path(golden.Path))
	}
	if err != nil || ref.Digest != golden.Digest {
		return nil, fmt.Errorf("%s (%.19s) is not there to be looked at", golden.Ref, golden.Digest)
	}
	return datasets.ReadManifest(ref.Path)
}

// clockSkew is how far the clocks of two machines may lie apart.
const clockSkew = time.Hour

// ageOf is the verdict on how long ago the set was made from its corpus, or found
// to be what the corpus still gives.
func (p *Project) ageOf(m *datasets.Manifest, err error) (verdict, why string) {
	if err != nil {
		return eval.CannotTell, err.Error()
	}
	text, err := p.Store().RefreshedAt(m)
	if err != nil {
		return eval.CannotTell, err.Error()
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return eval.CannotTell, fmt.Sprintf("when %s was refreshed cannot be read: %v", m.Ref(), err)
	}
	most, _ := parseAge(p.Config.Golden.MaxAge) // read with the file
	age := p.Now().Sub(at)
	told := fmt.Sprintf("%s was made from its corpus on %s, %s ago", m.Ref(), at.UTC().Format(time.DateOnly), ageWords(age))
	switch {
	case age < -clockSkew:
		return eval.CannotTell, fmt.Sprintf("%s was made from its corpus at %s, which is after now: one of the clocks is wrong", m.Ref(), text)
	case age > most:
		return eval.Fail, told + "; goldgen refresh takes it along with the corpus, or confirms it"
	}
	return eval.Pass, told
}

// writeMade commits what was made from the corpus. Where that is the newest version
// again and its age counts, the version is confirmed.
func (p *Project) writeMade(ctx context.Context, name string, draft datasets.Draft) (*Committed, error) {
	c, err := p.write(ctx, name, draft)
	if err == nil && !c.Changed && p.Config.Golden.MaxAge != "" {
		err = p.Store().Confirm(ctx, c.Ref)
	}
	return c, err
}

func ageWords(age time.Duration) string {
	if age < 2*day {
		return max(age, 0).Truncate(time.Hour).String()
	}
	return fmt.Sprintf("%d days", age/day)
}

// sizeOf is the verdict on how many cases can be scored.
func (g GoldenConfig) sizeOf(m *datasets.Manifest, err error) (verdict, why string) {
	if err != nil {
		return eval.CannotTell, err.Error()
	}
	verdict = eval.Pass
	if m.Counts.Active < g.MinActive {
		verdict = eval.Fail
	}
	return verdict, fmt.Sprintf("%s has %d active cases", m.Ref(), m.Counts.Active)
}
