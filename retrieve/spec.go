package retrieve

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Kinds that this version builds.
const (
	KindBM25     = "bm25"
	KindNGram    = "ngram"
	KindLSA      = "lsa"
	KindDense    = "dense"
	KindHybrid   = "hybrid"
	KindRun      = "run"
	KindExec     = "exec"
	KindHTTP     = "http"
	KindPGVector = "pgvector"
	KindQdrant   = "qdrant"
	KindMCP      = "mcp"
	KindRerank   = "rerank"
)

// Kinds returns the kinds that this version builds, as a SPEC spells them.
func Kinds() []string {
	return []string{KindBM25, KindNGram, KindLSA, KindDense, KindHybrid, "run:FILE", "exec:COMMAND", "http:URL", "qdrant:URL", "pgvector:DSN", "mcp:COMMAND", "mcp:URL"}
}

// configuredKinds are the kinds as goldgen.yaml spells them.
func configuredKinds() []string {
	kinds := append(Kinds(), KindRerank)
	for i := range kinds {
		kinds[i], _, _ = strings.Cut(kinds[i], ":")
	}
	return slices.Compact(kinds)
}

// NewConfig returns the defaults of a kind, nil for one that is not built in. A
// new kind is added here, in Kinds, and in a file of its own.
func NewConfig(kind string) Config {
	switch kind {
	case KindBM25:
		return pointer(DefaultBM25())
	case KindNGram:
		return pointer(DefaultNGram())
	case KindLSA:
		return pointer(DefaultLSA())
	case KindDense:
		return &DenseConfig{}
	case KindHybrid:
		return pointer(DefaultHybrid())
	case KindRun:
		return &RunConfig{}
	case KindExec:
		return pointer(DefaultExec())
	case KindHTTP:
		return pointer(DefaultHTTP())
	case KindMCP:
		return pointer(DefaultMCP())
	case KindRerank:
		return pointer(DefaultRerank())
	case KindQdrant:
		return pointer(DefaultQdrant())
	case KindPGVector:
		return pointer(DefaultPGVector())
	}
	return nil
}

func pointer[T any](v T) *T { return &v }

// Config is what a kind of retriever is configured by: a pointer to a struct
// with the kind's parameters, as goldgen.yaml names them.
type Config interface {
	// Validate names the parameter that is wrong and its value.
	Validate() error
	// settings are the parameters that decide the ranking, defaults included,
	// never a secret.
	settings() map[string]string
	build(ctx context.Context, b *Builder) (Retriever, error)
}

// argued is a Config whose SPEC goes on after the kind and a colon.
type argued interface {
	argument() string // what the argument is called, such as FILE
	take(arg string) error
}

// nested is a Config of a retriever over others.
type nested interface {
	// members are the SPECs of the others, by the prefix of their settings.
	members() map[string]string
}

// starter is a Config of a retriever that may start a command.
type starter interface{ command() string }

// ErrSpec marks a retriever that was named or configured wrongly, or lacks what
// it needs: a usage error.
var ErrSpec = errors.New("wrong retriever")

// ErrNotAllowed is the error of a retriever that would start a command where
// Deps.AllowExec is not set; it is an ErrSpec too.
var ErrNotAllowed = errors.New("was not allowed")

// specError is an error that is ErrSpec, without its words.
type specError struct{ error }

func (e specError) Unwrap() error        { return e.error }
func (e specError) Is(target error) bool { return target == ErrSpec }

func wrong(format string, args ...any) error { return specError{fmt.Errorf(format, args...)} }

// Spec says which retriever, with which parameters. Configured ones have a name
// of their own; for others Name is the SPEC as it was written. A nil Config
// means the kind's defaults.
type Spec struct {
	Name   string
	Kind   string
	Config Config
}

// UnmarshalYAML reads the kind, then its parameters over the kind's defaults.
// `arg` is what would follow the colon in a SPEC. A kind that is not built in
// is left for ParseSpec to report.
func (s *Spec) UnmarshalYAML(node *yaml.Node) error {
	var head struct {
		Kind string `yaml:"kind"`
		Arg  string `yaml:"arg"`
	}
	if err := node.Load(&head); err != nil {
		return err
	}
	s.Kind, s.Config = head.Kind, NewConfig(head.Kind)
	if s.Config == nil {
		return nil
	}
	if err := node.Load(s.Config); err != nil || head.Arg == "" {
		return err
	}
	return s.take(head.Arg)
}

