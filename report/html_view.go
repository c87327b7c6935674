package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/goldgen/goldgen/eval"
)

// view is what the page's templates show. Its text is escaped here, once.
type view struct {
	Policy string
	Style  template.CSS
	Script template.JS

	Title       string
	Verdict     verdict
	Trust       string
	Tiles       []tile
	Parts       []part // for the list of contents
	Notes       []string
	Facts       []fact
	Gates       []gateRow
	Leaks       textTable
	Failed      textTable
	Worse       textTable
	Better      int // slices and measures whose whole interval is above 0
	Settings    textTable
	Differences *forest
	DiffSlices  []forest
	Means       *forest
	Slices      []forest
	Retrievers  *forest
	Counts      textTable // of several results
	First       string    // the result that parts are about where there are several, "" else
	OverK       []chart
	Latency     *histogram
	Abstention  textTable
	Details     []pageDetail
	History     *chart
	HistoryCut  int // earlier results that are not drawn
	Causes      []causeRow
	CauseName   string // what the causes are: proven, or only what happened
	Cases       []caseScript
}

// caseScript is one result's cases for the script.
type caseScript struct {
	Name string
	JSON template.JS
}

// part is an entry of the list of contents.
type part struct{ ID, Name string }

// tile is a headline figure.
type tile struct{ Name, Value, Detail, Class string }

// gateRow is a gate as a row of a table.
type gateRow struct{ Class, Word, Gate, Why string }

// causeRow counts cases; Width is its bar's in percent.
type causeRow struct {
	Name  string
	Count int
	Width string
	Share string
}

// primary is the measure that stands for a result where only one has room: the
// last of the headline ones, as nDCG at the largest k is by default.
func primary(metrics eval.Metrics) string {
	names := Headline(metrics)
	for i := len(names) - 1; i >= 0; i-- {
		if strings.HasPrefix(names[i], "ndcg") {
			return names[i]
		}
	}
	if len(names) == 0 {
		return ""
	}
	return names[0]
}

// title names what the page is about in a line.
func title(f *Findings) string {
	first := f.Results[0].Result
	if len(f.Results) == 1 || f.Comparison != nil {
		return subject(first)
	}
	s := count(len(f.Results), "result", "results")
	if first.Golden != nil {
		s += " on " + first.Golden.Ref
	}
	return s
}

// asMetrics are the measures of a comparison by name alone, for choices that
// go by name.
func asMetrics(differences eval.Differences) eval.Metrics {
	names := make(eval.Metrics, len(differences))
	for i := range differences {
		names[i].Name = differences[i].Name
	}
	return names
}

func newView(f *Findings) (*view, error) {
	first := &f.Results[0]
	v := &view{Title: Escape(title(f)), Verdict: f.verdict()}
	v.Verdict.Why = Escape(upper(v.Verdict.Why))
	for _, n := range notes(f) {
		v.Notes = append(v.Notes, Escape(n))
	}
	for _, x := range facts(f) {
		v.Facts = append(v.Facts, fact{x.Name, Escape(x.Value)})
	}
	for _, g := range byUrgency(f.gates()) {
		v.Gates = append(v.Gates, gateRow{gateClass(&g), gateWord(&g), Escape(gateName(&g)), Escape(reasonOf(&g))})
	}
	v.compared(f.Comparison)
	v.scored(f)
	v.Tiles, v.Trust = tiles(f), Escape(trustWords(first.Result.Trust, first.Result.TrustDetail))
	v.Leaks, v.Failed = leakTable(first.Result), failedTable(first.Result)
	v.Details = pageDetails(first.Result)
	v.Abstention = abstentionTable(first.Result.Abstention)
	v.Causes, v.CauseName = causes(first)
	if err := v.cases(f); err != nil {
		return nil, err
	}
	v.Parts = v.contents()
	return v, nil
}

// compared fills in what a comparison says.
func (v *view) compared(c *eval.Comparison) {
	if c == nil {
		return
	}
	v.Settings = settingTable(c.Settings)
	v.Worse, v.Better = worseTable(c), countBetter(c)
	if len(c.Metrics) > 0 {
		all := differenceForest(c)
		v.Differences = &all
		v.DiffSlices = choose(differenceSliceForests(c), primary(asMetrics(c.Metrics)))
	}
}

