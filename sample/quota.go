package sample

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
)

// typeQuota is a query type that planners serve, in the course of a draw.
type typeQuota struct {
	queryType string
	wanted    int // rows
	unit      int // rows of a candidate
	planners  []planner
	strata    []*typeStratum // by name; those that have candidates
	got       int            // rows
	capped    bool           // the limit per document kept a candidate out
}

// typeStratum is the part of a type's candidates that lies in one stratum.
type typeStratum struct {
	name       string
	weight     float64
	candidates []candidate // not taken yet, in the order of the draw
	main       []candidate
	reserves   []candidate
}

func rowsOf(list []candidate) int {
	n := 0
	for i := range list {
		n += list[i].size()
	}
	return n
}

// unitOf is the number of rows that one candidate of a type makes.
func unitOf(queryType string) int {
	if queryType == datasets.PermissionSensitive {
		return 2 // who may see it, and who may not
	}
	return 1
}

// typeQuotas gives each planned type its part of the cases by largest remainder,
// and what is left for the types that any chunk serves. A type whose cases come
// in pairs gets whole pairs, at least one, where another type can take or give the
// odd case.
func typeQuotas(o *Options) (quotas []*typeQuota, left int) {
	types := o.types()
	shares := make([]float64, len(types))
	for i, t := range types {
		shares[i] = o.Mix[t]
	}
	n := allocate(o.Cases, shares, make([]int, len(types)), fillInts(len(types), o.Cases))
	for i, t := range types {
		if unitOf(t) > 1 {
			evenOut(n, i, types)
		}
	}
	for i, t := range types {
		if anyChunkServes(t) {
			left += n[i]
			continue
		}
		quotas = append(quotas, &typeQuota{queryType: t, wanted: n[i], unit: unitOf(t), planners: plannersOf(t, o)})
	}
	return quotas, left
}

// evenOut makes the number of cases of a type that comes in pairs even, by one of
// another type: one that any chunk serves where there is one.
func evenOut(n []int, paired int, types []string) {
	if n[paired]%2 == 0 {
		return
	}
	change := -1
	if n[paired] == 1 {
		change = 1
	}
	for _, served := range []bool{true, false} {
		for i, t := range types {
			if i != paired && anyChunkServes(t) == served && n[i] > change {
				n[paired], n[i] = n[paired]+change, n[i]-change
				return
			}
		}
	}
}

// findCandidates reads the corpus for the planned types and spreads what they
// found over the strata.
func (s *scanner) findCandidates(ctx context.Context, quotas []*typeQuota) error {
	if s.in.Chunks == nil {
		return fmt.Errorf("sample.mix: query type %s needs the chunks' texts, and none are given", quotas[0].queryType)
	}
	if err := s.addNeighbours(ctx, quotas); err != nil {
		return err
	}
	var all []*gathering
	for _, q := range quotas {
		for _, p := range q.planners {
			all = append(all, newGathering(p, q.queryType, q.bundles(&s.o), &s.o))
		}
	}
	if err := s.gatherAll(ctx, s.in.Chunks, all); err != nil {
		return err
	}
	weight := map[string]float64{}
	for i, w := range weights(s.f.strata, s.o.Allocation) {
		weight[s.f.strata[i].name] = w
	}
	for _, q := range quotas {
		var lists [][]candidate
		for range q.planners {
			lists = append(lists, all[0].candidates())
			all = all[1:]
		}
		q.spread(interleave(lists), weight)
		if err := q.check(); err != nil {
			return err
		}
	}
	return nil
}

// bundles is how many bundles are kept for each planner of the type.
func (q *typeQuota) bundles(o *Options) int {
	return max(minBundles, int(math.Ceil(float64(perCase)*float64(q.wanted)*(1+o.Reserve))))
}

// checker is a planner that can tell, once the corpus is read, that it was asked
// for what the corpus cannot have.
type checker interface{ check() error }

