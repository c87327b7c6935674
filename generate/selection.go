package generate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

// Selection decides which rows of a plan are asked, and which of their outcomes
// are kept. It is pure: rounds of rows go out (Next) and outcomes come back
// (Settle), and what is kept depends on rows and outcomes alone, never on the
// order in which calls end.
//
// The unit of account is the cell, a stratum's rows of one query type. A cell
// wants as many cases as it has rows that are no reserve, and its part of the
// stratum's spares. Each reject is made good by the cell's next reserve. Shares of
// difficulty (Steer) choose between a cell's cases, and may ask for more reserves.
type Selection struct {
	rows   []sample.Row
	cells  []*cell
	cellOf []int // row -> cell
	fates  []fate
	asked  []int // rows of the round that is out
	rounds int
	index  *similarIndex
	shares map[string]float64 // of difficulty; nil: as it comes
}

// fate is what became of a row.
type fate struct {
	asked   bool
	outcome Outcome
	band    int // of an accepted case: its place in datasets.Bands, -1 for none
}

type cell struct {
	stratum, queryType string
	main, spare        int
	reserves           []int // rows not asked yet, in plan order
	accepted, pending  int   // pending: not answered because of a dry run
	tried              int   // reserves that were asked for what a band is short of
}

// NewSelection reads a plan. spare is the share of further accepted cases
// wanted per stratum (rounded up), which is spread over its query types.
func NewSelection(rows []sample.Row, spare float64) *Selection {
	s := &Selection{rows: rows, cellOf: make([]int, len(rows)), fates: make([]fate, len(rows)), index: newSimilarIndex()}
	byKey := map[[2]string]int{}
	for i, row := range rows {
		key := [2]string{row.Stratum, row.QueryType}
		n, ok := byKey[key]
		if !ok {
			n = len(s.cells)
			byKey[key] = n
			s.cells = append(s.cells, &cell{stratum: row.Stratum, queryType: row.QueryType})
		}
		s.cellOf[i] = n
		if row.Reserve {
			s.cells[n].reserves = append(s.cells[n].reserves, i)
		} else {
			s.cells[n].main++
		}
	}
	s.spreadSpare(spare)
	return s
}

// spreadSpare gives each stratum ceil(share * rows) spares, and its cells their
// parts by largest remainder, ties to the cell that the plan names first.
func (s *Selection) spreadSpare(share float64) {
	strata := map[string][]*cell{}
	for _, c := range s.cells {
		strata[c.stratum] = append(strata[c.stratum], c)
	}
	for _, cells := range strata {
		total := 0
		for _, c := range cells {
			total += c.main
		}
		want := int(math.Ceil(float64(share*float64(total)) - 1e-9))
		if total == 0 || want <= 0 {
			continue
		}
		left := want
		for _, c := range cells {
			c.spare = want * c.main / total
			left -= c.spare
		}
		order := slices.Clone(cells)
		slices.SortStableFunc(order, func(a, b *cell) int {
			return cmp.Compare(want*b.main%total, want*a.main%total)
		})
		for _, c := range order[:left] {
			c.spare++
		}
	}
}

// SpareOf wants spares of some query types alone: of each of their cells a share of its
// rows, rounded up.
func (s *Selection) SpareOf(types []string, share float64) {
	for _, c := range s.cells {
		c.spare = 0
		if slices.Contains(types, c.queryType) {
			c.spare = int(math.Ceil(float64(share*float64(c.main)) - 1e-9))
		}
	}
}

// Beside names cases that no case may repeat, retired ones left out.
func (s *Selection) Beside(cases []datasets.Case) {
	for i := range cases {
		if cases[i].Status != datasets.Retired {
			s.index.add(&cases[i])
		}
	}
}

// Next returns the rows to ask now, in plan order; none when all is decided.
// The first round has all rows that are no reserve and as many reserves as
// spares are wanted; later ones the reserves that make good what was rejected, and
// when none is missing, those that may be of a difficulty that is.
func (s *Selection) Next() []int {
	s.asked = s.due()
	if len(s.asked) == 0 {
		s.asked = s.forBands()
	}
	slices.Sort(s.asked)
	if len(s.asked) > 0 {
		s.rounds++
	}
	return slices.Clone(s.asked)
}

// due are the rows that the cells' numbers ask for.
func (s *Selection) due() []int {
	var asked []int
	for i, row := range s.rows {
		if s.rounds == 0 && !row.Reserve {
			asked = append(asked, i)
		}
	}
	for _, c := range s.cells {
		need := c.main + c.spare - c.accepted - c.pending
		if s.rounds == 0 {
			need = c.spare
		}
		need = min(max(need, 0), len(c.reserves))
		asked = append(asked, c.reserves[:need]...)
		c.reserves = c.reserves[need:]
	}
	return asked
}

