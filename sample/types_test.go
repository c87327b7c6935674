package sample_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/sample"
)

func TestNearDuplicatesAreToldApart(t *testing.T) {
	pump := "The relief valve of this pump closes by itself when the pressure falls below %s bar."
	checkNeeds(t, datasets.NearDuplicate, []needCase{
		{
			name: "near-duplicates are told apart by where they stand before what they say",
			chunks: []corpus.Chunk{
				passage("p20", fmt.Sprintf(pump, "B6"), near("n"), under("Pump P-20")),
				passage("p30", fmt.Sprintf(pump, "B8"), near("n"), under("Pump P-30")),
				passage("other", "Lunch is served at noon in the hall."),
			},
			want: []need{
				{Chunks: []string{"p20#0"}, Rivals: []string{"p30#0"}, Term: "P-20"},
				{Chunks: []string{"p30#0"}, Rivals: []string{"p20#0"}, Term: "P-30"},
			},
		},
		{
			name: "a file's extension is no part of its name, a version's last figure is",
			chunks: []corpus.Chunk{
				passage("notes/cut-44.md", fmt.Sprintf(pump, "six"), near("n")),
				passage("notes/build-2.1", fmt.Sprintf(pump, "eight"), near("n")),
			},
			want: []need{
				{Chunks: []string{"notes/cut-44.md#0"}, Rivals: []string{"notes/build-2.1#0"}, Term: "cut-44"},
				{Chunks: []string{"notes/build-2.1#0"}, Rivals: []string{"notes/cut-44.md#0"}, Term: "build-2.1"},
			},
		},
	})
}

func TestRareTerms(t *testing.T) {
	checkNeeds(t, datasets.RareTerm, []needCase{
		{
			name: "an acronym is asked for where it stands alone by what it means",
			chunks: []corpus.Chunk{
				passage("def", "mean time between failures (MTBF) is reported by every plant."),
				passage("use", "Units whose MTBF is low are taken out of service."),
			},
			want: []need{
				{Chunks: []string{"def#0"}, Term: "MTBF", OtherForm: "mean time between failures"},
				{Chunks: []string{"use#0"}, Term: "mean time between failures", OtherForm: "MTBF"},
			},
		},
		{
			name: "a term in more than three chunks is not rare",
			chunks: []corpus.Chunk{
				passage("a", "Use E-17 first."), passage("b", "Use E-17 then."), passage("c", "Use E-17 again."),
				passage("d", "Use E-17 last."), passage("e", "Use E-18 never."),
			},
			want: []need{{Chunks: []string{"e#0"}, Term: "E-18"}},
		},
	})
}

func TestWhoMaySeeItAndWhoMayNot(t *testing.T) {
	checkNeeds(t, datasets.PermissionSensitive, []needCase{
		{
			name: "who may see it and who may not",
			chunks: []corpus.Chunk{
				passage("pay", "The bonus is eleven percent.", only("team", "payroll")),
				passage("trip", "Train tickets are booked early.", only("team", "travel"), func(c *corpus.Chunk) { c.Flags = []string{corpus.FlagShort} }),
				passage("all", "Lunch is served at noon."),
			},
			want: []need{
				{Chunks: []string{"pay#0"}, Scope: corpus.Scope{"team": {"payroll"}}},
				{Chunks: []string{"pay#0"}, Scope: corpus.Scope{"team": {"travel"}}, Forbidden: true},
			},
		},
		{
			name:   "with one scope only, the other asker has no rights",
			chunks: []corpus.Chunk{passage("pay", "The bonus is eleven percent.", only("team", "payroll"))},
			want: []need{
				{Chunks: []string{"pay#0"}, Scope: corpus.Scope{"team": {"payroll"}}},
				{Chunks: []string{"pay#0"}, Scope: corpus.Scope{}, Forbidden: true},
			},
		},
		{
			name: "copies that the other asker must not see either are forbidden with it",
			chunks: []corpus.Chunk{
				passage("pay", "The bonus is eleven percent.", only("team", "payroll")),
				passage("copy", "The bonus is eleven percent.", only("team", "payroll"), func(c *corpus.Chunk) { c.Flags = []string{corpus.FlagDuplicate} }),
				passage("trip", "Train tickets are booked early.", only("team", "travel"), func(c *corpus.Chunk) { c.Flags = []string{corpus.FlagShort} }),
			},
			want: []need{
				{Chunks: []string{"pay#0"}, Scope: corpus.Scope{"team": {"payroll"}}},
				{Chunks: []string{"pay#0"}, Rivals: []string{"copy#0"}, Scope: corpus.Scope{"team": {"travel"}}, Forbidden: true},
			},
		},
	})
}

