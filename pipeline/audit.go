package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/review"
	"github.com/goldgen/goldgen/review/audit"
)

// The sample of an audit where none is asked for and no label names one.
const (
	DefaultAuditN    = 50
	DefaultAuditSeed = 1
)

// AuditOptions say which queries of a set people are asked about, and where their
// labels are.
type AuditOptions struct {
	Golden   string
	N        int // queries; at least 1
	Seed     int64
	Sampled  bool     // N and Seed were asked for; else a report takes those that the labels name
	Reviewer string   // of a desk or a sheet
	Labels   []string // of a report: files; none reads what people said at desks
}

// Validate names the option that cannot be.
func (o *AuditOptions) Validate() error {
	if o.N < 1 {
		return fmt.Errorf("%w: %d queries: want at least 1", ErrConfig, o.N)
	}
	return nil
}

// AuditReport is what people's yes and no say of a set and of its gates.
type AuditReport struct {
	Golden GoldenRef `json:"golden"`
	audit.Audit
	Set    audit.SetFigures `json:"set"`
	Labels AuditLabels      `json:"labels"`
	Notes  []string         `json:"notes"`
}

// AuditLabels says what became of the labels that were read from files.
type AuditLabels struct {
	Read     int          `json:"read"`  // queries with an answer
	Empty    int          `json:"empty"` // without one
	Replaced int          `json:"replaced"`
	Left     []audit.Left `json:"left_out"`
}

// AuditDesk is a set open for one person's answers. Close it.
type AuditDesk struct {
	*audit.Desk
	Ref     datasets.Ref
	Path    string // the file that keeps the answers
	Notes   []string
	journal *review.Journal
}

// Close lets others in.
func (d *AuditDesk) Close() error { return d.journal.Close() }

// auditing is an audit in the making.
type auditing struct {
	*Project
	o     AuditOptions
	set   *datasets.Set
	frame *audit.Frame
	notes []string
}

func (p *Project) openAudit(o AuditOptions) (*auditing, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, err
	}
	a := &auditing{Project: p, o: o, set: set, frame: audit.NewFrame(set)}
	if len(a.frame.Items) == 0 {
		return nil, fmt.Errorf("golden set %s: none of its %s and %s can be asked about", set.Ref(),
			wording.Count(len(set.Cases), "case"), wording.Count(len(set.Rejects), "reject"))
	}
	if a.frame.Count(audit.Rejected) == 0 {
		a.notes = append(a.notes, fmt.Sprintf("%s has no reject to ask about: nothing can be said of its gates, nor of good queries lost", set.Ref()))
	}
	return a, nil
}

// sample draws, and says where there are fewer queries than asked for.
func (a *auditing) sample() *audit.Sample {
	s := audit.Draw(a.frame, a.o.N, a.o.Seed)
	if n := len(a.frame.Items); n < a.o.N {
		a.notes = append(a.notes, fmt.Sprintf("%s has %s to ask about, fewer than the %d asked for: all are in the sample", a.set.Ref(), wording.Count(n, "query"), a.o.N))
	}
	return &s
}

// audits is the folder of the answers about all versions of a set.
func (p *Project) audits(name string) string { return p.state("audits", name) }

// OpenAudit draws the sample and goes on where the person stopped. What a person
// said of another version counts for every query that is the same in this one.
func (p *Project) OpenAudit(o AuditOptions) (*AuditDesk, error) {
	if err := checkReviewer(o.Reviewer); err != nil {
		return nil, err
	}
	a, err := p.openAudit(o)
	if err != nil {
		return nil, err
	}
	name := a.set.Manifest.Name
	journal, err := review.OpenJournal(p.audits(name), review.Head{Set: name, Reviewer: o.Reviewer})
	if errors.Is(err, review.ErrBusy) {
		return nil, hinted("go on where it is open, or give another name with --reviewer", "audit of %s: %w", name, err)
	}
	if err != nil {
		return nil, err
	}
	d := &AuditDesk{Ref: a.set.Ref(), Path: journal.Path, journal: journal}
	d.Desk = audit.Sit(a.sample(), o.Reviewer, journal, p.Now)
	d.Notes = slices.Concat(a.notes, journal.Notes)
	return d, nil
}

