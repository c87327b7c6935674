package datasets

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/goldgen/goldgen/corpus"
)

// The values that each enumerated column may hold; language and category are
// free.
var (
	queryTypes = []string{Factual, Keyword, Reformulated, MultiHop, Ambiguous, TimeSensitive, RareTerm, NearDuplicate, OutOfScope, PermissionSensitive}
	origins    = []string{OriginSynthetic, OriginLog, OriginHuman, OriginImported}
	statuses   = []string{Active, NeedsReview, Retired}
	judges     = []string{BySynthetic, ByLLM, ByLabelModel, ByHuman}
	labels     = []string{LabelRelevant, LabelPartial, LabelIrrelevant, LabelStale, LabelOutOfScope}
	units      = corpus.Units()
	filterOps  = corpus.Ops()
	trusts     = []string{TrustNone, TrustSourceOnly, TrustJudged, TrustPrior, TrustFitted, TrustReviewed}
)

// fault is one thing wrong with a row: its field and what is wrong.
type fault struct{ field, detail string }

// Validate reports everything wrong with the case that can be seen without its
// corpus, joined; nil when it is sound. Empty enumerated values are allowed
// only where a case may lack them: query_type, unit and a judgment's label.
func (c *Case) Validate() error { return joinFaults("case "+printable(c.ID), c.faults()) }

func joinFaults(what string, faults []fault) error {
	var errs []error
	for _, f := range faults {
		errs = append(errs, fmt.Errorf("%s: %s: %s", what, f.field, f.detail))
	}
	return errors.Join(errs...)
}

func (c *Case) faults() []fault {
	var fs []fault
	add := func(field, format string, args ...any) { fs = append(fs, fault{field, fmt.Sprintf(format, args...)}) }
	switch {
	case c.ID == "":
		add("case_id", "is empty")
	case c.Origin == OriginSynthetic && !isCaseID(c.ID):
		add("case_id", "%q is not 16 hex digits", c.ID)
	}
	if c.Query == "" {
		add("query", "is empty")
	}
	if !utf8.ValidString(c.Query) {
		add("query", "is not UTF-8")
	}
	fs = append(fs, oneOf("query_type", c.QueryType, queryTypes, true)...)
	fs = append(fs, oneOf("unit", c.Unit, units, true)...)
	fs = append(fs, oneOf("origin", c.Origin, origins, false)...)
	fs = append(fs, oneOf("status", c.Status, statuses, false)...)
	for i, f := range c.Filters {
		fs = append(fs, oneOf(fmt.Sprintf("filters[%d].op", i), f.Op, filterOps, false)...)
	}
	fs = append(fs, numberFaults("difficulty.overlap", c.Difficulty.Overlap)...)
	fs = append(fs, checkFaults(c.Checks)...)
	fs = append(fs, evidenceFaults(c.Evidence)...)
	return append(fs, c.judgmentFaults()...)
}

// judgmentFaults looks at each judgment, at repeats, and at the source's
// synthetic judgments.
func (c *Case) judgmentFaults() []fault {
	var fs []fault
	seen := map[[2]string]bool{}
	for i, j := range c.Judgments {
		field := fmt.Sprintf("judgments[%d]", i)
		if j.OfRival() && slices.Contains(c.Source, j.ChunkID) {
			fs = append(fs, fault{field, fmt.Sprintf("source chunk %s has grade 0 by synthetic", printable(j.ChunkID))})
		}
		fs = append(fs, j.faults(field)...)
		key := [2]string{j.ChunkID, j.By}
		if seen[key] {
			fs = append(fs, fault{field, fmt.Sprintf("chunk %s has a second judgment by %s", printable(j.ChunkID), j.By)})
		}
		seen[key] = true
	}
	for _, id := range c.Source {
		if !seen[[2]string{id, BySynthetic}] {
			fs = append(fs, fault{"source", fmt.Sprintf("chunk %s has no judgment by synthetic", printable(id))})
		}
	}
	return fs
}

