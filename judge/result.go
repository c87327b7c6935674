package judge

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goldgen/goldgen/datasets"
)

// verdict assesses the judge on the canaries graded so far. A random chunk with
// the text of a source, or nearly so, is no canary.
func (r *runner) verdict() Verdict {
	if !r.deps.Judge.tested() {
		return Verdict{}
	}
	return Assess(slices.Concat(r.known, r.canaries()))
}

func (r *runner) canaries() []Canary {
	var canaries []Canary
	for i := range r.candidates {
		w := r.works[i]
		if w == nil {
			continue
		}
		for n, item := range w.items {
			if w.grades[n] == nil || !(item.Source || item.Random && !item.Copy && !item.Near) {
				continue
			}
			canaries = append(canaries, Canary{
				CaseID: r.candidates[i].Case.ID, ChunkID: item.ChunkID, Source: item.Source, Grade: *w.grades[n],
			})
		}
	}
	return canaries
}

// bestSources gives the best grade of the sources of each case that was graded
// in full.
func (r *runner) bestSources() map[string]*int {
	best := map[string]*int{}
	for i, w := range r.works {
		if !w.full {
			continue
		}
		var top *int
		for n, item := range w.items {
			if g := w.grades[n]; item.Source && g != nil && g.Grade != nil && (top == nil || *g.Grade > *top) {
				top = g.Grade
			}
		}
		best[r.candidates[i].Case.ID] = top
	}
	return best
}

func (r *runner) result(settled Settlement, v Verdict) Result {
	out := Result{
		Cases: settled.Cases, Shortfall: settled.Shortfall, Verdict: v,
		Trust: trustOf(r.deps.Judge, v, r.o.Built),
		Pairs: r.progress.Pairs, Unknown: r.unknown, CutPairs: r.cut, Calls: r.calls,
		Notes: notesOf(r.deps.Judge, v),
	}
	for i := range out.Cases {
		c := &out.Cases[i]
		fill(c, r.works[r.index[c.ID]], r.deps.Judge, v)
	}
	if r.cut > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d of %d passages did not fit the judge's window and were cut, at the end of a sentence where there was one", r.cut, r.progress.Pairs))
	}
	out.Trust = WithPanel(out.Trust, out.Cases)
	if panel, ok := r.deps.Judge.Grader.(*Panel); ok {
		out.Notes = append(out.Notes, panel.memberNotes(r.canaries())...)
	}
	Negatives{View: r.deps.View, RelevantGrade: RelevantGrade, JudgePassed: v.State == Passed}.Fill(out.Cases)
	out.Missed = MissedIn(out.Cases, RelevantGrade, v.State == Passed)
	return out
}

// fill writes what is known of the pool into the case.
func fill(c *datasets.Case, w *work, j Judge, v Verdict) {
	c.Judgments = withSources(c, w)
	c.HardNegatives = nil
	for n, item := range w.items {
		if w.grades[n] == nil {
			continue
		}
		c.Judgments = append(c.Judgments, judgmentOf(item, *w.grades[n], j, v.State == Blind))
	}
	c.Difficulty.SourceRankBM25 = sourceRank(w.items, "bm25")
	c.Difficulty.SourceRankDense = sourceRank(w.items, "dense")
}

// withSources keeps the judgments that are not a model's and sees to it that
// each source has one by synthetic.
func withSources(c *datasets.Case, w *work) []datasets.Judgment {
	var kept []datasets.Judgment
	synthetic := map[string]bool{}
	for _, j := range c.Judgments {
		if j.By != datasets.ByLLM {
			kept = append(kept, j)
			synthetic[j.ChunkID] = synthetic[j.ChunkID] || j.By == datasets.BySynthetic
		}
	}
	for _, item := range w.items {
		if item.Source && !synthetic[item.ChunkID] {
			kept = append(kept, datasets.SourceJudgment(item.ChunkID, item.DocID))
		}
	}
	return kept
}

