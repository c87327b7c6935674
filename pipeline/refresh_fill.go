package pipeline

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/sample"
)

// tagCritical is the tag of cases that no refresh retires as surplus.
const tagCritical = "critical"

// fill writes cases until the strata and types of the plan over the present corpus
// are filled again, and retires what they have too many of. A set that no plan was
// drawn for, an imported one, is left as it is.
func (r *refresher) fill(ctx context.Context, b *bench) error {
	if r.set.Manifest.Pins.Plan == "" {
		return nil
	}
	header, plan, err := r.Sample(ctx, r.to.Dir())
	if err != nil {
		return err
	}
	f := &filling{refresher: r, plan: plan, balance: newBalance(plan, r.Config.Golden)}
	if err := f.place(ctx); err != nil {
		return err
	}
	short := header.Shortfall
	rows := f.rows()
	if r.asked = len(rows); r.asked > 0 {
		header.Shortfall = nil
		if err := f.write(ctx, b, header, rows); err != nil {
			return err
		}
	}
	f.retire()
	m := &r.draft.Manifest
	m.Pins = f.pins(header.Pins)
	m.Shortfall = f.lacking(short)
	m.Coverage, err = f.coverage(header.Coverage)
	return err
}

// filling is the set over the present corpus beside the plan for it.
type filling struct {
	*refresher
	*balance
	plan   []sample.Row
	chunks map[string]chunkPlace // that the set's cases and the plan are about
	places []casePlace           // of the cases that count
	short  []datasets.Shortfall  // what the new rows could not give
}

// place counts the cases that are scored, and logged ones also where they wait for
// review: in the stratum in which their source lies now.
func (f *filling) place(ctx context.Context) (err error) {
	wanted := map[string]bool{}
	for i := range f.draft.Cases {
		for _, id := range f.draft.Cases[i].Source {
			wanted[id] = true
		}
	}
	for i := range f.plan {
		for _, id := range f.plan[i].ChunkIDs {
			wanted[id] = true
		}
	}
	if f.chunks, err = f.placesOf(ctx, f.to, wanted); err != nil {
		return err
	}
	planned := map[string]bool{}
	for i := range f.plan {
		planned[f.plan[i].CaseID] = !f.plan[i].Reserve
	}
	for i := range f.draft.Cases {
		c := &f.draft.Cases[i]
		if !counts(c) {
			continue
		}
		place := casePlace{id: c.ID, cell: f.cellOf(c), planned: planned[c.ID]}
		f.add(place.cell, 1)
		f.places = append(f.places, place)
	}
	return nil
}

func counts(c *datasets.Case) bool {
	return c.Status == datasets.Active || c.Origin == datasets.OriginLog && c.Status == datasets.NeedsReview
}

// cellOf is where a case counts: a logged one in the band that it was drawn from.
func (f *filling) cellOf(c *datasets.Case) cell {
	out := cell{c.Provenance.Stratum, c.QueryType}
	if c.Origin == datasets.OriginLog {
		out.queryType = loggedCell
		return out
	}
	if len(c.Source) > 0 {
		out.stratum = cmp.Or(f.chunks[c.Source[0]].stratum, out.stratum)
	}
	return out
}

// chunkPlace is where a chunk lies.
type chunkPlace struct {
	stratum, document string
	topic             int // -1 without topics
}

// placesOf says where chunks lie.
func (p *Project) placesOf(ctx context.Context, s *corpus.Snapshot, chunks map[string]bool) (map[string]chunkPlace, error) {
	o, topics := p.Config.Sample, []int(nil)
	if slices.Contains(o.Strata, sample.ByTopic) {
		var err error
		if topics, err = p.topics(s); err != nil {
			return nil, err
		}
	}
	all := infos(ctx, s)
	if p.needsChunkFields() {
		all = fullInfos(ctx, s)
	}
	out := map[string]chunkPlace{}
	for info, err := range all {
		if err != nil {
			return nil, err
		}
		if !chunks[info.ChunkID] {
			continue
		}
		at := chunkPlace{strings.Clone(o.Stratum(&info, topics)), strings.Clone(info.DocID), -1}
		if info.Row < len(topics) {
			at.topic = topics[info.Row]
		}
		out[strings.Clone(info.ChunkID)] = at
	}
	return out, nil
}

// rows are what to ask of the plan: rows that were not tried yet, in each cell those
// about new text first.
func (f *filling) rows() []sample.Row {
	byCell, order := f.untried()
	left := map[cell]int{}
	for c, rows := range byCell {
		left[c] = len(rows)
	}
	need := f.balance.fill(order, left)
	if f.newLog() {
		f.balance.grow(order, f.unasked(byCell), need)
	}
	var main, reserves []sample.Row
	for _, c := range order {
		if need[c] == 0 {
			continue
		}
		f.add(c, -need[c]) // they count when they are there
		n := wholePairs(byCell[c], need[c])
		for i, row := range byCell[c] {
			if row.Reserve = i >= n; row.Reserve {
				reserves = append(reserves, row)
			} else {
				main = append(main, row)
			}
		}
	}
	return append(main, reserves...)
}

// wholePairs is n, or one more where that would part rows that ask the same.
func wholePairs(rows []sample.Row, n int) int {
	if n > 0 && n < len(rows) && rows[n].Group != "" && rows[n].Group == rows[n-1].Group {
		return n + 1
	}
	return n
}

