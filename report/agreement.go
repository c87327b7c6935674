package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
)

// wrongShown is how many pairs that the reference orders the other way are
// listed.
const wrongShown = 10

// AgreementTerminal writes how far a set orders retrievers as a reference does,
// for a person: first which of the two is the reference, then the figures beside
// the ceiling and the placebo, then the retrievers under both sets, and pairs in
// another order, all of them or the first few. Piped, tables are tab-separated and the rest is plain lines.
func AgreementTerminal(w io.Writer, a *eval.Agreement, allPairs bool, style Style) error {
	p := &page{w: w, style: style}
	p.field("reference", agreementSetWords(&a.Reference, a.Compared))
	p.field("tested", agreementSetWords(&a.Tested, a.Compared))
	p.field("ordered by", orderedBy(a))
	p.field("says", a.Says)
	p.line("")
	p.table(agreementTable(agreementRows(a.AgreementFigures, a.Ceiling, a.Placebo)))
	p.byMeasure(a.ByMeasure)
	p.title("the retrievers under both sets, as the reference orders them")
	p.table(withoutEmpty(agreementRetrievers(a)))
	p.wrongPairs(a, allPairs)
	p.line("")
	p.field("method", a.Method)
	p.notes(a.Notes)
	p.hints(a.Hints)
	return p.err
}

func agreementSetWords(s *eval.AgreementSet, pairs int) string {
	name := "(unnamed)"
	if s.Golden != nil {
		name = fmt.Sprintf("%s (%s)", s.Golden.Ref, ShortDigest(s.Golden.Digest))
	}
	return fmt.Sprintf("%s, trust %s; %s in %s, labels %s; separates %d of %s", name, s.Trust, wording.Count(s.Cases, "case"),
		wording.Count(s.Clusters, "cluster"), s.Labels, s.Separated, wording.Count(pairs, "pair"))
}

func orderedBy(a *eval.Agreement) string {
	words := fmt.Sprintf("%s, %s", a.Measure, wording.Count(len(a.Retrievers), "retriever"))
	if a.Source != "" {
		words += ", source " + a.Source
	}
	return words
}

// agreementRow is one figure with its interval, its ceiling and its placebo.
type agreementRow struct {
	Name, Meaning, Why                 string
	Value, Low, High, Ceiling, Placebo *float64
	CeilingLow, CeilingHigh            *float64
	PlaceboLow, PlaceboHigh            *float64
	Pairs                              string
}

func agreementRows(f, ceiling, placebo eval.AgreementFigures) []agreementRow {
	share := func(name, meaning string, f, c, p eval.AgreementShare) agreementRow {
		row := estimateRow(name, meaning, estimateOf(f), estimateOf(c), estimateOf(p))
		row.Pairs = fmt.Sprint(f.Pairs)
		return row
	}
	return []agreementRow{
		share("right", "of the pairs that the tested set separates: the reference orders them the same", f.Right, ceiling.Right, placebo.Right),
		share("reversed", "of the pairs that the reference separates: the tested set separates them the other way", f.Reversed, ceiling.Reversed, placebo.Reversed),
		share("power", "of the pairs that the reference separates: the tested set separates them too", f.Power, ceiling.Power, placebo.Power),
		estimateRow("tau", "Kendall's tau-b of all retrievers", f.Tau, ceiling.Tau, placebo.Tau),
		estimateRow("tau of the best 15", "of the reference's best fifteen", f.TauBest, ceiling.TauBest, placebo.TauBest),
		estimateRow("overlap of the best 5", "share of the reference's best five among the tested set's", f.Overlap, ceiling.Overlap, placebo.Overlap),
		estimateRow("loss", "of the reference's mean, where the tested set's first is picked", f.Loss, ceiling.Loss, placebo.Loss),
	}
}

func estimateOf(s eval.AgreementShare) eval.AgreementEstimate {
	return eval.AgreementEstimate{Value: s.Value, Low: s.Low, High: s.High, Why: s.Why}
}

func estimateRow(name, meaning string, f, c, p eval.AgreementEstimate) agreementRow {
	return agreementRow{
		Name: name, Meaning: meaning, Why: f.Why, Value: f.Value, Low: f.Low, High: f.High,
		Ceiling: c.Value, CeilingLow: c.Low, CeilingHigh: c.High, Placebo: p.Value, PlaceboLow: p.Low, PlaceboHigh: p.High,
	}
}

