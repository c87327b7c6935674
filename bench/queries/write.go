package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/internal/seeded"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/prompts"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/sample"
)

const (
	seed = 7
	// minText is the least text beside a title that is asked about, in bytes.
	minText = 100
)

type writer struct {
	options
	model     *generate.Model
	documents []collections.Document // in the order in which they are asked about
	began     time.Time
	had       map[asked]study.Written // of an earlier run
}

// asked is what one query was asked for.
type asked struct {
	document string
	place    int
	kind     string
}

// goOnFrom reads the queries of an earlier run.
func (w *writer) goOnFrom(path string) error {
	lines, err := study.ReadLines[study.Written](path)
	if err != nil {
		return err
	}
	w.had = map[asked]study.Written{}
	for _, l := range lines {
		w.had[asked{l.Document, l.Place, l.Type}] = l
	}
	return nil
}

func newWriter(o options, asked llm.Client, name llm.Model, c collections.Collection) (*writer, error) {
	stats, err := bm25(c.Documents)
	if err != nil {
		return nil, err
	}
	client, err := newUnchecked(asked)
	if err != nil {
		return nil, err
	}
	model, err := generate.NewModel(client, stats, generate.ModelOptions{
		Model:   name,
		Options: llm.Options{NumCtx: 2048, NumPredict: 256, NumThread: o.threads, Temperature: 0.7, Seed: seed},
		Seed:    seed,
	})
	if err != nil {
		return nil, err
	}
	return &writer{options: o, model: model, documents: shuffled(c), began: time.Now()}, nil
}

// bm25 knows how rare a term is.
func bm25(documents []collections.Document) (generate.Stats, error) {
	return retrieve.NewBM25(func(yield func(corpus.Chunk, error) bool) {
		for _, d := range documents {
			if !yield(chunk(d), nil) {
				return
			}
		}
	}, retrieve.DefaultBM25())
}

// shuffled are the documents with a text beside the title, in a random order
// that is always the same.
func shuffled(c collections.Collection) []collections.Document {
	var list []collections.Document
	for _, d := range c.Documents {
		if len(d.Text) > len(d.Title)+minText {
			list = append(list, d)
		}
	}
	seeded.Rand(seed, "queries", c.Name).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func chunk(d collections.Document) corpus.Chunk {
	return corpus.Chunk{ID: d.ID, DocID: d.ID, Text: d.Text, End: len(d.Text), Unit: corpus.UnitDocument, Language: "en"}
}

// types are asked in this order, the first one turning with the document:
// half factual, three tenths keyword, a fifth reformulated, as goldgen's
// default mix.
func types(document int) []string {
	turns := []string{"factual", "keyword", "factual", "reformulated", "keyword", "factual", "keyword", "factual", "reformulated", "factual"}
	first := turns[document%len(turns)]
	list := []string{first}
	for _, t := range []string{datasets.Factual, datasets.Keyword, datasets.Reformulated} {
		if t != first {
			list = append(list, t)
		}
	}
	return list
}

// write asks about one document after the other until there are enough queries
// of both kinds.
func (w *writer) write(ctx context.Context) ([]study.Written, error) {
	var all []study.Written
	one, three := 0, 0
	for at := 0; at < len(w.documents) && one < w.queries; {
		batch := min(2*w.concurrency, len(w.documents)-at)
		lists := make([][]study.Written, batch)
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(w.concurrency)
		for i := range batch {
			group.Go(func() (err error) {
				lists[i], err = w.document(ctx, at+i, three < w.queries)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		all = append(all, slices.Concat(lists...)...)
		one, three = len(study.Kept(all, study.OneADocument)), len(study.Kept(all, study.ThreeADocument))
		at += batch
		fmt.Fprintf(os.Stderr, "%s: %d documents, %d queries one a document, %d three a document\n", time.Since(w.began).Round(time.Second), at, one, three)
	}
	return all, nil
}

// document asks for a document's first query, or for three.
func (w *writer) document(ctx context.Context, at int, three bool) ([]study.Written, error) {
	d := w.documents[at]
	list := types(at)
	if !three {
		list = list[:1]
	}
	var units []generate.Unit
	lines := make([]study.Written, len(list))
	var places []int // of the units
	for slot, t := range list {
		had, ok := w.had[asked{d.ID, slot, t}]
		if lines[slot] = had; ok {
			continue
		}
		places = append(places, slot)
		row := sample.Row{CaseID: fmt.Sprintf("%s-%d", d.ID, slot), ChunkIDs: []string{d.ID}, DocIDs: []string{d.ID}, QueryType: t, Slot: slot}
		units = append(units, generate.Unit{Row: row, Chunks: []corpus.Chunk{chunk(d)}, Doc: corpus.Document{ID: d.ID, Title: d.Title, Text: d.Text, Language: "en"}})
	}
	outcomes, err := w.model.WriteAll(ctx, units)
	if err != nil {
		return nil, err
	}
	for i, o := range outcomes {
		lines[places[i]] = line(units[i].Row, o)
	}
	return lines, nil
}

func line(row sample.Row, o generate.Outcome) study.Written {
	w := study.Written{Document: row.DocIDs[0], Place: row.Slot, Type: row.QueryType}
	if o.Reject != nil {
		w.Query, w.Refused = o.Reject.Query, o.Reject.Reason
		return w
	}
	w.Query, w.Evidence = o.Case.Query, o.Case.Evidence
	w.Model, w.Prompt = o.Case.Provenance.Generator, o.Case.Provenance.Prompt
	return w
}

// unchecked answers the checks that ask the model a second time with yes; the rest
// it passes on.
type unchecked struct {
	llm.Client
	checks map[string]bool // by the first message of their prompt, which is the same for all queries
}

// checkPrompts is how the ids of prompts begin that check what was written.
const checkPrompts = "check-"

func newUnchecked(client llm.Client) (*unchecked, error) {
	all, err := prompts.All()
	if err != nil {
		return nil, err
	}
	c := &unchecked{client, map[string]bool{}}
	for _, p := range all {
		if !strings.HasPrefix(p.ID, checkPrompts) {
			continue
		}
		vars := map[string]string{}
		for _, name := range slices.Concat(p.Vars, p.Data) {
			vars[name] = ""
		}
		messages, err := p.Render(vars)
		if err != nil {
			return nil, err
		}
		c.checks[messages[0].Content] = true
	}
	return c, nil
}

// Complete implements llm.Client.
func (c *unchecked) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if c.checks[r.Messages[0].Content] {
		return llm.Reply{Text: "yes", FinishReason: llm.FinishStop}, nil
	}
	return c.Client.Complete(ctx, r)
}

func summary(list []study.Written) string {
	reasons := map[string]int{}
	for _, q := range list {
		reasons[q.Refused]++
	}
	parts := []string{fmt.Sprintf("%d asked, %d kept", len(list), reasons[""])}
	delete(reasons, "")
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		parts = append(parts, fmt.Sprintf("%s %d", reason, reasons[reason]))
	}
	return strings.Join(parts, ", ")
}
