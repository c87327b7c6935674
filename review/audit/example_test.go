package audit_test

import (
	"fmt"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/review/audit"
)

// A set is sampled, a person fills in the rows, and the figures say how many of
// the set's queries are valid.
func Example() {
	set := &datasets.Set{Cases: []datasets.Case{keptCase("a", datasets.Factual, "d1"), keptCase("b", datasets.Factual, "d2")}}
	frame := audit.NewFrame(set)
	sample := audit.Draw(frame, 2, 1)
	rows := sample.Rows(audit.Person{})
	for i := range rows {
		for _, q := range audit.Questions() {
			*rows[i].Answer(q) = audit.Yes
		}
	}
	rows[0].Natural = audit.No
	labels := audit.Take(rows, frame, "handbook@v1")
	valid := audit.Figure(frame, &sample, labels.People).Kept.All.Valid
	fmt.Printf("%.2f of %d\n", *valid.Value, valid.N)
	// Output: 0.50 of 2
}