func (j *Judgment) faults(field string) []fault {
	var fs []fault
	add := func(format string, args ...any) { fs = append(fs, fault{field, fmt.Sprintf(format, args...)}) }
	if j.ChunkID == "" {
		add("chunk_id is empty")
	}
	fs = append(fs, oneOf(field+".by", j.By, judges, false)...)
	fs = append(fs, oneOf(field+".label", j.Label, labels, true)...)
	if j.Grade != nil && (*j.Grade < 0 || *j.Grade > 3) {
		add("grade %d is outside of 0 to 3", *j.Grade)
	}
	if j.By == BySynthetic && (j.Grade == nil || *j.Grade != 3 && *j.Grade != 0 && !j.Carried() || j.P != nil) {
		add("a judgment by synthetic has grade 3, or 0 for a rival of the source, or what of 3 a part of the source has, and no p")
	}
	if j.P != nil && !isProbability(*j.P) {
		add("p %v is outside of 0 to 1", *j.P)
	}
	if !isProbability(j.Inclusion) {
		add("inclusion %v is outside of 0 to 1", j.Inclusion)
	}
	for _, name := range slices.Sorted(maps.Keys(j.Features)) {
		fs = append(fs, numberFaults(field+".features."+name, j.Features[name])...)
	}
	for _, s := range j.Spans {
		if s.Start < 0 || s.End < s.Start {
			add("span [%d,%d) is not a range", s.Start, s.End)
		}
	}
	return append(fs, j.drawFaults(field)...)
}

// meanTolerance is how far p may lie from the mean of p_draws: each of them is
// rounded to 4 decimals.
const meanTolerance = 1.01e-4

func (j *Judgment) drawFaults(field string) []fault {
	if len(j.PDraws) == 0 {
		return nil
	}
	field += ".p_draws"
	sum := 0.0
	for _, p := range j.PDraws {
		if !isProbability(p) {
			return []fault{{field, fmt.Sprintf("%v is outside of 0 to 1", p)}}
		}
		sum += p
	}
	mean := sum / float64(len(j.PDraws))
	if j.P == nil {
		return []fault{{field, "are given without p"}}
	}
	if math.Abs(mean-*j.P) > meanTolerance {
		return []fault{{field, fmt.Sprintf("have mean %.4f, but p is %.4f", mean, *j.P)}}
	}
	return nil
}

func evidenceFaults(evidence []Evidence) []fault {
	var fs []fault
	for i, e := range evidence {
		if e.Start < 0 || e.End <= e.Start || e.End-e.Start != len(e.Quote) {
			fs = append(fs, fault{
				fmt.Sprintf("evidence[%d]", i),
				fmt.Sprintf("span [%d,%d) does not fit a quote of %d bytes", e.Start, e.End, len(e.Quote)),
			})
		}
	}
	return fs
}

func checkFaults(checks []Check) []fault {
	var fs []fault
	for i, c := range checks {
		fs = append(fs, numberFaults(fmt.Sprintf("checks[%d].value", i), c.Value)...)
	}
	return fs
}

// Validate reports what is wrong with the reject, as Case.Validate does.
func (r *Reject) Validate() error { return joinFaults("reject "+printable(r.CaseID), r.faults()) }

func (r *Reject) faults() []fault {
	var fs []fault
	if r.Reason == "" {
		fs = append(fs, fault{"reason", "is empty"})
	}
	fs = append(fs, oneOf("query_type", r.QueryType, queryTypes, true)...)
	return append(fs, checkFaults(r.Checks)...)
}

// printable is an id as a message can show it: quoted when it holds control
// characters or what is no UTF-8.
func printable(id string) string {
	if q := strconv.Quote(id); q != `"`+id+`"` {
		return q
	}
	return id
}

func oneOf(field, value string, allowed []string, orEmpty bool) []fault {
	if slices.Contains(allowed, value) || (orEmpty && value == "") {
		return nil
	}
	return []fault{{field, fmt.Sprintf("%q is none of %q", value, allowed)}}
}

func numberFaults(field string, x float64) []fault {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return []fault{{field, fmt.Sprintf("is %v", x)}}
	}
	return nil
}

func isProbability(p float64) bool { return p >= 0 && p <= 1 }

// isCaseID reports whether id has the form that CaseID gives.
func isCaseID(id string) bool {
	return len(id) == 16 && !slices.ContainsFunc([]byte(id), func(b byte) bool {
		return (b < '0' || b > '9') && (b < 'a' || b > 'f')
	})
}
