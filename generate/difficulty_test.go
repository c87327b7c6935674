package generate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/sample"
)

var sourceRankOf = map[string]int{datasets.Easy: 1, datasets.Medium: 5, datasets.Hard: 50}

// banded is an outcome whose case lies in the band, "" for a reject.
func banded(row sample.Row, band string) generate.Outcome {
	rank, ok := sourceRankOf[band]
	if !ok {
		return refused(row, "answered")
	}
	o := made(row, "")
	o.Case.Difficulty = datasets.Difficulty{SourceRankBM25: &rank, SourceRankDense: &rank, Overlap: 1}
	return o
}

// steer plays a selection with shares to its end; the bands are those of the rows
// in plan order, by their letters: e, m, h, and - for a reject.
func steer(t interface{ Fatal(...any) }, plan []sample.Row, letters string, spare float64, shares map[string]float64) (*generate.Selection, [][]int) {
	band := map[string]string{}
	for i, row := range plan {
		band[row.CaseID] = map[byte]string{'e': datasets.Easy, 'm': datasets.Medium, 'h': datasets.Hard}[letters[i]]
	}
	s := generate.NewSelection(plan, spare)
	s.Steer(shares)
	return s, play(t, s, plan, func(r sample.Row) generate.Outcome { return banded(r, band[r.CaseID]) })
}

// inSet writes the set's cases by their place in the plan.
func inSet(plan []sample.Row, records []generate.Record) []int {
	at := map[string]int{}
	for i, row := range plan {
		at[row.CaseID] = i
	}
	list := []int{}
	for _, r := range records {
		if r.Case != nil && !r.Spare {
			list = append(list, at[r.Case.ID])
		}
	}
	return list
}

func halfEasy() map[string]float64 {
	return map[string]float64{datasets.Easy: .5, datasets.Medium: .25, datasets.Hard: .25}
}

