package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/llm"
)

// RefreshOptions say which set follows its corpus.
type RefreshOptions struct {
	Name       string // of the set; "" means the project's
	From       string // folder of the corpus that the set was made over; "" means the one in the project
	AcceptLoss bool   // also where the corpus lost half of its documents, or more
}

// Refreshed is the answer of `goldgen refresh --json`.
type Refreshed struct {
	Golden      GoldenRef            `json:"golden"`
	Changed     bool                 `json:"changed"`
	DryRun      bool                 `json:"dry_run"`
	Kept        int                  `json:"kept"`     // cases of the version before that are not retired
	Regraded    int                  `json:"regraded"` // those among them whose labels are others
	Retired     int                  `json:"retired"`  // cases that are retired since, surplus ones among them
	Added       int                  `json:"added"`
	Active      int                  `json:"active"`
	Drift       *datasets.Drift      `json:"drift"` // null where nothing changed
	Shortfall   []datasets.Shortfall `json:"shortfall"`
	Trust       datasets.Trust       `json:"trust"`
	Calls       llm.Calls            `json:"calls"`
	FailedUnits int                  `json:"failed_units"`
	Eval        []RefreshEval        `json:"eval"`
	Seconds     float64              `json:"seconds"`

	Evaluations []*Evaluation `json:"-"` // behind Eval
}