func TestVersionsAndTheirTimes(t *testing.T) {
	checkNeeds(t, datasets.TimeSensitive, []needCase{
		{
			name: "each version at a time of its own",
			chunks: []corpus.Chunk{
				passage("leave-2024", "Approved within twenty days.", valid("2024-01-01", "2025-01-01")),
				passage("leave-2025", "Approved within ten days.", valid("2025-01-01", "")),
			},
			want: []need{
				{Chunks: []string{"leave-2024#0"}, Rivals: []string{"leave-2025#0"}, AsOf: "2024-07-02"},
				{Chunks: []string{"leave-2025#0"}, Rivals: []string{"leave-2024#0"}, AsOf: "2025-01-02"},
			},
		},
		{
			name:   "all at one time",
			change: func(o *sample.Options) { o.Cases, o.AsOf = 1, "2026-05-31" },
			chunks: []corpus.Chunk{
				passage("leave-2024", "Approved within twenty days.", valid("2024-01-01", "2025-01-01")),
				passage("leave-2025", "Approved within ten days.", valid("2025-01-01", "")),
			},
			want: []need{{Chunks: []string{"leave-2025#0"}, Rivals: []string{"leave-2024#0"}, AsOf: "2026-05-31"}},
		},
		{
			name:   "now is when the corpus was last updated",
			change: func(o *sample.Options) { o.Cases, o.AsOf = 1, sample.Now },
			chunks: []corpus.Chunk{
				passage("leave-2024", "Approved within twenty days.", valid("2024-01-01", "2025-01-01"), updated("2023-11-30")),
				passage("leave-2025", "Approved within ten days.", valid("2025-01-01", "2027-01-01"), updated("2024-11-30")),
				passage("leave-2027", "Approved within five days.", valid("2027-01-01", ""), updated("2026-11-30")),
				passage("canteen", "Lunch is served at noon.", updated("2026-12-01")),
			},
			want: []need{{Chunks: []string{"leave-2025#0"}, Rivals: []string{"leave-2024#0", "leave-2027#0"}, AsOf: "2026-12-01"}},
		},
		{
			name:   "now without updates is when the latest version began to hold",
			change: func(o *sample.Options) { o.Cases, o.AsOf = 1, sample.Now },
			chunks: []corpus.Chunk{
				passage("leave-2025", "Approved within ten days.", valid("2025-01-01", "")),
				passage("leave-2024", "Approved within twenty days.", valid("2024-01-01", "2025-01-01")),
			},
			want: []need{{Chunks: []string{"leave-2025#0"}, Rivals: []string{"leave-2024#0"}, AsOf: "2025-01-01"}},
		},
	})
}

