package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/datasets"
)

// Outcome is a set with what people said of it.
type Outcome struct {
	Cases     []datasets.Case // all, in their order
	Changed   []datasets.Case // those that differ
	Labels    int             // pairs with a person's grade from these stands
	Left      []Left          // what could not be used
	Conflicts []Conflict
	Reviews   []datasets.Review
}

// Left is something that a person said and that the set has no place for.
type Left struct {
	Reviewer string `json:"reviewer"`
	CaseID   string `json:"case_id"`
	ChunkID  string `json:"chunk_id"`
	Why      string `json:"why"`
}

// Apply gives the set's cases what the people say. Of several grades of a pair
// the median counts, the lower one of two; of several wordings of a case the
// last; a case that anybody rejects is retired. The set may be a later version
// than the one that was labelled: labels of cases that were retired or reworded
// since are left out.
func Apply(set *datasets.Set, stands []Stand, corpus Corpus) Outcome {
	a := applying{set: set, corpus: corpus, relevant: set.Manifest.RelevantGrade, labels: map[string]map[string][]said{}, touched: map[string]bool{}}
	a.out.Left, a.out.Reviews = []Left{}, []datasets.Review{}
	for i := range stands {
		a.read(&stands[i])
	}
	a.out.Cases = slices.Clone(set.Cases)
	for i := range a.out.Cases {
		if c := &a.out.Cases[i]; a.touched[c.ID] {
			a.change(c)
			a.out.Changed = append(a.out.Changed, *c)
		}
	}
	a.leaveUnknown()
	for i := range stands {
		a.out.Reviews = append(a.out.Reviews, reviewOf(&stands[i]))
	}
	a.out.Conflicts = Conflicts(stands, a.relevant)
	return a.out
}

// said is an event with who it is of.
type said struct {
	by string
	Event
}

type applying struct {
	set      *datasets.Set
	corpus   Corpus
	relevant int
	labels   map[string]map[string][]said // case, chunk
	queries  []said
	rejects  []said
	touched  map[string]bool // cases
	out      Outcome
}

func (a *applying) read(s *Stand) {
	for pair, e := range s.Labels {
		if e.Skip {
			continue
		}
		a.touched[pair.CaseID] = true
		if a.labels[pair.CaseID] == nil {
			a.labels[pair.CaseID] = map[string][]said{}
		}
		a.labels[pair.CaseID][pair.ChunkID] = append(a.labels[pair.CaseID][pair.ChunkID], said{s.Reviewer, e})
	}
	for id, e := range s.Queries {
		a.touched[id] = true
		a.queries = append(a.queries, said{s.Reviewer, e})
	}
	for id, e := range s.Rejects {
		a.touched[id] = true
		a.rejects = append(a.rejects, said{s.Reviewer, e})
	}
	for _, e := range s.Stale {
		a.leave(said{s.Reviewer, e}, "the wording was changed after it")
	}
}

func (a *applying) leave(s said, why string) {
	a.out.Left = append(a.out.Left, Left{Reviewer: s.by, CaseID: s.CaseID, ChunkID: s.ChunkID, Why: why})
}

// change does to one case what was said of it.
func (a *applying) change(c *datasets.Case) {
	if c.Status == datasets.Retired {
		a.leaveRetired(c)
		return
	}
	for _, q := range latest(a.queries, c.ID) {
		switch c.Query {
		case q.Wording: // an earlier version took it in
		case q.Query:
			c.Reword(q.Wording, q.Checks)
		default:
			a.leave(q, "another wording came first")
		}
	}
	a.grade(c)
	if r := latest(a.rejects, c.ID); len(r) > 0 {
		c.Status, c.Reason = datasets.Retired, r[0].Reason
		return
	}
	settleStatus(c, a.relevant)
}

// leaveRetired leaves out what was said of a case that is retired; a rejection
// has what it wanted.
func (a *applying) leaveRetired(c *datasets.Case) {
	for _, list := range a.labels[c.ID] {
		for _, l := range list {
			a.leave(l, "the case is retired")
		}
	}
}

