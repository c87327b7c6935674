package sample

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
)

// drawing is a draw under way.
type drawing struct {
	o      Options
	f      *frame
	cases  int          // of the types that any chunk serves
	types  []string     // these
	mix    []float64    // share of each of them, sums to 1
	quotas []*quota     // one a stratum, by name
	typed  []*typeQuota // of the other types
	docs   map[uint32]int

	personas []Persona
}

// newDraw starts the draw of the given number of cases of the types that any
// chunk serves, beside those of the typed quotas.
func newDraw(f *frame, o Options, typed []*typeQuota, cases int) *drawing {
	d := &drawing{o: o, f: f, cases: cases, typed: typed, docs: map[uint32]int{}}
	total := 0.0
	for _, t := range o.types() {
		if anyChunkServes(t) {
			d.types = append(d.types, t)
			total += o.Mix[t]
		}
	}
	for _, t := range d.types {
		share := o.Mix[t]
		if len(typed) > 0 {
			share /= total
		}
		d.mix = append(d.mix, share)
	}
	for _, s := range f.strata {
		d.quotas = append(d.quotas, &quota{stratum: s, queue: newQueue(s)})
	}
	return d
}

// pickMain fills the strata's shares. What a stratum cannot give is divided
// among the others, until all cases are there or no stratum has more. Types that
// need something special choose first.
func (d *drawing) pickMain() {
	for _, q := range d.typed {
		q.pickMain(d.docs, d.o.MaxPerDocument)
	}
	w := weights(d.f.strata, d.o.Allocation)
	low := fillInts(len(w), min(d.o.MinPerStratum, d.cases/len(w)))
	high := fillInts(len(w), d.cases)
	for round := 0; ; round++ {
		shares := allocate(d.cases, w, low, high)
		if round == 0 {
			d.want(shares)
		}
		if d.fill(shares) {
			return
		}
		for i, q := range d.quotas {
			low[i] = len(q.main)
			if q.empty {
				high[i] = len(q.main)
			}
		}
	}
}

func (d *drawing) want(shares []int) {
	for i, q := range d.quotas {
		q.wanted = shares[i]
	}
}

// fill takes picks up to the shares. It reports whether the draw has ended: all
// shares are filled, or no stratum has more.
func (d *drawing) fill(shares []int) bool {
	short, open := false, false
	for i, q := range d.quotas {
		for len(q.main) < shares[i] && !q.empty {
			if p, ok := q.next(d.docs, d.o.MaxPerDocument, len(d.types)); ok {
				q.main = append(q.main, p)
			}
		}
		short = short || len(q.main) < shares[i]
		open = open || !q.empty
	}
	return !short || !open
}

// pickReserves goes on where the main picks ended.
func (d *drawing) pickReserves() {
	for _, q := range d.typed {
		q.pickReserves(d.docs, &d.o)
	}
	for _, q := range d.quotas {
		n := d.o.reserves(len(q.main))
		for len(q.reserves) < n && !q.empty {
			if p, ok := q.next(d.docs, d.o.MaxPerDocument, len(d.types)); ok {
				q.reserves = append(q.reserves, p)
			}
		}
	}
}

// preferred is the type that a chunk gets while the targets have room.
func (d *drawing) preferred(unit uint64) int {
	return pickBy(d.mix, uniform(draw(d.o.Seed, "type", unit)))
}

func (d *drawing) style(unit uint64, queryType string) string {
	named := d.o.Styles[draw(d.o.Seed, "style", unit)%uint64(len(d.o.Styles))]
	return d.o.styleOf(d.o.Seed, unit, queryType, named, d.personas)
}

// plan puts the rows in order and looks up their ids.
func (d *drawing) plan(ctx context.Context, in Input) (*Plan, error) {
	infos, err := lookup(ctx, in, d.rows())
	if err != nil {
		return nil, err
	}
	p := &Plan{Rows: []Row{}, Shortfall: d.shortfall()}
	slots := map[string]int{}
	for _, reserve := range []bool{false, true} {
		typed := d.typedRows(reserve, slots)
		for _, q := range d.quotas {
			for _, t := range q.inOrder(reserve) {
				p.Rows = append(p.Rows, d.row(q, t, infos[t.row]))
			}
			p.Rows = append(p.Rows, typed[q.name]...)
		}
	}
	in.dress(p.Rows, d.o)
	p.Coverage = d.coverage(p, in)
	return p, nil
}

// inOrder gives the stratum's reserves in the order of the draw, or its main
// rows with a chunk's types together.
func (q *quota) inOrder(reserve bool) []typedPick {
	first := map[uint32]int{}
	var out []typedPick
	for _, t := range q.typed {
		if t.reserve == reserve {
			if _, ok := first[t.row]; !ok {
				first[t.row] = len(out)
			}
			out = append(out, t)
		}
	}
	if !reserve {
		slices.SortStableFunc(out, func(a, b typedPick) int { return cmp.Compare(first[a.row], first[b.row]) })
	}
	return out
}

func (d *drawing) row(q *quota, t typedPick, info chunkIDs) Row {
	kind := d.types[t.kind]
	style := d.style(t.priority, kind)
	return Row{
		CaseID:    datasets.CaseID(d.o.Seed, info.doc, info.digest, kind, style, 0),
		ChunkIDs:  []string{info.chunk},
		DocIDs:    []string{info.doc},
		QueryType: kind,
		Style:     style,
		Stratum:   q.name,
		Reserve:   t.reserve,
	}
}

// chunkIDs are the strings of a chosen chunk.
type chunkIDs struct{ chunk, doc, digest string }

// rows gives the chosen rows, ascending.
func (d *drawing) rows() []int {
	var rows []int
	for _, q := range d.quotas {
		for row := range q.groups {
			rows = append(rows, int(row))
		}
	}
	slices.Sort(rows)
	return rows
}

// lookup gets the strings of the chosen rows, from the second pass when there
// is no other way.
func lookup(ctx context.Context, in Input, rows []int) (map[uint32]chunkIDs, error) {
	out := make(map[uint32]chunkIDs, len(rows))
	if len(rows) == 0 {
		return out, nil
	}
	if in.Lookup == nil {
		return out, rescan(ctx, in, rows, out)
	}
	infos, err := in.Lookup(ctx, rows)
	if err != nil {
		return nil, fmt.Errorf("look up the chosen chunks: %w", err)
	}
	if len(infos) != len(rows) {
		return nil, fmt.Errorf("look up the chosen chunks: %d of %d rows found", len(infos), len(rows))
	}
	for i, info := range infos {
		out[uint32(rows[i])] = chunkIDs{info.ChunkID, info.DocID, info.TextDigest}
	}
	return out, nil
}

func rescan(ctx context.Context, in Input, rows []int, out map[uint32]chunkIDs) error {
	seen := 0
	for info, err := range in.Infos {
		if err != nil {
			return fmt.Errorf("chunk facts: %w", err)
		}
		if seen++; seen%largeBlock == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if info.Row != rows[0] {
			continue
		}
		out[uint32(info.Row)] = chunkIDs{strings.Clone(info.ChunkID), strings.Clone(info.DocID), strings.Clone(info.TextDigest)}
		if rows = rows[1:]; len(rows) == 0 {
			return nil
		}
	}
	return fmt.Errorf("look up the chosen chunks: row %d is gone", rows[0])
}
