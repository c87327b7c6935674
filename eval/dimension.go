package eval

import (
	"slices"
)

// Dimension is one way to slice the cases: a value, several or none for each
// case. It keeps small codes in the place of strings.
type Dimension struct {
	Name   string
	values []string // sorted
	codes  []int32  // indexes into values, case after case
	starts []int32  // case i owns codes[starts[i]:starts[i+1]]; nil means one code a case
}

// NewDimension makes a dimension over n cases. The slice that values returns
// is not kept. An empty value is a slice of its own, shown as "(none)".
func NewDimension(name string, n int, values func(i int) []string) Dimension {
	d := Dimension{Name: name, codes: make([]int32, 0, n)}
	starts := make([]int32, 1, n+1)
	single := true
	ids := map[string]int32{}
	for i := range n {
		vs := values(i)
		single = single && len(vs) == 1
		for _, v := range vs {
			d.codes = append(d.codes, d.code(ids, v))
		}
		starts = append(starts, int32(len(d.codes)))
	}
	if !single {
		d.starts = starts
	}
	d.sortValues()
	return d
}

func (d *Dimension) code(ids map[string]int32, value string) int32 {
	if id, ok := ids[value]; ok {
		return id
	}
	id := int32(len(d.values))
	ids[value] = id
	d.values = append(d.values, value)
	return id
}

// sortValues renumbers the codes so that they follow the values' order.
func (d *Dimension) sortValues() {
	sorted := slices.Sorted(slices.Values(d.values))
	renumber := make([]int32, len(sorted))
	for old, v := range d.values {
		at, _ := slices.BinarySearch(sorted, v)
		renumber[old] = int32(at)
	}
	for i, c := range d.codes {
		d.codes[i] = renumber[c]
	}
	d.values = sorted
}

// of returns the codes of case i.
func (d *Dimension) of(i int) []int32 {
	if d.starts == nil {
		return d.codes[i : i+1]
	}
	return d.codes[d.starts[i]:d.starts[i+1]]
}

// len returns the number of cases.
func (d *Dimension) len() int {
	if d.starts == nil {
		return len(d.codes)
	}
	return len(d.starts) - 1
}

// Values returns the values of case i.
func (d *Dimension) Values(i int) []string {
	codes := d.of(i)
	out := make([]string, len(codes))
	for j, c := range codes {
		out[j] = d.values[c]
	}
	return out
}
