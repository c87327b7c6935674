package pipeline

import (
	"io"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// RefreshMetrics is what a monitor asks of a nightly refresh.
type RefreshMetrics struct {
	Name     string // of the set
	Done     *Refreshed
	ExitCode int
	Now      time.Time
}

// gauges are metric families in the making; a name that comes again adds to its
// family.
type gauges struct {
	set      string
	families []*dto.MetricFamily
}

// add adds a value, with labels as names and values in turn; every metric has the
// set's name.
func (g *gauges) add(name, help string, value float64, labels ...string) {
	at := slices.IndexFunc(g.families, func(f *dto.MetricFamily) bool { return f.GetName() == name })
	if at < 0 {
		at = len(g.families)
		g.families = append(g.families, &dto.MetricFamily{Name: &name, Help: &help, Type: dto.MetricType_GAUGE.Enum()})
	}
	m := &dto.Metric{Gauge: &dto.Gauge{Value: &value}, Label: []*dto.LabelPair{{Name: new("golden"), Value: &g.set}}}
	for pair := range slices.Chunk(labels, 2) {
		m.Label = append(m.Label, &dto.LabelPair{Name: &pair[0], Value: &pair[1]})
	}
	g.families[at].Metric = append(g.families[at].Metric, m)
}

// Write writes the metrics in Prometheus's text format, as the textfile collector of
// its node exporter reads it.
func (m RefreshMetrics) Write(w io.Writer) error {
	g := &gauges{set: m.Name}
	g.add("goldgen_refresh_success", "1 where the refresh came to its end, also when nothing changed", number(m.Done != nil))
	g.add("goldgen_refresh_exit_code", "exit code of goldgen refresh", float64(m.ExitCode))
	g.add("goldgen_refresh_last_run_timestamp_seconds", "when the refresh ended", float64(m.Now.Unix()))
	if m.Done != nil {
		m.Done.addTo(g)
	}
	for _, f := range g.families {
		if _, err := expfmt.MetricFamilyToText(w, f); err != nil {
			return err
		}
	}
	return nil
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (r *Refreshed) addTo(g *gauges) {
	g.add("goldgen_refresh_changed", "1 where a version was written", number(r.Changed))
	g.add("goldgen_refresh_duration_seconds", "how long it took", r.Seconds)
	g.add("goldgen_golden_version", "newest version of the set", float64(r.Golden.Version))
	g.add("goldgen_golden_active_cases", "cases that are scored", float64(r.Active))
	g.add("goldgen_refresh_shortfall", "quotas that were not met", float64(len(r.Shortfall)))
	const cases = "goldgen_refresh_cases"
	g.add(cases, "cases by what became of them", float64(r.Kept), "change", "kept")
	g.add(cases, "", float64(r.Regraded), "change", "regraded")
	g.add(cases, "", float64(r.Retired), "change", "retired")
	g.add(cases, "", float64(r.Added), "change", "added")
	const calls = "goldgen_refresh_model_calls"
	g.add(calls, "model calls by their outcome", float64(r.Calls.Made), "outcome", "made")
	g.add(calls, "", float64(r.Calls.Cached), "outcome", "cached")
	g.add(calls, "", float64(r.Calls.Failed), "outcome", "failed")
	if r.Drift != nil {
		const documents = "goldgen_refresh_documents"
		d := r.Drift.Documents
		g.add(documents, "documents by what became of them", float64(d.Added), "change", "added")
		g.add(documents, "", float64(d.Edited), "change", "changed")
		g.add(documents, "", float64(d.Gone+d.Reused), "change", "removed")
		g.add(documents, "", float64(d.Renamed), "change", "renamed")
	}
	for i := range r.Eval {
		r.Eval[i].addTo(g)
	}
}

// addTo adds a retriever's means; one over no case is left out.
func (e *RefreshEval) addTo(g *gauges) {
	g.add("goldgen_eval_leaks", "results that the asker must not see", float64(e.Leaks), "retriever", e.Retriever)
	parts := map[string]Scored{"common": e.Common, "new": e.New}
	if e.Before != nil {
		parts["common_before"] = *e.Before
	}
	for _, part := range []string{"common_before", "common", "new"} {
		for _, m := range parts[part].Metrics {
			if m.Mean != nil {
				g.add("goldgen_eval_mean", "means of a retriever over cases of both versions and new ones", *m.Mean, "retriever", e.Retriever, "measure", m.Name, "cases", part)
			}
		}
	}
}