// scored fills in what the results say by themselves.
func (v *view) scored(f *Findings) {
	first := &f.Results[0]
	if len(first.Result.Metrics) > 0 {
		means := meansForest(first.Result)
		v.Means = &means
	}
	if len(f.Results) > 1 {
		others := retrieversForest(f.Results)
		v.Retrievers, v.Counts, v.First = &others, countTable(f.Results), Escape(resultNames(f.Results)[0])
	}
	v.Slices = sliceForests(f.Results)
	for _, measure := range []string{"recall", "ndcg", "ndcg_cut"} {
		if c, ok := overKChart(f.lines(), measure); ok {
			v.OverK = append(v.OverK, c)
		}
	}
	if h, ok := latencyOf(first, f.Comparison); ok {
		v.Latency = &h
	}
	if c, ok := historyChart(f.History, primary(first.Result.Metrics)); ok {
		v.History, v.HistoryCut = &c, max(0, len(f.History)-historyMost)
	}
}

func (v *view) cases(f *Findings) error {
	base := map[string]eval.Values{}
	if f.Comparison != nil {
		for _, c := range f.Comparison.PerCase {
			base[c.CaseID] = c.Base
		}
	}
	names := resultNames(f.Results)
	for i := range f.Results {
		s := &f.Results[i]
		if len(s.Cases) == 0 {
			continue
		}
		t := newCaseTable(names[i], s, base)
		base = nil // the comparison is the first result's
		data, err := caseData(t)
		if err != nil {
			return fmt.Errorf("cases of %s: %w", names[i], err)
		}
		v.Cases = append(v.Cases, caseScript{Escape(names[i]), data})
	}
	return nil
}

func (v *view) contents() []part {
	parts := []maybe{
		{len(v.Leaks.Rows) > 0, part{"leaks", "Leaks"}},
		{len(v.Gates) > 0, part{"gates", "Gates"}},
		{v.Differences != nil, part{"worse", "What got worse"}},
		{v.Differences != nil, part{"differences", "Differences"}},
		{v.Retrievers != nil, part{"retrievers", "Retrievers"}},
		{v.Means != nil, part{"means", "Means"}},
		{len(v.Slices) > 0, part{"slices", "Slices"}},
		{len(v.OverK) > 0, part{"depth", "Over k"}},
		{v.Latency != nil, part{"latency", "Latency"}},
		{len(v.Abstention.Rows) > 0, part{"abstention", "Abstention"}},
	}
	for _, d := range v.Details {
		parts = append(parts, maybe{true, part{d.ID, d.Title}})
	}
	parts = append(parts,
		maybe{v.History != nil, part{"history", "History"}},
		maybe{len(v.Causes) > 0, part{"causes", v.CauseName}},
		maybe{len(v.Failed.Rows) > 0, part{"failed", "Failed queries"}},
		maybe{len(v.Cases) > 0, part{"cases", "Cases"}},
		maybe{true, part{"about", "About"}})
	var out []part
	for _, p := range parts {
		if p.there {
			out = append(out, p.part)
		}
	}
	return out
}

// maybe is a part that a page may lack.
type maybe struct {
	there bool
	part
}

// tilesMost is how many headline figures stand under the verdict.
const tilesMost = 4

// tiles are the headline figures: differences where there is a baseline. Of
// several results none stands for the others.
func tiles(f *Findings) []tile {
	var out []tile
	if len(f.Results) > 1 && f.Comparison == nil && f.Check == nil {
		return nil
	}
	r := f.Results[0].Result
	for _, name := range headlineTiles(r.Metrics) {
		m, _ := r.Metrics.Get(name)
		t := tile{Name: Escape(name), Value: short(m.Mean), Detail: betweenOr(m.Low, m.High, m.Why), Class: "plain"}
		if d := differenceOf(f.Comparison, name); d != nil {
			t = tile{Name: Escape(name), Value: short(d.Base) + " → " + short(d.Candidate), Class: direction(d)}
			t.Detail = plusMinus(d.Difference) + " " + bracketed(d.Low, d.High)
		}
		out = append(out, t)
	}
	return out
}

// headlineTiles picks the primary measure and the first others.
func headlineTiles(metrics eval.Metrics) []string {
	out := []string{}
	if p := primary(metrics); p != "" {
		out = append(out, p)
	}
	names := Headline(metrics)
	for i := len(names) - 1; i >= 0 && len(out) < tilesMost; i-- {
		out = add(out, names[i])
	}
	return out
}

func differenceOf(c *eval.Comparison, name string) *eval.Difference {
	if c == nil {
		return nil
	}
	for i := range c.Metrics {
		if c.Metrics[i].Name == name {
			return &c.Metrics[i].Difference
		}
	}
	return nil
}

