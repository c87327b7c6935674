package main

import "github.com/goldgen/goldgen/eval"

// draws collects figures of several draws of labels, by how a set was labelled.
type draws struct {
	order []string
	found map[string][]eval.AgreementFigures
}

func newDraws() *draws { return &draws{found: map[string][]eval.AgreementFigures{}} }

func (d *draws) add(how string, f eval.AgreementFigures) {
	if d.found[how] == nil {
		d.order = append(d.order, how)
	}
	d.found[how] = append(d.found[how], f)
}

// meanOf sums up draws of labels: shares over the pairs of all, other figures as
// means. Intervals are the widest that hold those of the draws.
func meanOf(list []eval.AgreementFigures) eval.AgreementFigures {
	share := func(of func(*eval.AgreementFigures) eval.AgreementShare) eval.AgreementShare {
		var parts []part
		pairs := 0
		for i := range list {
			s := of(&list[i])
			parts, pairs = append(parts, part{s.Value, s.Low, s.High, float64(s.Pairs)}), pairs+s.Pairs
		}
		v := joined(parts)
		return eval.AgreementShare{Value: v.value, Low: v.low, High: v.high, Pairs: pairs}
	}
	rank := func(of func(*eval.AgreementFigures) eval.AgreementEstimate) eval.AgreementEstimate {
		var parts []part
		for i := range list {
			e := of(&list[i])
			parts = append(parts, part{e.Value, e.Low, e.High, 1})
		}
		v := joined(parts)
		return eval.AgreementEstimate{Value: v.value, Low: v.low, High: v.high}
	}
	return eval.AgreementFigures{
		Right:    share(func(f *eval.AgreementFigures) eval.AgreementShare { return f.Right }),
		Reversed: share(func(f *eval.AgreementFigures) eval.AgreementShare { return f.Reversed }),
		Power:    share(func(f *eval.AgreementFigures) eval.AgreementShare { return f.Power }),
		Tau:      rank(func(f *eval.AgreementFigures) eval.AgreementEstimate { return f.Tau }),
		TauBest:  rank(func(f *eval.AgreementFigures) eval.AgreementEstimate { return f.TauBest }),
		Overlap:  rank(func(f *eval.AgreementFigures) eval.AgreementEstimate { return f.Overlap }),
		Loss:     rank(func(f *eval.AgreementFigures) eval.AgreementEstimate { return f.Loss }),
	}
}

// part is a figure of one draw with its weight; nil where there is none.
type part struct {
	value, low, high *float64
	weight           float64
}

func joined(parts []part) (out part) {
	sum := 0.0
	for _, p := range parts {
		if p.value == nil {
			continue
		}
		sum += float64(*p.value * p.weight)
		out.weight += p.weight
		out.low, out.high = outer(out.low, p.low, -1), outer(out.high, p.high, 1)
	}
	if out.weight > 0 {
		mean := sum / out.weight
		out.value = &mean
	}
	return out
}

// outer is the one of two ends that lies further in a direction; nil is none.
func outer(a, b *float64, direction float64) *float64 {
	if a == nil || b != nil && direction*(*b-*a) > 0 {
		return b
	}
	return a
}