func TestReservesFillAMissingBand(t *testing.T) {
	share := func(easy, mediumShare, hard [2]int) []datasets.BandShare {
		return []datasets.BandShare{
			{Band: datasets.Easy, Wanted: easy[0], Got: easy[1]},
			{Band: datasets.Medium, Wanted: mediumShare[0], Got: mediumShare[1]},
			{Band: datasets.Hard, Wanted: hard[0], Got: hard[1]},
		}
	}
	for _, tc := range []struct {
		name    string
		plan    []sample.Row
		letters string
		spare   float64
		set     []int
		rounds  [][]int
		bands   []datasets.BandShare
		reason  string // of the shortfall, "" for none
	}{
		{
			name: "as planned", plan: rows("a", "factual", 4, 4), letters: "emhe----",
			set: []int{0, 1, 2, 3}, rounds: [][]int{{0, 1, 2, 3}}, bands: share([2]int{2, 2}, [2]int{1, 1}, [2]int{1, 1}),
		},
		{
			name: "the last easy ones give way, in the order of the reserves", plan: rows("a", "factual", 4, 4), letters: "eeee-mhe",
			set: []int{0, 1, 5, 6}, rounds: [][]int{{0, 1, 2, 3}, {4, 5}, {6}}, bands: share([2]int{2, 2}, [2]int{1, 1}, [2]int{1, 1}),
		},
		{
			name: "spares that are there already come first", plan: rows("a", "factual", 4, 4), letters: "eeemhe--", spare: .25,
			set: []int{0, 1, 3, 4}, rounds: [][]int{{0, 1, 2, 3, 4}}, bands: share([2]int{2, 2}, [2]int{1, 1}, [2]int{1, 1}),
		},
		{
			name: "what cannot be filled is named, and no case is lost", plan: rows("a", "factual", 4, 2), letters: "eeme-e",
			set: []int{0, 1, 2, 3}, rounds: [][]int{{0, 1, 2, 3}, {4}, {5}}, bands: share([2]int{2, 3}, [2]int{1, 1}, [2]int{1, 0}),
			reason: "2 reserves tried for missing bands, and none is left that could stand in; of all that was written: easy 4, medium 1, hard 0",
		},
		{
			name: "a hard one more is kept where nothing else is there", plan: rows("a", "factual", 4, 0), letters: "hhhh",
			set: []int{0, 1, 2, 3}, rounds: [][]int{{0, 1, 2, 3}}, bands: share([2]int{2, 0}, [2]int{1, 0}, [2]int{1, 4}),
			reason: "0 reserves tried for missing bands, and none is left that could stand in; of all that was written: easy 0, medium 0, hard 4",
		},
		{
			// b has the only hard reserve, and nothing but medium to give for it; a has
			// the medium one that b then lacks.
			name: "by way of another cell", plan: append(rows("a", "factual", 3, 1), rows("b", "factual", 1, 1)...), letters: "eeem" + "mh",
			set: []int{0, 1, 3, 5}, rounds: [][]int{{0, 1, 2, 4}, {3}, {5}}, bands: share([2]int{2, 2}, [2]int{1, 1}, [2]int{1, 1}),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, rounds := steer(t, tc.plan, tc.letters, tc.spare, halfEasy())
			if diff := cmp.Diff(tc.rounds, rounds); diff != "" {
				t.Errorf("rounds (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.set, inSet(tc.plan, s.Records())); diff != "" {
				t.Errorf("set (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.bands, s.Summary().Difficulty); diff != "" {
				t.Errorf("bands (-want +got):\n%s", diff)
			}
			for _, short := range s.Summary().Shortfall {
				if short.Reason != tc.reason || !strings.HasPrefix(short.Stratum, "difficulty=") || tc.reason == "" {
					t.Errorf("shortfall %+v, want the reason %q", short, tc.reason)
				}
			}
			if n := len(s.Summary().Shortfall); (n > 0) != (tc.reason != "") {
				t.Errorf("%d shortfalls", n)
			}
		})
	}
}

// Rows that ask the same under several scopes are not parted, and queries without a
// source have no band.
func TestBandsLeavePairsAlone(t *testing.T) {
	plan := rows("a", "permission_sensitive", 4, 2)
	for i := range plan {
		plan[i].Group = fmt.Sprint(i / 2)
	}
	s := generate.NewSelection(plan, 0)
	s.Steer(map[string]float64{datasets.Hard: 1})
	rounds := play(t, s, plan, func(r sample.Row) generate.Outcome {
		o := banded(r, datasets.Easy)
		if strings.HasSuffix(r.CaseID, "1") || strings.HasSuffix(r.CaseID, "3") {
			o.Case.Source = nil
		}
		return o
	})
	if diff := cmp.Diff([][]int{{0, 1, 2, 3}}, rounds); diff != "" {
		t.Errorf("rounds (-want +got):\n%s", diff)
	}
	want := []datasets.BandShare{{Band: datasets.Easy, Got: 2}, {Band: datasets.Medium}, {Band: datasets.Hard, Wanted: 2}}
	if diff := cmp.Diff(want, s.Summary().Difficulty); diff != "" {
		t.Errorf("bands (-want +got):\n%s", diff)
	}
}

// Whatever the bands: cells keep their numbers, no reserve is asked twice, and bands
// have as many of what they want as any choice from what was written could give.
func TestFittingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var plan []sample.Row
		for _, stratum := range []string{"a", "b", "c"} {
			plan = append(plan, rows(stratum, "factual", rapid.IntRange(0, 3).Draw(t, "main"), rapid.IntRange(0, 3).Draw(t, "reserves"))...)
		}
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("emh-")), len(plan), len(plan), -1).Draw(t, "letters")
		s, _ := steer(t, plan, letters, rapid.SampledFrom([]float64{0, .5}).Draw(t, "spare"), halfEasy())
		main, got, accepted := map[string]int{}, map[string]int{}, map[string][]string{}
		for _, r := range plan {
			if !r.Reserve {
				main[r.Stratum]++
			}
		}
		for _, r := range s.Records() {
			if r.Case != nil {
				stratum := r.Case.Provenance.Stratum
				accepted[stratum] = append(accepted[stratum], r.Case.Band())
				if !r.Spare {
					got[stratum]++
				}
			}
		}
		for stratum, n := range main {
			if want := min(n, len(accepted[stratum])); got[stratum] != want {
				t.Fatalf("stratum %s: %d cases, want %d", stratum, got[stratum], want)
			}
		}
		wanted, filled := map[string]int{}, 0
		for _, b := range s.Summary().Difficulty {
			wanted[b.Band] = b.Wanted
			filled += min(b.Wanted, b.Got)
		}
		if best := bestFill(accepted, main, wanted); filled != best {
			t.Fatalf("%d cases are in a band that wants them, %d could be: %v", filled, best, s.Summary().Difficulty)
		}
	})
}

