package retrieve

import (
	"context"
	"errors"
)

// RunConfig says which TREC or Parquet run file to answer from.
type RunConfig struct {
	File string `yaml:"file"`
}

// Validate refuses a run without a file.
func (c RunConfig) Validate() error {
	if c.File == "" {
		return errors.New("file: empty")
	}
	return nil
}

func (RunConfig) argument() string { return "FILE" }

func (c *RunConfig) take(arg string) error { c.File = arg; return nil }

func (c RunConfig) settings() map[string]string { return map[string]string{"file": c.File} }

func (c RunConfig) build(_ context.Context, b *Builder) (Retriever, error) {
	run, err := ReadRun(b.path(c.File))
	if err != nil {
		return nil, err
	}
	return NewRunRetriever(run), nil
}