func judgmentOf(item Item, g Grade, j Judge, blind bool) datasets.Judgment {
	out := datasets.Judgment{
		ChunkID: item.ChunkID, DocID: item.DocID, By: datasets.ByLLM, Judge: j.Name,
		Features: featuresOf(item, g), Inclusion: datasets.RoundInclusion(item.Inclusion),
	}
	if g.Grade != nil && !blind {
		grade := *g.Grade
		out.Grade, out.Label = &grade, datasets.LabelOf(grade, RelevantGrade)
	}
	return out
}

// featuresOf are what the pool and the judge know of a pair: rank_<member> and
// score_<member>, members, source, copy, near, neighbour, random (1 where so),
// and grade, expected_grade, p_yes, passage_cut of the judge, and what the members
// of a panel said (panel_...). What is not known is absent, never 0.
func featuresOf(item Item, g Grade) map[string]float64 {
	f := map[string]float64{"members": float64(item.Members)}
	for name, rank := range item.Ranks {
		f["rank_"+name] = float64(rank.Rank)
		f["score_"+name] = datasets.Round(rank.Score)
	}
	for name, is := range map[string]bool{
		"source": item.Source, "copy": item.Copy, "near": item.Near, "neighbour": item.Neighbour,
		"random": item.Random, "passage_cut": g.Cut,
	} {
		if is {
			f[name] = 1
		}
	}
	panelFeatures(f, g.Votes)
	if g.Grade != nil {
		f["grade"] = float64(*g.Grade)
	}
	if g.Expected != nil {
		f["expected_grade"] = datasets.Round(*g.Expected)
	}
	if g.PYes != nil {
		f["p_yes"] = datasets.Round(*g.PYes)
	}
	return f
}

// sourceRank is the best rank that a member gave a source, nil for none.
func sourceRank(items []Item, member string) *int {
	var best *int
	for _, item := range items {
		if r, ok := item.Ranks[member]; ok && item.Source && (best == nil || r.Rank < *best) {
			best = &r.Rank
		}
	}
	return best
}

// trustOf says how far labels can be trusted. Queries that no model wrote are
// worth nothing, whoever judges them.
func trustOf(j Judge, v Verdict, built bool) datasets.Trust {
	t := datasets.Trust{Level: datasets.TrustSourceOnly, Judge: v.State}
	switch {
	case j.Grader == nil:
		t.Why = "no judge: the label is the source chunk"
	case j.Builtin:
		t.Why = BuiltinNote
	case v.State == Passed:
		t.Level, t.Why = datasets.TrustJudged, "the judge passed its canaries: "+v.Why
	default:
		t.Why = fmt.Sprintf("the judge is %s: %s", v.State, v.Why)
	}
	if built {
		t.Level, t.Why = datasets.TrustNone, "the queries were made without a model; "+t.Why
	}
	if v.State != "" {
		t.Figures = v.Figures()
	}
	return t
}

// Figures are the verdict's numbers to 4 decimals, as a manifest keeps them.
func (v Verdict) Figures() map[string]float64 {
	f := map[string]float64{
		"canary_auc": v.AUC, "canary_auc_low": v.Low, "canary_auc_high": v.High,
		"canary_one_grade_share": v.OneGradeShare, "canary_sources": float64(v.Sources),
		"canary_randoms": float64(v.Randoms), "canary_unknown": float64(v.Unknown),
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		f[name] = datasets.Round(f[name])
	}
	return f
}

func notesOf(j Judge, v Verdict) []string {
	switch {
	case j.Builtin:
		return []string{BuiltinNote}
	case v.State == Blind:
		return []string{fmt.Sprintf("the judge %s is blind (%s): its grades are stored as unknown, the set keeps its source labels", j.Name, v.Why)}
	case v.State == Untested:
		return []string{fmt.Sprintf("the judge %s is untested: %s", j.Name, v.Why)}
	}
	return nil
}
