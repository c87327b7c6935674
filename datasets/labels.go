package datasets

import (
	"fmt"
	"slices"
)

// SourceMode says how the chunk that a query was written from is read.
type SourceMode string

// The three readings of a source chunk.
const (
	SourceIn     SourceMode = "in"     // its synthetic label: grade 3
	SourceJudged SourceMode = "judged" // what a judge, the label model or a person said of it
	SourceOut    SourceMode = "out"    // taken out of rankings and labels
)

// SourceAuto is the value of --source that leaves the reading to the set's trust.
const SourceAuto = "auto"

// SourceMode reads the value of --source for a set with this trust. SourceAuto is
// out where a label model labels the set, and in elsewhere: what a set without
// other labels has is its sources, and beside a label model's labels they did not
// help on any collection (docs/trust.md).
func (t Trust) SourceMode(value string) (SourceMode, error) {
	if value != SourceAuto {
		return ParseSourceMode(value)
	}
	if t.Level == TrustPrior || t.Level == TrustFitted {
		return SourceOut, nil
	}
	return SourceIn, nil
}

// ParseSourceMode reads the value of --source where no set is to be asked.
func ParseSourceMode(s string) (SourceMode, error) {
	switch m := SourceMode(s); m {
	case SourceIn, SourceJudged, SourceOut:
		return m, nil
	}
	return "", fmt.Errorf("source mode %q: want in, judged or out", s)
}

// Label is what is to be read of one chunk's judgments. At most one of Grade
// and P is set: a person's grade wins over p, and p over a model's grade.
type Label struct {
	Grade  *int      // 0-3
	P      *float64  // P(grade >= the set's relevant_grade)
	PDraws []float64 // the same under each coefficient vector; nil without a label model
	Human  bool      // a person's grade
	Known  bool      // Grade or P is set; an unknown label counts as unjudged
}

// CaseLabels is the compact view of a case's judgments that metrics need.
type CaseLabels struct {
	Chunks   map[string]Label // by chunk id; unknown labels included
	Dropped  []string         // chunks to take out of rankings too (mode out), sorted
	Fallback bool             // read as in, for want of another known label of the source
}

// Labels reads the case's judgments under a mode. The source chunks are those
// in c.Source and those with a synthetic judgment. Under judged, a case in
// which a source chunk has no known label but the synthetic one is read as in
// and says so. An unknown mode is read as in.
func (c *Case) Labels(mode SourceMode) CaseLabels {
	byChunk := JudgmentsByChunk(c.Judgments)
	sources := c.sourceChunks()
	out := CaseLabels{Chunks: make(map[string]Label, len(byChunk))}
	if mode == SourceJudged && !allKnown(byChunk, sources) {
		mode, out.Fallback = SourceIn, true
	}
	if mode == SourceOut {
		out.Dropped = sources
	}
	for id, judgments := range byChunk {
		if mode == SourceOut && slices.Contains(sources, id) {
			continue
		}
		out.Chunks[id] = readLabel(judgments, mode)
	}
	return out
}

// EffectiveLabel reads one chunk of the case as Labels does. Known is false
// for a chunk without a judgment and for a source chunk under out.
func EffectiveLabel(c *Case, chunkID string, mode SourceMode) Label {
	return c.Labels(mode).Chunks[chunkID]
}

// sourceChunks lists, sorted, the chunks that the query was written from.
func (c *Case) sourceChunks() []string {
	ids := slices.Clone(c.Source)
	for i := range c.Judgments {
		if c.Judgments[i].OfSource() {
			ids = append(ids, c.Judgments[i].ChunkID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// JudgmentsByChunk groups judgments by their chunk, each group in their order.
func JudgmentsByChunk(judgments []Judgment) map[string][]Judgment {
	m := make(map[string][]Judgment, len(judgments))
	for _, j := range judgments {
		m[j.ChunkID] = append(m[j.ChunkID], j)
	}
	return m
}

// allKnown reports whether each of the chunks has a known label that is not
// the synthetic one.
func allKnown(byChunk map[string][]Judgment, ids []string) bool {
	for _, id := range ids {
		if !readLabel(byChunk[id], SourceJudged).Known {
			return false
		}
	}
	return true
}

// readLabel applies the precedence to one chunk's judgments. A rival is wrong by
// the way in which the query was made: only a person knows better.
func readLabel(judgments []Judgment, mode SourceMode) Label {
	if j := find(judgments, (*Judgment).OfSource); mode == SourceIn && j != nil && j.Grade != nil {
		return Label{Grade: j.Grade, Known: true}
	}
	if j := find(judgments, graded(ByHuman)); j != nil {
		return Label{Grade: j.Grade, Human: true, Known: true}
	}
	if j := find(judgments, (*Judgment).OfRival); j != nil {
		return Label{Grade: j.Grade, Known: true}
	}
	for _, by := range []string{ByLabelModel, ByLLM} {
		if j := find(judgments, func(j *Judgment) bool { return j.By == by && j.P != nil }); j != nil {
			return Label{P: j.P, PDraws: j.PDraws, Known: true}
		}
	}
	if j := find(judgments, graded(ByLLM)); j != nil {
		return Label{Grade: j.Grade, Known: true}
	}
	if j := find(judgments, graded(ByLabelModel)); j != nil {
		return Label{Grade: j.Grade, Known: true}
	}
	return Label{}
}

func graded(by string) func(*Judgment) bool {
	return func(j *Judgment) bool { return j.By == by && j.Grade != nil }
}

func find(judgments []Judgment, match func(*Judgment) bool) *Judgment {
	for i := range judgments {
		if match(&judgments[i]) {
			return &judgments[i]
		}
	}
	return nil
}
