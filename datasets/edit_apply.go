package datasets

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/quotes"
	"github.com/goldgen/goldgen/internal/wording"
)

// EditView is what edits need of a corpus; *corpus.Snapshot satisfies it.
type EditView interface {
	CorpusView
	// ChunksOfDocuments reads the chunks of documents, in order, by document id.
	ChunksOfDocuments(ids []string) (map[string][]corpus.Chunk, error)
}

// Editor applies edits to a set.
type Editor struct {
	By    string   // who edits: the judge of the labels given
	View  EditView // the corpus that the set is pinned to
	Check func(c *Case, query string) (checks []Check, kept bool)
	Keep  bool // take wordings that Check refuses; the checks are recorded
}

// EditReport says what edits changed.
type EditReport struct {
	Cases    []string `json:"cases"` // ids
	Queries  int      `json:"queries"`
	Labels   int      `json:"labels"`
	Evidence int      `json:"evidence"` // cases with other evidence
}

// String sums it up.
func (r *EditReport) String() string {
	out := wording.Count(len(r.Cases), "case")
	if r.Queries > 0 {
		out += ", " + wording.Count(r.Queries, "query")
	}
	if r.Labels > 0 {
		out += ", " + wording.Count(r.Labels, "label")
	}
	if r.Evidence > 0 {
		out += fmt.Sprintf(", evidence of %d", r.Evidence)
	}
	return out
}

// Apply gives the set's cases what the edits say, or an error that names every
// line that cannot be applied: of an unknown case, a wording that the gates refuse,
// evidence or a chunk that is not in the corpus, values that contradict each
// other. A query in other words loses what was said of the old ones (Case.Reword);
// grades that a line repeats go with it.
func (ed *Editor) Apply(set *Set, edits []Edit) (Draft, *EditReport, error) {
	a := &editing{Editor: ed, relevant: set.Manifest.RelevantGrade, report: &EditReport{Cases: []string{}}}
	draft := Derive(set, "")
	cases := casesByID(draft.Cases)
	if err := a.load(edits, cases); err != nil {
		return Draft{}, nil, err
	}
	var errs []error
	for i := range edits {
		e := &edits[i]
		c := cases[e.CaseID]
		if c == nil {
			errs = append(errs, fmt.Errorf("%s: case %s is not in %s", e.Where, printable(e.CaseID), set.Ref()))
			continue
		}
		if err := a.apply(c, e); err != nil {
			errs = append(errs, fmt.Errorf("%s: case %s: %w", e.Where, printable(c.ID), err))
		}
	}
	draft.Manifest.Why = fmt.Sprintf("edited by %s: %s", ed.By, a.report)
	return draft, a.report, limited(errs)
}

// editing is one application.
type editing struct {
	*Editor
	relevant int
	report   *EditReport
	docs     map[string]corpus.Document
	of       map[string][]corpus.Chunk // by document
	chunks   map[string]corpus.Chunk   // that grades name, sources and forbidden ones
}

// load reads what the edits name of the corpus, and what their cases rest on.
func (a *editing) load(edits []Edit, cases map[string]*Case) error {
	docs, chunks := map[string]bool{}, map[string]bool{}
	for i := range edits {
		var evidence []Evidence
		var grades map[string]*int
		edits[i].get(fieldEvidence, &evidence) // apply says what is wrong with them
		edits[i].get(fieldGrades, &grades)
		for _, e := range evidence {
			docs[e.DocID] = true
		}
		for id := range grades {
			chunks[id] = true
		}
		if c := cases[edits[i].CaseID]; c != nil {
			for _, id := range slices.Concat(c.Source, c.Forbidden) {
				chunks[id] = true
			}
		}
	}
	ids := slices.Sorted(maps.Keys(docs))
	var err error
	if a.docs, err = a.View.DocumentsByID(ids); err != nil {
		return err
	}
	if a.of, err = a.View.ChunksOfDocuments(ids); err != nil {
		return err
	}
	a.chunks, err = a.View.ChunksByID(slices.Sorted(maps.Keys(chunks)))
	return err
}

// apply changes one case, or leaves it as it is with an error.
func (a *editing) apply(c *Case, e *Edit) error {
	next, had := c.Canonical(), c.peoplesGrades()
	for _, step := range []func(*Case, *Edit) error{a.columns, a.evidence, a.query} {
		if err := step(&next, e); err != nil {
			return err
		}
	}
	if err := a.grades(&next, e, had); err != nil {
		return err
	}
	a.settle(c, &next)
	if err := a.check(c, &next); err != nil {
		return err
	}
	if sameRow(c, &next) {
		return nil
	}
	a.report.Cases = append(a.report.Cases, c.ID)
	if next.Query != c.Query {
		a.report.Queries++
	}
	if !slices.Equal(next.Evidence, c.Evidence) {
		a.report.Evidence++
	}
	*c = next
	return nil
}

// columns sets the plain ones.
func (a *editing) columns(c *Case, e *Edit) error {
	row := fieldsOf(*c)
	for name, value := range e.values {
		if name != fieldQuery && name != fieldEvidence && name != fieldGrades {
			row[name] = value
		}
	}
	var next Case
	if err := strictJSON(mustJSON(row), &next); err != nil {
		return err
	}
	*c = next.Canonical()
	return nil
}

