package judge

import (
	"slices"

	"github.com/goldgen/goldgen/datasets"
)

// Refill puts spares in the places of cases that ProveAbstention refused: of each
// stratum and type as many as are missing, in plan order. planned are the
// candidates as they came, now those that proven is of, promoted the indices of
// those that are spares no longer. None is promoted when none can help: there is
// none, or nothing shows of any case that it is unanswered, since no judge passed
// its canaries and no label model gives a p.
func Refill(planned, now []Candidate, proven Abstentions, judgePassed bool) (next []Candidate, promoted []int) {
	missing := map[quota]int{}
	wanted, got := proven.against(planned)
	for _, r := range proven.Rejects {
		if q := (quota{r.Stratum, r.QueryType}); judgePassed || r.Reason != ReasonUnproven {
			missing[q] = wanted[q] - got[q]
		}
	}
	next = slices.Clone(now)
	for i := range next {
		if q := quotaOf(&next[i].Case); next[i].Spare && missing[q] > 0 {
			next[i].Spare, promoted = false, append(promoted, i)
			missing[q]--
		}
	}
	return next, promoted
}

// prove takes from a labelled set the cases that expect abstention where they
// should not, or where nothing shows that they should. Where spares can make them
// good, it leaves the set as it is and promotes these, which are to be graded.
func (r *runner) prove(result *Result, planned []Candidate) []job {
	passed := result.Trust.Judge == Passed
	proven := ProveAbstention(result.Cases, RelevantGrade, passed)
	next, promoted := Refill(planned, r.candidates, proven, passed)
	if len(promoted) == 0 {
		proven = proven.Refilled(planned)
		result.Cases, result.Rejects = proven.Cases, proven.Rejects
		result.Shortfall = append(result.Shortfall, proven.Shortfall...)
		return nil
	}
	r.candidates = next
	var jobs []job
	for _, i := range promoted {
		jobs = append(jobs, job{index: i})
	}
	return jobs
}

// against counts the cases that were planned and those that are left.
func (a *Abstentions) against(planned []Candidate) (wanted, got map[quota]int) {
	wanted, got = map[quota]int{}, map[quota]int{}
	for i := range planned {
		if !planned[i].Spare {
			wanted[quotaOf(&planned[i].Case)]++
		}
	}
	for i := range a.Cases {
		got[quotaOf(&a.Cases[i])]++
	}
	return wanted, got
}

// Refilled states the shortfall against what was planned: what spares have made
// good is none.
func (a Abstentions) Refilled(planned []Candidate) Abstentions {
	wanted, got := a.against(planned)
	var left []datasets.Shortfall
	for _, s := range a.Shortfall {
		q := quota{s.Stratum, s.QueryType}
		if s.Wanted, s.Got = wanted[q], got[q]; s.Got < s.Wanted {
			left = append(left, s)
		}
	}
	a.Shortfall = left
	return a
}
