package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/goldgen/goldgen/bench/study"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/judge"
)

func (s *measured) writeDocs(path string) error {
	var tables strings.Builder
	if err := s.print(&tables); err != nil {
		return err
	}
	return study.ReplaceTables(path, "go run ./bench/prior", tables.String())
}

func (s *measured) print(to io.Writer) error {
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

func within(i datasets.Interval) string {
	return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Value, i.Low, i.High)
}

func (s *measured) printQuality(out *strings.Builder) {
	study.Head(out, "The prior on a collection that it was not fitted on", "collection", "queries", "pairs", "relevant",
		"AUC", "Brier score", "sensitivity at .5", "specificity at .5", "mean p", "penalty")
	for _, l := range s.left {
		f := l.figures
		study.Row(out, l.m.Name, fmt.Sprint(f.Queries), fmt.Sprint(f.Pairs), fmt.Sprintf("%.3f", f.Share), within(f.AUC), within(f.Brier),
			within(f.Sensitivity), within(f.Specificity), fmt.Sprintf("%.3f", l.meanP()), fmt.Sprint(l.penalty))
	}
	fmt.Fprintf(out, "\nThe profile that is shipped was fitted on all three, with penalty %v.\n\n", s.penalty)
}

func (l *leftOut) meanP() float64 {
	sum, predicted := 0.0, l.model.Predict(l.m.Pairs(l.model.Features))
	for _, p := range predicted {
		sum += p.P
	}
	return sum / float64(len(predicted))
}

func (s *measured) printCurve(out *strings.Builder) {
	study.Head(out, "With labels of the collection's own", "collection", "labels", "AUC of the prior", "fitted",
		"Brier of the prior", "fitted", "log loss of the prior", "fitted", "draws in which it got worse")
	for _, l := range s.left {
		for _, p := range l.curve {
			study.Row(out, l.m.Name, fmt.Sprint(p.labels), study.Number(p.priorAUC), study.Number(p.auc), study.Number(p.priorBrier), study.Number(p.brier),
				study.Number(p.priorLoss), study.Number(p.loss), fmt.Sprintf("%.0f of %d", p.worseShares*curveDraws, curveDraws))
		}
	}
	out.WriteString("\n")
}

func (s *measured) printSingle(out *strings.Builder) {
	study.Head(out, "AUC of each feature alone", s.collectionsAfter("feature")...)
	for _, name := range judge.PriorFeatures() {
		cells := []string{"`" + name + "`"}
		for _, l := range s.left {
			cells = append(cells, study.Number(l.single[name]))
		}
		study.Row(out, cells...)
	}
	out.WriteString("\n")
}

func (s *measured) printReliability(out *strings.Builder) {
	cells := []string{"tenth of the pairs, by p"}
	for _, l := range s.left {
		cells = append(cells, l.m.Name+": mean p", "relevant")
	}
	study.Head(out, "Reliability", cells...)
	for i := range s.left[0].figures.Reliability {
		cells := []string{fmt.Sprint(i + 1)}
		for _, l := range s.left {
			b := l.figures.Reliability[i]
			cells = append(cells, study.Number(b.P), study.Number(b.Observed))
		}
		study.Row(out, cells...)
	}
	out.WriteString("\n")
}

func (s *measured) printShift(out *strings.Builder) {
	const title = "Root of the shift variance between retrievers with nothing in common, each collection left out"
	s.printShiftOf(out, title, judge.QueriesHuman)
	s.printShiftOf(out, title+": synthetic queries", judge.QueriesSynthetic)
	s.printKinds(out)
}

func (s *measured) printShiftOf(out *strings.Builder, title, queries string) {
	study.Head(out, title, append(s.collectionsAfter("measure", "--source"), "shipped")...)
	for i, v := range s.shift {
		if v.Queries != queries {
			continue
		}
		cells := []string{v.Metric, v.Source}
		for _, l := range s.left {
			cells = append(cells, study.Number(math.Sqrt(l.shift[i].Variance)))
		}
		study.Row(out, append(cells, study.Number(math.Sqrt(v.Variance)))...)
	}
	out.WriteString("\n")
}

// collectionsAfter are the cells of a head, with the collections as the last.
func (s *measured) collectionsAfter(cells ...string) []string {
	for _, l := range s.left {
		cells = append(cells, l.m.Name)
	}
	return cells
}

// printKinds tells sets with one query a document from those with three.
func (s *measured) printKinds(out *strings.Builder) {
	study.Head(out, "The same for "+study.Metric+", by how many queries a document has", s.collectionsAfter("queries", "--source")...)
	for k, kind := range study.Kinds() {
		for i, mode := range study.Modes() {
			cells := []string{kind, string(mode)}
			for _, l := range s.left {
				cells = append(cells, study.Number(math.Sqrt(l.kinds[k][i].Variance)))
			}
			study.Row(out, cells...)
		}
	}
	out.WriteString("\n")
}

func (s *measured) printShares(out *strings.Builder) {
	study.Head(out, "Share of the shift variance after labels of a collection's own", "labels", "share")
	for _, v := range s.shares {
		study.Row(out, fmt.Sprint(v.Labels), study.Number(v.Share))
	}
	out.WriteString("\n")
}

func (s *measured) printCoverage(out *strings.Builder) {
	study.Head(out, "Root mean squared error of differences, and what is allowed for (nDCG@10, source in)", "collection",
		"a third of the pairs", "apart", "error", "allowed for", "with a constant shift variance")
	for i, thirds := range s.covered {
		for _, c := range thirds {
			study.Row(out, s.left[i].m.Name, c.Part, study.Number(c.Apart), study.Number(c.Error), study.Number(c.Allowed), study.Number(c.Constant))
		}
	}
	out.WriteString("\n")
}

func (s *measured) printAgreement(out *strings.Builder) {
	agreementTable(out, "Does it order the 24 retrievers as people do (nDCG@10)", s.agreement)
	agreementTable(out, fmt.Sprintf("The same with labels of a third of the queries, on the others, over %d draws of labels", study.LabelDraws), s.fitted)
}

func agreementTable(out *strings.Builder, title string, rows []agreement) {
	study.Head(out, title, "collection", "labels", "root of the shift variance", "pairs that people separate", "of them separated", "reversed", "pairs separated", "right")
	for _, a := range rows {
		study.Row(out, a.collection, a.how, study.Number(math.Sqrt(a.shift/float64(a.draws))), fmt.Sprint(a.people), study.Number(share(a.both, a.people)),
			study.Number(share(a.against, a.people)), fmt.Sprint(a.separated), study.Number(share(a.right, a.separated)))
	}
	out.WriteString("\n")
}