// take hands the argument of a SPEC to the kind.
func (s *Spec) take(arg string) error {
	a, ok := s.Config.(argued)
	if !ok {
		return wrong("retriever %s: %s takes no argument", s.Name, s.Kind)
	}
	if strings.TrimSpace(arg) == "" {
		return wrong("retriever %s: nothing after %s:, expected %s:%s", s.Name, s.Kind, s.Kind, a.argument())
	}
	if err := a.take(arg); err != nil {
		return wrong("retriever %s: %w", s.Name, err)
	}
	return nil
}

// ParseSpec reads a SPEC: a kind, run:FILE and the like, or the name of one in
// configured, which wins.
func ParseSpec(text string, configured map[string]Spec) (Spec, error) {
	if spec, ok := configured[text]; ok {
		spec.Name = text
		return spec, spec.Validate()
	}
	kind, arg, hasArg := strings.Cut(text, ":")
	if kind == "https" {
		kind, arg = KindHTTP, text
	}
	spec := Spec{Name: withoutPassword(text), Kind: kind, Config: NewConfig(kind)}
	if err := spec.checkKind(configured); err != nil {
		return Spec{}, err
	}
	if _, takesArg := spec.Config.(argued); hasArg || takesArg {
		if err := spec.take(arg); err != nil {
			return Spec{}, err
		}
	}
	return spec, spec.Validate()
}

// passwords are where an address or a DSN has one.
var passwords = regexp.MustCompile(`(://[^/@\s:]*:)[^/@\s]+@|((?i)password\s*=\s*)[^\s&]+`)

// withoutPassword is a SPEC that can be shown.
func withoutPassword(text string) string {
	return passwords.ReplaceAllStringFunc(text, func(found string) string {
		m := passwords.FindStringSubmatch(found)
		if m[1] != "" {
			return m[1] + "***@"
		}
		return m[2] + "***"
	})
}

// Validate names the kind, argument or parameter that is wrong.
func (s Spec) Validate() error {
	if err := s.checkKind(nil); err != nil {
		return err
	}
	if err := s.config().Validate(); err != nil {
		return wrong("retriever %s: %w", s.Name, err)
	}
	return nil
}

// config is the configuration, the kind's defaults if there is none.
func (s Spec) config() Config {
	if s.Config == nil {
		return NewConfig(s.Kind)
	}
	return s.Config
}

// calls are how the retriever's server is asked; zero without one.
func (s Spec) calls() CallConfig {
	if c, ok := s.config().(interface{ asked() CallConfig }); ok {
		return c.asked()
	}
	return CallConfig{}
}

func (s Spec) checkKind(configured map[string]Spec) error {
	if NewConfig(s.Kind) != nil {
		return nil
	}
	if spelt, _, _ := strings.Cut(s.Name, ":"); spelt != s.Kind {
		return wrong("retriever %s: kind %q: unknown; valid are %s", s.Name, s.Kind, strings.Join(configuredKinds(), ", "))
	}
	valid := Kinds()
	for name := range configured {
		valid = append(valid, name)
	}
	slices.Sort(valid[len(Kinds()):])
	return wrong("retriever %q: unknown; valid are %s", s.Name, strings.Join(valid, ", "))
}

// Uses reports whether the retriever, or one that it is made of, is of a kind.
func (s Spec) Uses(kind string, configured map[string]Spec) bool {
	found := false
	s.walk(configured, func(part Spec) { found = found || part.Kind == kind })
	return found
}

// Starts names a command that the retriever, or one that it is made of, would
// start; "" if none.
func (s Spec) Starts(configured map[string]Spec) string {
	command := ""
	s.walk(configured, func(part Spec) {
		if c, ok := part.config().(starter); ok && command == "" {
			command = c.command()
		}
	})
	return command
}

// walk visits the retriever and what it is made of, as far as that is known.
func (s Spec) walk(configured map[string]Spec, visit func(Spec)) { s.walkTo(configured, visit, 0) }

func (s Spec) walkTo(configured map[string]Spec, visit func(Spec), depth int) {
	if depth > maxNesting || NewConfig(s.Kind) == nil {
		return
	}
	visit(s)
	n, ok := s.config().(nested)
	if !ok {
		return
	}
	for _, text := range n.members() {
		if member, err := ParseSpec(text, configured); err == nil {
			member.walkTo(configured, visit, depth+1)
		}
	}
}
