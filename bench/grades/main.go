// Command grades has a small model grade pairs of one collection with human
// judgments, with goldgen's own judge, and keeps its grades as a fixture of
// bench/trust, so that what they are worth is measured again without a model:
//
//	go run ./bench/grades -data ../shared/data -cache DIR/grades.db -collection cacm
//
// It grades the pools of the synthetic queries, one a document, and a draw of
// pairs of people's queries, on which a label model can learn what the grades say.
// Every reply is kept in the cache: a run that was cut short goes on where it was.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/llm/connect"
	"github.com/goldgen/goldgen/retrieve"
)

type options struct {
	data, fixtures, cache, endpoint, model, collection string
	queries, labels                                    int
	threads, concurrency                               int
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "../shared/data", "folder of the collections")
	flag.StringVar(&o.fixtures, "fixtures", "bench/trust/testdata", "folder of the fixtures")
	flag.StringVar(&o.cache, "cache", "", "file that keeps the model's replies")
	flag.StringVar(&o.endpoint, "endpoint", "http://127.0.0.1:11434", "Ollama server")
	flag.StringVar(&o.model, "model", "qwen2.5-coder:1.5b", "model on it")
	flag.StringVar(&o.collection, "collection", "cacm", "collection to grade pairs of")
	flag.IntVar(&o.queries, "n", 50, "synthetic queries whose pools are graded")
	flag.IntVar(&o.labels, "labels", 200, "pairs of people's queries that are graded")
	flag.IntVar(&o.threads, "threads", 2, "threads of the model")
	flag.IntVar(&o.concurrency, "concurrency", 4, "calls in flight")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		log.Fatalf("grades: error: %v", err)
	}
}

func run(ctx context.Context, o options) error {
	pairs, err := o.pairs(ctx)
	if err != nil {
		return err
	}
	stack, err := connect.Open(ctx, connect.Config{
		Provider: "ollama", Model: o.model, Endpoints: []string{o.endpoint},
		Concurrency: o.concurrency, CachePath: o.cache,
	})
	if err != nil {
		return err
	}
	defer stack.Close()
	model, err := judge.NewModel(stack.Client, judge.ModelOptions{Model: stack.Model, NumCtx: 2048, NumThread: o.threads, Seed: study.Seed})
	if err != nil {
		return err
	}
	lines, err := o.grade(ctx, model, pairs)
	if err != nil {
		return err
	}
	return study.KeepLines(filepath.Join(o.fixtures, study.GradesFile(o.collection)), lines)
}

// pairs are the pools of the synthetic queries, then the draw of people's.
func (o options) pairs(ctx context.Context) ([]study.Pair, error) {
	c, err := collections.Load(o.data, o.collection)
	if err != nil {
		return nil, err
	}
	lines, err := study.ReadLines[study.Written](filepath.Join(o.fixtures, o.collection+".jsonl"))
	if err != nil {
		return nil, err
	}
	m, err := study.Gather(ctx, c, retrieve.VariantCount)
	if err != nil {
		return nil, err
	}
	kept := study.Kept(lines, study.OneADocument)
	synthetic, err := m.Pooled(ctx, study.Cases(kept[:min(o.queries, len(kept))]))
	if err != nil {
		return nil, err
	}
	asked, _ := m.Split(0)
	people, err := asked.Pooled(ctx, asked.Questioned())
	if err != nil {
		return nil, err
	}
	return append(synthetic, study.Drawn(asked, people, o.labels, 0)...), nil
}

// grade asks about all pairs; lines are in their order.
func (o options) grade(ctx context.Context, model *judge.Model, pairs []study.Pair) ([]study.Graded, error) {
	lines := make([]study.Graded, len(pairs))
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.concurrency)
	for i, p := range pairs {
		group.Go(func() error {
			g, err := model.Grade(ctx, judge.Query{ID: p.Case.ID, Text: p.Case.Query}, &p.Chunk)
			if err != nil {
				return fmt.Errorf("query %s, document %s: %w", p.Case.ID, p.Chunk.ID, err)
			}
			lines[i] = study.GradedAs(model.Name(), p, g)
			if i%100 == 99 {
				fmt.Fprintf(os.Stderr, "%s: %d of %d pairs\n", time.Since(began).Round(time.Second), i+1, len(pairs))
			}
			return nil
		})
	}
	return lines, group.Wait()
}