// Settle takes the outcomes of the round that Next gave out, in its order, and
// decides in plan order which cases repeat one that is kept already.
func (s *Selection) Settle(outcomes []Outcome) error {
	if len(outcomes) != len(s.asked) {
		return fmt.Errorf("round %d: %d outcomes for %d rows", s.rounds, len(outcomes), len(s.asked))
	}
	for n, i := range s.asked {
		if (outcomes[n].Case == nil) == (outcomes[n].Reject == nil) {
			return fmt.Errorf("case %s: an outcome has either a case or a reject", s.rows[i].CaseID)
		}
		s.fates[i] = fate{asked: true, outcome: s.settle(i, outcomes[n]), band: -1}
		if c := s.fates[i].outcome.Case; c != nil && s.shares != nil {
			s.fates[i].band = slices.Index(datasets.Bands(), c.Band())
		}
	}
	s.asked = nil
	return nil
}

func (s *Selection) settle(i int, o Outcome) Outcome {
	c := s.cells[s.cellOf[i]]
	if o.Case == nil {
		if o.Reject.Reason == ReasonDryRun {
			c.pending++
		}
		return o
	}
	repeated, found := s.index.closest(o.Case)
	check := datasets.Check{Name: ReasonNearDuplicate, Passed: !found, Value: datasets.Round(repeated.similarity)}
	checks := append(slices.Clone(o.Case.Checks), check)
	if found {
		return Outcome{Reject: duplicate(o, s.rows[i], repeated.caseID, checks), Calls: o.Calls}
	}
	kept := *o.Case
	kept.Checks = checks
	s.index.add(&kept)
	c.accepted++
	return Outcome{Case: &kept, Calls: o.Calls}
}

func duplicate(o Outcome, row sample.Row, id string, checks []datasets.Check) *datasets.Reject {
	c := o.Case
	return &datasets.Reject{
		CaseID: c.ID, Query: c.Query, QueryType: c.QueryType, Stratum: row.Stratum, ChunkID: firstChunk(row),
		Stage: StageName, Reason: ReasonNearDuplicate, Detail: "of case " + id, Checks: checks, Evidence: c.Evidence,
		Scope: c.Scope, AsOf: c.AsOf, Calls: o.Calls,
	}
}

// firstChunk is the id of the chunk that a row is about, "" for none.
func firstChunk(row sample.Row) string {
	if len(row.ChunkIDs) == 0 {
		return ""
	}
	return row.ChunkIDs[0]
}

// Records returns what became of every row asked, in plan order. Of a cell's
// cases the first in plan order are the set's, those beyond its size spare; shares
// of difficulty may have some change places.
func (s *Selection) Records() []Record {
	var records []Record
	inSet := s.inSet()
	for i, f := range s.fates {
		if !f.asked {
			continue
		}
		r := Record{Case: f.outcome.Case, Reject: f.outcome.Reject}
		if r.Case != nil {
			if asked := s.rows[i].Asked; asked != nil {
				r.Clicked = asked.Clicked
			}
			r.Spare = !inSet[i]
		}
		records = append(records, r)
	}
	return records
}

// Summary is the funnel so far.
func (s *Selection) Summary() Summary {
	sum := Summary{Rounds: s.rounds, Reasons: map[string]int{}, ByType: map[string]TypeTally{}, Shortfall: []datasets.Shortfall{}}
	for i, f := range s.fates {
		if f.asked {
			sum.add(s.rows[i].QueryType, f.outcome)
		}
	}
	for _, c := range s.cells {
		sum.Spare += max(c.accepted-c.main, 0)
		sum.SpareWanted += c.spare
		if got := c.accepted + c.pending; got < c.main {
			sum.Shortfall = append(sum.Shortfall, datasets.Shortfall{
				Stratum: c.stratum, QueryType: c.queryType, Wanted: c.main, Got: got, Reason: s.why(c),
			})
		}
	}
	bands, short := s.bandShares()
	sum.Difficulty, sum.Shortfall = bands, append(append(sum.Shortfall, short...), s.styleShort()...)
	sum.rates()
	return sum
}

// why says what a cell's rejects were, most frequent first.
func (s *Selection) why(c *cell) string {
	counts := map[string]int{}
	for i, f := range s.fates {
		if f.asked && s.cells[s.cellOf[i]] == c && f.outcome.Reject != nil {
			counts[f.outcome.Reject.Reason]++
		}
	}
	return "all reserves used; rejected: " + listed(counts)
}