// bestFill tries all numbers of cases of each band that cells can give.
func bestFill(accepted map[string][]string, main, wanted map[string]int) int {
	totals := map[[3]int]bool{{}: true}
	for stratum, list := range accepted {
		have := map[string]int{}
		for _, b := range list {
			have[b]++
		}
		next := map[[3]int]bool{}
		for total := range totals {
			for e := range have[datasets.Easy] + 1 {
				for m := range have[datasets.Medium] + 1 {
					for h := range have[datasets.Hard] + 1 {
						if e+m+h == min(main[stratum], len(list)) {
							next[[3]int{total[0] + e, total[1] + m, total[2] + h}] = true
						}
					}
				}
			}
		}
		totals = next
	}
	best := 0
	for total := range totals {
		n := 0
		for b, band := range datasets.Bands() {
			n += min(total[b], wanted[band])
		}
		best = max(best, n)
	}
	return best
}

// ranking puts the source of every other case first, and finds the others not at all.
type ranking struct{ err error }

func (r ranking) Retrieve(_ context.Context, q retrieve.Query) (retrieve.Result, error) {
	if r.err != nil || q.K != datasets.RankDepth {
		return retrieve.Result{}, errors.Join(r.err, q.Validate())
	}
	if n := q.ID[len(q.ID)-1]; n%2 == 1 {
		return retrieve.Result{Hits: []retrieve.Hit{{ChunkID: "other"}}}, nil
	}
	return retrieve.Result{Hits: []retrieve.Hit{{ChunkID: q.ID + "#0"}}}, nil
}

// known writes a case for every row, with a source and half of its words.
type known struct{}

func (known) Write(_ context.Context, u generate.Unit) (generate.Outcome, error) {
	o := made(u.Row, "")
	o.Case.Difficulty.Overlap = .5
	o.Case.Judgments = []datasets.Judgment{datasets.SourceJudgment(u.Row.ChunkIDs[0], "doc")}
	return o, nil
}

func TestRunMeasuresDifficulty(t *testing.T) {
	plan := rows("a", "factual", 4, 2)
	fetch := func(_ context.Context, row sample.Row) (generate.Unit, error) {
		return generate.Unit{Row: row, Chunks: []corpus.Chunk{{ID: row.ChunkIDs[0]}}}, nil
	}
	run := func(concurrency int, d *generate.Difficulty) ([]generate.Record, generate.Summary, error) {
		return generate.Run(t.Context(), plan, fetch, known{}, generate.Options{Concurrency: concurrency, Difficulty: d})
	}
	by := map[string]retrieve.Retriever{"bm25": ranking{}, "lsa": ranking{}}
	mostlyHard := &generate.Difficulty{Shares: map[string]float64{datasets.Hard: .75, datasets.Easy: .25}, Retrievers: by}
	records, sum, err := run(1, mostlyHard)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 1, 3, 5}, inSet(plan, records)); diff != "" {
		t.Errorf("set (-want +got):\n%s", diff)
	}
	want := []datasets.BandShare{{Band: datasets.Easy, Wanted: 1, Got: 1}, {Band: datasets.Medium}, {Band: datasets.Hard, Wanted: 3, Got: 3}}
	if diff := cmp.Diff(want, sum.Difficulty); diff != "" {
		t.Errorf("bands (-want +got):\n%s", diff)
	}
	again, _, err := run(4, mostlyHard)
	if diff := cmp.Diff(records, again); diff != "" || err != nil {
		t.Errorf("with four at once (-want +got): %v\n%s", err, diff)
	}
	gone := errors.New("the index is gone")
	for _, tc := range []struct {
		name string
		d    *generate.Difficulty
		want string
	}{
		{"a retriever that fails", &generate.Difficulty{Shares: mostlyHard.Shares, Retrievers: map[string]retrieve.Retriever{"bm25": ranking{gone}}}, "difficulty by bm25: the index is gone"},
		{"no retriever", &generate.Difficulty{Shares: mostlyHard.Shares}, "no retriever to measure it by"},
		{"half a sum", &generate.Difficulty{Shares: map[string]float64{datasets.Easy: .5}, Retrievers: by}, "the shares sum to 0.5, not to 1"},
		{"a band that is none", &generate.Difficulty{Shares: map[string]float64{"hrad": 1}, Retrievers: by}, `unknown band "hrad", valid are easy, medium, hard`},
	} {
		if _, _, err := run(2, tc.d); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}
