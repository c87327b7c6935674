package judge

import (
	"fmt"
	"slices"

	"github.com/goldgen/goldgen/datasets"
)

// ReasonSourceGrade is the reason of a case that a judge sent to review.
const ReasonSourceGrade = "source graded below 2"

// Settlement is a set's cases, or what is still to be graded for it.
type Settlement struct {
	Cases     []datasets.Case // in plan order, unused spares left out
	Shortfall []datasets.Shortfall
	// Need are the case ids of spares that stand in for a case and whose own
	// source has no grade yet. The settlement holds when it is empty.
	Need []string
}

// quota is what spares are interchangeable within.
type quota struct{ stratum, queryType string }

func quotaOf(c *datasets.Case) quota { return quota{c.Provenance.Stratum, c.QueryType} }

// Settle decides which candidates are the set. Only a judge that passed its
// canaries sends a case to needs_review: when its best source is graded below
// 2. The next spare of the same stratum and query type, in plan order, then
// joins the set, one of the same difficulty first where generate measured it, and is
// judged itself. best holds the best grade of each case's
// sources, nil when unknown; a case that is missing was not graded.
func Settle(candidates []Candidate, verdict Verdict, best map[string]*int) Settlement {
	s := settling{candidates: candidates, best: best, passed: verdict.State == Passed, spares: map[quota][]int{}, used: map[int]bool{}}
	for i := range candidates {
		if candidates[i].Spare {
			q := quotaOf(&candidates[i].Case)
			s.spares[q] = append(s.spares[q], i)
		}
	}
	for i := range candidates {
		if !candidates[i].Spare {
			s.admit(i)
		}
	}
	return s.result()
}

type settling struct {
	candidates []Candidate
	best       map[string]*int
	passed     bool
	spares     map[quota][]int // indices, plan order
	used       map[int]bool
	need       []string
	short      map[quota]int
}

// admit takes a candidate into the set, and a spare for each that fails.
func (s *settling) admit(i int) {
	s.used[i] = true
	for c := &s.candidates[i].Case; s.fails(c); {
		q := quotaOf(c)
		if len(s.spares[q]) == 0 {
			if s.short == nil {
				s.short = map[quota]int{}
			}
			s.short[q]++
			return
		}
		next := s.takeSpare(q, c.Band())
		s.used[next] = true
		c = &s.candidates[next].Case
		if _, graded := s.best[c.ID]; !graded {
			s.need = append(s.need, c.ID)
		}
	}
}

// takeSpare takes the next spare of the quota that is as difficult, else the next
// one: a set's shares of difficulty stay where they can.
func (s *settling) takeSpare(q quota, band string) int {
	alike := slices.IndexFunc(s.spares[q], func(i int) bool { return s.candidates[i].Case.Band() == band })
	at := max(alike, 0)
	next := s.spares[q][at]
	s.spares[q] = slices.Delete(s.spares[q], at, at+1)
	return next
}

func (s *settling) fails(c *datasets.Case) bool {
	grade := s.best[c.ID]
	return s.passed && grade != nil && *grade < RelevantGrade
}

func (s *settling) result() Settlement {
	out := Settlement{Need: s.need}
	wanted, order := map[quota]int{}, []quota{}
	for i := range s.candidates {
		c := s.candidates[i].Case
		if q := quotaOf(&c); !s.candidates[i].Spare {
			if wanted[q] == 0 {
				order = append(order, q)
			}
			wanted[q]++
		}
		if !s.used[i] {
			continue
		}
		switch {
		case s.fails(&c):
			c.Status, c.Reason = datasets.NeedsReview, ReasonSourceGrade
		case c.Origin != datasets.OriginLog: // only a person says where those are answered
			c.Status, c.Reason = datasets.Active, ""
		}
		out.Cases = append(out.Cases, c)
	}
	for _, q := range order {
		if n := s.short[q]; n > 0 {
			out.Shortfall = append(out.Shortfall, datasets.Shortfall{
				Stratum: q.stratum, QueryType: q.queryType, Wanted: wanted[q], Got: wanted[q] - n,
				Reason: fmt.Sprintf("judge: %s, no spare left", ReasonSourceGrade),
			})
		}
	}
	return out
}