// untried lists the plan's rows by cell that are neither cases nor rejects; a reject
// for a call that failed is tried again. Where the log alone is another one, its
// queries are what can be new.
func (f *filling) untried() (byCell map[cell][]sample.Row, order []cell) {
	tried := map[string]bool{}
	for i := range f.draft.Cases {
		tried[f.draft.Cases[i].ID] = true
	}
	for _, reject := range f.draft.Rejects {
		tried[reject.CaseID] = tried[reject.CaseID] || reject.Reason != generate.ReasonCallFailed
	}
	byCell = map[cell][]sample.Row{}
	for i := range f.plan {
		c := cellOfRow(&f.plan[i])
		f.margins(c) // a type of reserves alone is there too
		if tried[f.plan[i].CaseID] || f.logAlone && f.plan[i].Origin != datasets.OriginLog {
			continue
		}
		if byCell[c] == nil {
			order = append(order, c)
		}
		byCell[c] = append(byCell[c], f.plan[i])
	}
	for _, rows := range byCell {
		slices.SortStableFunc(rows, func(x, y sample.Row) int { return f.stale(&x) - f.stale(&y) })
	}
	return byCell, order
}

// stale is 0 for a row about new text and for a new query of a log, else 1.
func (r *refresher) stale(row *sample.Row) int {
	if row.Origin == datasets.OriginLog && r.newLog() && r.asksNew(row) {
		return 0
	}
	if slices.ContainsFunc(row.ChunkIDs, func(id string) bool { return r.fresh[id] }) {
		return 0
	}
	return 1
}

// write generates and judges the rows and adds what comes of them to the draft. The
// judge is tested on the canaries of the set and on the new ones together.
func (f *filling) write(ctx context.Context, b *bench, header Header, rows []sample.Row) error {
	made, err := f.generateBeside(ctx, header, rows, f.draft.Cases)
	if err != nil {
		return err
	}
	candidates, rejects := split(made.Records)
	result, pin, err := f.grade(ctx, b, made.Header, candidates, clicked(b.View, made.Records), f.draft)
	if err != nil {
		return err
	}
	f.short = append(slices.Clone(made.Header.Shortfall), result.Shortfall...)
	m := &f.draft.Manifest
	m.Pins.Generator = made.Header.Pins.Generator
	if pin != nil {
		m.Pins.Judge = pin
	}
	f.join(result, append(rejects, result.Rejects...))
	return nil
}

// join adds judged cases and rejects to the draft.
func (f *filling) join(result judge.Result, rejects []datasets.Reject) {
	f.drift.Added = len(result.Cases)
	for i := range result.Cases {
		if c := &result.Cases[i]; counts(c) {
			f.add(f.cellOf(c), 1)
		}
	}
	f.draft.Cases = append(f.draft.Cases, result.Cases...)
	anew := map[string]bool{}
	for i := range rejects {
		anew[rejects[i].CaseID] = true
		if rejects[i].Reason == generate.ReasonCallFailed {
			f.failed++
		}
	}
	old := slices.DeleteFunc(slices.Clone(f.draft.Rejects), func(x datasets.Reject) bool { return anew[x.CaseID] })
	f.draft.Rejects = append(old, rejects...)
	m := &f.draft.Manifest
	m.Funnel = map[string]int{}
	for i := range f.draft.Rejects {
		m.Funnel[f.draft.Rejects[i].Reason]++
	}
	if m.Trust.Level != datasets.TrustNone && len(result.Cases) > 0 {
		m.Trust = result.Trust
	}
	for _, note := range result.Notes {
		if !slices.Contains(m.Notes, note) {
			m.Notes = append(m.Notes, note)
		}
	}
	m.Missed = judge.MissedIn(f.draft.Cases, m.RelevantGrade, m.Trust.Judge == judge.Passed)
}

// lacking is what the plan could not give and what of it the new rows did not. A set
// that takes in new queries beyond those that it lacks is not short of them; where the
// log alone is another one, what it lacks otherwise is what it lacked.
func (f *filling) lacking(plan []datasets.Shortfall) []datasets.Shortfall {
	logged := func(s datasets.Shortfall) bool { return strings.HasPrefix(s.Stratum, sample.LogStratum) }
	var out []datasets.Shortfall
	for _, s := range f.draft.Manifest.Shortfall {
		if f.logAlone && !logged(s) {
			out = append(out, s)
		}
	}
	for _, s := range plan {
		if logged(s) || !f.logAlone {
			out = append(out, s)
		}
	}
	for _, s := range f.short {
		if !logged(s) || f.strata[s.Stratum].have < f.strata[s.Stratum].want {
			out = append(out, s)
		}
	}
	return out
}

// retire takes out what there is too much of. What people wrote or graded, and what
// is critical, stays.
func (f *filling) retire() {
	var may []casePlace
	byID := map[string]*datasets.Case{}
	for i := range f.draft.Cases {
		byID[f.draft.Cases[i].ID] = &f.draft.Cases[i]
	}
	for _, place := range f.places {
		if !kept(byID[place.id]) {
			may = append(may, place)
		}
	}
	inOrder(may)
	for _, id := range f.surplus(may) {
		byID[id].Status, byID[id].Reason = datasets.Retired, "surplus: the plan over the present corpus has fewer of its kind"
		f.drift.Surplus++
		f.drift.Kept--
	}
}

// kept reports whether a case stays whatever the plan says.
func kept(c *datasets.Case) bool {
	return c.Origin != datasets.OriginSynthetic || slices.Contains(c.Tags, tagCritical) ||
		slices.ContainsFunc(c.Judgments, func(j datasets.Judgment) bool { return j.By == datasets.ByHuman })
}

// pins are those of the plan, with the models that the set was made with.
func (f *filling) pins(plan datasets.Pins) datasets.Pins {
	old := f.draft.Manifest.Pins
	plan.Generator, plan.Judge = old.Generator, old.Judge
	if plan.Embedding == nil {
		plan.Embedding = old.Embedding
	}
	return plan
}
