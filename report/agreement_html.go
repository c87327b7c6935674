package report

import (
	"fmt"
	"html/template"
	"io"

	"github.com/goldgen/goldgen/eval"
)

// AgreementHTML writes how far a set orders retrievers as a reference does, as
// one file that needs nothing else and runs no script.
func AgreementHTML(w io.Writer, a *eval.Agreement) error {
	var style []byte
	for _, name := range []string{"page/style.css", "page/agreement.css"} {
		data, err := pageFiles.ReadFile(name)
		if err != nil {
			return err
		}
		style = append(style, data...)
	}
	t, err := template.ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return err
	}
	v := newAgreementView(a)
	v.Style = template.CSS(style)
	v.Policy = "default-src 'none'; style-src " + source(style) + "; base-uri 'none'; form-action 'none'"
	return t.ExecuteTemplate(w, "agreement.html.tmpl", v)
}

// agreementView is what the page's template shows, escaped.
type agreementView struct {
	Policy     string
	Style      template.CSS
	Title      string
	Says       string
	Sets       []fact
	Tiles      []agreementTile
	Notes      []string
	Figures    textTable
	ByMeasure  textTable
	Scatter    scatter
	Grid       pairGrid
	Retrievers textTable
	Wrong      textTable
	Method     string
}

// agreementTile is one figure at the head of the page.
type agreementTile struct{ Name, Value, Detail string }

func newAgreementView(a *eval.Agreement) agreementView {
	v := agreementView{
		Title:   Escape(setName(&a.Tested) + " held against " + setName(&a.Reference)),
		Says:    Escape(a.Says),
		Figures: figureTable(agreementRows(a.AgreementFigures, a.Ceiling, a.Placebo)),
		Scatter: newScatter(a), Grid: newPairGrid(a),
		Retrievers: retrieverTable(a), Wrong: wrongTable(a), Method: Escape(a.Method),
	}
	for _, f := range []fact{
		{"reference", agreementSetWords(&a.Reference, a.Compared)}, {"its trust", trustWords(a.Reference.Trust, a.Reference.TrustDetail)},
		{"tested", agreementSetWords(&a.Tested, a.Compared)}, {"its trust", trustWords(a.Tested.Trust, a.Tested.TrustDetail)},
		{"ordered by", orderedBy(a)},
	} {
		v.Sets = append(v.Sets, fact{f.Name, Escape(f.Value)})
	}
	for _, n := range append(append([]string{}, a.Hints...), a.Notes...) {
		v.Notes = append(v.Notes, Escape(n))
	}
	if len(a.ByMeasure) > 0 {
		v.ByMeasure = asText("By measure", measureTable(a.ByMeasure))
	}
	rows := agreementRows(a.AgreementFigures, a.Ceiling, a.Placebo)
	for _, i := range []int{0, 1, 2, 3, 6} {
		v.Tiles = append(v.Tiles, tileOf(rows[i]))
	}
	return v
}

func setName(s *eval.AgreementSet) string {
	if s.Golden != nil {
		return s.Golden.Ref
	}
	return "an unnamed set"
}

func tileOf(r agreementRow) agreementTile {
	detail := Escape(r.Why)
	if r.Low != nil {
		detail = between(r.Low, r.High)
	}
	return agreementTile{Name: r.Name, Value: figure(r.Value), Detail: detail + "; ceiling " + figure(r.Ceiling)}
}

func figureTable(rows []agreementRow) textTable {
	t := textTable{
		Caption: "Each figure, its ceiling and its placebo. In brackets: a 95 % interval; of ceiling and placebo, where 95 % of the draws lie",
		Columns: []string{"figure", ">value", ">pairs", ">ceiling", ">placebo", "what"},
	}
	for _, r := range rows {
		what := r.Meaning
		if r.Why != "" {
			what += ": " + r.Why
		}
		t.add(0, r.Name, figure(r.Value)+" "+bracketed(r.Low, r.High), r.Pairs, figure(r.Ceiling)+" "+bracketed(r.CeilingLow, r.CeilingHigh),
			figure(r.Placebo)+" "+bracketed(r.PlaceboLow, r.PlaceboHigh), what)
	}
	return t
}

// asText is a terminal's table for the page.
func asText(caption string, from *Table) textTable {
	t := textTable{Caption: caption}
	for _, c := range from.Columns {
		name := c.Name
		if c.Right {
			name = ">" + name
		}
		t.Columns = append(t.Columns, name)
	}
	for _, row := range from.Rows {
		t.add(0, row...)
	}
	return t
}

// retrieverTable numbers the retrievers as the drawings do.
func retrieverTable(a *eval.Agreement) textTable {
	t := textTable{
		Caption: "The retrievers, numbered as the reference orders them",
		Columns: []string{"number", "retriever", ">reference", ">tested", ">rank when tested", ">judged", "note"},
	}
	for i, r := range byReference(a) {
		note := ""
		if r.OwnFeature {
			note = "own feature"
		}
		t.add(0, fmt.Sprint(i+1), r.Name, short(r.Reference.Mean)+" "+bracketed(r.Reference.Low, r.Reference.High),
			short(r.Tested.Mean)+" "+bracketed(r.Tested.Low, r.Tested.High), rankWord(r.Tested.Rank), share(r.Tested.Judged), note)
	}
	return t
}

// wrongOnPage is how many pairs in another order the page lists.
const wrongOnPage = 30

func wrongTable(a *eval.Agreement) textTable {
	wrong := wrongPairs(a)
	t := textTable{
		Caption: fmt.Sprintf("Pairs that the tested set separates and the reference orders the other way: %d of %d, those that the reference separates first",
			min(len(wrong), wrongOnPage), len(wrong)),
		Columns: []string{"better by the tested set", "than", ">tested", ">reference", "reference separates it"},
	}
	for _, w := range wrong[:min(len(wrong), wrongOnPage)] {
		t.add(0, a.Retrievers[w.B].Name, a.Retrievers[w.A].Name, plusMinus(&w.Tested.Difference), plusMinus(&w.Reference.Difference), yesNo(w.Reference.Separated))
	}
	return t
}
