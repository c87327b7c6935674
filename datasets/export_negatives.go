package datasets

import (
	"fmt"
	"slices"
)

// Negative says who calls a hard negative wrong.
type Negative struct {
	ChunkID string   `json:"chunk_id"`
	By      string   `json:"by"`
	Grade   *int     `json:"grade"`
	P       *float64 `json:"p"`
}

// NegativeRow is a line of the hard-negatives format: a query, one chunk that
// answers it, and the chunks that look as if they did. Labels stand in the order
// of Negatives.
type NegativeRow struct {
	CaseID     string     `json:"case_id"`
	Query      string     `json:"query"`
	Positive   string     `json:"positive"`
	Negatives  []string   `json:"negatives"`
	PositiveID string     `json:"positive_id"`
	Labels     []Negative `json:"negative_labels"`
}

// hardNegatives writes a row for each relevant chunk of a case that has hard
// negatives.
func (e *exporter) hardNegatives(sink Sink) error {
	rows, ids := e.negativeRows()
	if len(rows) == 0 {
		return fmt.Errorf("%w: no case has both a relevant chunk and a hard negative: they come from judge, judge --extend and people's labels", ErrNothingToExport)
	}
	chunks, err := e.view.ChunksByID(ids)
	if err != nil {
		return err
	}
	text := func(id string) (string, error) {
		c, ok := chunks[id]
		if !ok {
			return "", fmt.Errorf("chunk %s is not in the snapshot", id)
		}
		return c.Text, nil
	}
	for i := range rows {
		if err := rows[i].fill(text); err != nil {
			return err
		}
	}
	return jsonLines(sink, "", rows)
}

func (r *NegativeRow) fill(text func(id string) (string, error)) (err error) {
	if r.Positive, err = text(r.PositiveID); err != nil {
		return fmt.Errorf("case %s: %w", r.CaseID, err)
	}
	for _, n := range r.Labels {
		negative, err := text(n.ChunkID)
		if err != nil {
			return fmt.Errorf("case %s: %w", r.CaseID, err)
		}
		r.Negatives = append(r.Negatives, negative)
	}
	return nil
}

// negativeRows are the rows without their texts, and the ids of all chunks.
func (e *exporter) negativeRows() (rows []NegativeRow, ids []string) {
	for _, c := range e.cases {
		positives := e.relevant(e.known(c))
		switch {
		case len(positives) == 0:
			e.report.WithoutPositive++
		case len(c.HardNegatives) == 0:
			e.report.WithoutNegatives++
		default:
			e.count(c, len(positives))
			ids = append(append(ids, positives...), c.HardNegatives...)
		}
		if len(c.HardNegatives) == 0 {
			continue
		}
		for _, id := range positives {
			rows = append(rows, NegativeRow{CaseID: c.ID, Query: c.Query, PositiveID: id, Labels: c.negatives(e.set.Manifest.RelevantGrade)})
		}
	}
	slices.Sort(ids)
	return rows, slices.Compact(ids)
}

// negatives says of each hard negative who calls it wrong: a person before a
// model's grade, and that before a probability.
func (c *Case) negatives(relevantGrade int) []Negative {
	var out []Negative
	order := []string{ByHuman, ByLLM, ByLabelModel}
	for _, id := range c.HardNegatives {
		n, rank := Negative{ChunkID: id}, len(order)
		for _, j := range c.Judgments {
			at := slices.Index(order, j.By)
			says := j.P != nil || j.Grade != nil && *j.Grade < relevantGrade
			if j.ChunkID == id && says && at >= 0 && at < rank {
				n.By, n.Grade, n.P, rank = j.By, j.Grade, j.P, at
			}
		}
		out = append(out, n)
	}
	return out
}
