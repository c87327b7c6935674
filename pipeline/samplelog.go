package pipeline

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/internal/filedigest"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/sample"
)

// drawAll draws the plan over the corpus, and beside it that of the query log
// where there is one. Real queries come first: where a written one says the same,
// it is the written one that goes.
func (p *Project) drawAll(ctx context.Context, s *corpus.Snapshot) (*sample.Plan, error) {
	o := p.Config.Sample
	if o.Queries == "" {
		return p.draw(ctx, s, o)
	}
	if err := p.fetchLog(ctx); err != nil {
		return nil, err
	}
	log, err := sample.DrawLog(ctx, p.local(o.Queries), o)
	if err != nil {
		return nil, err
	}
	log.Summary.File = o.Queries
	if log.Summary.Digest, err = p.logDigest(); err != nil {
		return nil, err
	}
	if log.Summary.UnknownClicked, err = unknownClicked(s, log.Rows); err != nil {
		return nil, err
	}
	p.noteLog(&log.Summary)
	plan := &sample.Plan{Rows: []sample.Row{}, Shortfall: log.Shortfall, Coverage: sample.Coverage{Excluded: map[string]int{}, Strata: []sample.Stratum{}}}
	if o.Cases -= o.LogCases(); o.Cases > 0 {
		if plan, err = p.draw(ctx, s, o); err != nil {
			return nil, err
		}
		plan.Shortfall = append(log.Shortfall, plan.Shortfall...)
	}
	join(plan, log)
	return plan, nil
}

// logDigest tells the query log as it is now from another, "" without one.
func (p *Project) logDigest() (string, error) {
	if p.Config.Sample.Queries == "" {
		return "", nil
	}
	return filedigest.SHA256(p.local(p.Config.Sample.Queries))
}

// unknownClicked counts the clicked ids of a log's rows that name neither a chunk
// nor a document of the snapshot.
func unknownClicked(s *corpus.Snapshot, rows []sample.Row) (int, error) {
	left := map[string]bool{}
	for i := range rows {
		for _, id := range rows[i].Asked.Clicked {
			left[id] = true
		}
	}
	if len(left) == 0 {
		return 0, nil
	}
	for c, err := range s.ChunkInfos() {
		if err != nil {
			return 0, err
		}
		delete(left, c.ChunkID)
		delete(left, c.DocID)
	}
	return len(left), nil
}

// join puts the rows of a log before those of the corpus, reserves behind both.
func join(plan *sample.Plan, log *sample.LogPlan) {
	logMain, main := firstReserve(log.Rows), firstReserve(plan.Rows)
	plan.Rows = slices.Concat(log.Rows[:logMain], plan.Rows[:main], log.Rows[logMain:], plan.Rows[main:])
	plan.Coverage.Log = &log.Summary
	plan.Coverage.Planned += logMain
	plan.Coverage.Reserves += len(log.Rows) - logMain
}

func firstReserve(rows []sample.Row) int {
	if i := slices.IndexFunc(rows, func(r sample.Row) bool { return r.Reserve }); i >= 0 {
		return i
	}
	return len(rows)
}

// noteLog says what of a log was not taken, and never what it said.
func (p *Project) noteLog(s *sample.LogSummary) {
	if s.Bad > 0 {
		for _, bad := range s.BadFirst {
			p.Log.Warn("query log: " + bad)
		}
		p.Log.Warn(fmt.Sprintf("query log: %s passed over, the first of them above", wording.Count(s.Bad, "record")))
	}
	for _, kind := range sample.PersonalKinds() {
		if n := s.Personal[kind]; n > 0 {
			p.Log.Warn(fmt.Sprintf("query log: %s dropped for personal data: %s", wording.Count(n, "query"), kind))
		}
	}
	if n := s.UnknownClicked; n > 0 {
		p.Log.Warn(fmt.Sprintf("query log: %s clicked that the snapshot has neither a chunk nor a document of: left out of the pools", wording.Count(n, "id")))
	}
	if s.Sampled {
		p.Log.Warn("query log: more wordings than are counted: the rare ones are a sample, and the counts of the others are lower bounds")
	}
	if n := s.Dropped[sample.DroppedEmpty]; n > 0 {
		p.Log.Warn(fmt.Sprintf("query log: %s dropped: without a letter or digit", wording.Count(n, "query")))
	}
	if n := s.Dropped[sample.DroppedLong]; n > 0 {
		p.Log.Warn(fmt.Sprintf("query log: %s dropped: longer than a query", wording.Count(n, "query")))
	}
}

// besideLog lets the plan's rows of a query log past the writer; where that is a
// model, it says what they are.
func (p *Project) besideLog(w generate.Writer, pin *datasets.ModelPin, rows []sample.Row, seed int64) (generate.Writer, error) {
	if !slices.ContainsFunc(rows, func(r sample.Row) bool { return r.Origin == datasets.OriginLog }) {
		return w, nil
	}
	model, ok := w.(*generate.Model)
	if !ok {
		return generate.Logged(w, nil, seed), nil
	}
	tagger, err := model.Tagger()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	maps.Copy(pin.Prompts, tagger.Prompts())
	return generate.Logged(w, tagger, seed), nil
}

// maxClickedChunks is how many chunks of a clicked document join a pool.
const maxClickedChunks = 10

// clicked gives, by case id, the chunks that people opened for a logged query: of
// a document its first. They join the pool and are no labels; ids that the corpus
// lacks are left out.
func clicked(view judge.CorpusView, records []generate.Record) map[string][]string {
	out := map[string][]string{}
	for _, r := range records {
		for _, id := range r.Clicked {
			if _, ok := view.Position(id); ok {
				out[r.Case.ID] = append(out[r.Case.ID], id)
				continue
			}
			of := view.DocChunks(id)
			for _, pos := range of[:min(len(of), maxClickedChunks)] {
				out[r.Case.ID] = append(out[r.Case.ID], view.Chunk(pos).ID)
			}
		}
	}
	return out
}

// allLogged reports whether people worded all queries of a set: then none of them
// was made without a model, whatever the writer is.
func allLogged(candidates []judge.Candidate) bool {
	return len(candidates) > 0 && !slices.ContainsFunc(candidates, func(c judge.Candidate) bool { return c.Case.Origin != datasets.OriginLog })
}
