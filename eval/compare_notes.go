package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
)

// trustLevels are those of golden sets, least trusted first.
var trustLevels = []string{
	datasets.TrustNone, datasets.TrustSourceOnly, datasets.TrustJudged, datasets.TrustPrior, datasets.TrustFitted, datasets.TrustReviewed,
}

// lowerTrust is the less trusted of two levels. An unknown level is trusted
// least.
func lowerTrust(a, b string) string {
	if slices.Index(trustLevels, a) <= slices.Index(trustLevels, b) {
		return a
	}
	return b
}

// belowFitted reports whether verdicts need the source-only labels to agree.
func belowFitted(trust string) bool {
	return slices.Index(trustLevels, trust) < slices.Index(trustLevels, datasets.TrustFitted)
}

// kindOf is the kind of a retriever: bm25, run ...
func (r RetrieverRef) kindOf() string {
	kind, _, _ := strings.Cut(r.Spec, ":")
	return cmp.Or(r.Kind, kind)
}

// featureKinds are the retrievers whose scores are features of the label model.
var featureKinds = []string{"bm25", "ngram", "dense", "lsa"}

// ownFeature reports whether the retriever's score is a feature of the label
// model: one of featureKinds, or a hybrid of nothing else.
func (r RetrieverRef) ownFeature() bool {
	if r.kindOf() != "hybrid" {
		return slices.Contains(featureKinds, r.kindOf())
	}
	for key, kind := range r.Config {
		if strings.HasPrefix(key, "member.") && strings.HasSuffix(key, ".kind") &&
			kind != "hybrid" && !slices.Contains(featureKinds, fmt.Sprint(kind)) {
			return false
		}
	}
	return true
}

// settingsDiffer lists the settings in which two retrievers differ, the kind
// first, the others by name. Where nothing else tells them apart it is the spec.
func settingsDiffer(a, b RetrieverRef) []Setting {
	out := []Setting{}
	if a.kindOf() != b.kindOf() {
		out = append(out, Setting{Name: "kind", Base: a.kindOf(), Candidate: b.kindOf()})
	}
	for _, key := range slices.Sorted(maps.Keys(union(a.Config, b.Config))) {
		if x, y := settingOf(a.Config, key), settingOf(b.Config, key); x != y {
			out = append(out, Setting{Name: key, Base: x, Candidate: y})
		}
	}
	if len(out) == 0 && a.Spec != b.Spec {
		out = append(out, Setting{Name: "spec", Base: a.Spec, Candidate: b.Spec})
	}
	return out
}

func settingOf(config map[string]any, key string) string {
	if v, ok := config[key]; ok {
		return fmt.Sprint(v)
	}
	return ""
}

// variables counts the settings that were changed independently: those that
// only one kind of retriever has come with the kind.
func variables(settings []Setting) int {
	n, kinds := 0, false
	for _, s := range settings {
		kinds = kinds || s.Name == "kind"
	}
	for _, s := range settings {
		if !kinds || s.Name == "kind" || (s.Base != "" && s.Candidate != "") {
			n++
		}
	}
	return n
}

// notes are what a reader must know of the numbers.
func (d *differ) notes(c *Comparison, rule judgedRule) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if c.Changed == 0 {
		add("0 of %s changed", casesWord(d.base.scoredIn(&d.base.groups[0])))
	}
	if d.base.clusters.note != "" {
		notes = append(notes, d.base.clusters.note)
	}
	if n := variables(c.Settings); n > 1 {
		add("%d settings of the retrievers differ: what changed the numbers cannot be told apart", n)
	}
	if d.base.drawn {
		notes = append(notes, ownFeatures(c)...)
	}
	if a, b := failedQueries(&d.base.in), failedQueries(&d.candidate.in); a+b > 0 {
		add("queries that failed and score 0: %d of the base, %d of the candidate", a, b)
	}
	if j := d.saturatedMeasure(); j >= 0 {
		add("%s is so near 1 on both sides that these cases cannot show a regression", d.base.in.Measures[j].Name)
	}
	if rule.warn {
		notes = append(notes, rule.why)
	}
	if n := max(d.base.in.SourceOnly, d.candidate.in.SourceOnly); n > 0 {
		add("%s read as --source in: nobody else judged their source", casesWord(n))
	}
	return notes
}