// latest are the events of one case, the last first.
func latest(events []said, caseID string) []said {
	var out []said
	for _, e := range events {
		if e.CaseID == caseID {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(x, y said) int { return cmp.Or(y.At.Compare(x.At), strings.Compare(x.by, y.by)) })
	return out
}

// grade gives the case its people's grades.
func (a *applying) grade(c *datasets.Case) {
	ids := []string{}
	for id := range a.labels[c.ID] {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		list := slices.DeleteFunc(slices.Clone(a.labels[c.ID][id]), func(l said) bool {
			if l.Query == c.Query {
				return false
			}
			a.leave(l, "it was given for another wording")
			return true
		})
		if len(list) == 0 {
			continue
		}
		chunk, ok := a.corpus.Chunk(id)
		if !ok {
			for _, l := range list {
				a.leave(l, "no such chunk in the snapshot")
			}
			continue
		}
		setHuman(c, judgmentOf(list, chunk.DocID))
		a.out.Labels++
	}
}

// setHuman puts a person's judgment in the place of an earlier one.
func setHuman(c *datasets.Case, judgment datasets.Judgment) {
	kept := slices.DeleteFunc(slices.Clone(c.Judgments), func(j datasets.Judgment) bool {
		return j.By == datasets.ByHuman && j.ChunkID == judgment.ChunkID
	})
	c.Judgments = append(kept, judgment)
}

// leastInclusion is the least probability that a set can store.
const leastInclusion = 1e-4

// judgmentOf is what several people's labels of one pair come to: the median
// grade, the lower of two, and the label of the last who gave it. The pair was as
// likely to be labelled as in the sample that held it most likely.
func judgmentOf(list []said, docID string) datasets.Judgment {
	slices.SortFunc(list, func(x, y said) int {
		return cmp.Or(cmp.Compare(*x.Grade, *y.Grade), x.At.Compare(y.At), strings.Compare(x.by, y.by))
	})
	grade, label, names, inclusion := *list[(len(list)-1)/2].Grade, "", []string{}, 0.0
	for _, l := range list {
		if *l.Grade == grade {
			label = l.Label
		}
		names, inclusion = append(names, l.by), max(inclusion, l.Inclusion)
	}
	slices.Sort(names)
	return datasets.Judgment{
		ChunkID: list[0].ChunkID, DocID: docID, Grade: &grade, Label: label, By: datasets.ByHuman,
		Judge: strings.Join(names, ", "), Inclusion: max(leastInclusion, datasets.Round(inclusion)),
	}
}

// settleStatus makes a case that a judge sent to review active once a person
// found a relevant chunk, and sends one to review that expects no answer and got
// one.
func settleStatus(c *datasets.Case, relevant int) {
	for _, j := range c.Judgments {
		if j.By != datasets.ByHuman || j.Grade == nil || *j.Grade < relevant {
			continue
		}
		if c.ExpectedAbstention {
			c.Status, c.Reason = datasets.NeedsReview, fmt.Sprintf("expects no answer, and a person found one in chunk %s", j.ChunkID)
			return
		}
		if c.Status == datasets.NeedsReview {
			c.Status, c.Reason = datasets.Active, ""
		}
	}
}

// leaveUnknown leaves out what is about cases that the set does not have, and
// puts all that was left out in order.
func (a *applying) leaveUnknown() {
	known := map[string]bool{}
	for i := range a.set.Cases {
		known[a.set.Cases[i].ID] = true
	}
	events := slices.Concat(a.queries, a.rejects)
	for _, chunks := range a.labels {
		for _, list := range chunks {
			events = append(events, list...)
		}
	}
	for _, e := range events {
		if !known[e.CaseID] {
			a.leave(e, "no such case in "+a.set.Ref().String())
		}
	}
	slices.SortFunc(a.out.Left, func(x, y Left) int {
		return cmp.Or(strings.Compare(x.Reviewer, y.Reviewer), strings.Compare(x.CaseID, y.CaseID), strings.Compare(x.ChunkID, y.ChunkID), strings.Compare(x.Why, y.Why))
	})
}

// reviewOf sums up one person's work.
func reviewOf(s *Stand) datasets.Review {
	r := datasets.Review{Reviewer: s.Reviewer, Labels: len(s.Given()), Reworded: len(s.Queries), Rejected: len(s.Rejects)}
	for _, e := range s.live {
		if e.Sample != "" && !slices.Contains(r.Samples, e.Sample) {
			r.Samples = append(r.Samples, e.Sample)
		}
	}
	slices.Sort(r.Samples)
	if n := len(s.live); n > 0 {
		r.First, r.Last = s.live[0].At.Format(time.RFC3339), s.live[n-1].At.Format(time.RFC3339)
	}
	return r
}

// AllByPeople reports whether a person graded every judged chunk of every active
// case.
func AllByPeople(cases []datasets.Case) bool {
	active := 0
	for i := range cases {
		if cases[i].Status != datasets.Active {
			continue
		}
		active++
		if len(cases[i].Judgments) == 0 || len(openChunks(&cases[i])) > 0 {
			return false
		}
	}
	return active > 0
}
