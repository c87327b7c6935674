// Command trust says how far golden sets with synthetic queries rank retrievers as
// people's queries and judgments do, and which choices move that. It reads the
// three collections with human judgments and the queries that a small model wrote
// over them (bench/queries; no model is needed here), and writes the tables of
// docs/trust.md between their marks:
//
//	go run ./bench/trust -data ../shared/data
//
// The same inputs give the same bytes.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/judge"
)

type options struct {
	data, fixtures, docs string
	collections          []string
	most                 int
	print                bool
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "../shared/data", "folder of the collections")
	flag.StringVar(&o.fixtures, "fixtures", "bench/trust/testdata", "folder of the synthetic queries")
	flag.StringVar(&o.docs, "docs", "docs/trust.md", "page whose tables are replaced")
	flag.IntVar(&o.most, "most", 200, "size of the greatest set, to see some figures sooner")
	flag.BoolVar(&o.print, "print", false, "print the tables and leave the page as it is")
	names := flag.String("collections", strings.Join(collections.Names(), ","), "collections to look at")
	flag.Parse()
	o.collections = strings.Split(*names, ",")
	if err := run(context.Background(), o, os.Stdout, os.Stderr); err != nil {
		log.Fatalf("trust: error: %v", err)
	}
}

func run(ctx context.Context, o options, to, progress io.Writer) error {
	all, err := study.GatherAll(ctx, o.data, o.fixtures, progress)
	if err != nil {
		return err
	}
	var rows []row
	for i, m := range all {
		if !slices.Contains(o.collections, m.Name) {
			continue
		}
		found, err := look(ctx, all, i, o, progress)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		rows = append(rows, found...)
	}
	if o.print {
		_, err := io.WriteString(to, tables(rows))
		return err
	}
	return study.ReplaceTables(o.docs, "go run ./bench/trust", tables(rows))
}

// look makes the rows of one collection, with the prior of the others.
func look(ctx context.Context, all []*study.Material, i int, o options, progress io.Writer) ([]row, error) {
	name := all[i].Name
	fmt.Fprintf(progress, "%s: prior of the others\n", name)
	prior, err := priorWithout(all, i)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(progress, "%s: labels of its own\n", name)
	s, err := newSubject(ctx, all[i], prior)
	if err != nil {
		return nil, err
	}
	if s.grades, err = readGrades(o.fixtures, name); err != nil {
		return nil, err
	}
	var rows []row
	for _, set := range setsOf(s.Lines, o.most) {
		fmt.Fprintf(progress, "%s: %s, %d queries\n", name, set.kind, len(set.cases))
		found, err := s.rows(ctx, set)
		if err != nil {
			return nil, fmt.Errorf("%s, %d queries: %w", set.kind, len(set.cases), err)
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

// priorWithout is a profile that saw neither the collection nor what a prior gets
// wrong on it.
func priorWithout(all []*study.Material, i int) (*judge.Profile, error) {
	fitter := study.Fitter{Pairs: judge.PriorPairs}
	model, penalty, err := fitter.LeaveOut(all, i)
	if err != nil {
		return nil, err
	}
	nested, err := fitter.Nest(all, i)
	if err != nil {
		return nil, err
	}
	return &judge.Profile{
		Format: judge.ProfileFormat, Level: judge.LevelPrior, FeatureVersion: judge.FeatureVersion,
		Model: *model.Rounded(), Penalty: penalty, Shift: nested.Shift, ShiftAfter: nested.After,
	}, nil
}