// Refresh makes the next version of a set over the corpus as it is now: what its
// evidence still supports is moved, what is lost is retired, new text is judged for
// old queries, and new queries are written until strata and types are filled again;
// then the configured retrievers are scored. A query log that is another one gives its
// new queries, also where the corpus is the same. Where both are those that the newest
// version is of, nothing is written, and that version is confirmed. One refresh of a
// set works at a time: another one ends with ErrBusy.
func (p *Project) Refresh(ctx context.Context, o RefreshOptions) (*Refreshed, error) {
	o.Name = cmp.Or(o.Name, p.Config.Name)
	if err := datasets.ValidateName(o.Name); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	unlock, err := p.lockRefresh(o.Name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := p.begin(ctx); err != nil {
		return nil, err
	}
	set, err := p.Store().Load(o.Name)
	if err != nil {
		return nil, err
	}
	to, _, err := p.buildCorpus(ctx, "")
	if err != nil {
		return nil, err
	}
	if err := p.fetchLog(ctx); err != nil {
		return nil, err
	}
	r := &refresher{Project: p, o: o, set: set, to: to}
	if err := r.lookAtLog(); err != nil {
		return nil, err
	}
	switch {
	case set.Manifest.Pins.Corpus.Digest != to.Manifest().Digest:
		return r.run(ctx)
	case r.newLog():
		return r.readLog(ctx)
	}
	return r.confirm(ctx)
}

// refresher is one refresh under way.
type refresher struct {
	*Project
	o        RefreshOptions
	set      *datasets.Set // the newest version
	from, to *corpus.Snapshot
	draft    datasets.Draft // what becomes the next one
	report   *datasets.RebaseReport
	drift    datasets.Drift
	fresh    map[string]bool // chunks whose text is new
	logUntil *time.Time      // when the log before ended, nil where that is not known
	logAlone bool            // the query log is another one and the corpus is not
	asked    int             // rows that were to be written
	failed   int             // units whose call failed
}

// confirm says of a set whose corpus did not change that it is as good as new.
func (r *refresher) confirm(ctx context.Context) (*Refreshed, error) {
	ref := r.set.Ref()
	ref.Path = r.set.Dir
	if r.Config.Golden.MaxAge != "" && !r.DryRun {
		if err := r.Store().Confirm(ctx, ref); err != nil {
			return nil, err
		}
	}
	out := r.told(&Committed{Ref: ref, Manifest: r.set.Manifest})
	out.Kept, out.Drift = out.Active+r.set.Manifest.Counts.NeedsReview, nil
	return out, r.catchUp(ctx, out, ref)
}

// catchUp scores a version that an earlier refresh made and did not come to score.
// Where gc has deleted the version before, all its cases are shown as new.
func (r *refresher) catchUp(ctx context.Context, out *Refreshed, ref datasets.Ref) error {
	lacking, err := r.unscored()
	if err != nil || !lacking {
		return err
	}
	m := r.set.Manifest
	before, err := r.Store().Load("@" + m.Parent)
	if _, gone := errors.AsType[*datasets.MissingError](err); gone {
		before, err = &datasets.Set{}, nil
	}
	if err != nil {
		return fmt.Errorf("the version that %s was made of: %w", ref, err)
	}
	out.Eval, out.Evaluations, err = r.score(ctx, &Committed{Ref: ref, Manifest: m}, before)
	return err
}

// run makes the next version. Nothing of it is visible before it is whole.
func (r *refresher) run(ctx context.Context) (*Refreshed, error) {
	if err := r.move(ctx); err != nil {
		return nil, err
	}
	if err := r.complete(ctx); err != nil {
		return nil, err
	}
	return r.finish(ctx)
}

// finish writes what was made and scores it.
func (r *refresher) finish(ctx context.Context) (*Refreshed, error) {
	if r.DryRun {
		ref := r.set.Ref()
		ref.Path = r.set.Dir
		return r.told(&Committed{Ref: ref, Manifest: r.set.Manifest}), nil
	}
	committed, err := r.commit(ctx)
	if err != nil {
		return nil, err
	}
	out := r.told(committed)
	out.Eval, out.Evaluations, err = r.score(ctx, committed, r.set)
	out.Calls, out.Seconds = r.Calls(), r.seconds()
	return out, err
}

// move takes the set over to the new corpus and says how far that drifted. The new
// corpus is embedded only when it was not refused.
func (r *refresher) move(ctx context.Context) (err error) {
	if r.from, err = r.snapshotBefore(r.set, r.o.From); err != nil {
		return err
	}
	if r.draft, r.report, err = r.moved(ctx, r.set, r.from, r.to, r.o.AcceptLoss); err != nil {
		return err
	}
	if _, err := r.embedChunks(ctx, r.to); err != nil {
		return err
	}
	r.draft.Refreshed = true
	r.drift = datasets.Drift{
		From: r.set.Manifest.Pins.Corpus.Digest, Queries: r.drift.Queries, Documents: r.report.Documents,
		Kept: r.report.Kept, Regraded: r.report.Regraded, Retired: r.report.Retired, Reasons: r.report.Reasons,
	}
	r.drift.Strata, err = r.driftByStratum(ctx)
	return err
}

// complete judges new text for old queries, and writes new ones.
func (r *refresher) complete(ctx context.Context) error {
	b, err := r.openBench(ctx, r.to, r.mayExec())
	if err != nil {
		return err
	}
	defer b.Close()
	if err := r.pool(ctx, b); err != nil {
		return err
	}
	return r.fill(ctx, b)
}

// commit writes the version.
func (r *refresher) commit(ctx context.Context) (*Committed, error) {
	m := &r.draft.Manifest
	m.Why, m.Drift, m.Costs = r.why(), &r.drift, r.costs()
	committed, err := r.writeMade(ctx, r.set.Manifest.Name, r.draft)
	if errors.Is(err, datasets.ErrNotNewest) {
		err = hinted("run goldgen refresh again: what models answered is kept", "somebody made a version meanwhile: %w", err)
	}
	return committed, err
}

// why says in a line what the version came of.
func (r *refresher) why() string {
	d := &r.drift
	over := fmt.Sprintf("corpus %.12s", r.to.Manifest().Digest)
	switch {
	case r.logAlone:
		over = "another query log"
	case r.newLog():
		over += " and another query log"
	}
	return fmt.Sprintf("refreshed over %s: %s kept, %d retired, %d added",
		over, wording.Count(d.Kept, "case"), d.Retired+d.Surplus, d.Added)
}

// told is the answer about a version.
func (r *refresher) told(c *Committed) *Refreshed {
	d, s := &r.drift, r.Summary(c, nil)
	return &Refreshed{
		Golden: s.Golden, Changed: s.Changed, DryRun: r.DryRun,
		Kept: d.Kept, Regraded: d.Regraded, Retired: d.Retired + d.Surplus, Added: d.Added, Active: s.Active,
		Drift: d, Shortfall: s.Shortfall, Trust: s.Trust, Calls: s.Calls, FailedUnits: r.failed, Eval: []RefreshEval{}, Seconds: s.Seconds,
	}
}