// query puts the case in other words.
func (a *editing) query(c *Case, e *Edit) error {
	var query string
	if there, err := e.get(fieldQuery, &query); err != nil || !there || query == c.Query {
		return err
	}
	checks, kept := a.Check(c, query)
	if !kept && !a.Keep {
		return fmt.Errorf("query %s is refused by %s", abridged(query), failed(checks))
	}
	c.Reword(query, checks)
	return nil
}

// failed names the checks that did not pass.
func failed(checks []Check) string {
	var out string
	for _, c := range checks {
		if !c.Passed {
			out += fmt.Sprintf(", %s (%.3g)", c.Name, c.Value)
		}
	}
	return out[min(2, len(out)):]
}

// Reword gives a case another query. What models and people said of the old one
// goes: the sources stay, with their evidence.
func (c *Case) Reword(query string, checks []Check) {
	c.Query, c.Checks, c.HardNegatives = query, checks, nil
	c.Unrank()
	c.Judgments = slices.DeleteFunc(slices.Clone(c.Judgments), func(j Judgment) bool { return j.By != BySynthetic })
}

// evidence takes the spans of a line, each found in its document.
func (a *editing) evidence(c *Case, e *Edit) error {
	var evidence []Evidence
	if there, err := e.get(fieldEvidence, &evidence); err != nil || !there || slices.Equal(evidence, c.Evidence) {
		return err
	}
	for i := range evidence {
		if err := a.find(&evidence[i]); err != nil {
			return fmt.Errorf("evidence[%d]: %w", i, err)
		}
	}
	c.Evidence = evidence
	return nil
}

// find completes a span: by its offsets, or by its quote where it has none; and
// the chunk that holds most of it.
func (a *editing) find(e *Evidence) error {
	doc, ok := a.docs[e.DocID]
	if !ok {
		return fmt.Errorf("document %q is not in the snapshot", e.DocID)
	}
	if e.Start == 0 && e.End == 0 {
		if err := findQuote(e, doc.Text); err != nil {
			return fmt.Errorf("document %q: %w", e.DocID, err)
		}
	}
	if e.Start < 0 || e.End > len(doc.Text) || e.Start >= e.End {
		return fmt.Errorf("[%d,%d) is outside of document %q of %d bytes", e.Start, e.End, e.DocID, len(doc.Text))
	}
	if text := doc.Text[e.Start:e.End]; e.Quote != "" && e.Quote != text {
		return fmt.Errorf("document %q has %s at [%d,%d), the quote is %s; without start and end it is looked for", e.DocID, abridged(text), e.Start, e.End, abridged(e.Quote))
	}
	e.Quote = doc.Text[e.Start:e.End]
	return a.place(e)
}

// findQuote looks for the only place of a quote: as it stands, or up to white
// space and typography.
func findQuote(e *Evidence, text string) error {
	if e.Quote == "" {
		return fmt.Errorf("want a quote, or start and end")
	}
	found := 0
	for start, end := range occurrences(text, e.Quote) {
		if found++; found == 1 {
			e.Start, e.End = start, end
		}
	}
	if found > 1 {
		return fmt.Errorf("%s stands there %d times: say start and end", abridged(e.Quote), found)
	}
	if found == 0 {
		var ok bool
		if e.Start, e.End, ok = quotes.Locate(text, e.Quote); !ok {
			return fmt.Errorf("%s is not in it", abridged(e.Quote))
		}
		e.Quote = text[e.Start:e.End]
	}
	return nil
}

// place names the chunk of a span: the one that it names already, if that holds
// some of it, else the one that holds most.
func (a *editing) place(e *Evidence) error {
	span, best, most := Span{e.Start, e.End}, "", 0
	for i := range a.of[e.DocID] {
		c := &a.of[e.DocID][i]
		held := overlap(span, spanOf(c))
		if held > 0 && c.ID == e.ChunkID {
			return nil
		}
		if held > most {
			best, most = c.ID, held
		}
	}
	if e.ChunkID = best; best == "" {
		return fmt.Errorf("no chunk of document %q holds any of [%d,%d)", e.DocID, e.Start, e.End)
	}
	return nil
}

// grades takes a person's grades; null takes one away. Those that people gave
// before, also of another wording, are no new ones.
func (a *editing) grades(c *Case, e *Edit, had map[string]int) error {
	var grades map[string]*int
	if there, err := e.get(fieldGrades, &grades); err != nil || !there {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(grades)) {
		grade := grades[id]
		before, graded := had[id]
		switch chunk, ok := a.chunks[id]; {
		case grade != nil && graded && before == *grade, grade == nil && !graded:
		case !ok:
			return fmt.Errorf("grades: chunk %q is not in the snapshot", id)
		default:
			a.grade(c, &chunk, grade)
			a.report.Labels++
		}
	}
	return nil
}

// grade puts a person's judgment of a chunk in the place of an earlier one; nil
// only takes that away.
func (a *editing) grade(c *Case, chunk *corpus.Chunk, grade *int) {
	c.Judgments = slices.DeleteFunc(c.Judgments, func(j Judgment) bool { return j.By == ByHuman && j.ChunkID == chunk.ID })
	if grade == nil {
		return
	}
	c.Judgments = append(c.Judgments, Judgment{
		ChunkID: chunk.ID, DocID: chunk.DocID, Grade: grade, Label: LabelOf(*grade, a.relevant), By: ByHuman, Judge: a.By, Inclusion: 1,
	})
}