func gateClass(g *eval.GateResult) string {
	switch {
	case g.Verdict == eval.Pass:
		return "pass"
	case g.Verdict == eval.Fail && g.Waived == nil:
		return "fail"
	}
	return "open"
}

func worseTable(c *eval.Comparison) textTable {
	t := textTable{
		Caption: "Slices in which a measure fell with its whole interval below 0, largest fall first",
		Columns: []string{"slice", "measure", ">base → candidate", ">difference", ">95 % interval", ">n", "also fell"},
	}
	for _, s := range worseSlices(c) {
		t.add(0, s.Slice, s.Name, short(s.Base)+" → "+short(s.Candidate), plusMinus(s.Difference.Difference), between(s.Low, s.High),
			fmt.Sprint(s.N), strings.Join(s.Also, ", "))
	}
	return t
}

func countBetter(c *eval.Comparison) int {
	n := 0
	tally := func(metrics eval.Differences) {
		for i := range metrics {
			if direction(&metrics[i].Difference) == "good" {
				n++
			}
		}
	}
	tally(c.Metrics)
	for _, by := range c.Slices {
		for _, s := range by.Slices {
			tally(s.Metrics)
		}
	}
	return n
}

// countTable sets beside each other what is counted and not averaged.
func countTable(results []Scored) textTable {
	t := textTable{Caption: "Counted, and not part of any mean", Columns: []string{"retriever", ">scored", ">leaks", ">failed", ">no result", ">p50", ">p95"}}
	for i, name := range resultNames(results) {
		r, p50, p95 := results[i].Result, "–", "–"
		if r.Latency != nil {
			p50, p95 = milliseconds(r.Latency.P50), milliseconds(r.Latency.P95)
		}
		t.add(0, name, fmt.Sprint(r.Counts.Scored), fmt.Sprint(len(r.Leaks)), fmt.Sprint(len(r.Failed)), fmt.Sprint(r.Missing), p50, p95)
	}
	return t
}

func settingTable(settings []eval.Setting) textTable {
	t := textTable{Caption: "Settings in which the two retrievers differ", Columns: []string{"setting", "baseline", "candidate"}}
	for _, s := range settings {
		t.add(0, s.Name, orNone(s.Base), orNone(s.Candidate))
	}
	return t
}

func leakTable(r *eval.Result) textTable {
	t := textTable{Caption: count(len(r.Leaks), "leak", "leaks"), Columns: []string{"case", ">rank", "chunk", "kind", "asker's scope", "query"}}
	for _, l := range r.Leaks {
		t.add(listed, l.Case, fmt.Sprint(l.Rank), l.Chunk, l.Kind, scopeWords(l.Scope), l.Query)
	}
	return t
}

func failedTable(r *eval.Result) textTable {
	t := textTable{Caption: failureWords(len(r.Failed)), Columns: []string{"case", "error"}}
	for _, x := range r.Failed {
		t.add(listed, x.Case, x.Error)
	}
	return t
}

func abstentionTable(a *eval.Abstention) textTable {
	if a == nil || a.Cases == 0 {
		return textTable{}
	}
	t := textTable{Caption: "Cases that no allowed record answers", Columns: []string{"measure", ">value", ">n"}}
	t.add(0, "answer rate, of answerable cases", short(a.AnswerRate), fmt.Sprint(a.Answerable))
	t.add(0, "false-answer rate, of cases that expect abstention", short(a.FalseAnswer), fmt.Sprint(a.Cases))
	t.add(0, "AUROC of the top score", short(a.AUROC), fmt.Sprint(a.Answerable+a.Cases))
	if a.Why != "" {
		t.Caption += "; " + Escape(a.Why)
	}
	return t
}

// causes counts the failed cases by their first proven cause; where nothing was
// diagnosed, all cases by what became of them.
func causes(s *Scored) (rows []causeRow, name string) {
	counts, order := map[string]int{}, []string{}
	for i := range s.Cases {
		if cause := s.Cases[i].Cause; cause != "" {
			order = add(order, cause)
			counts[cause]++
		}
	}
	name = "Failures by cause"
	if len(order) == 0 {
		name, order = "Outcomes", outcomes[:]
		for i := range s.Cases {
			counts[s.Cases[i].Outcome(s.Result.Conventions.MinGrade, deepest(s.Result))]++
		}
	}
	return causeRows(order, counts, name != "Outcomes"), name
}
