package pipeline_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/goldgen/goldgen/pipeline"
)

func TestReviewersNames(t *testing.T) {
	for name, c := range map[string]struct {
		reviewer string
		ok       bool
	}{
		"latin":        {"ann", true},
		"sixty bytes":  {strings.Repeat("é", 30), true},
		"too long":     {strings.Repeat("é", 31), false},
		"blank":        {" ", false},
		"not UTF-8":    {"\xff\xfe", false},
		"a line's end": {"a\nb", false},
		"delete":       {"a\x7fb", false},
		"C1 control":   {"a\u0085b", false},
		"path":         {"../../x", true},
		"capital":      {"Ä", true},
	} {
		o := pipeline.ReviewOptions{N: 1, Reviewer: c.reviewer}
		if err := o.Validate(); (err == nil) != c.ok || err != nil && !errors.Is(err, pipeline.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