func failedQueries(in *Input) int {
	n := 0
	for i := range in.Cases {
		n += btoi(in.Cases[i].Failed != "")
	}
	return n
}

func ownFeatures(c *Comparison) []string {
	var notes []string
	for _, side := range []struct {
		name string
		ref  RetrieverRef
	}{{"base", c.Base}, {"candidate", c.Candidate}} {
		if side.ref.ownFeature() {
			notes = append(notes, fmt.Sprintf("own feature: the label model sees the scores of %s (%s), and tends to favour it", cmp.Or(side.ref.Name, side.ref.Spec), side.name))
		}
	}
	return notes
}

// saturatedMeasure is the main measure if it is near 1 on both sides, else -1.
func (d *differ) saturatedMeasure() int {
	j := d.base.mainMetric()
	if j < 0 || j >= d.shown {
		return -1
	}
	if p, base, candidate := d.pooled(0, j); p.n < saturatedMin || base < saturatedAt || candidate < saturatedAt {
		return -1
	}
	return j
}

const (
	leastJudged    = 0.95 // share of the top k on either side
	mostJudgedDiff = 0.02 // between the sides
)

// judgedRule says whether the shares of judged results let a verdict stand.
type judgedRule struct {
	bites bool // verdicts cannot tell
	warn  bool // it would, but this set's labels do not claim to be complete
	why   string
}

// judgedRuleOf looks at both sides' shares. On sets whose labels are only the
// source, on lists of what is relevant, and on TREC files, it warns.
func judgedRuleOf(in *Input, trust string, pair JudgedPair) judgedRule {
	r := judgedRule{why: pair.problem()}
	if r.why == "" {
		return r
	}
	listed := onlyRelevant(in)
	r.warn = in.Golden == nil || listed || trust == datasets.TrustNone || trust == datasets.TrustSourceOnly
	r.bites = !r.warn
	switch {
	case in.Golden != nil && listed:
		r.why += "; the set lists relevant chunks only, so all others are taken as not relevant"
	case in.Golden != nil:
		r.why += fmt.Sprintf("; label them with: goldgen judge --extend %s --from RESULT...", in.Golden.Ref)
	}
	return r
}

// onlyRelevant reports whether every label says relevant for sure. Such labels are
// a list of right answers, not judgments of what retrievers returned: what is not
// on it is not relevant by convention.
func onlyRelevant(in *Input) bool {
	labels := 0
	for i := range in.Cases {
		for _, l := range in.Cases[i].Labels {
			labels++
			if l.Uncertain == nil && l.Grade < in.MinGrade || l.Uncertain != nil && l.Uncertain.P < 1 {
				return false
			}
		}
	}
	return labels > 0
}

// problem says in words what is wrong with the shares, or nothing. A side
// without results has no unjudged ones.
func (p JudgedPair) problem() string {
	cut := "judged"
	if p.K > 0 {
		cut = fmt.Sprintf("judged@%d", p.K)
	}
	switch a, b := p.Base, p.Candidate; {
	case a != nil && b != nil && (*a < leastJudged || *b < leastJudged):
		return fmt.Sprintf("%s is %.3f (base) and %.3f (candidate): below %.2f", cut, *a, *b, leastJudged)
	case a != nil && b != nil && max(*a-*b, *b-*a) > mostJudgedDiff+sameValue:
		return fmt.Sprintf("%s is %.3f (base) and %.3f (candidate): they differ by more than %.2f", cut, *a, *b, mostJudgedDiff)
	case b != nil && *b < leastJudged:
		return fmt.Sprintf("%s is %.3f: below %.2f", cut, *b, leastJudged)
	case a != nil && b == nil && *a < leastJudged:
		return fmt.Sprintf("%s of the base is %.3f: below %.2f", cut, *a, leastJudged)
	}
	return ""
}
