package eval

// values are a case's values, in the order of AnswerMeasures. cites says that
// the system cites at all: an answer without citations is then one that lacks
// them.
func (c *AnswerCase) values(cites bool) []Judged {
	answered := c.Given && !isYes(c.Abstained)
	if !answered {
		return []Judged{{}, {}, {}, {}, c.correctness(), c.rightAbstention()}
	}
	return []Judged{
		c.faithfulness(), c.Relevance, meanOf(c.Citations), c.citationRecall(cites), c.correctness(), c.rightAbstention(),
	}
}

func (c *AnswerCase) faithfulness() Judged {
	support := make([]Judged, len(c.Claims))
	for i := range c.Claims {
		support[i] = c.Claims[i].Support
	}
	return meanOf(support)
}

// citationRecall counts a claim without a citation as one that its citations do
// not support.
func (c *AnswerCase) citationRecall(cites bool) Judged {
	if !cites {
		return Judged{}
	}
	well := make([]Judged, len(c.Claims))
	for i, claim := range c.Claims {
		if well[i] = claim.CitedWell; !claim.Cited {
			well[i] = known(0)
		}
	}
	return meanOf(well)
}

// correctness is known to be 0 where an answer was wanted and none was given.
// A case that expects abstention has nothing to be correct about.
func (c *AnswerCase) correctness() Judged {
	switch {
	case c.Abstain, c.Reference == "":
		return Judged{}
	case !c.Given, c.Empty, isYes(c.Abstained):
		return known(0)
	}
	return c.Correct
}

func (c *AnswerCase) rightAbstention() Judged {
	if !c.Given {
		return known(0)
	}
	if c.Abstained.Value == nil {
		return c.Abstained
	}
	return known(float64(btoi(isYes(c.Abstained) == c.Abstain)))
}

// meanOf is the mean of what is known; unknown where something was asked and
// nothing is known.
func meanOf(list []Judged) Judged {
	sum, n, unknown := 0.0, 0, ""
	for _, j := range list {
		if j.Value != nil {
			sum += *j.Value
			n++
		} else if j.Unknown != "" {
			unknown = j.Unknown
		}
	}
	if n == 0 {
		return Judged{Unknown: unknown}
	}
	return known(sum / float64(n))
}

func known(x float64) Judged { return Judged{Value: &x} }

// isYes reads a finding as a yes or no.
func isYes(j Judged) bool { return j.Value != nil && *j.Value >= 0.5 }

func countAnswers(cases []AnswerCase) AnswerCounts {
	out := AnswerCounts{Cases: len(cases), References: map[string]int{}}
	for i := range cases {
		c := &cases[i]
		out.ExpectAbstain += btoi(c.Abstain)
		if !c.Abstain && c.Reference != "" {
			out.References[c.Reference]++
		}
		switch {
		case !c.Given:
			out.Missing++
			continue
		case isYes(c.Abstained):
			out.Abstained++
			continue
		case c.Abstained.Value == nil:
			out.Undecided++
		default:
			out.Answered++
		}
		out.Citations += len(c.Citations)
		out.countClaims(c.Claims)
	}
	return out
}

func (n *AnswerCounts) countClaims(claims []JudgedClaim) {
	asked := false
	for _, claim := range claims {
		n.Claims++
		switch {
		case isYes(claim.Support):
			n.Supported++
		case claim.Support.Value != nil:
			n.NotSupported++
		case claim.Support.Unknown != "":
			n.UnknownClaims++
		}
		asked = asked || claim.Support.Value != nil || claim.Support.Unknown != ""
	}
	n.NoContext += btoi(len(claims) > 0 && !asked)
}
