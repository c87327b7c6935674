package main

import (
	"testing"
	"time"

	"github.com/goldgen/goldgen/pipeline"
)

func TestProgressSaysOnlyWhatItKnows(t *testing.T) {
	tests := map[string]struct {
		stage string
		total int
		steps []pipeline.Step
		after time.Duration
		want  string
	}{
		"units unknown":    {"snapshot", 0, nil, 3 * time.Second, "snapshot: 3s"},
		"before the first": {"generate", 11, nil, 12 * time.Second, "generate: 0 of 11, 12s"},
		"several calls a unit": {"judge", 44, []pipeline.Step{{Done: 5, Calls: 30, Cached: 26}, {Done: 3, Unknown: 2, Calls: 10}},
			4 * time.Second, "judge: 8 of 44, 2.0/s, 2 unknown, 65% cached, eta 18s"},
		"a slow model": {"generate", 11, []pipeline.Step{{Done: 2, Rejected: 1, Calls: 5}}, time.Minute, "generate: 2 of 11, 2.0/min, 1 rejected, 0% cached, eta 4m30s"},
		"no model":     {"eval", 60, []pipeline.Step{{Done: 30}}, time.Second, "eval: 30 of 60, 30.0/s, eta 1s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(0, 0)
			sum := tally{now: func() time.Time { return now }}
			sum.begin(test.stage, test.total)
			for _, s := range test.steps {
				sum.step(s)
			}
			now = now.Add(test.after)
			if got := sum.line(); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
