package sample

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// How many cases a stratum gets.
const (
	Proportional = "proportional" // by its eligible chunks
	Equal        = "equal"        // the same for each
	Sqrt         = "sqrt"         // by the square root of its eligible chunks
)

// Fields that strata can be made of, besides metadata.<key>.
const (
	ByCategory = "category"
	ByDocument = "document"
	ByPath     = "path"
	ByLanguage = "language"
	ByLength   = "length"
	ByTopic    = "topic"
	ByUnit     = "unit"

	metadataPrefix = "metadata."
)

// DefaultStyle is the style of a query when none is configured.
const DefaultStyle = "plain"

var (
	fields      = []string{ByCategory, ByDocument, ByPath, ByLanguage, ByLength, ByTopic, ByUnit}
	allocations = []string{Proportional, Equal, Sqrt}
	chunkTypes  = []string{datasets.Factual, datasets.Keyword, datasets.Reformulated}
	planned     = append(slices.Clone(chunkTypes),
		datasets.MultiHop, datasets.Ambiguous, datasets.TimeSensitive, datasets.RareTerm,
		datasets.NearDuplicate, datasets.OutOfScope, datasets.PermissionSensitive,
	)
)

// Options say how a plan is drawn.
type Options struct {
	Cases          int                `yaml:"cases" json:"cases"`
	Seed           int64              `yaml:"seed" json:"seed"`
	Strata         []string           `yaml:"strata" json:"strata"`                     // fields; a stratum is one combination of their values
	Allocation     string             `yaml:"allocation" json:"allocation"`             // proportional, equal or sqrt
	MinPerStratum  int                `yaml:"min_per_stratum" json:"min_per_stratum"`   // cases that each stratum gets if it can
	MaxPerDocument int                `yaml:"max_per_document" json:"max_per_document"` // rows, reserves included; 0 is no limit
	Mix            map[string]float64 `yaml:"mix" json:"mix"`                           // query type -> share of the cases; sums to 1
	Styles         []string           `yaml:"styles" json:"styles"`                     // each chunk gets one of them, equally often on average
	PathDepth      int                `yaml:"path_depth" json:"path_depth"`             // folders of a document's path that make a stratum
	Topics         int                `yaml:"topics" json:"topics"`                     // clusters made of the vectors for the stratum field topic
	Reserve        float64            `yaml:"reserve" json:"reserve"`                   // reserves as a share of a stratum's cases
	MinReserve     int                `yaml:"min_reserve" json:"min_reserve"`           // reserves that each stratum with cases gets if it can
	AsOf           string             `yaml:"as_of" json:"as_of,omitempty"`             // when time_sensitive queries are asked: a date, an RFC 3339 time, or now, the corpus's latest; "" is a time of each version's own
	Scopes         []corpus.Scope     `yaml:"scopes" json:"scopes,omitempty"`           // askers who must not see, of permission_sensitive; none: those that records are for
	LogOptions     `yaml:",inline"`
	StyleOptions   `yaml:",inline"`
}

// Defaults gives the options of an empty configuration.
func Defaults() Options {
	return Options{
		Cases:          200,
		Seed:           1,
		Strata:         []string{ByCategory},
		Allocation:     Proportional,
		MaxPerDocument: 3,
		Mix:            map[string]float64{datasets.Factual: 0.5, datasets.Keyword: 0.3, datasets.Reformulated: 0.2},
		Styles:         []string{DefaultStyle},
		PathDepth:      1,
		Topics:         20,
		Reserve:        1,
		MinReserve:     5,
	}
}

// Validate names every field whose value cannot be used.
func (o Options) Validate() error {
	return errors.Join(o.checkCounts(), o.checkStrata(), o.checkMix(), o.checkStyles(), o.checkAsOf(), o.checkScopes(), o.LogOptions.validate(), o.StyleOptions.validate())
}

