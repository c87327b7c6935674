package report

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/goldgen/goldgen/eval"
)

// JSON writes the findings as one document: the results as `goldgen eval
// --json` gives them, the comparison as `goldgen compare --json` does, and gates
// that were looked at without one.
func JSON(w io.Writer, f *Findings) error {
	doc := struct {
		Results    []*eval.Result   `json:"results"`
		Comparison *eval.Comparison `json:"comparison"`
		Gates      *eval.GateCheck  `json:"gates"`
	}{Comparison: f.Comparison, Gates: f.Check}
	for _, s := range f.Results {
		doc.Results = append(doc.Results, s.Result)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, EscapeJSON(b.String()))
	return err
}