// Without any time in the corpus nobody knows when now is, and the shortfall says
// so.
func TestNowNeedsATime(t *testing.T) {
	o := onlyType(datasets.TimeSensitive, 1)
	o.AsOf = sample.Now
	plan, err := sample.Draw(t.Context(), whole([]corpus.Chunk{
		passage("leave-2024", "Approved within twenty days.", valid("", "2025-01-01")),
		passage("leave-2025", "Approved within ten days."),
	}), o)
	if err != nil {
		t.Fatal(err)
	}
	want := []datasets.Shortfall{{
		Stratum: "all", QueryType: datasets.TimeSensitive, Wanted: 1,
		Reason: "the corpus has no updated_at or valid_from of a record, which tell when it is now (sample.as_of)",
	}}
	if diff := cmp.Diff(want, plan.Shortfall); diff != "" || len(plan.Rows) != 0 {
		t.Errorf("%d rows; shortfall (-want +got):\n%s", len(plan.Rows), diff)
	}
}

func TestHops(t *testing.T) {
	checkNeeds(t, datasets.MultiHop, []needCase{
		{
			name: "two hops",
			chunks: []corpus.Chunk{
				passage("guide/fleet", "Spare units come from the Lyon warehouse.", under("Fleet")),
				passage("guide/hours", "The gate of the Lyon office opens at six.", under("Hours")),
				passage("guide/start", "See [the rules](../rules#dogs) before you come.", under("Start")),
				passage("rules", "Cats are welcome.", under("Rules", "Cats")),
				{
					ID: "rules#1", DocID: "rules", Text: "Dogs stay outside.", Unit: corpus.UnitChunk, HeadingPath: []string{"Rules", "Dogs"},
					TextDigest: digest("dogs"), ExactGroup: "dogs", NearGroup: "dogs",
				},
			},
			change: func(o *sample.Options) { o.Cases = 3 },
			want: []need{
				{Chunks: []string{"guide/fleet#0", "guide/hours#0"}, Term: "Lyon", Link: sample.LinkTerm},
				{Chunks: []string{"guide/start#0", "rules#1"}, Link: sample.LinkHyperlink},
				{Chunks: []string{"rules#0", "rules#1"}, Link: sample.LinkSection},
			},
		},
	})
}

func TestReadings(t *testing.T) {
	checkNeeds(t, datasets.Ambiguous, []needCase{
		{
			name: "readings of one heading, and of one term",
			chunks: []corpus.Chunk{
				passage("printer", "Hold the green button.", under("Printer", "Reset")),
				passage("account", "A new word is mailed.", under("Account", "Reset")),
				passage("a", "Our gate at Lyon opens at six.", category("sites")),
				passage("b", "Parts from Lyon take a day.", category("parts")),
				passage("c", "Nothing else is known of Oslo.", category("sites")),
			},
			want: []need{
				{Chunks: []string{"a#0", "b#0"}, Term: "Lyon"},
				{Chunks: []string{"printer#0", "account#0"}, Term: "reset"},
			},
		},
	})
}

func TestSubjects(t *testing.T) {
	checkNeeds(t, datasets.OutOfScope, []needCase{
		{
			name: "a subject", change: func(o *sample.Options) { o.Cases = 1 },
			chunks: []corpus.Chunk{passage("a", "Lunch is served at noon.")},
			want:   []need{{Chunks: []string{"a#0"}}},
		},
	})
}