func (o Options) checkCounts() error {
	var errs []error
	for _, c := range []struct {
		field      string
		value, min int
	}{
		{"cases", o.Cases, 1},
		{"min_per_stratum", o.MinPerStratum, 0},
		{"max_per_document", o.MaxPerDocument, 0},
		{"path_depth", o.PathDepth, 1},
		{"topics", o.Topics, 1},
		{"min_reserve", o.MinReserve, 0},
	} {
		if c.value < c.min {
			errs = append(errs, fmt.Errorf("sample.%s: %d is less than %d", c.field, c.value, c.min))
		}
	}
	if !(o.Reserve >= 0 && o.Reserve <= 100) {
		errs = append(errs, fmt.Errorf("sample.reserve: %v is not between 0 and 100", o.Reserve))
	}
	return errors.Join(errs...)
}

func (o Options) checkStrata() error {
	if !slices.Contains(allocations, o.Allocation) {
		return fmt.Errorf("sample.allocation: unknown %q, valid are %s", o.Allocation, strings.Join(allocations, ", "))
	}
	for i, f := range o.Strata {
		isMetadata := strings.HasPrefix(f, metadataPrefix) && len(f) > len(metadataPrefix)
		if !isMetadata && !slices.Contains(fields, f) {
			return fmt.Errorf("sample.strata: unknown field %q, valid are %s, %s<key>", f, strings.Join(fields, ", "), metadataPrefix)
		}
		if slices.Contains(o.Strata[:i], f) {
			return fmt.Errorf("sample.strata: %q is named twice", f)
		}
	}
	return nil
}

func (o Options) checkMix() error {
	return CheckShares("sample.mix", "unknown query type", o.Mix, planned)
}

// CheckShares names a share that is of nothing valid or no share, and shares that
// do not sum to 1. unknown is what is said of a name that is not valid.
func CheckShares(key, unknown string, shares map[string]float64, valid []string) error {
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		share := shares[name]
		switch {
		case !slices.Contains(valid, name):
			return fmt.Errorf("%s: %s %q, valid are %s", key, unknown, name, strings.Join(valid, ", "))
		case !(share >= 0 && share <= 1):
			return fmt.Errorf("%s: share %v of %s is not between 0 and 1", key, share, name)
		}
		sum += share
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("%s: the shares sum to %.6g, not to 1", key, sum)
	}
	return nil
}

func (o Options) checkStyles() error {
	if len(o.Styles) == 0 {
		return fmt.Errorf("sample.styles: none named")
	}
	for i, s := range o.Styles {
		if strings.TrimSpace(s) == "" {
			return fmt.Errorf("sample.styles: %q names no style", s)
		}
		if slices.Contains(o.Styles[:i], s) {
			return fmt.Errorf("sample.styles: %q is named twice", s)
		}
	}
	return nil
}

func (o Options) checkAsOf() error {
	if o.AsOf != "" && o.AsOf != Now && o.moment() == nil {
		return fmt.Errorf("sample.as_of: %q is neither a date such as 2026-05-31 nor a time such as 2026-05-31T12:00:00Z, nor %s", o.AsOf, Now)
	}
	return nil
}

// moment is AsOf as a time, nil without one.
func (o Options) moment() *time.Time {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, o.AsOf); err == nil {
			t = t.UTC()
			return &t
		}
	}
	return nil
}

func (o Options) checkScopes() error {
	for i, scope := range o.Scopes {
		for _, key := range slices.Sorted(maps.Keys(scope)) {
			if key == "" || len(scope[key]) == 0 || slices.Contains(scope[key], "") {
				return fmt.Errorf("sample.scopes[%d]: key %q has an empty name or value", i, key)
			}
		}
	}
	return nil
}

// anyChunkServes reports whether a query of the type can be asked of any chunk
// that may be asked about.
func anyChunkServes(queryType string) bool { return slices.Contains(chunkTypes, queryType) }

// types gives the query types with a share, the largest share first.
func (o Options) types() []string {
	var out []string
	for _, t := range planned {
		if o.Mix[t] > 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(o.Mix[b], o.Mix[a]) })
	return out
}

// reserves is the number of reserves that go with so many main rows.
func (o *Options) reserves(main int) int {
	if o.Reserve == 0 || main == 0 {
		return 0
	}
	return max(int(math.Ceil(float64(o.Reserve*float64(main)))), o.MinReserve)
}