func (q *typeQuota) check() error {
	for _, p := range q.planners {
		if c, ok := p.(checker); ok {
			if err := c.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// interleave takes from the lists in turn: each way to find cases gets its part.
func interleave(lists [][]candidate) []candidate {
	var out []candidate
	for n, left := 0, true; left; n++ {
		left = false
		for _, list := range lists {
			if n < len(list) {
				out, left = append(out, list[n]), true
			}
		}
	}
	return out
}

// spread puts the candidates into their strata, whose weights it is given by name.
// A chunk serves a type once, but for terms, of which it may hold several.
func (q *typeQuota) spread(list []candidate, weight map[string]float64) {
	byName := map[string]*typeStratum{}
	seen := map[string]bool{}
	for _, c := range list {
		use := c.first().ID + "\x00" + c.term
		if seen[use] {
			continue
		}
		seen[use] = true
		name := c.first().stratum
		if byName[name] == nil {
			byName[name] = &typeStratum{name: name, weight: weight[name]}
		}
		byName[name].candidates = append(byName[name].candidates, c)
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		q.strata = append(q.strata, byName[name])
	}
}

// pickMain fills the strata's shares of the type, in whole candidates; what one
// cannot give is divided among the others.
func (q *typeQuota) pickMain(docs map[uint32]int, limit int) {
	w, low, high := make([]float64, len(q.strata)), make([]int, len(q.strata)), make([]int, len(q.strata))
	for {
		for i, s := range q.strata {
			w[i], low[i] = s.weight, len(s.main)
			high[i] = low[i] + len(s.candidates)
		}
		before := q.got
		for i, share := range allocate(q.wanted/q.unit, w, low, high) {
			q.take(q.strata[i], &q.strata[i].main, share, docs, limit)
		}
		q.got = q.count()
		if q.got >= q.wanted || q.got == before {
			return
		}
	}
}

func (q *typeQuota) count() int {
	n := 0
	for _, s := range q.strata {
		n += q.unit * len(s.main)
	}
	return n
}

// take moves candidates into a list until it has n; one whose document has its
// limit of rows is passed over.
func (q *typeQuota) take(s *typeStratum, to *[]candidate, n int, docs map[uint32]int, limit int) {
	rest := s.candidates[:0:0]
	for _, c := range s.candidates {
		full := limit > 0 && docs[c.first().doc]+q.unit > limit
		q.capped = q.capped || full && len(*to) < n
		if full || len(*to) >= n {
			rest = append(rest, c)
			continue
		}
		docs[c.first().doc] += q.unit
		*to = append(*to, c)
	}
	s.candidates = rest
}

func (q *typeQuota) pickReserves(docs map[uint32]int, o *Options) {
	for _, s := range q.strata {
		q.take(s, &s.reserves, o.reserves(q.unit*len(s.main))/q.unit, docs, o.MaxPerDocument)
	}
}

// shortfall names what the type lacks; false if it has all.
func (q *typeQuota) shortfall() (datasets.Shortfall, bool) {
	return datasets.Shortfall{Stratum: "all", QueryType: q.queryType, Wanted: q.wanted, Got: q.got, Reason: q.why()}, q.got < q.wanted
}

// why says why the type has less than it wanted.
func (q *typeQuota) why() string {
	reason := "too few in the corpus: it has no more "
	switch {
	case q.wanted-q.got < q.unit:
		return fmt.Sprintf("a query of it makes %d cases, for an asker who may see its source and one who may not, and of %d one is left over", q.unit, q.wanted)
	case q.capped:
		reason = "the documents that have one are asked about as often as sample.max_per_document allows; of the others, the corpus has no more "
	case q.got == 0:
		reason = "the corpus has no "
	}
	var lacking []string
	for _, p := range q.planners {
		lacking = append(lacking, p.lacking())
	}
	return reason + strings.Join(lacking, " or ")
}

// namedRows gives a candidate its rows. Their slots are set when all are known.
func (d *drawing) namedRows(q *typeQuota, s *typeStratum, c *candidate, reserve bool) []Row {
	row := Row{
		QueryType: q.queryType, Style: d.style(c.priority, q.queryType), Stratum: s.name, Reserve: reserve,
		Term: c.term, OtherForm: c.otherForm, Link: c.link, AsOf: c.asOf,
	}
	for _, m := range c.about {
		row.ChunkIDs, row.DocIDs = append(row.ChunkIDs, m.ID), append(row.DocIDs, m.DocID)
	}
	for _, m := range c.rivals {
		row.Rivals = append(row.Rivals, m.ID)
	}
	if c.forbidden == nil {
		return []Row{row}
	}
	allowed, forbidden := row, row
	allowed.Scope, allowed.Rivals = LeastScope(c.first().Scope), nil
	forbidden.Scope, forbidden.Forbidden = *c.forbidden, true
	return []Row{allowed, forbidden}
}

// number gives rows their slots and ids: a slot counts the rows of one chunk,
// type and style. Rows of a pair share a group, the first one's id.
func (d *drawing) number(rows []Row, digest string, slots map[string]int) {
	for i := range rows {
		r := &rows[i]
		key := strings.Join([]string{r.DocIDs[0], digest, r.QueryType, r.Style}, "\x00")
		r.Slot = slots[key]
		slots[key]++
		r.CaseID = datasets.CaseID(d.o.Seed, r.DocIDs[0], digest, r.QueryType, r.Style, r.Slot)
		if len(rows) > 1 {
			r.Group = rows[0].CaseID
		}
	}
}

// typedRows gives the rows of the planned types, by stratum.
func (d *drawing) typedRows(reserve bool, slots map[string]int) map[string][]Row {
	out := map[string][]Row{}
	for _, q := range d.typed {
		for _, s := range q.strata {
			list := s.main
			if reserve {
				list = s.reserves
			}
			for i := range list {
				rows := d.namedRows(q, s, &list[i], reserve)
				d.number(rows, list[i].first().TextDigest, slots)
				out[s.name] = append(out[s.name], rows...)
			}
		}
	}
	return out
}

func compareDraws(a, b uint64, x, y string) int {
	return cmp.Or(cmp.Compare(a, b), cmp.Compare(x, y))
}
