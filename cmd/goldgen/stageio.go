package main

import (
	"bufio"
	"io"
	"os"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/goldgen/goldgen/pipeline"
)

// stageIO says where a stage reads and writes its records.
type stageIO struct {
	in, out string
}

func (s *stageIO) addOut(f *pflag.FlagSet) {
	f.StringVarP(&s.out, "out", "o", "", "write the records to this file, .jsonl or .parquet, instead of stdout")
}

func (s *stageIO) addIn(f *pflag.FlagSet) {
	f.StringVarP(&s.in, "in", "i", "", "read the records from this file instead of stdin")
}

// readStage reads the records of the stage before.
func readStage[T any](a *app, s stageIO, kind string) (pipeline.Header, []T, error) {
	if s.in != "" {
		return pipeline.LoadStage[T](s.in, kind)
	}
	if f, ok := a.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return pipeline.Header{}, nil, usagef("no %s: pipe the stage before into this one, or name its file with -i", kind)
	}
	return pipeline.ReadStage[T](bufio.NewReader(a.stdin), "standard input", kind)
}

// writeStage writes the records where they are wanted. It reports false when
// nobody would see them: stdout is a terminal, or --json speaks there.
func writeStage[T any](a *app, s stageIO, h pipeline.Header, records []T) (bool, error) {
	switch {
	case s.out != "":
		return true, pipeline.SaveStage(s.out, h, records)
	case a.json || a.outTerminal:
		return false, nil
	}
	return true, pipeline.WriteStage(io.Writer(a.stdout), h, records)
}