// What a corpus cannot give is named, and nothing is planned in its place.
func TestTypesThatACorpusCannotGive(t *testing.T) {
	chunks := []corpus.Chunk{
		passage("a", "lunch is served at noon."),
		// A copy that all may see: whoever is not of the team finds it there.
		passage("secret", "the bonus is eleven percent.", only("team", "payroll")),
		passage("public", "the bonus is eleven percent."),
		// Nearly the same, with nothing to name that differs.
		passage("x", "doors close at nine.", near("n")), passage("y", "doors close at ten.", near("n")),
		// Chapters, of which one is out of date.
		passage("chapter-1", "cats are fed twice.", valid("2024-01-01", "2025-01-01")), passage("chapter-2", "dogs sleep outside.", valid("2025-01-01", "")),
		// Two versions that hold at the same time.
		passage("v1", "approved in ten days.", valid("2024-01-01", "")), passage("v2", "approved in six days.", valid("2024-01-01", "")),
	}
	for queryType, want := range map[string]string{
		datasets.NearDuplicate:       "the corpus has no groups of near-duplicates in which a version, a region or a product tells one from the others",
		datasets.RareTerm:            "the corpus has no acronyms that it expands or terms that stand in three chunks at most",
		datasets.PermissionSensitive: "the corpus has no chunks with a scope of which an asker with another scope sees no copy",
		datasets.TimeSensitive:       "the corpus has no chunks with valid_from or valid_to of which another version is out of date",
		datasets.MultiHop:            "the corpus has no two documents that share a rare term or links from one document to another or sections under one heading",
		datasets.Ambiguous:           "the corpus has no two documents with a section of the same name or a term in two categories",
	} {
		t.Run(queryType, func(t *testing.T) {
			p, err := sample.Draw(t.Context(), whole(chunks), onlyType(queryType, 2))
			if err != nil {
				t.Fatal(err)
			}
			short := []datasets.Shortfall{{Stratum: "all", QueryType: queryType, Wanted: 2, Reason: want}}
			if diff := cmp.Diff(short, p.Shortfall); diff != "" || len(p.Rows) > 0 {
				t.Errorf("%d rows, shortfall (-want +got):\n%s", len(p.Rows), diff)
			}
		})
	}
}

