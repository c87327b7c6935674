package datasets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"math"
	"slices"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// DigestPrefix stands before every digest of a set.
const DigestPrefix = "sha256:"

// CaseID derives the id of a synthetic case: the first 16 hex digits of the
// SHA-256 of the JSON array [seed, doc id, text digest, query type, style,
// slot]. A JSON array, as its parts cannot run into each other. The id stays
// when n grows or the corpus changes elsewhere.
func CaseID(seed int64, docID, textDigest, queryType, style string, slot int) string {
	sum := sha256.Sum256(mustJSON([]any{seed, docID, textDigest, queryType, style, slot}))
	return hex.EncodeToString(sum[:8])
}

// Digest is that of the rows: SHA-256 over the canonical JSON of each case and
// then of each reject, one a line, in order. It covers neither times and costs
// nor the bytes of files. Since and RetiredIn are left out: they tell a
// version's history, which differs between machines that made equal rows.
func Digest(cases []Case, rejects []Reject) string {
	h := sha256.New()
	writeLine(h, "cases")
	for i := range cases {
		c := cases[i].Canonical()
		c.Since, c.RetiredIn = "", ""
		writeLine(h, c)
	}
	writeLine(h, "rejects")
	for i := range rejects {
		writeLine(h, rejects[i].Canonical())
	}
	return DigestPrefix + hex.EncodeToString(h.Sum(nil))
}

func writeLine(h hash.Hash, v any) {
	h.Write(mustJSON(v))
	h.Write([]byte{'\n'})
}

// mustJSON encodes what always can be: maps come out sorted by key, and
// Canonical has left no number that JSON lacks.
func mustJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// Canonical is a copy of the case as it is stored: numbers to 4 decimals,
// as_of in UTC to the microsecond, lists and maps empty and never nil but for
// p_draws, where nil means that there is no label model. NaN and infinities,
// which Validate refuses, become 0.
func (c *Case) Canonical() Case {
	d := *c
	d.Tags, d.Source = list(c.Tags), list(c.Source)
	d.Forbidden, d.HardNegatives = list(c.Forbidden), list(c.HardNegatives)
	d.Scope, d.AsOf = canonicalScope(c.Scope), canonicalTime(c.AsOf)
	d.Filters = list(c.Filters)
	for i := range d.Filters {
		d.Filters[i].Values = list(d.Filters[i].Values)
	}
	d.Judgments = list(c.Judgments)
	for i := range d.Judgments {
		d.Judgments[i] = d.Judgments[i].canonical()
	}
	d.Evidence, d.Checks = list(c.Evidence), roundedChecks(c.Checks)
	d.Difficulty.Overlap = Round(c.Difficulty.Overlap)
	return d
}

// Canonical is a copy of the reject as it is stored; see Case.Canonical.
func (r *Reject) Canonical() Reject {
	d := *r
	d.Evidence, d.Checks = list(r.Evidence), roundedChecks(r.Checks)
	d.Scope, d.AsOf = canonicalScope(r.Scope), canonicalTime(r.AsOf)
	return d
}

func canonicalScope(s corpus.Scope) corpus.Scope {
	out := make(corpus.Scope, len(s))
	for key, values := range s {
		out[key] = list(values)
	}
	return out
}

func canonicalTime(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC().Truncate(time.Microsecond)
	return &utc
}

func (j Judgment) canonical() Judgment {
	if j.P != nil {
		p := Round(*j.P)
		j.P = &p
	}
	j.PDraws = slices.Clone(j.PDraws)
	for i, p := range j.PDraws {
		j.PDraws[i] = Round(p)
	}
	features := make(map[string]float64, len(j.Features))
	for name, value := range j.Features {
		features[name] = Round(value)
	}
	j.Features, j.Inclusion, j.Spans = features, RoundInclusion(j.Inclusion), list(j.Spans)
	return j
}

func roundedChecks(checks []Check) []Check {
	out := list(checks)
	for i := range out {
		out[i].Value = Round(out[i].Value)
	}
	return out
}

// list copies a list; nil becomes empty.
func list[T any](in []T) []T { return append(make([]T, 0, len(in)), in...) }

// RoundInclusion rounds a probability whose inverse is a weight: below a thousandth
// to 4 digits and not to 4 decimals. A random chunk of a hundred thousand would
// have the probability 0 else, and stand for any number of others.
func RoundInclusion(p float64) float64 {
	if !(p > 0 && p < 1e-3) {
		return Round(p)
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(p)))
	return math.Round(p*scale) / scale
}

// Round rounds to the 4 decimals that a set stores, without a negative zero. NaN
// and infinities become 0.
func Round(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	if r := math.Round(x*1e4) / 1e4; !math.IsInf(r, 0) {
		return r + 0
	}
	return x
}
