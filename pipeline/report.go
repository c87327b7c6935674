package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/clip"
	"github.com/goldgen/goldgen/report"
)

// ReportOptions name what a report is about.
type ReportOptions struct {
	Results  []string // folders; the first is compared and held to gates
	Baseline string   // folder, best or git:REF; "" none
	Common   bool     // compare only the cases that are the same on both sides
	SliceBy  []string // of the comparison; default: those of the baseline
	Link     string   // where the page will be, for a pull request
	Text     int      // bytes of each chunk's text to show, 0 none
	GateChoice
}

// Report gathers what a report shows. It needs nothing but the folders: p may
// be nil, unless the baseline is best or git:REF. With a project, evidence and
// chunks get their text where the golden set and the snapshot are still there.
func Report(ctx context.Context, p *Project, o ReportOptions) (*report.Findings, error) {
	f := &report.Findings{Strict: !p.MayCannotTell(o.Strict), Link: o.Link}
	for _, dir := range o.Results {
		s, err := p.scored(ctx, dir, o.Text)
		if err != nil {
			return nil, err
		}
		f.Results = append(f.Results, *s)
	}
	if p != nil {
		f.Goldgen = p.Version
		past, err := p.past(f.Results[0].Result.Golden)
		if err != nil {
			return nil, err
		}
		f.History = past
	}
	return f, p.judge(ctx, f, o)
}

// scored reads a result folder with its cases.
func (p *Project) scored(ctx context.Context, dir string, text int) (*report.Scored, error) {
	r, err := ReadResult(dir)
	if err != nil {
		return nil, err
	}
	s := &report.Scored{Result: r.Result, Path: dir}
	if s.Made, err = time.Parse(time.RFC3339, r.CreatedAt); err != nil {
		return nil, fmt.Errorf("%w: %s: created_at: %w", ErrDamaged, dir, err)
	}
	if r.Restriction != "" {
		s.Notes = append(s.Notes, "only some of the cases: "+r.Restriction)
	}
	if r.Format < ResultFormat {
		s.Notes = append(s.Notes, fmt.Sprintf("a result of format %d, which keeps no cases to show", r.Format))
		return s, nil
	}
	kept, err := r.Read()
	if err != nil {
		return nil, err
	}
	if s.Cases, err = kept.reportCases(); err != nil {
		return nil, err
	}
	return s, p.addTexts(ctx, s, r, text)
}

// reportCases scores the kept cases again for their rows, and adds what is
// known of each.
func (k *Kept) reportCases() ([]report.Case, error) {
	again, err := eval.Evaluate(k.Input)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.Dir, err)
	}
	diagnosis, err := ReadDiagnosis(k.Dir)
	if err != nil {
		return nil, err
	}
	out := make([]report.Case, 0, len(k.Input.Cases))
	at := map[string]int{}
	for row := range again.Rows() {
		c := &k.Input.Cases[len(out)]
		at[c.ID] = len(out)
		out = append(out, reportCase(row, c))
	}
	if diagnosis == nil {
		return out, nil
	}
	for _, d := range diagnosis.All {
		if i, ok := at[d.CaseID]; ok {
			out[i].Cause, out[i].Proof = strings.ReplaceAll(string(d.Cause), "_", " "), d.Why
		}
	}
	return out, nil
}

func reportCase(row eval.CaseRow, c *eval.Case) report.Case {
	out := report.Case{CaseRow: row, Labels: c.Labels}
	b := c.Background
	if b == nil {
		return out
	}
	out.Scope, out.Filters, out.AsOf, out.Tags = b.Scope, b.Filters, b.AsOf, b.Tags
	for _, e := range b.Evidence {
		out.Evidence = append(out.Evidence, report.Evidence{Doc: e.Doc, Start: e.Start, End: e.End})
	}
	return out
}

// addTexts fills in quotes from the golden set and chunks' texts from the
// snapshot. Either may be gone by now: the report then does without.
func (p *Project) addTexts(ctx context.Context, s *report.Scored, r *StoredResult, text int) error {
	if p == nil || s.Result.Golden == nil || r.Pins == nil {
		return nil
	}
	golden := s.Result.Golden
	set, err := p.Store().Load(datasets.Ref{Name: golden.Name, Version: golden.Version}.String())
	switch {
	case err == nil && set.Ref().Digest == golden.Digest:
		addQuotes(s.Cases, set)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		s.Notes = append(s.Notes, fmt.Sprintf("evidence is shown without its text: %v", err))
	}
	if text <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	snapshot, err := p.pinnedSnapshot("", r.Pins.Corpus, "result "+s.Path)
	if err != nil {
		s.Notes = append(s.Notes, "chunks are shown without their text: the snapshot that they come from is not here")
		return nil
	}
	chunks, err := snapshot.ChunksByID(shownChunks(s.Cases))
	if err != nil {
		return err
	}
	s.Texts = make(map[string]string, len(chunks))
	for id, c := range chunks {
		s.Texts[id] = beginning(c.Text, text)
	}
	return nil
}