func TestScopesThatNoDocumentHas(t *testing.T) {
	o := onlyType(datasets.PermissionSensitive, 2)
	o.Scopes = []corpus.Scope{{"team": {"travel"}}, {"team": {"payrol"}, "site": {"lyon"}}}
	chunks := []corpus.Chunk{
		passage("pay", "The bonus is eleven percent.", only("team", "payroll")),
		passage("trip", "Train tickets are booked early.", only("team", "travel")),
	}
	_, err := sample.Draw(t.Context(), whole(chunks), o)
	if want := "sample.scopes: no document has site=lyon, team=payrol"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// A mix of both kinds of types gives each its share, and what comes in pairs
// leaves an odd case to the others.
func TestTypesBesideOthers(t *testing.T) {
	var chunks []corpus.Chunk
	for i := range 40 {
		team := fmt.Sprintf("t%d", i%4)
		chunks = append(chunks, passage(fmt.Sprintf("d%02d", i), fmt.Sprintf("Rule E-%d is of the kind %d.", i, i), only("team", team)))
	}
	o := options(func(o *sample.Options) {
		o.Cases, o.Strata = 20, nil
		o.Mix = map[string]float64{datasets.Factual: 0.5, datasets.PermissionSensitive: 0.25, datasets.RareTerm: 0.25}
	})
	p, err := sample.Draw(t.Context(), whole(chunks), o)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{datasets.Factual: 11, datasets.PermissionSensitive: 4, datasets.RareTerm: 5}
	if diff := cmp.Diff(want, countBy(mainRows(p), byType)); diff != "" {
		t.Errorf("main rows by type (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, p.Coverage.Mix); diff != "" || p.Main() != 20 || p.Coverage.Reserves != len(p.Rows)-20 {
		t.Errorf("coverage %+v (-want +got):\n%s", p.Coverage, diff)
	}
	ids := countBy(p.Rows, byID)
	for id, n := range ids {
		if n > 1 {
			t.Errorf("case id %s is planned %d times", id, n)
		}
	}
	again, err := sample.Draw(t.Context(), whole(chunks), o)
	if diff := cmp.Diff(p, again); diff != "" || err != nil {
		t.Errorf("drawn again: %v\n%s", err, diff)
	}
}

// Cases that come in pairs find room however thinly strata spread them, and where
// one is left over the reason says so.
func TestPairsOverManyStrata(t *testing.T) {
	var chunks []corpus.Chunk
	for i := range 8 {
		kind := fmt.Sprintf("k%d", i%4)
		chunks = append(chunks, passage(fmt.Sprintf("d%d", i), fmt.Sprintf("Rule %d.", i), only("team", kind), category(kind)))
	}
	perm, fact := datasets.PermissionSensitive, datasets.Factual
	odd := func(wanted, got int) []datasets.Shortfall {
		why := fmt.Sprintf("a query of it makes 2 cases, for an asker who may see its source and one who may not, and of %d one is left over", wanted)
		return []datasets.Shortfall{{Stratum: "all", QueryType: perm, Wanted: wanted, Got: got, Reason: why}}
	}
	for _, tc := range []struct {
		name  string
		cases int
		mix   map[string]float64
		want  map[string]int
		short []datasets.Shortfall
	}{
		{"one pair, four strata", 4, map[string]float64{perm: .5, fact: .5}, map[string]int{perm: 2, fact: 2}, []datasets.Shortfall{}},
		{"three pairs, four strata", 6, map[string]float64{perm: 1}, map[string]int{perm: 6}, []datasets.Shortfall{}},
		{"an odd one goes to another type", 6, map[string]float64{perm: .5, fact: .5}, map[string]int{perm: 2, fact: 4}, []datasets.Shortfall{}},
		{"to one that is planned where no other is there", 6, map[string]float64{perm: .5, datasets.OutOfScope: .5}, map[string]int{perm: 2, datasets.OutOfScope: 4}, []datasets.Shortfall{}},
		{"a single one becomes a pair", 10, map[string]float64{perm: .1, fact: .9}, map[string]int{perm: 2, fact: 8}, []datasets.Shortfall{}},
		{"nothing takes the odd one", 3, map[string]float64{perm: 1}, map[string]int{perm: 2}, odd(3, 2)},
		{"nothing makes a pair of one", 1, map[string]float64{perm: 1}, map[string]int{perm: 0}, odd(1, 0)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := options(func(o *sample.Options) {
				o.Cases, o.Mix, o.Strata, o.Reserve, o.MaxPerDocument = tc.cases, tc.mix, []string{sample.ByCategory}, 0, 0
			})
			p, err := sample.Draw(t.Context(), whole(chunks), o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, p.Coverage.Mix); diff != "" {
				t.Errorf("main rows by type (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.short, p.Shortfall); diff != "" {
				t.Errorf("shortfall (-want +got):\n%s", diff)
			}
		})
	}
}

// A chunk keeps its candidate when documents elsewhere come and go.
func TestBundlesDoNotDependOnTheOrderOfTheCorpus(t *testing.T) {
	var chunks []corpus.Chunk
	for i := range 3000 {
		chunks = append(chunks, passage(fmt.Sprintf("d%04d", i), fmt.Sprintf("Code E-%d is used here.", i)))
	}
	o := onlyType(datasets.RareTerm, 20)
	forward, err := sample.Draw(t.Context(), whole(chunks), o)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(chunks)
	backward, err := sample.Draw(t.Context(), whole(chunks), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(needs(forward), needs(backward)); diff != "" {
		t.Errorf("the order of the corpus changes the plan (-forward +backward):\n%s", diff)
	}
}

func TestTypesNeedTexts(t *testing.T) {
	_, err := sample.Draw(t.Context(), input(document("a", "a", 3)), onlyType(datasets.RareTerm, 1))
	if want := "sample.mix: query type rare_term needs the chunks' texts, and none are given"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestAnErrorOfTheChunksEndsTheDraw(t *testing.T) {
	in := input(document("a", "a", 3))
	in.Chunks = iter.Seq2[corpus.Chunk, error](func(yield func(corpus.Chunk, error) bool) {
		yield(corpus.Chunk{}, fmt.Errorf("torn"))
	})
	if _, err := sample.Draw(t.Context(), in, onlyType(datasets.RareTerm, 1)); err == nil || err.Error() != "chunks: torn" {
		t.Errorf("error %v", err)
	}
}
