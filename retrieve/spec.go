package retrieve

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kinds that this version builds.
const (
	KindBM25   = "bm25"
	KindNGram  = "ngram"
	KindDense  = "dense"
	KindHybrid = "hybrid"
	KindRun    = "run"
	KindExec   = "exec"
)

// Kinds returns the kinds that this version builds, as a SPEC spells them.
func Kinds() []string {
	return []string{KindBM25, KindNGram, KindDense, KindHybrid, "run:FILE", "exec:COMMAND"}
}

// ErrSpec marks a retriever that was named or configured wrongly, or lacks what
// it needs: a usage error.
var ErrSpec = errors.New("wrong retriever")

// specError is an error that is ErrSpec, without its words.
type specError struct{ error }

func (e specError) Unwrap() error        { return e.error }
func (e specError) Is(target error) bool { return target == ErrSpec }

func wrong(format string, args ...any) error { return specError{fmt.Errorf(format, args...)} }

// Params are a retriever's parameters as a configuration file has them; nil or
// empty means the default. Which apply depends on the kind.
type Params struct {
	K1       *float64      `yaml:"k1,omitempty" json:"k1,omitempty"`             // bm25, ngram
	B        *float64      `yaml:"b,omitempty" json:"b,omitempty"`               // bm25, ngram
	N        *int          `yaml:"n,omitempty" json:"n,omitempty"`               // ngram: characters
	Headings *bool         `yaml:"headings,omitempty" json:"headings,omitempty"` // bm25, ngram: index the heading path too
	Members  []string      `yaml:"members,omitempty" json:"members,omitempty"`   // hybrid: SPECs, bm25 and dense if empty
	Weights  []float64     `yaml:"weights,omitempty" json:"weights,omitempty"`   // hybrid: one a member, 1 if empty
	RRF      *float64      `yaml:"rrf,omitempty" json:"rrf,omitempty"`           // hybrid: the fusion constant
	Depth    *int          `yaml:"depth,omitempty" json:"depth,omitempty"`       // hybrid: hits taken of each member
	Timeout  time.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`   // exec: for one query
}

// Spec says which retriever, with which parameters. Configured ones have a name
// of their own; for others Name is the SPEC as it was written.
type Spec struct {
	Name   string `yaml:"-" json:"name"`
	Kind   string `yaml:"kind" json:"kind"`
	Arg    string `yaml:"arg,omitempty" json:"arg,omitempty"` // run: the file; exec: the command
	Params Params `yaml:",inline" json:"params"`
}

// ParseSpec reads a SPEC: a kind, run:FILE, exec:COMMAND, or the name of one in
// configured, which wins.
func ParseSpec(text string, configured map[string]Spec) (Spec, error) {
	if spec, ok := configured[text]; ok {
		spec.Name = text
		return spec, spec.Validate()
	}
	kind, arg, _ := strings.Cut(text, ":")
	spec := Spec{Name: text, Kind: kind, Arg: arg}
	if err := spec.checkKind(configured); err != nil {
		return Spec{}, err
	}
	return spec, spec.Validate()
}

func (s Spec) checkKind(configured map[string]Spec) error {
	switch s.Kind {
	case KindBM25, KindNGram, KindDense, KindHybrid, KindRun, KindExec:
		return nil
	case "lsa", "http", "https", "qdrant", "pgvector", "mcp":
		return wrong("retriever %s: %s is not built into this version", s.Name, s.Kind)
	}
	valid := Kinds()
	for name := range configured {
		valid = append(valid, name)
	}
	slices.Sort(valid[len(Kinds()):])
	return wrong("retriever %q: unknown; valid are %s", s.Name, strings.Join(valid, ", "))
}