// addQuotes gives evidence its text; cases of a set are found by id.
func addQuotes(cases []report.Case, set *datasets.Set) {
	quotes := map[report.Evidence]string{}
	for i := range set.Cases {
		for _, e := range set.Cases[i].Evidence {
			quotes[report.Evidence{Doc: e.DocID, Start: e.Start, End: e.End}] = e.Quote
		}
	}
	for i := range cases {
		for j, e := range cases[i].Evidence {
			cases[i].Evidence[j].Quote = quotes[e]
		}
	}
}

// shownChunks lists the chunks that a page shows, each once.
func shownChunks(cases []report.Case) []string {
	var ids []string
	for i := range cases {
		for _, h := range cases[i].Ranking[:min(report.HitsShown, len(cases[i].Ranking))] {
			ids = append(ids, h.ID)
		}
		for _, l := range cases[i].Labels {
			ids = append(ids, l.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// beginning is how a text begins, on one line, with a mark where it is cut.
func beginning(text string, bytes int) string {
	line := strings.Join(strings.Fields(text), " ")
	if len(line) <= bytes {
		return line
	}
	return clip.Bytes(line, bytes) + "…"
}

// past lists the history of a set, over all of its versions.
func (p *Project) past(golden *eval.GoldenRef) ([]report.Past, error) {
	if golden == nil {
		return nil, nil
	}
	h, err := p.History(golden.Name)
	if err != nil {
		return nil, err
	}
	var out []report.Past
	for _, e := range h.Entries {
		at, err := time.Parse(time.RFC3339, e.Time)
		if err != nil || e.Restriction != "" {
			continue
		}
		out = append(out, report.Past{Time: at, Golden: e.Golden.Ref, Retriever: e.Retriever.Name, Metrics: e.Metrics, Leaks: e.Leaks, Path: e.Path})
	}
	return out, nil
}

// judge compares the first result with the baseline, or holds it to the gates
// that were given.
func (p *Project) judge(ctx context.Context, f *report.Findings, o ReportOptions) error {
	first := o.Results[0]
	switch {
	case o.Baseline != "":
		base, err := p.reportBaseline(ctx, f.Results[0].Result, o)
		if err != nil {
			return err
		}
		stored, err := ReadResult(base.Path)
		if err != nil {
			return err
		}
		f.Baseline = stored.Result
		f.Comparison, err = Compare(p, CompareOptions{
			Base: base.Path, Candidate: first, Common: o.Common, SliceBy: o.SliceBy, PerCase: true, GateChoice: o.GateChoice,
		})
		return err
	case len(o.Gates) > 0:
		return p.checkGates(f, o)
	}
	return nil
}

func (p *Project) checkGates(f *report.Findings, o ReportOptions) error {
	kept, err := readKept(o.Results[0])
	if err != nil {
		return err
	}
	options, err := p.gateOptions(o.GateChoice, true)
	if err != nil {
		return err
	}
	if err := kept.sliceFor(nil, options.Gates); err != nil {
		return err
	}
	f.Check, err = eval.CheckGates(kept.Input, options)
	return gateTrouble(err)
}

func (p *Project) reportBaseline(ctx context.Context, r *eval.Result, o ReportOptions) (*Baseline, error) {
	named := o.Baseline != baselineBest && !strings.HasPrefix(o.Baseline, baselineGit)
	if named {
		return &Baseline{Path: o.Baseline}, nil
	}
	if p == nil || r.Golden == nil {
		return nil, fmt.Errorf("%w: --baseline %s: looks into the history of a project, and this result has none; name a folder", ErrConfig, o.Baseline)
	}
	options, err := p.gateOptions(o.GateChoice, true)
	if err != nil {
		return nil, err
	}
	ks := r.Conventions.K
	if len(ks) == 0 {
		ks = p.Config.Eval.K
	}
	set := datasets.Ref{Name: r.Golden.Name, Version: r.Golden.Version, Digest: r.Golden.Digest}
	return p.baseline(ctx, o.Baseline, sought{
		set: set, retriever: r.Retriever.Name, measure: headline(options.Gates, ks), k: r.Conventions.K, source: r.Conventions.Source,
	})
}
