package eval

// AnswerJoin lays answers beside retrieval, case by case: where something
// relevant was among the first K hits, was the answer right? Answered means
// that correctness is a yes. Cases that expect abstention are left out.
type AnswerJoin struct {
	Retrieval            string     `json:"retrieval"` // the result that was joined
	K                    int        `json:"k"`
	RetrievedAnswered    AnswerCell `json:"retrieved_and_answered"`
	RetrievedNotAnswered AnswerCell `json:"retrieved_and_not_answered"`
	NotRetrievedAnswered AnswerCell `json:"not_retrieved_and_answered"`
	Neither              AnswerCell `json:"neither"`
	Unknown              AnswerCell `json:"unknown"`    // correctness is unknown, or there is no reference
	NotScored            AnswerCell `json:"not_scored"` // the retrieval result lacks the case, or knows nothing relevant
}

// AnswerCell is a cell of the table: how many cases, and which.
type AnswerCell struct {
	N     int      `json:"n"`
	Cases []string `json:"cases"`
}

func (c *AnswerCell) add(id string) {
	c.N++
	c.Cases = append(c.Cases, id)
}

// Join makes the table of a retrieval result's cases, as Evaluate took them,
// and these answers. A chunk is relevant from minGrade on, or where its
// probability is one half or more.
func (r *AnswersResult) Join(retrieval string, cases []Case, k, minGrade int) AnswerJoin {
	out := AnswerJoin{Retrieval: retrieval, K: k}
	for _, cell := range out.cells() {
		cell.Cases = []string{}
	}
	byID := make(map[string]*Case, len(cases))
	for i := range cases {
		byID[cases[i].ID] = &cases[i]
	}
	for i := range r.in.Cases {
		if c := &r.in.Cases[i]; !c.Abstain {
			out.cell(byID[c.ID], c.correctness(), minGrade).add(c.ID)
		}
	}
	return out
}

func (j *AnswerJoin) cells() []*AnswerCell {
	return []*AnswerCell{
		&j.RetrievedAnswered, &j.RetrievedNotAnswered, &j.NotRetrievedAnswered, &j.Neither, &j.Unknown, &j.NotScored,
	}
}

func (j *AnswerJoin) cell(c *Case, correct Judged, minGrade int) *AnswerCell {
	if c == nil {
		return &j.NotScored
	}
	relevant := relevantIDs(c, minGrade)
	if len(relevant) == 0 {
		return &j.NotScored
	}
	if correct.Value == nil {
		return &j.Unknown
	}
	retrieved := false
	for _, id := range c.Ranking[:min(j.K, len(c.Ranking))] {
		retrieved = retrieved || relevant[id]
	}
	switch answered := isYes(correct); {
	case retrieved && answered:
		return &j.RetrievedAnswered
	case retrieved:
		return &j.RetrievedNotAnswered
	case answered:
		return &j.NotRetrievedAnswered
	}
	return &j.Neither
}

func relevantIDs(c *Case, minGrade int) map[string]bool {
	out := map[string]bool{}
	for _, l := range c.Labels {
		if l.Grade >= minGrade && l.Uncertain == nil || l.Uncertain != nil && l.Uncertain.P >= 0.5 {
			out[l.ID] = true
		}
	}
	return out
}
