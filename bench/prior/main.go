// Command prior fits the label model that goldgen ships and says how good it is.
// It reads the three collections with human judgments and the queries that a small
// model wrote over them (bench/queries), writes the profile, and writes the tables
// of docs/trust.md between their marks:
//
//	go run ./bench/prior -data ../shared/data
//
// The same inputs give the same bytes.
package main

import (
	"context"
	"flag"
	"io"
	"log"
	"os"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/judge"
)

type options struct {
	data, fixtures, out, docs string
	pairs                     int
	quick                     bool
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "../shared/data", "folder of the collections")
	flag.StringVar(&o.fixtures, "fixtures", "bench/trust/testdata", "folder of the synthetic queries")
	flag.StringVar(&o.out, "out", "judge/prior.json", "profile to write")
	flag.StringVar(&o.docs, "docs", "docs/trust.md", "page whose tables are replaced")
	flag.IntVar(&o.pairs, "pairs", judge.PriorPairs, "random pairs that each coefficient vector is fitted on")
	flag.BoolVar(&o.quick, "quick", false, "leave out the comparisons of retrievers: no shift variances, no agreement")
	flag.Parse()
	if err := run(context.Background(), o, os.Stderr); err != nil {
		log.Fatalf("prior: error: %v", err)
	}
}

func run(ctx context.Context, o options, progress io.Writer) error {
	all, err := study.GatherAll(ctx, o.data, o.fixtures, progress)
	if err != nil {
		return err
	}
	s, err := measure(all, o, progress)
	if err != nil {
		return err
	}
	if o.quick {
		return s.print(os.Stdout)
	}
	profile, err := s.profile()
	if err != nil {
		return err
	}
	if err := writeProfile(o.out, profile); err != nil {
		return err
	}
	if err := s.agree(); err != nil {
		return err
	}
	return s.writeDocs(o.docs)
}

func writeProfile(path string, p *judge.Profile) error {
	if err := p.Validate(); err != nil {
		return err
	}
	data, err := p.JSON()
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
