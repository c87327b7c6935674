package eval

import (
	"fmt"
	"slices"
	"strings"
)

// CheckConditions reports a measure's condition on a dimension that is not
// among those given, or on a value that no case has, as a *MeasureError.
func CheckConditions(measures []Measure, dimensions []Dimension) error {
	for i := range measures {
		for _, c := range measures[i].conditions() {
			if err := measures[i].checkCondition(c, dimensions); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Measure) checkCondition(c condition, dimensions []Dimension) error {
	at := strings.Index(m.Name, c.String())
	if at < 0 { // written otherwise
		at = max(0, strings.Index(m.Name, c.dimension+"="))
	}
	d := dimensionNamed(dimensions, c.dimension)
	if d == nil {
		return &MeasureError{Name: m.Name, At: at, Why: fmt.Sprintf("cases are not sliced by %q", c.dimension), Near: nearWords(c.dimension, namesOf(dimensions))}
	}
	if _, found := slices.BinarySearch(d.values, c.value); !found {
		return &MeasureError{Name: m.Name, At: at + len(c.dimension) + 1, Why: fmt.Sprintf("no case has the %s %q", c.dimension, c.value), Near: nearWords(c.value, d.values)}
	}
	return nil
}

func dimensionNamed(dimensions []Dimension, name string) *Dimension {
	for i := range dimensions {
		if dimensions[i].Name == name {
			return &dimensions[i]
		}
	}
	return nil
}

func namesOf(dimensions []Dimension) []string {
	var names []string
	for _, d := range dimensions {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sliced lists the dimensions that conditions may name.
func (in *Input) sliced() []Dimension { return slices.Concat(in.Dimensions, in.Slicing) }

// holds says of each case whether a measure's conditions hold; nil means that
// it has none.
func (in *Input) holds(m *Measure) []bool {
	conditions := m.conditions()
	if conditions == nil {
		return nil
	}
	dimensions, out := in.sliced(), make([]bool, len(in.Cases))
	for i := range out {
		out[i] = !slices.ContainsFunc(conditions, func(c condition) bool { return !dimensionNamed(dimensions, c.dimension).has(i, c.value) })
	}
	return out
}

// has reports whether case i has the value.
func (d *Dimension) has(i int, value string) bool {
	return slices.ContainsFunc(d.of(i), func(code int32) bool { return d.values[code] == value })
}

// checkGains reports a label whose grade a measure has no gain for, as a
// *MeasureError.
func (in *Input) checkGains() error {
	var labels []Label
	for i := range in.Measures {
		m := &in.Measures[i]
		if m.gains == "" {
			continue
		}
		most := len(m.gainTable()) - 1
		for j := range in.Cases {
			labels = in.labels(j, labels)
			for _, l := range labels {
				if l.Grade > most {
					return m.fail(max(0, strings.Index(m.Name, "gains")), fmt.Sprintf("gains end at grade %d, and case %s has a label of grade %d for %q", most, in.Cases[j].ID, l.Grade, l.ID))
				}
			}
		}
	}
	return nil
}
