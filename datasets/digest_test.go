package datasets_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/datasets"
)

func TestCaseID(t *testing.T) {
	// printf '[7,"a.md","d0","factual","plain",0]' | sha256sum
	if got := datasets.CaseID(7, "a.md", "d0", "factual", "plain", 0); got != "7bc9d3899c4eadb0" {
		t.Errorf("id %s", got)
	}
	seen := map[string]string{}
	for _, parts := range [][4]string{{"a", "b", "c", "d"}, {"ab", "", "c", "d"}, {"a", "bc", "", "d"}, {"a", "b", "cd", ""}, {`a","b`, "", "c", "d"}} {
		for _, slot := range []int{0, 1, 11} {
			for _, seed := range []int64{1, 11} {
				id := datasets.CaseID(seed, parts[0], parts[1], parts[2], parts[3], slot)
				key := fmt.Sprintf("%q %d %d", parts, slot, seed)
				if other, twice := seen[id]; twice {
					t.Errorf("%s and %s share an id", key, other)
				}
				seen[id] = key
			}
		}
	}
}

// Canonical form is a fixed point, and what it changes is no part of identity.
func TestCanonical(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drafts.Draw(rt, "draft")
		for i := range d.Cases {
			c := d.Cases[i].Canonical()
			if diff := cmp.Diff(d.Cases[i], c); diff != "" {
				rt.Fatalf("canonical rows changed:\n%s", diff)
			}
		}
	})
}

func TestDigestCovers(t *testing.T) {
	base := func() ([]datasets.Case, []datasets.Reject) { d := handbookDraft(); return d.Cases, d.Rejects }
	cases, rejects := base()
	digest := datasets.Digest(cases, rejects)

	same := map[string]func(c *datasets.Case){
		"version that first held it": func(c *datasets.Case) { c.Since = "v9" },
		"version that retired it":    func(c *datasets.Case) { c.RetiredIn = "v9" },
		"nil and empty":              func(c *datasets.Case) { c.Tags = []string{} },
		"fifth decimal":              func(c *datasets.Case) { c.Difficulty.Overlap = 0.00001 },
	}
	for name, change := range same {
		cases, rejects := base()
		change(&cases[0])
		if datasets.Digest(cases, rejects) != digest {
			t.Errorf("%s changes the digest", name)
		}
	}
	other := map[string]func(c *datasets.Case){
		"query":          func(c *datasets.Case) { c.Query += "?" },
		"fourth decimal": func(c *datasets.Case) { c.Difficulty.Overlap = 0.0001 },
		"as_of":          func(c *datasets.Case) { now := time.Unix(0, 0); c.AsOf = &now },
		"no draws":       func(c *datasets.Case) { c.Judgments[0].PDraws = []float64{} },
		"status":         func(c *datasets.Case) { c.Status = datasets.Retired },
		"offset":         func(c *datasets.Case) { c.Evidence[1].Start++ },
	}
	for name, change := range other {
		cases, rejects := base()
		change(&cases[0])
		if datasets.Digest(cases, rejects) == digest {
			t.Errorf("%s does not change the digest", name)
		}
	}
	if datasets.Digest(cases, nil) == digest || datasets.Digest(nil, rejects) == digest {
		t.Error("the digest covers only one of the tables")
	}
	utc, err := time.Parse(time.RFC3339, "2026-01-02T03:04:05Z")
	if err != nil {
		t.Fatal(err)
	}
	east := utc.In(time.FixedZone("", 7200))
	a, _ := base()
	b, _ := base()
	a[0].AsOf, b[0].AsOf = &utc, &east
	if datasets.Digest(a, nil) != datasets.Digest(b, nil) {
		t.Error("one instant in two zones has two digests")
	}
}
