package datasets

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// RebaseReport says what a rebase kept and lost. Cases that were retired before
// are not counted.
type RebaseReport struct {
	Kept       int             `json:"kept"`     // cases that are not retired
	Regraded   int             `json:"regraded"` // those among them whose labels are others
	Retired    int             `json:"retired"`  // cases that were retired for what is lost
	Spans      RebaseSpans     `json:"spans"`
	Documents  RebaseDocuments `json:"documents"`
	Followed   []Followed      `json:"followed"`
	ByType     []RebaseRow     `json:"by_type"`
	ByCategory []RebaseRow     `json:"by_category"`
	Reasons    map[string]int  `json:"reasons"` // retired cases by reason
	Lost       []LostCase      `json:"lost"`

	// Changes are the documents that are not what they were: those of the old
	// corpus in its order, then the added ones by id.
	Changes []DocumentChange `json:"-"`
}

// RebaseSpans counts the spans of evidence by how they were found.
type RebaseSpans struct {
	Exact      int `json:"exact"`
	Normalised int `json:"normalised"`
	Fuzzy      int `json:"fuzzy"`
	Lost       int `json:"lost"`
}

// RebaseDocuments counts the documents of the old corpus by what became of them,
// and those that are new.
type RebaseDocuments struct {
	Before    int     `json:"before"`
	Unchanged int     `json:"unchanged"`
	Edited    int     `json:"edited"`
	Renamed   int     `json:"renamed"`
	Gone      int     `json:"gone"`
	Reused    int     `json:"reused"` // gone, and the id is another text's
	Added     int     `json:"added"`
	LostShare float64 `json:"lost_share"` // gone and reused ones, of those before
}

// Followed is a document that has another id now.
type Followed struct {
	From   string `json:"from"`
	To     string `json:"to"`
	Edited bool   `json:"edited"`
}

// RebaseRow counts the cases of one query type or category.
type RebaseRow struct {
	Name     string `json:"name"`
	Cases    int    `json:"cases"` // that were not retired before
	Kept     int    `json:"kept"`
	Regraded int    `json:"regraded"`
	Retired  int    `json:"retired"`
}

// LostCase is a case that was retired.
type LostCase struct {
	CaseID string `json:"case_id"`
	Query  string `json:"query"`
	Reason string `json:"reason"`
}

func newRebaseReport(docs *documents) *RebaseReport {
	r := &RebaseReport{Followed: []Followed{}, ByType: []RebaseRow{}, ByCategory: []RebaseRow{}, Reasons: map[string]int{}, Lost: []LostCase{}}
	d := &r.Documents
	d.Before = len(docs.order)
	used := map[string]bool{}
	for _, id := range docs.order {
		m := docs.fates[id]
		used[m.to] = true
		r.Changes = append(r.Changes, m.changes()...)
		switch m.fate {
		case stayed:
			d.Unchanged++
		case edited:
			d.Edited++
		case renamed, rewritten:
			d.Renamed++
			r.Followed = append(r.Followed, Followed{id, m.to, m.fate == rewritten})
		case gone:
			d.count(m.reused)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(docs.news)) {
		if !used[id] {
			d.Added++
			r.Changes = append(r.Changes, DocumentChange{Kind: DocumentAdded, Now: id})
		}
	}
	d.LostShare = float64(d.Gone+d.Reused) / float64(max(1, d.Before))
	return r
}

func (d *RebaseDocuments) count(reused bool) {
	if reused {
		d.Reused++
		return
	}
	d.Gone++
}

// count counts a span of evidence.
func (r *RebaseReport) count(p placed) {
	switch {
	case p.lost != "":
		r.Spans.Lost++
	case p.how == SpanExact:
		r.Spans.Exact++
	case p.how == SpanNormalised:
		r.Spans.Normalised++
	case p.how == SpanFuzzy:
		r.Spans.Fuzzy++
	}
}

// add counts a case as it was and as it is.
func (r *RebaseReport) add(old, now *Case) {
	if old.Status == Retired {
		return
	}
	one := RebaseRow{Cases: 1}
	switch {
	case now.Status == Retired:
		one.Retired = 1
		reason, _, _ := strings.Cut(now.Reason, ": ")
		r.Reasons[reason]++
		r.Lost = append(r.Lost, LostCase{now.ID, now.Query, now.Reason})
	default:
		one.Kept = 1
		if !labelsAlike(old.Judgments, now.Judgments) {
			one.Regraded = 1
		}
	}
	r.Kept, r.Regraded, r.Retired = r.Kept+one.Kept, r.Regraded+one.Regraded, r.Retired+one.Retired
	r.ByType, r.ByCategory = addRow(r.ByType, now.QueryType, one), addRow(r.ByCategory, now.Category, one)
}

// addRow adds to the row of a name; rows are sorted by name.
func addRow(rows []RebaseRow, name string, one RebaseRow) []RebaseRow {
	at, ok := slices.BinarySearchFunc(rows, name, func(r RebaseRow, name string) int { return cmp.Compare(r.Name, name) })
	if !ok {
		rows = slices.Insert(rows, at, RebaseRow{Name: name})
	}
	row := &rows[at]
	row.Cases, row.Kept = row.Cases+one.Cases, row.Kept+one.Kept
	row.Regraded, row.Retired = row.Regraded+one.Regraded, row.Retired+one.Retired
	return rows
}
