package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

// problemsShown is how many problems a terminal lists; the rest is counted.
const problemsShown = 10

// answersPage writes a result of answers until the first error.
type answersPage struct {
	a   *app
	err error
}

func (a *app) writeAnswers(r *pipeline.AnswersReport) error {
	p := &answersPage{a: a}
	p.head(r)
	p.gates(r)
	p.metrics("answers", r.Metrics)
	p.slices(r)
	p.join(r.Join)
	p.problems(r)
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.a.stdout)
	}
	for _, note := range r.Notes {
		p.field("note", note)
	}
	return p.err
}

func (p *answersPage) field(name, value string) {
	if p.err == nil {
		p.err = report.Field(p.a.stdout, name, value, p.a.style())
	}
}

func (p *answersPage) table(t *report.Table) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.a.stdout)
	}
	if p.err == nil {
		p.err = t.Write(p.a.stdout, p.a.style())
	}
}

func (p *answersPage) head(r *pipeline.AnswersReport) {
	n := r.Counts
	p.field("golden set", fmt.Sprintf("%s (%s), trust %s", r.Golden.Ref, report.ShortDigest(r.Golden.Digest), r.GoldenTrust))
	p.field("answers", fmt.Sprintf("%s (%s)", r.Answers.Path, report.ShortDigest(r.Answers.Digest)))
	p.field("judge", r.Judge.Name)
	p.field("trust", r.Trust+": "+r.TrustDetail)
	p.field("cases", fmt.Sprintf("%d: %d answered, %d abstained, %d undecided, %d without an answer; %d expect abstention",
		n.Cases, n.Answered, n.Abstained, n.Undecided, n.Missing, n.ExpectAbstain))
	p.field("claims", fmt.Sprintf("%d: %d supported, %d not, %d unknown; %s came without a context; %s",
		n.Claims, n.Supported, n.NotSupported, n.UnknownClaims, wording.Count(n.NoContext, "answer"), wording.Count(n.Citations, "citation")))
	for _, kind := range slices.Sorted(maps.Keys(n.References)) {
		p.field("reference", fmt.Sprintf("%s for %s", kind, wording.Count(n.References[kind], "case")))
	}
	p.field("conventions", fmt.Sprintf("%s; %s: %s", r.Interval, wording.Count(r.Clusters, "cluster"), r.Cluster))
	p.field("verdict", r.Verdict)
}

func (p *answersPage) gates(r *pipeline.AnswersReport) {
	if len(r.Gates) == 0 {
		return
	}
	t := report.NewTable("gate", "slice", "verdict", "why")
	for _, g := range r.Gates {
		t.Add(g.Gate, g.Slice, g.Verdict, g.Why)
	}
	p.table(t)
}

func (p *answersPage) metrics(title string, metrics eval.AnswerMetrics) {
	t := report.NewTable(title, ">mean", ">low", ">high", ">n", ">unknown", "why")
	for _, m := range metrics {
		t.Add(m.Name, decimals(m.Mean), decimals(m.Low), decimals(m.High), fmt.Sprint(m.N), fmt.Sprint(m.Unknown), m.Why)
	}
	p.table(t)
}

func decimals(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *x)
}

func (p *answersPage) slices(r *pipeline.AnswersReport) {
	for _, name := range slices.Sorted(maps.Keys(r.Slices)) {
		columns := []string{name, ">n"}
		for _, m := range eval.AnswerMeasures() {
			columns = append(columns, ">"+m)
		}
		t := report.NewTable(columns...)
		by := r.Slices[name]
		for _, value := range slices.Sorted(maps.Keys(by)) {
			cells := []string{value, fmt.Sprint(by[value].N)}
			for _, m := range by[value].Metrics {
				cells = append(cells, decimals(m.Mean))
			}
			t.Add(cells...)
		}
		p.table(t)
	}
}

func (p *answersPage) join(j *eval.AnswerJoin) {
	if j == nil {
		return
	}
	t := report.NewTable(fmt.Sprintf("beside %s, k %d", j.Retrieval, j.K), ">cases")
	t.Add("retrieved and answered", fmt.Sprint(j.RetrievedAnswered.N))
	t.Add("retrieved and not answered", fmt.Sprint(j.RetrievedNotAnswered.N))
	t.Add("not retrieved and answered", fmt.Sprint(j.NotRetrievedAnswered.N))
	t.Add("neither", fmt.Sprint(j.Neither.N))
	t.Add("correctness unknown", fmt.Sprint(j.Unknown.N))
	t.Add("not scored by retrieval", fmt.Sprint(j.NotScored.N))
	p.table(t)
}

func (p *answersPage) problems(r *pipeline.AnswersReport) {
	if len(r.Problems) == 0 {
		return
	}
	t := report.NewTable("problem", "case", ">line", "detail")
	t.Columns[1].Max, t.Columns[3].Max = 40, 60
	for _, x := range r.Problems[:min(problemsShown, len(r.Problems))] {
		line := ""
		if x.Line > 0 {
			line = fmt.Sprint(x.Line)
		}
		t.Add(x.Kind, x.CaseID, line, x.Detail)
	}
	p.table(t)
	if more := len(r.Problems) - problemsShown; more > 0 {
		p.field("problems", fmt.Sprintf("%d more are in --json and in the result", more))
	}
}
