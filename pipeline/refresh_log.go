package pipeline

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// lookAtLog notes the digest of the query log where it is not the one that the newest
// version was made with, and until when that went; of one where it is not known which
// that was, it is another one. A set that no plan was drawn for takes none.
func (r *refresher) lookAtLog() error {
	m := &r.set.Manifest
	now, err := r.logDigest()
	if err != nil || now == "" || m.Pins.Plan == "" {
		return err
	}
	var before sample.LogSummary
	var c sample.Coverage
	if json.Unmarshal(m.Coverage, &c) == nil && c.Log != nil {
		before = *c.Log
	}
	if now != cmp.Or(m.Pins.Queries, before.Digest) { // it was not always pinned
		r.drift.Queries, r.logUntil = now, before.Until
	}
	return nil
}

// newLog reports a query log that is another one.
func (r *refresher) newLog() bool { return r.drift.Queries != "" }

// readLog takes new queries of the log into a set whose corpus is the same. Where it
// has none that the set can take, the set is confirmed as it is.
func (r *refresher) readLog(ctx context.Context) (*Refreshed, error) {
	if _, err := r.embedChunks(ctx, r.to); err != nil {
		return nil, err
	}
	counts := r.set.Manifest.Counts
	docs := r.to.Manifest().Documents
	r.logAlone, r.draft = true, datasets.Derive(r.set, "")
	r.draft.Refreshed, r.draft.Manifest.Pins.Goldgen = true, r.Version
	r.drift = datasets.Drift{
		From: r.set.Manifest.Pins.Corpus.Digest, Queries: r.drift.Queries,
		Documents: datasets.RebaseDocuments{Before: docs, Unchanged: docs},
		Strata:    []datasets.StratumDrift{}, Reasons: map[string]int{},
		Kept: counts.Active + counts.NeedsReview,
	}
	b, err := r.openBench(ctx, r.to, r.mayExec())
	if err != nil {
		return nil, err
	}
	defer b.Close()
	if err := r.fill(ctx, b); err != nil {
		return nil, err
	}
	if nothing := r.drift.Added+r.drift.Surplus == 0; nothing && !(r.DryRun && r.asked > 0) {
		return r.confirm(ctx)
	}
	return r.finish(ctx)
}

// unasked counts by cell the planned queries of the log that are new. Reserves stand in
// for those that are refused.
func (f *filling) unasked(byCell map[cell][]sample.Row) map[cell]int {
	out := map[cell]int{}
	for c, rows := range byCell {
		for i := range rows {
			if row := &rows[i]; row.Origin == datasets.OriginLog && !row.Reserve && f.asksNew(row) {
				out[c]++
			}
		}
	}
	return out
}

// asksNew reports a logged query that was first asked after the log before had ended;
// without times, every one that was never tried counts as new.
func (r *refresher) asksNew(row *sample.Row) bool {
	if row.Asked == nil || row.Asked.First == nil || r.logUntil == nil {
		return true
	}
	return row.Asked.First.After(*r.logUntil)
}

// coverage is the plan's with what the set has of it.
func (f *filling) coverage(plan json.RawMessage) (json.RawMessage, error) {
	var c sample.Coverage
	if err := json.Unmarshal(plan, &c); err != nil {
		return nil, err
	}
	var held []sample.Held
	for i := range f.draft.Cases {
		if one := &f.draft.Cases[i]; counts(one) {
			held = append(held, f.held(one))
		}
	}
	return json.Marshal(c.Of(held))
}

// held is what a case says of the corpus.
func (f *filling) held(c *datasets.Case) sample.Held {
	h := sample.Held{Stratum: f.cellOf(c).stratum, QueryType: c.QueryType, Logged: c.Origin == datasets.OriginLog}
	for _, id := range c.Source {
		at, there := f.chunks[id]
		if !there {
			continue
		}
		h.Documents = append(h.Documents, at.document)
		if at.topic >= 0 {
			h.Topics = append(h.Topics, at.topic)
		}
	}
	return h
}
