package retrieve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Description is what results record of a retriever. Two retrievers with equal
// settings give equal rankings over one snapshot and embedding.
type Description struct {
	Name     string            `json:"name"`
	Kind     string            `json:"kind"`
	Settings map[string]string `json:"settings"` // every parameter with its value, defaults included
}

// Digest is the hex SHA-256 of kind and settings; the name does not count.
func (d Description) Digest() string {
	h := sha256.New()
	e := json.NewEncoder(h)
	_ = e.Encode(d.Kind)     // a hash takes everything
	_ = e.Encode(d.Settings) // keys are sorted
	return hex.EncodeToString(h.Sum(nil))
}

// Differs names the settings in which two retrievers differ, sorted; kind is
// one of them.
func (d Description) Differs(other Description) []string {
	keys := map[string]bool{"kind": d.Kind != other.Kind}
	for k, v := range d.Settings {
		keys[k] = keys[k] || other.Settings[k] != v
	}
	for k, v := range other.Settings {
		keys[k] = keys[k] || d.Settings[k] != v
	}
	maps.DeleteFunc(keys, func(_ string, differs bool) bool { return !differs })
	return slices.Sorted(maps.Keys(keys))
}

// Describe says what the retriever is, a hybrid's members included.
func (s Spec) Describe(configured map[string]Spec) (Description, error) {
	return s.describe(configured, 0)
}

// maxNesting is how deep hybrids may contain hybrids; a hybrid that contains
// itself has no end.
const maxNesting = 8

func (s Spec) describe(configured map[string]Spec, depth int) (Description, error) {
	if err := s.Validate(); err != nil {
		return Description{}, err
	}
	d := Description{Name: s.Name, Kind: s.Kind, Settings: s.settings()}
	if s.Kind != KindHybrid {
		return d, nil
	}
	if depth > maxNesting {
		return Description{}, wrong("retriever %s: members are nested over %d deep, or contain themselves", s.Name, maxNesting)
	}
	names, weights := s.Params.members()
	for i, name := range names {
		member, err := ParseSpec(name, configured)
		if err != nil {
			return Description{}, fmt.Errorf("%s: %w", s.Name, err)
		}
		m, err := member.describe(configured, depth+1)
		if err != nil {
			return Description{}, err
		}
		d.Settings["member."+name+".weight"] = number(weights[i])
		d.Settings["member."+name+".kind"] = m.Kind
		for key, value := range m.Settings {
			d.Settings["member."+name+"."+key] = value
		}
	}
	return d, nil
}

func (s Spec) settings() map[string]string {
	p := s.Params
	switch s.Kind {
	case KindBM25:
		c := p.bm25()
		return map[string]string{"k1": number(c.K1), "b": number(c.B), "headings": strconv.FormatBool(c.Headings), "analysis": AnalysisVersion}
	case KindNGram:
		c := p.ngram()
		return map[string]string{"n": strconv.Itoa(c.N), "k1": number(c.K1), "b": number(c.B), "headings": strconv.FormatBool(c.Headings), "analysis": AnalysisVersion}
	case KindHybrid:
		c := p.hybrid()
		return map[string]string{"rrf": number(c.RRF), "depth": strconv.Itoa(c.Depth)}
	case KindRun:
		return map[string]string{"file": s.Arg}
	case KindExec:
		return map[string]string{"command": s.Arg, "timeout": p.exec().Timeout.String()}
	}
	return map[string]string{"similarity": "cosine"}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Validate names the kind, argument or parameter that is wrong.
func (s Spec) Validate() error {
	if err := s.checkKind(nil); err != nil {
		return err
	}
	takesArg := s.Kind == KindRun || s.Kind == KindExec
	switch {
	case takesArg && strings.TrimSpace(s.Arg) == "":
		what := map[string]string{KindRun: "run:FILE", KindExec: "exec:COMMAND"}[s.Kind]
		return wrong("retriever %s: nothing after %s:, expected %s", s.Name, s.Kind, what)
	case !takesArg && s.Arg != "":
		return wrong("retriever %s: %s takes no argument", s.Name, s.Kind)
	}
	if err := s.Params.validate(s.Kind); err != nil {
		return wrong("retriever %s: %w", s.Name, err)
	}
	return nil
}