// AuditSheet is the sample as a file to fill in, with what the person has said.
func (p *Project) AuditSheet(o AuditOptions) (rows []audit.Row, notes []string, err error) {
	a, err := p.openAudit(o)
	if err != nil {
		return nil, nil, err
	}
	people, damaged, _, err := a.atDesks()
	if err != nil {
		return nil, nil, err
	}
	var own audit.Person
	for _, person := range people {
		if person.Name == o.Reviewer {
			own = person
		}
	}
	rows = a.sample().Rows(own)
	return rows, slices.Concat(a.notes, damaged), nil
}

// AuditReport puts people's answers together, from files or from their desks, also
// while they are given.
func (p *Project) AuditReport(o AuditOptions) (*AuditReport, error) {
	a, err := p.openAudit(o)
	if err != nil {
		return nil, err
	}
	out := &AuditReport{Golden: goldenRef(a.set), Labels: AuditLabels{Left: []audit.Left{}}}
	people, err := a.people(&out.Labels)
	if err != nil {
		return nil, err
	}
	sample := a.sample()
	out.Audit, out.Set = audit.Figure(a.frame, sample, people), audit.FiguresOf(a.set)
	if out.Outside > 0 {
		a.notes = append(a.notes, fmt.Sprintf("%s labelled %s not in the sample %s: not counted", wording.Count(out.Outside, "query"), wording.Pick(out.Outside, "is", "are"), sample.Name()))
	}
	out.Notes = orEmpty(a.notes)
	return out, nil
}

// people reads the answers and settles which sample they are of.
func (a *auditing) people(labels *AuditLabels) ([]audit.Person, error) {
	if len(a.o.Labels) == 0 {
		people, damaged, last, err := a.atDesks()
		a.notes = append(a.notes, damaged...)
		if last != "" && !a.o.Sampled {
			a.o.N, a.o.Seed, _ = audit.ParseName(last)
		}
		return people, err
	}
	rows, faults, err := readAuditFiles(a.o.Labels)
	if err != nil {
		return nil, err
	}
	if err := a.sampleOf(rows); err != nil {
		return nil, err
	}
	taken := audit.Take(rows, a.frame, a.set.Ref().String())
	*labels = AuditLabels{Read: taken.Read + len(faults), Empty: taken.Empty, Replaced: taken.Replaced, Left: append(faults, taken.Left...)}
	files := strings.Join(a.o.Labels, ", ")
	switch {
	case labels.Read == 0:
		return nil, fmt.Errorf("%w %s: no answer in it; rows still to be filled in: %d", errLabels, files, labels.Empty)
	case len(taken.People) == 0:
		return nil, fmt.Errorf("%w %s: none of %d can be used: %s: %s", errLabels, files, labels.Read, labels.Left[0].Where, labels.Left[0].Why)
	}
	return taken.People, nil
}

// sampleOf takes the sample that the rows name, unless another was asked for.
func (a *auditing) sampleOf(rows []audit.Row) error {
	var names []string
	for i := range rows {
		if _, _, ok := audit.ParseName(rows[i].Sample); ok && !slices.Contains(names, rows[i].Sample) {
			names = append(names, rows[i].Sample)
		}
	}
	switch {
	case a.o.Sampled || len(names) == 0:
		return nil
	case len(names) > 1:
		return fmt.Errorf("%w: labels are of several samples, %s: say which with -n and --seed", ErrConfig, strings.Join(names, ", "))
	}
	a.o.N, a.o.Seed, _ = audit.ParseName(names[0])
	return nil
}

// atDesks reads what everybody said of any version of the set, what is damaged
// of it, and the sample that was labelled last.
func (a *auditing) atDesks() (people []audit.Person, damaged []string, sample string, err error) {
	reads, err := review.ReadJournals(a.audits(a.set.Manifest.Name))
	if err != nil {
		return nil, nil, "", err
	}
	var last time.Time
	for _, r := range reads {
		people = append(people, audit.PersonOf(r.Head.Reviewer, r.Events))
		damaged = append(damaged, r.Notes...)
		for _, e := range r.Events {
			if _, _, ok := audit.ParseName(e.Sample); ok && !e.At.Before(last) {
				last, sample = e.At, e.Sample
			}
		}
	}
	return people, damaged, sample, nil
}
