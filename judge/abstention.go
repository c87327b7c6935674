package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
)

// Reasons of cases that expect abstention and are refused or need review.
const (
	ReasonAnsweredElsewhere = "answered_elsewhere" // a chunk that the asker may see is likely to answer it
	ReasonUnproven          = "unproven"           // nothing shows that no chunk does
	ReasonTwinInDoubt       = "the case of those who may see it is not in the set, or needs review"

	stageJudge = "judge"
)

// Abstentions are the cases of a set that are left when those that expect
// abstention have been looked at.
type Abstentions struct {
	Cases     []datasets.Case
	Rejects   []datasets.Reject
	Shortfall []datasets.Shortfall
}

// ProveAbstention looks at the synthetic cases that expect abstention. A chunk of
// their pool may be likely to be relevant: by a person's grade, by a p of .5 and
// more, or, where the judge passed its canaries, by a grade of relevantGrade and
// more. An out_of_scope case is then refused; it must be proven besides, by a pool
// with a label for every chunk. A permission_sensitive case, whose forbidden chunk
// is known whatever else there is, then needs review, as it does where the case of
// the same query that expects an answer needs it or is missing.
func ProveAbstention(cases []datasets.Case, relevantGrade int, judgePassed bool) Abstentions {
	p := prover{Negatives{RelevantGrade: relevantGrade, JudgePassed: judgePassed}, map[quota]map[string]int{}, answeredBy(cases)}
	out := Abstentions{}
	wanted := map[quota]int{}
	for _, c := range cases {
		wanted[quotaOf(&c)]++
		if !c.ExpectedAbstention || c.Origin != datasets.OriginSynthetic {
			out.Cases = append(out.Cases, c)
			continue
		}
		reason, detail := p.refuse(&c)
		if reason != "" {
			p.count(&c, reason)
		}
		switch {
		case reason != "" && len(c.Forbidden) == 0:
			out.Rejects = append(out.Rejects, rejected(&c, reason, detail))
			continue
		case reason != "":
			c.Status, c.Reason = datasets.NeedsReview, reason+": "+detail
		case len(c.Forbidden) > 0 && !p.answered[twin{c.Query, c.Forbidden[0]}]:
			c.Status, c.Reason = datasets.NeedsReview, ReasonTwinInDoubt
		}
		out.Cases = append(out.Cases, c)
	}
	out.Shortfall = p.shortfall(wanted)
	return out
}

// twin names the two cases of a query whose evidence some may see and others may
// not.
type twin struct{ query, chunkID string }

// answeredBy lists the active cases that expect an answer from a chunk.
func answeredBy(cases []datasets.Case) map[twin]bool {
	out := map[twin]bool{}
	for i := range cases {
		if c := &cases[i]; !c.ExpectedAbstention && c.Status == datasets.Active && len(c.Source) > 0 {
			out[twin{c.Query, c.Source[0]}] = true
		}
	}
	return out
}

type prover struct {
	labels   Negatives // reads judgments
	refused  map[quota]map[string]int
	answered map[twin]bool
}

// refuse gives the reason not to keep a case that expects abstention, "" for none.
func (p *prover) refuse(c *datasets.Case) (reason, detail string) {
	byChunk := datasets.JudgmentsByChunk(c.Judgments)
	unknown := 0
	for _, id := range slices.Sorted(maps.Keys(byChunk)) {
		if p.labels.read(c, id, byChunk[id]).right {
			return ReasonAnsweredElsewhere, fmt.Sprintf("chunk %s is likely to be relevant", id)
		}
		if !p.known(byChunk[id]) {
			unknown++
		}
	}
	switch {
	case c.QueryType != datasets.OutOfScope:
		return "", ""
	case len(byChunk) == 0:
		return ReasonUnproven, "no pool was judged"
	case unknown > 0:
		return ReasonUnproven, fmt.Sprintf("%d of %d pooled chunks have neither a p nor a grade by a judge that passed its canaries", unknown, len(byChunk))
	}
	return "", ""
}

// known reports whether any of a chunk's judgments tells what it is worth.
func (p *prover) known(judgments []datasets.Judgment) bool {
	return slices.ContainsFunc(judgments, func(j datasets.Judgment) bool {
		return j.P != nil || j.Grade != nil && (j.By != datasets.ByLLM || p.labels.JudgePassed)
	})
}

func (p *prover) count(c *datasets.Case, reason string) {
	q := quotaOf(c)
	if p.refused[q] == nil {
		p.refused[q] = map[string]int{}
	}
	p.refused[q][reason]++
}

func rejected(c *datasets.Case, reason, detail string) datasets.Reject {
	return datasets.Reject{
		CaseID: c.ID, Query: c.Query, QueryType: c.QueryType, Stratum: c.Provenance.Stratum,
		Stage: stageJudge, Reason: reason, Detail: detail, Checks: c.Checks, Evidence: c.Evidence,
		Scope: c.Scope, AsOf: c.AsOf, Calls: c.Provenance.Calls,
	}
}

// shortfall names what the refused cases leave open, by stratum and type.
func (p *prover) shortfall(wanted map[quota]int) []datasets.Shortfall {
	var out []datasets.Shortfall
	byName := func(a, b quota) int {
		return strings.Compare(a.stratum+"\x00"+a.queryType, b.stratum+"\x00"+b.queryType)
	}
	for _, q := range slices.SortedFunc(maps.Keys(p.refused), byName) {
		refused, parts := 0, []string{}
		for _, reason := range slices.Sorted(maps.Keys(p.refused[q])) {
			refused += p.refused[q][reason]
			parts = append(parts, fmt.Sprintf("%s %d", reason, p.refused[q][reason]))
		}
		out = append(out, datasets.Shortfall{
			Stratum: q.stratum, QueryType: q.queryType, Wanted: wanted[q], Got: wanted[q] - refused,
			Reason: "judge: " + strings.Join(parts, ", "),
		})
	}
	return out
}
