package eval_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/eval"
)

func TestGatesAreRead(t *testing.T) {
	type read struct {
		Text, Measure, Dimension string
		Baseline                 bool
	}
	for text, want := range map[string]read{
		"recall@10 >= 0.80":                     {"recall@10 >= 0.80", "recall@10", "", false},
		"recall@10>=0.80":                       {"recall@10>=0.80", "recall@10", "", false},
		"  ndcg@10   drop <= 0.02 ":             {"ndcg@10 drop <= 0.02", "ndcg@10", "", true},
		"recall@10 drop <= 0.02 by query_type":  {"recall@10 drop <= 0.02 by query_type", "recall@10", "query_type", true},
		"recall@10(grade>=3) >= .5 by category": {"recall@10(grade>=3) >= .5 by category", "recall@10(grade>=3)", "category", false},
		"rbp(p=0.5,grade>=1) drop <= 0":         {"rbp(p=0.5,grade>=1) drop <= 0", "rbp(p=0.5,grade>=1)", "", true},
		"p@5 >= 0.1":                            {"p@5 >= 0.1", "p@5", "", false},
		"p95 <= 180ms":                          {"p95 <= 180ms", "", "", false},
		"p50 <= 1.5s":                           {"p50 <= 1.5s", "", "", false},
		"leaks = 0":                             {"leaks = 0", "", "", false},
		"leaks=0":                               {"leaks=0", "", "", false},
		"critical failures = 0":                 {"critical failures = 0", "", "", false},
		"critical failures@10 = 0":              {"critical failures@10 = 0", "", "", false},
	} {
		g, err := eval.ParseGate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := read{Text: g.String(), Dimension: g.Dimension(), Baseline: g.NeedsBaseline()}
		if m, ok := g.Measure(); ok {
			got.Measure = m.Name
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestGatesThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                              `character 1: expected a gate, such as recall@10 drop <= 0.02`,
		"recal@10 >= 0.8":               `character 1: no such measure; near it: recall@10`,
		"recall >= 0.8":                 `character 7: recall needs a cut, such as recall@10`,
		"recall@10 > 0.8":               `character 11: expected ">=" or "drop <="`,
		"recall@10 <= 0.8":              `character 11: expected ">=" or "drop <="`,
		"recall@10":                     `character 10: expected ">=" or "drop <="`,
		"recall@10 >= 1.5":              `character 14: expected a number from 0 to 1, such as 0.02`,
		"recall@10 >= 80%":              `character 14: expected a number from 0 to 1, such as 0.02`,
		"recall@10 drop 0.02":           `character 16: expected "<="`,
		"recall@10 drop <= -0.02":       `character 19: expected a number from 0 to 1, such as 0.02`,
		"recall@10 drop <= 0.02 by":     `character 26: expected what to slice by, such as query_type`,
		"recall@10 drop <= 0.02 x":      `character 24: expected nothing more`,
		"recall@10 drop <= 0.02 by a b": `character 29: expected nothing more`,
		"p95 <= 180":                    `character 8: expected a time, such as 180ms`,
		"p95 <= -1s":                    `character 8: expected a time, such as 180ms`,
		"p95 < 180ms":                   `character 5: expected "<="`,
		"leaks <= 3":                    `character 7: expected "= 0": leaks are never within a tolerance`,
		"leaks = 1":                     `character 9: expected 0: leaks are never within a tolerance`,
		"critical cases = 0":            `character 10: expected "failures", as in critical failures = 0`,
		"critical failures@0 = 0":       `character 19: expected a rank from 1 to 1000000`,
		"critical failures = 2":         `character 21: expected 0: a critical case must not fail`,
		"gm_map drop <= 0.1":            `character 1: gm_map is no mean over cases`,
		"num_rel_ret >= 1":              `character 1: num_rel_ret is no mean over cases`,
		"recall@10(grade>=0) >= 0.8":    `character 18: expected a grade from 1 on`,
		"Üü@10 >= 0.8 drop":             `character 1: no such measure`,
	} {
		_, err := eval.ParseGate(text)
		var gate *eval.GateError
		if !errors.As(err, &gate) {
			t.Errorf("%q: %v is no gate error", text, err)
			continue
		}
		if got := strings.TrimPrefix(err.Error(), "gate \""+text+"\": "); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestCaretPointsAtTheCharacter(t *testing.T) {
	_, err := eval.ParseGate("recall@10 drop 0.02")
	var gate *eval.GateError
	if !errors.As(err, &gate) {
		t.Fatal(err)
	}
	if got, want := gate.Caret(), "recall@10 drop 0.02\n               ^"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is read is read again from what it says it is, and an error points into
// the text.
func FuzzParseGate(f *testing.F) {
	for _, text := range []string{"recall@10 drop <= 0.02 by query_type", "p95 <= 180ms", "leaks = 0", "critical failures@10 = 0", "rbp(p=0.5) >= 0.1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, err := eval.ParseGate(text)
		var gate *eval.GateError
		switch {
		case err == nil:
			if again, err := eval.ParseGate(g.String()); err != nil || again != g {
				t.Errorf("%q reads as %q, which reads as %q: %v", text, g, again, err)
			}
		case !errors.As(err, &gate):
			t.Errorf("%q: %v is no gate error", text, err)
		case gate.At < 0 || gate.At > len(text):
			t.Errorf("%q: character %d", text, gate.At)
		default:
			_ = gate.Caret()
		}
	})
}
