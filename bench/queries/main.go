// Command queries has a small model write queries over the three collections
// with human judgments, with goldgen's own prompts and gates, and keeps them as
// the fixtures of bench/trust, so that its tables are made again without a model:
//
//	go run ./bench/queries -data ../shared/data -cache DIR/queries.db -n 200
//
// Every reply is kept in the cache: a run that was cut short goes on where it
// was. With -had, queries that the fixtures of an earlier run hold are not asked
// again, whatever prompts wrote them; each line says which did. The checks that ask the model a second time are left out, because the
// machines that this was run on are small: a query is kept if the gates on its
// wording let it through.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/llm/connect"
)

type options struct {
	data, out, had, cache, endpoint, model string
	queries                                int
	threads, concurrency                   int
}

func main() {
	var o options
	flag.StringVar(&o.data, "data", "../shared/data", "folder of the collections")
	flag.StringVar(&o.out, "out", "bench/trust/testdata", "folder of the fixtures")
	flag.StringVar(&o.had, "had", "", "folder with the fixtures of an earlier run, to go on from")
	flag.StringVar(&o.cache, "cache", "", "file that keeps the model's replies")
	flag.StringVar(&o.endpoint, "endpoint", "http://127.0.0.1:11434", "Ollama server")
	flag.StringVar(&o.model, "model", "qwen2.5-coder:1.5b", "model on it")
	flag.IntVar(&o.queries, "n", 200, "queries of each kind: one a document, and three")
	flag.IntVar(&o.threads, "threads", 2, "threads of the model")
	flag.IntVar(&o.concurrency, "concurrency", 4, "calls in flight")
	names := flag.String("collections", strings.Join(collections.Names(), ","), "collections to ask about")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, strings.Split(*names, ",")); err != nil {
		log.Fatalf("queries: error: %v", err)
	}
}

func run(ctx context.Context, o options, names []string) error {
	stack, err := connect.Open(ctx, connect.Config{
		Provider: "ollama", Model: o.model, Endpoints: []string{o.endpoint},
		Concurrency: o.concurrency, CachePath: o.cache,
	})
	if err != nil {
		return err
	}
	defer stack.Close()
	for _, name := range names {
		c, err := collections.Load(o.data, name)
		if err != nil {
			return err
		}
		w, err := newWriter(o, stack.Client, stack.Model, c)
		if err == nil && o.had != "" {
			err = w.goOnFrom(filepath.Join(o.had, name+".jsonl"))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		list, err := w.write(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		path := filepath.Join(o.out, name+".jsonl")
		if err := study.KeepLines(path, list); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s: %s\n", path, summary(list))
	}
	return nil
}
