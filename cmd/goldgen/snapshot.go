package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

type snapshotOptions struct {
	chunking corpus.Chunking // what flags set
	out      string
	skipBad  bool
}

func (o *snapshotOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.chunking.Method, "chunking", "", "method: fixed, sentence, recursive, markdown, code, document")
	f.IntVar(&o.chunking.Size, "size", 0, "size of a chunk, in its unit")
	f.IntVar(&o.chunking.Overlap, "overlap", 0, "overlap of neighbours, in the unit")
	f.StringVar(&o.chunking.Unit, "unit", "", "tokens or characters")
	f.StringVarP(&o.out, "out", "o", "", "write the snapshot to this folder, and leave the project's latest alone")
	f.BoolVar(&o.skipBad, "skip-bad", false, "go on past files that are not UTF-8, and count them")
}

func newSnapshot(a *app) *cobra.Command {
	var o snapshotOptions
	cmd := &cobra.Command{
		Use: "snapshot", Short: "Read, cut and pin the corpus", GroupID: groupStages,
		Long: help("Reads the corpus, cuts it into chunks and, where an embedding is configured, embeds them.\n"+
			"The flags win over goldgen.yaml.", codeDone, codeFailed, codeUsage, codeInterrupted),
		Example: "  goldgen -C examples/quickstart snapshot",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.project()
			if err != nil {
				return err
			}
			o.apply(p, cmd.Flags())
			return a.runSnapshot(cmd.Context(), p, o)
		},
	}
	o.addFlags(cmd.Flags())
	a.jsonFlag(cmd)
	return cmd
}

// apply puts the flags over the configuration. A method or size alone brings
// the defaults for the rest, not what was configured for another method.
func (o *snapshotOptions) apply(p *pipeline.Project, f *pflag.FlagSet) {
	c := &p.Config.Chunking
	if f.Changed("chunking") {
		*c = corpus.Chunking{Method: o.chunking.Method, Unit: c.Unit}
	}
	if f.Changed("size") {
		c.Size, c.Overlap = o.chunking.Size, 0
	}
	if f.Changed("overlap") {
		c.Overlap = o.chunking.Overlap
	}
	if f.Changed("unit") {
		c.Unit = o.chunking.Unit
	}
	*c = c.WithDefaults()
	p.Config.Corpus.SkipBad = p.Config.Corpus.SkipBad || o.skipBad
}

func (a *app) runSnapshot(ctx context.Context, p *pipeline.Project, o snapshotOptions) error {
	if err := p.Config.Validate(); err != nil {
		return usagef("%w", err)
	}
	s, changed, err := p.MakeSnapshot(ctx, o.out)
	if err != nil {
		return err
	}
	m := s.Manifest()
	if a.json {
		return a.printJSON(struct {
			Path    string `json:"path"`
			Changed bool   `json:"changed"`
			corpus.Manifest
		}{s.Dir(), changed, m})
	}
	return a.printSnapshot(s.Dir(), changed, m)
}

func (a *app) printSnapshot(dir string, changed bool, m corpus.Manifest) error {
	state := "made"
	if !changed {
		state = "unchanged"
	}
	t := report.Table{Columns: []report.Column{{Name: "snapshot"}, {Name: "value"}}}
	t.Add("path", dir)
	t.Add("state", state)
	t.Add("digest", m.Digest[:16])
	t.Add("documents", fmt.Sprint(m.Documents))
	t.Add("chunks", fmt.Sprint(m.Chunks))
	t.Add("tokens", fmt.Sprint(m.Tokens))
	t.Add("near-duplicate groups", fmt.Sprint(m.NearSets))
	for _, flag := range []string{corpus.FlagEmpty, corpus.FlagShort, corpus.FlagBoilerplate, corpus.FlagDuplicate} {
		if n := m.Flagged[flag]; n > 0 {
			t.Add("flagged "+flag, fmt.Sprint(n))
		}
	}
	if n := len(m.SkippedBad); n > 0 {
		t.Add("skipped, not UTF-8", fmt.Sprint(n))
	}
	if n := len(m.Unparsed); n > 0 {
		t.Add("skipped, does not parse", fmt.Sprint(n))
	}
	for _, key := range m.OpenKeys() {
		n := m.Scopes[key]
		t.Add("without scope "+key, fmt.Sprintf("%d of %s, open to every %s", n.Without, wording.Count(n.With+n.Without, "record"), key))
	}
	for _, v := range m.Vectors {
		t.Add("vectors", fmt.Sprintf("%s %s, %d dimensions, %d cut", v.Embedding.Provider, v.Embedding.Model, v.Embedding.Dimensions, v.Cut))
	}
	return t.Write(a.stdout, a.style())
}
