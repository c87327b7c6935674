package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

// The marks between which a page's tables stand.
const (
	beginMark = "<!-- made by: go run ./bench/prior -->"
	endMark   = "<!-- end -->"
)

func (s *study) writeDocs(path string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(page), beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	if !found || !ended {
		return fmt.Errorf("%s: no marks %s and %s", path, beginMark, endMark)
	}
	var tables bytes.Buffer
	if err := s.print(&tables); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(before+beginMark+"\n\n"+tables.String()+"\n"+endMark+after), 0o644)
}

func (s *study) print(to io.Writer) error {
	var out strings.Builder
	s.printQuality(&out)
	s.printCurve(&out)
	s.printSingle(&out)
	s.printReliability(&out)
	if s.compared {
		s.printShift(&out)
		s.printShares(&out)
		s.printCoverage(&out)
		s.printAgreement(&out)
	}
	_, err := io.WriteString(to, strings.TrimRight(out.String(), "\n")+"\n")
	return err
}

func row(out *strings.Builder, cells ...string) {
	out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func head(out *strings.Builder, title string, cells ...string) {
	out.WriteString("### " + title + "\n\n")
	row(out, cells...)
	out.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

func within(i datasets.Interval) string {
	return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Value, i.Low, i.High)
}

func (s *study) printQuality(out *strings.Builder) {
	head(out, "The prior on a collection that it was not fitted on", "collection", "queries", "pairs", "relevant",
		"AUC", "Brier score", "sensitivity at .5", "specificity at .5", "mean p", "penalty")
	for _, l := range s.left {
		f := l.figures
		row(out, l.m.Name, fmt.Sprint(f.Queries), fmt.Sprint(f.Pairs), fmt.Sprintf("%.3f", f.Share), within(f.AUC), within(f.Brier),
			within(f.Sensitivity), within(f.Specificity), fmt.Sprintf("%.3f", l.meanP()), fmt.Sprint(l.penalty))
	}
	fmt.Fprintf(out, "\nThe profile that is shipped was fitted on all three, with penalty %v.\n\n", s.penalty)
}

func (l *leftOut) meanP() float64 {
	sum, predicted := 0.0, l.model.Predict(l.m.pairs(l.model.Features))
	for _, p := range predicted {
		sum += p.P
	}
	return sum / float64(len(predicted))
}

func (s *study) printCurve(out *strings.Builder) {
	head(out, "With labels of the collection's own", "collection", "labels", "AUC of the prior", "fitted",
		"Brier of the prior", "fitted", "log loss of the prior", "fitted", "draws in which it got worse")
	for _, l := range s.left {
		for _, p := range l.curve {
			row(out, l.m.Name, fmt.Sprint(p.labels), number(p.priorAUC), number(p.auc), number(p.priorBrier), number(p.brier),
				number(p.priorLoss), number(p.loss), fmt.Sprintf("%.0f of %d", p.worseShares*curveDraws, curveDraws))
		}
	}
	out.WriteString("\n")
}

func number(x float64) string { return fmt.Sprintf("%.3f", x) }

func (s *study) printSingle(out *strings.Builder) {
	cells := []string{"feature"}
	for _, l := range s.left {
		cells = append(cells, l.m.Name)
	}
	head(out, "AUC of each feature alone", cells...)
	for _, name := range judge.PriorFeatures() {
		cells := []string{"`" + name + "`"}
		for _, l := range s.left {
			cells = append(cells, number(l.single[name]))
		}
		row(out, cells...)
	}
	out.WriteString("\n")
}

func (s *study) printReliability(out *strings.Builder) {
	cells := []string{"tenth of the pairs, by p"}
	for _, l := range s.left {
		cells = append(cells, l.m.Name+": mean p", "relevant")
	}
	head(out, "Reliability", cells...)
	for i := range s.left[0].figures.Reliability {
		cells := []string{fmt.Sprint(i + 1)}
		for _, l := range s.left {
			b := l.figures.Reliability[i]
			cells = append(cells, number(b.P), number(b.Observed))
		}
		row(out, cells...)
	}
	out.WriteString("\n")
}

func (s *study) printShift(out *strings.Builder) {
	cells := []string{"measure", "--source"}
	for _, l := range s.left {
		cells = append(cells, l.m.Name)
	}
	head(out, "Root of the shift variance between retrievers with nothing in common, each collection left out", append(cells, "shipped")...)
	for i, v := range s.shift {
		cells := []string{v.Metric, v.Source}
		for _, l := range s.left {
			cells = append(cells, number(math.Sqrt(l.shift[i].Variance)))
		}
		row(out, append(cells, number(math.Sqrt(v.Variance)))...)
	}
	out.WriteString("\n")
}

func (s *study) printShares(out *strings.Builder) {
	head(out, "Share of the shift variance after labels of a collection's own", "labels", "share")
	for _, v := range s.shares {
		row(out, fmt.Sprint(v.Labels), number(v.Share))
	}
	out.WriteString("\n")
}

func (s *study) printCoverage(out *strings.Builder) {
	head(out, "Root mean squared error of differences, and what is allowed for (nDCG@10, source in)", "collection",
		"a third of the pairs", "apart", "error", "allowed for", "with a constant shift variance")
	for _, c := range s.covered {
		row(out, c.collection, c.part, number(c.apart), number(c.error), number(c.allowed), number(c.constant))
	}
	out.WriteString("\n")
}

func (s *study) printAgreement(out *strings.Builder) {
	agreementTable(out, "Does it order the 24 retrievers as people do (nDCG@10)", s.agreement)
	agreementTable(out, fmt.Sprintf("The same with labels of a third of the queries, on the others, over %d draws of labels", labelDraws), s.fitted)
}

func agreementTable(out *strings.Builder, title string, rows []agreement) {
	head(out, title, "collection", "labels", "root of the shift variance", "pairs that people separate", "of them separated", "reversed", "pairs separated", "right")
	for _, a := range rows {
		row(out, a.collection, a.how, number(math.Sqrt(a.shift/float64(a.draws))), fmt.Sprint(a.people), number(share(a.both, a.people)),
			number(share(a.against, a.people)), fmt.Sprint(a.separated), number(share(a.right, a.separated)))
	}
	out.WriteString("\n")
}
