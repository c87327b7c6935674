package pipeline

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/judge"
)

// underGolden puts both sides' rankings under the labels of another version.
func (p *Project) underGolden(o CompareOptions, sides ...*Kept) ([]string, error) {
	if p == nil {
		return nil, hinted("run it in the project's folder, or name it with -C", "%w: --golden %s: no goldgen.yaml here, and sets are beside it", ErrConfig, o.Golden)
	}
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, err
	}
	var notes []string
	for i, k := range sides {
		more, err := k.rescoreUnder(set)
		if err != nil {
			return nil, err
		}
		for _, n := range more {
			notes = append(notes, []string{"base", "candidate"}[i]+": "+n)
		}
	}
	return notes, nil
}

// rescoreUnder replaces what is known of the cases by what a version of the
// set says, and keeps the rankings.
func (k *Kept) rescoreUnder(set *datasets.Set) ([]string, error) {
	m, ref := set.Manifest, set.Ref()
	switch {
	case k.Pins == nil:
		return nil, fmt.Errorf("%w: result %s is of TREC files, not of a golden set", ErrNotComparable, k.Dir)
	case k.Pins.Corpus.Digest != m.Pins.Corpus.Digest:
		return nil, hinted("score the retriever over the corpus of that set with goldgen eval",
			"%w: result %s was made over another corpus than golden set %s", ErrNotComparable, k.Dir, ref)
	}
	mode, err := datasets.ParseSourceMode(k.Result.Conventions.Source)
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", k.Dir, err)
	}
	r := rescoring{kept: k, mode: mode, section: k.sections()}
	golden := r.match(activeCases(set, nil))
	if len(r.cases) == 0 {
		return nil, fmt.Errorf("%w: no case of golden set %s was asked in result %s", ErrNotComparable, ref, k.Dir)
	}
	k.golden, k.Scoring.Shift, k.Scoring.Learning = golden, judge.ShiftsIn(m.Trust.Figures, mode), judge.LearningIn(m.Trust.Figures)
	k.Input.Cases, k.Input.Seed, k.Input.SourceOnly = r.cases, m.Pins.Seed, r.sourceOnly
	if k.Scoring.MinGrade == k.Scoring.SetGrade {
		k.Input.MinGrade = m.RelevantGrade
	}
	k.Input.Golden = &eval.GoldenRef{Name: ref.Name, Version: ref.Version, Ref: ref.String(), Path: set.Dir, Digest: ref.Digest}
	k.Input.Trust, k.Input.TrustDetail = m.Trust.Level, m.Trust.Why
	return r.notes(ref), nil
}

// rescoring joins kept rankings to the cases of another version.
type rescoring struct {
	kept    *Kept
	mode    datasets.SourceMode
	section func(chunkID string) string

	cases                []eval.Case
	sourceOnly           int
	neverAsked, reworded int
	moved                int // evidence, where spans are scored
}

// match returns the set's cases that the result asked as they stand.
func (r *rescoring) match(cases []datasets.Case) (matched []datasets.Case) {
	asked := make(map[string]*eval.Case, len(r.kept.Input.Cases))
	for i := range r.kept.Input.Cases {
		asked[r.kept.Input.Cases[i].ID] = &r.kept.Input.Cases[i]
	}
	for i := range cases {
		old, ok := asked[cases[i].ID]
		if !ok {
			r.neverAsked++
			continue
		}
		now, sourceOnly := eval.FromGolden(&cases[i], r.mode, r.section)
		if !sameQuestion(old.Background, now.Background) {
			r.reworded++
			continue
		}
		if r.kept.Input.SpanUnit != "" {
			if !samePlaces(old.Background.Evidence, now.Background.Evidence) {
				r.moved++
				continue
			}
			now.Background.Evidence = old.Background.Evidence // with its tokens
		}
		now.Ranking, now.Scores, now.Spans, now.Took, now.Failed = old.Ranking, old.Scores, old.Spans, old.Took, old.Failed
		now.Unplaced = old.Unplaced
		if sourceOnly {
			r.sourceOnly++
		}
		r.cases, matched = append(r.cases, now), append(matched, cases[i])
	}
	return matched
}

func (r *rescoring) notes(ref datasets.Ref) (notes []string) {
	if r.neverAsked > 0 {
		notes = append(notes, fmt.Sprintf("%s of %s %s not asked and left out", wording.Count(r.neverAsked, "case"), ref, wording.Pick(r.neverAsked, "was", "were")))
	}
	if r.reworded > 0 {
		notes = append(notes, fmt.Sprintf("%s of %s %s asked with another query, scope or filters and left out", wording.Count(r.reworded, "case"), ref, wording.Pick(r.reworded, "was", "were")))
	}
	if r.moved > 0 {
		notes = append(notes, fmt.Sprintf("%s of %s left out, whose evidence is not what it was when asked: spans are counted in tokens of the corpus", wording.Count(r.moved, "case"), ref))
	}
	return notes
}

func samePlaces(a, b []eval.Span) bool {
	return slices.EqualFunc(a, b, func(x, y eval.Span) bool { return x.Doc == y.Doc && x.Start == y.Start && x.End == y.End })
}

// sameQuestion reports whether a ranking for one case is one for the other.
func sameQuestion(a, b *eval.Background) bool {
	sameTime := (a.AsOf == nil) == (b.AsOf == nil) && (a.AsOf == nil || a.AsOf.Equal(*b.AsOf))
	return a.Query == b.Query && sameTime && maps.EqualFunc(a.Scope, b.Scope, slices.Equal) &&
		slices.EqualFunc(a.Filters, b.Filters, func(x, y corpus.Filter) bool {
			return x.Field == y.Field && x.Op == y.Op && slices.Equal(x.Values, y.Values)
		})
}

// sections looks up the heading section of a chunk as the result knew it.
func (k *Kept) sections() func(chunkID string) string {
	known := map[string]string{}
	for i := range k.Input.Cases {
		b := k.Input.Cases[i].Background
		for j, id := range b.Chunks {
			if j < len(b.Sections) {
				known[id] = b.Sections[j]
			}
		}
	}
	return func(chunkID string) string {
		if s, ok := known[chunkID]; ok {
			return s
		}
		return chunkID
	}
}
