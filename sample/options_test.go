package sample_test

import (
	"math"
	"testing"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/sample"
)

func TestDefaultsAreValid(t *testing.T) {
	if err := sample.Defaults().Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateNamesFieldAndValue(t *testing.T) {
	mix := func(m map[string]float64) func(*sample.Options) {
		return func(o *sample.Options) { o.Mix = m }
	}
	tests := []struct {
		name   string
		change func(*sample.Options)
		want   string
	}{
		{"cases", func(o *sample.Options) { o.Cases = 0 }, "sample.cases: 0 is less than 1"},
		{"minimum", func(o *sample.Options) { o.MinPerStratum = -1 }, "sample.min_per_stratum: -1 is less than 0"},
		{"limit", func(o *sample.Options) { o.MaxPerDocument = -2 }, "sample.max_per_document: -2 is less than 0"},
		{"reserve", func(o *sample.Options) { o.Reserve = math.NaN() }, "sample.reserve: NaN is not between 0 and 100"},
		{"allocation", func(o *sample.Options) { o.Allocation = "random" }, `sample.allocation: unknown "random", valid are proportional, equal, sqrt`},
		{
			"stratum", func(o *sample.Options) { o.Strata = []string{"colour"} },
			`sample.strata: unknown field "colour", valid are category, document, path, language, length, topic, unit, metadata.<key>`,
		},
		{
			"metadata without key", func(o *sample.Options) { o.Strata = []string{"metadata."} },
			`sample.strata: unknown field "metadata.", valid are category, document, path, language, length, topic, unit, metadata.<key>`,
		},
		{"stratum twice", func(o *sample.Options) { o.Strata = []string{"unit", "unit"} }, `sample.strata: "unit" is named twice`},
		{"mix sum", mix(map[string]float64{"factual": 0.5, "keyword": 0.4}), "sample.mix: the shares sum to 0.9, not to 1"},
		{"mix of thirds cut short", mix(map[string]float64{"factual": 0.333, "keyword": 0.333, "reformulated": 0.333}), "sample.mix: the shares sum to 0.999, not to 1"},
		{"empty mix", mix(nil), "sample.mix: the shares sum to 0, not to 1"},
		{"negative share", mix(map[string]float64{"factual": -0.5, "keyword": 1.5}), "sample.mix: share -0.5 of factual is not between 0 and 1"},
		{"unknown type", mix(map[string]float64{"trivia": 1}), `sample.mix: unknown query type "trivia", valid are factual, keyword, reformulated, multi_hop, ambiguous, time_sensitive, rare_term, near_duplicate, out_of_scope, permission_sensitive`},
		{
			"as_of", func(o *sample.Options) { o.AsOf = "31.05.2026" },
			`sample.as_of: "31.05.2026" is neither a date such as 2026-05-31 nor a time such as 2026-05-31T12:00:00Z, nor now`,
		},
		{
			"scope without a value", func(o *sample.Options) { o.Scopes = []corpus.Scope{{"team": nil}} },
			`sample.scopes[0]: key "team" has an empty name or value`,
		},
		{"no style", func(o *sample.Options) { o.Styles = nil }, "sample.styles: none named"},
		{"blank style", func(o *sample.Options) { o.Styles = []string{" "} }, `sample.styles: " " names no style`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := options(tt.change)
			if err := o.Validate(); err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestMixWithinRoundingIsValid(t *testing.T) {
	o := options(func(o *sample.Options) {
		o.Mix = map[string]float64{"factual": 0.3333333, "keyword": 0.3333333, "reformulated": 0.3333333}
	})
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}
