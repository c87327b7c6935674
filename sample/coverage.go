package sample

import (
	"fmt"
	"maps"

	"github.com/goldgen/goldgen/datasets"
)

// shortfall names each type that the corpus cannot give, and, if the plan has
// fewer cases of the other types than asked for, each stratum that could not
// give its share.
func (d *drawing) shortfall() []datasets.Shortfall {
	out := []datasets.Shortfall{}
	for _, q := range d.typed {
		if s, short := q.shortfall(); short {
			out = append(out, s)
		}
	}
	total := 0
	for _, q := range d.quotas {
		total += len(q.main)
	}
	if total == d.cases {
		return out
	}
	for _, q := range d.quotas {
		if len(q.main) < q.wanted {
			out = append(out, datasets.Shortfall{
				Stratum: q.name, Wanted: q.wanted, Got: len(q.main), Reason: d.why(q),
			})
		}
	}
	return out
}

// why says what kept a stratum below its share, "" if it has it.
func (d *drawing) why(q *quota) string {
	switch {
	case len(q.main) >= q.wanted:
		return ""
	case q.capped:
		return fmt.Sprintf("max_per_document is %d", d.o.MaxPerDocument)
	}
	return fmt.Sprintf("too few eligible chunks: %d, each asked about in %d ways", q.size, len(d.types))
}

func (d *drawing) coverage(p *Plan, in Input) Coverage {
	c := Coverage{
		Chunks: d.f.chunks, Eligible: d.f.eligible, Excluded: maps.Clone(d.f.excluded),
		Planned: p.Main(), Mix: map[string]int{}, MixWanted: map[string]int{},
	}
	c.Reserves = len(p.Rows) - c.Planned
	reached := map[uint32]bool{}
	topics := map[int]bool{}
	reach := func(row, doc uint32) {
		reached[doc] = true
		if int(row) < len(in.Topics) && in.Topics[row] >= 0 {
			topics[in.Topics[row]] = true
		}
	}
	strata := 0
	typed := d.typedStrata()
	for _, q := range d.quotas {
		s := Stratum{
			Name: q.name, Eligible: q.size, Share: quotient(q.size, d.f.eligible),
			Wanted: q.wanted, Planned: len(q.main), Reserves: len(q.reserves), Why: d.why(q),
		}
		for _, m := range q.main {
			reach(m.row, m.doc)
		}
		for _, t := range typed[q.name] {
			s.addTyped(t, reach)
		}
		c.Strata = append(c.Strata, s)
		if s.Planned > 0 {
			strata++
		}
	}
	c.Reached = Reached{Strata: share(strata, len(d.quotas)), Documents: share(len(reached), d.f.documents)}
	if in.Topics != nil {
		t := share(len(topics), d.f.topics)
		c.Reached.Topics = &t
	}
	d.countMix(p, &c)
	return c
}

// typedStrata gives the parts of the types that planners serve, by stratum.
func (d *drawing) typedStrata() map[string][]*typeStratum {
	out := map[string][]*typeStratum{}
	for _, q := range d.typed {
		for _, t := range q.strata {
			out[t.name] = append(out[t.name], t)
		}
	}
	return out
}

// addTyped adds what a stratum has of a type that planners serve. What it lacks is
// named by type and not by stratum: Wanted is what it got.
func (s *Stratum) addTyped(t *typeStratum, reach func(row, doc uint32)) {
	s.Wanted += rowsOf(t.main)
	s.Planned += rowsOf(t.main)
	s.Reserves += rowsOf(t.reserves)
	for i := range t.main {
		for _, m := range t.main[i].about {
			reach(m.row, m.doc)
		}
	}
}

func (d *drawing) countMix(p *Plan, c *Coverage) {
	planned := c.Planned
	for _, q := range d.typed {
		planned -= q.got
		c.Mix[q.queryType], c.MixWanted[q.queryType] = 0, q.wanted
	}
	wanted := allocate(planned, d.mix, make([]int, len(d.mix)), fillInts(len(d.mix), planned))
	for k, t := range d.types {
		c.Mix[t], c.MixWanted[t] = 0, wanted[k]
	}
	for i := range p.Rows {
		if !p.Rows[i].Reserve {
			c.Mix[p.Rows[i].QueryType]++
		}
	}
}

func share(reached, total int) Share {
	return Share{Reached: reached, Total: total, Share: quotient(reached, total)}
}

// quotient is a share to 4 decimals, 0 of nothing.
func quotient(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(int(float64(part)/float64(whole)*1e4+0.5)) / 1e4
}