// figure is one that may be below 0.
func figure(v *float64) string {
	if v == nil {
		return "–"
	}
	return minus(*v)
}

func agreementTable(rows []agreementRow) *Table {
	t := NewTable("figure", ">value", ">95 % interval", ">pairs", ">ceiling", ">placebo", "what")
	for _, r := range rows {
		t.Add(r.Name, figure(r.Value), bracketed(r.Low, r.High), r.Pairs, figure(r.Ceiling), figure(r.Placebo), cmp.Or(r.Why, r.Meaning))
	}
	return t
}

func (p *page) byMeasure(all []eval.AgreementMeasure) {
	if len(all) == 0 {
		return
	}
	p.title("by measure")
	p.table(measureTable(all))
}

func measureTable(all []eval.AgreementMeasure) *Table {
	t := NewTable("measure", ">right", ">pairs", ">reversed", ">power", ">tau", ">ceiling of tau", ">loss")
	for _, m := range all {
		t.Add(m.Measure, figure(m.Right.Value), fmt.Sprint(m.Right.Pairs), figure(m.Reversed.Value), figure(m.Power.Value),
			figure(m.Tau.Value), figure(m.Ceiling.Tau.Value), figure(m.Loss.Value))
	}
	return t
}

// byReference lists the retrievers from the reference's best.
func byReference(a *eval.Agreement) []eval.AgreementRetriever {
	out := slices.Clone(a.Retrievers)
	slices.SortStableFunc(out, func(x, y eval.AgreementRetriever) int { return cmp.Compare(x.Reference.Rank, y.Reference.Rank) })
	return out
}

func agreementRetrievers(a *eval.Agreement) *Table {
	t := NewTable("retriever", ">reference", ">95 % interval", ">rank", ">tested", ">95 % interval", ">rank", ">judged", "note")
	for _, r := range byReference(a) {
		note := ""
		if r.OwnFeature {
			note = "own feature"
		}
		t.Add(r.Name, short(r.Reference.Mean), bracketed(r.Reference.Low, r.Reference.High), rankWord(r.Reference.Rank),
			short(r.Tested.Mean), bracketed(r.Tested.Low, r.Tested.High), rankWord(r.Tested.Rank), share(r.Tested.Judged), note)
	}
	return t
}

// rankWord shows a rank that several may share.
func rankWord(rank float64) string { return place(rank) }

// wrongPairs lists the pairs that the tested set separates and the reference
// orders the other way, reversed ones first.
func (p *page) wrongPairs(a *eval.Agreement, all bool) {
	wrong := wrongPairs(a)
	shown := len(wrong)
	if !all {
		shown = min(shown, wrongShown)
	}
	if len(wrong) == 0 {
		return
	}
	p.title("pairs that the tested set separates and the reference orders the other way")
	t := NewTable("better by the tested set", "than", ">tested", ">reference", "reference separates it")
	t.Keys = 2
	for _, w := range wrong[:shown] {
		t.Add(a.Retrievers[w.B].Name, a.Retrievers[w.A].Name, plusMinus(&w.Tested.Difference), plusMinus(&w.Reference.Difference), yesNo(w.Reference.Separated))
	}
	p.table(t)
	if more := len(wrong) - shown; more > 0 {
		p.line("and %d more: --per-pair lists all", more)
	}
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// wrongPairs turns each pair so that B is the better by the tested set.
func wrongPairs(a *eval.Agreement) []eval.AgreementPair {
	var out []eval.AgreementPair
	for _, p := range a.Pairs {
		if p.Outcome != eval.PairReversed && p.Outcome != eval.PairOther {
			continue
		}
		if p.Tested.Difference < 0 {
			p.A, p.B = p.B, p.A
			p.Tested.Difference, p.Reference.Difference = -p.Tested.Difference, -p.Reference.Difference
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(x, y eval.AgreementPair) int {
		return cmp.Or(cmp.Compare(y.Outcome, x.Outcome), cmp.Compare(y.Tested.Difference, x.Tested.Difference))
	})
	return out
}
