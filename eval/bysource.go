package eval

import (
	"fmt"

	"github.com/goldgen/goldgen/datasets"
)

// SourceMetrics are the means under another reading of the chunks that queries
// were written from, over the same rankings.
type SourceMetrics struct {
	Source     string  `json:"source"`                      // in, judged or out
	SourceOnly int     `json:"source_only_cases,omitempty"` // read as in, for want of another judgment
	Metrics    Metrics `json:"metrics"`
}

// AddSources scores the input's rankings under the source modes that are not
// its own and keeps their means, where labels allow: a mode under which no case
// has a value, which reads every case as in, or whose labels cannot give one of
// the measures, is left out. cases are the
// input's, of the golden set. Rankings of spans and cases without a source have
// no other reading.
func (r *Result) AddSources(in Input, cases []datasets.Case) error {
	if len(cases) != len(in.Cases) {
		return fmt.Errorf("%d cases of the golden set for %d of the input", len(cases), len(in.Cases))
	}
	sources := 0
	for i := range in.Cases {
		sources += btoi(len(in.Cases[i].about().Chunks) > 0 && !in.Cases[i].Abstain)
	}
	if sources == 0 || in.bySpan() {
		return nil
	}
	for _, mode := range [...]datasets.SourceMode{datasets.SourceIn, datasets.SourceJudged, datasets.SourceOut} {
		if string(mode) == in.Source {
			continue
		}
		other, sourceOnly := in.under(mode, cases)
		if sourceOnly == sources && mode == datasets.SourceJudged {
			continue
		}
		result, err := Evaluate(other)
		if err == nil && result.Counts.Scored > 0 { // else its labels cannot give a measure that was asked for
			r.BySource = append(r.BySource, SourceMetrics{string(mode), sourceOnly, result.Metrics})
		}
	}
	return nil
}

// under is the input with labels read under another mode, for means alone.
func (in *Input) under(mode datasets.SourceMode, cases []datasets.Case) (Input, int) {
	out, sourceOnly := *in, 0
	out.Source, out.Slicing, out.Dimensions = string(mode), in.sliced(), nil
	out.Restricted, out.Outdated, out.Violated = nil, nil, nil
	out.Cases = make([]Case, len(cases))
	for i := range cases {
		read, fallback := FromGolden(&cases[i], mode, nil)
		sourceOnly += btoi(fallback && !read.Abstain)
		c, about := in.Cases[i], *in.Cases[i].about()
		c.Labels, about.Exclude = read.Labels, read.Background.Exclude
		c.Background = &about
		out.Cases[i] = c
	}
	return out, sourceOnly
}
