package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/report"
)

func newCache(a *app) *cobra.Command {
	return parent("cache", "Look at and prune the cache of model replies", groupOther, newCacheStats(a), newCachePrune(a))
}

// withCache opens the project's cache; a project without one has an empty one.
func (a *app) withCache(ctx context.Context, use func(*llm.Cache) error) (err error) {
	p, err := a.project()
	if err != nil {
		return err
	}
	if _, err := os.Stat(p.CachePath()); err != nil {
		fmt.Fprintln(a.stderr, "goldgen: no reply is cached yet")
		return use(nil)
	}
	cache, err := llm.OpenCache(ctx, p.CachePath(), a.now)
	if err != nil {
		return err
	}
	defer func() {
		if closed := cache.Close(); err == nil {
			err = closed
		}
	}()
	return use(cache)
}

func newCacheStats(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "stats", Short: "Say what the cache holds",
		Long:    help("Lists replies and vectors by model.", codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart cache stats",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withCache(cmd.Context(), func(c *llm.Cache) error { return a.cacheStats(cmd.Context(), c) })
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) cacheStats(ctx context.Context, c *llm.Cache) error {
	var stats []llm.ModelStats
	if c != nil {
		var err error
		if stats, err = c.Stats(ctx); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(orEmpty(stats))
	}
	t := report.Table{Columns: []report.Column{
		{Name: "model"}, {Name: "replies", Right: true}, {Name: "vectors", Right: true}, {Name: "bytes", Right: true}, {Name: "oldest"}, {Name: "newest"},
	}}
	for _, s := range stats {
		t.Add(s.Model, fmt.Sprint(s.Replies), fmt.Sprint(s.Vectors), fmt.Sprint(s.Bytes), s.Oldest.Format(time.DateOnly), s.Newest.Format(time.DateOnly))
	}
	return t.Write(a.stdout, a.style())
}

func newCachePrune(a *app) *cobra.Command {
	var olderThan time.Duration
	var model string
	cmd := &cobra.Command{
		Use: "prune", Short: "Drop cached replies",
		Long: help("Drops replies and vectors that are older than a time, of a model, or both. What is dropped is\n"+
			"asked again when it is needed.", codeDone, codeFailed, codeUsage),
		Example: "  goldgen -C examples/quickstart cache prune --older-than 2160h",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if olderThan <= 0 && model == "" {
				return usagef("name what to drop: --older-than 2160h, --model NAME, or both")
			}
			opts := llm.PruneOptions{Model: model}
			if olderThan > 0 {
				opts.Before = a.now().Add(-olderThan)
			}
			return a.withCache(cmd.Context(), func(c *llm.Cache) error { return a.cachePrune(cmd.Context(), c, opts) })
		},
	}
	cmd.Flags().DurationVar(&olderThan, "older-than", 0, "age, such as 2160h for 90 days")
	cmd.Flags().StringVar(&model, "model", "", "the model's name")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) cachePrune(ctx context.Context, c *llm.Cache, opts llm.PruneOptions) error {
	var pruned llm.Pruned
	if c != nil {
		var err error
		if pruned, err = c.Prune(ctx, opts); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(pruned)
	}
	_, err := fmt.Fprintf(a.stdout, "dropped %s and %s\n", wording.Count(int(pruned.Replies), "reply"), wording.Count(int(pruned.Vectors), "vector"))
	return err
}
