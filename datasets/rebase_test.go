package datasets_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// pile is a corpus in memory whose documents are cut at every size bytes.
type pile struct {
	snapshot
	digest string
}

func (p *pile) Manifest() corpus.Manifest {
	return corpus.Manifest{Digest: p.digest, Documents: len(p.docs), Chunks: len(p.chunks)}
}

func (p *pile) Documents() iter.Seq2[corpus.Document, error] {
	return func(yield func(corpus.Document, error) bool) {
		for _, d := range p.docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func (p *pile) ChunksOfDocuments(ids []string) (map[string][]corpus.Chunk, error) {
	out := map[string][]corpus.Chunk{}
	for _, c := range p.chunks {
		if slices.Contains(ids, c.DocID) {
			out[c.DocID] = append(out[c.DocID], c)
		}
	}
	return out, nil
}

// cut makes a corpus of (id, text) pairs; size 0 leaves documents whole.
func cut(digest string, size int, idsAndTexts ...string) *pile {
	p := &pile{digest: digest}
	for i := 0; i < len(idsAndTexts); i += 2 {
		id, text := idsAndTexts[i], idsAndTexts[i+1]
		sum := sha256.Sum256([]byte(text))
		p.docs = append(p.docs, corpus.Document{ID: id, Text: text, TextDigest: hex.EncodeToString(sum[:])})
		step := cmp.Or(size, max(1, len(text)))
		for n, at := 0, 0; at < len(text); n, at = n+1, at+step {
			end := min(at+step, len(text))
			p.chunks = append(p.chunks, corpus.Chunk{ID: fmt.Sprintf("%s#%d", id, n), DocID: id, Ordinal: n, Start: at, End: end, Text: text[at:end]})
		}
	}
	return p
}

// asked is an active case whose evidence are the given quotes, at their first
// place, and whose sources are their chunks.
func asked(p *pile, id string, quotes ...string) datasets.Case {
	c := datasets.Case{ID: id, Query: "What does it say?", QueryType: datasets.Factual, Category: "docs", Origin: datasets.OriginSynthetic, Status: datasets.Active}
	for _, quote := range quotes {
		for _, d := range p.docs {
			at := strings.Index(d.Text, quote)
			if at < 0 {
				continue
			}
			i := slices.IndexFunc(p.chunks, func(k corpus.Chunk) bool { return k.DocID == d.ID && k.Start <= at && at < k.End })
			chunk := p.chunks[i]
			c.Evidence = append(c.Evidence, datasets.Evidence{DocID: d.ID, ChunkID: chunk.ID, Start: at, End: at + len(quote), Quote: quote})
			if !slices.Contains(c.Source, chunk.ID) {
				c.Source = append(c.Source, chunk.ID)
				c.Judgments = append(c.Judgments, datasets.SourceJudgment(chunk.ID, d.ID))
			}
			break
		}
	}
	return c
}

// setOver is a set of cases over a corpus.
func setOver(p *pile, cases ...datasets.Case) *datasets.Set {
	s := &datasets.Set{Cases: cases}
	s.Manifest.RelevantGrade, s.Manifest.Trust.Level = 2, datasets.TrustSourceOnly
	s.Manifest.Pins.Corpus.Digest = p.digest
	return s
}

// rebased moves a set, and wants the version that comes of it to hold.
func rebased(t *testing.T, set *datasets.Set, from, to *pile) (datasets.Draft, *datasets.RebaseReport) {
	t.Helper()
	draft, report, err := datasets.Rebase(t.Context(), set, from, to, true)
	if err != nil {
		t.Fatal(err)
	}
	store := newStore(t)
	ref, _, err := store.Write(t.Context(), "moved", draft)
	if err != nil {
		t.Fatal(err)
	}
	problems, err := datasets.Verify(t.Context(), ref.Path, to)
	if err != nil || len(problems) > 0 {
		t.Fatalf("the moved set does not hold: %v %v", problems, err)
	}
	return draft, report
}

// said are a case's judgments as lines: chunk, judge, grade, p, carried features.
func said(c datasets.Case) []string {
	var out []string
	for _, j := range c.Judgments {
		line := j.ChunkID + " " + j.By
		if j.Grade != nil {
			line += fmt.Sprintf(" grade %d %s", *j.Grade, j.Label)
		}
		if j.P != nil {
			line += fmt.Sprintf(" p %.4g", *j.P)
		}
		for _, name := range []string{datasets.FeatureCarriedShare, datasets.FeatureCarriedGrade} {
			if v, ok := j.Features[name]; ok {
				line += fmt.Sprintf(" %s %.4g", name, v)
			}
		}
		out = append(out, line)
	}
	return out
}

// prose is text of n bytes in which nothing comes twice.
func prose(name string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "The %s has part %s%d. ", name, name, i)
	}
	return b.String()[:n]
}

func TestRebaseSharesGrades(t *testing.T) {
	text := prose("engine", 1200)
	from := cut("old", 0, "a", text)
	for name, tc := range map[string]struct {
		evidence datasets.Span
		size     int
		want     []string
		source   []string
	}{
		"evidence 0-1000 over chunks of 200": {
			datasets.Span{Start: 0, End: 1000}, 200,
			[]string{"a#0 synthetic grade 3 relevant", "a#1 synthetic grade 3 relevant", "a#2 synthetic grade 3 relevant", "a#3 synthetic grade 3 relevant", "a#4 synthetic grade 3 relevant"},
			[]string{"a#0", "a#1", "a#2", "a#3", "a#4"},
		},
		"evidence inside one chunk": {
			datasets.Span{Start: 210, End: 300}, 200, []string{"a#1 synthetic grade 3 relevant"}, []string{"a#1"},
		},
		"evidence that touches the next chunk": {
			datasets.Span{Start: 300, End: 400}, 200, []string{"a#1 synthetic grade 3 relevant"}, []string{"a#1"},
		},
		"most of it in one chunk": {
			datasets.Span{Start: 320, End: 420}, 200,
			[]string{"a#1 synthetic grade 2 relevant carried_share 0.8 carried_grade 2.4", "a#2 synthetic grade 0 partial carried_share 0.2 carried_grade 0.6"}, []string{"a#1"},
		},
		"halves, of which the first keeps the grade": {
			datasets.Span{Start: 350, End: 450}, 200,
			[]string{"a#1 synthetic grade 3 relevant", "a#2 synthetic grade 1 partial carried_share 0.5 carried_grade 1.5"}, []string{"a#1"},
		},
		"longer than the chunks that it covers in part": {
			datasets.Span{Start: 150, End: 500}, 200,
			[]string{"a#0 synthetic grade 0 partial carried_share 0.25 carried_grade 0.75", "a#1 synthetic grade 3 relevant", "a#2 synthetic grade 1 partial carried_share 0.5 carried_grade 1.5"},
			[]string{"a#1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := setOver(from, asked(from, "0123456789abcdef", text[tc.evidence.Start:tc.evidence.End]))
			draft, report := rebased(t, set, from, cut("new", tc.size, "a", text))
			if diff := gocmp.Diff(tc.want, said(draft.Cases[0])); diff != "" {
				t.Errorf("judgments:\n%s", diff)
			}
			if diff := gocmp.Diff(tc.source, draft.Cases[0].Source); diff != "" {
				t.Errorf("source:\n%s", diff)
			}
			if report.Kept != 1 || report.Spans.Exact != 1 {
				t.Errorf("kept %d, exact %d", report.Kept, report.Spans.Exact)
			}
		})
	}
}

func graded(chunk string, by string, grade int) datasets.Judgment {
	return datasets.Judgment{ChunkID: chunk, DocID: "a", By: by, Grade: &grade, Label: datasets.LabelOf(grade, 2), Inclusion: 1, Judge: "j"}
}

func chance(chunk string, p float64, draws ...float64) datasets.Judgment {
	return datasets.Judgment{ChunkID: chunk, DocID: "a", By: datasets.ByLabelModel, P: &p, PDraws: draws, Inclusion: 1, Judge: "prior"}
}

func TestRebaseCarriesJudgmentsOfChunks(t *testing.T) {
	text := prose("engine", 1200)
	for name, tc := range map[string]struct {
		from, to  int
		judgments []datasets.Judgment
		want      []string
	}{
		"the most relevant part counts": {
			200, 400, []datasets.Judgment{graded("a#0", datasets.ByLLM, 1), graded("a#1", datasets.ByLLM, 3)},
			[]string{"a#0 llm grade 3 relevant carried_share 1 carried_grade 3"},
		},
		"not relevant needs half of the chunk to have been read": {
			200, 600, []datasets.Judgment{graded("a#0", datasets.ByLLM, 0), graded("a#3", datasets.ByLLM, 0), graded("a#4", datasets.ByLLM, 0), graded("a#0", datasets.ByHuman, 2)},
			[]string{"a#1 llm grade 0 irrelevant carried_share 1 carried_grade 0", "a#0 human grade 2 relevant carried_share 1 carried_grade 2"},
		},
		"chances": {
			200, 400, []datasets.Judgment{chance("a#0", 0.2, 0.1, 0.3), chance("a#1", 0.6, 0.5, 0.7), chance("a#2", 0.3)},
			[]string{"a#0 label_model p 0.6 carried_share 1", "a#1 label_model p 0.3 carried_share 1"},
		},
		"a chance of a part": {
			400, 500, []datasets.Judgment{chance("a#0", 0.9, 0.8, 1), chance("a#1", 0.4)},
			[]string{"a#0 label_model p 0.9 carried_share 1", "a#1 label_model p 0.3464 carried_share 0.75"},
		},
		"chances of pieces": {
			400, 100, []datasets.Judgment{chance("a#1", 0.8)},
			[]string{
				"a#4 label_model p 0.8 carried_share 1", "a#5 label_model p 0.4 carried_share 1",
				"a#6 label_model p 0.4 carried_share 1", "a#7 label_model p 0.4 carried_share 1",
			},
		},
		"a chance of a chunk of which little was read": {
			400, 600, []datasets.Judgment{chance("a#0", 0.9), chance("a#1", 0.4)},
			[]string{"a#0 label_model p 0.9 carried_share 1"},
		},
		"the same chunks": {
			200, 200, []datasets.Judgment{graded("a#3", datasets.ByLLM, 1), chance("a#3", 0.25)},
			[]string{"a#3 llm grade 1 partial", "a#3 label_model p 0.25"},
		},
		"an unknown grade stays unknown where the chunk is the same": {
			200, 200, []datasets.Judgment{{ChunkID: "a#2", DocID: "a", By: datasets.ByLLM, Inclusion: 1}}, []string{"a#2 llm"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			from := cut("old", tc.from, "a", text)
			c := asked(from, "0123456789abcdef")
			c.Judgments = tc.judgments
			draft, _ := rebased(t, setOver(from, c), from, cut("new", tc.to, "a", text))
			if diff := gocmp.Diff(tc.want, said(draft.Cases[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRebaseThereAndBack wants the grades, chances and draws of before once the
// first chunks are back.
func TestRebaseThereAndBack(t *testing.T) {
	text := prose("engine", 1200)
	from, between := cut("old", 400, "a", text), cut("new", 300, "a", text)
	c := asked(from, "0123456789abcdef", text[350:390])
	c.Judgments = append(c.Judgments, graded("a#2", datasets.ByLLM, 3), chance("a#2", 0.8, 0.7, 0.9))
	there, _ := rebased(t, setOver(from, c), from, between)
	back, _ := rebased(t, setOver(between, there.Cases...), between, from)
	want := []string{
		"a#0 synthetic grade 3 relevant", "a#2 llm grade 3 relevant carried_share 1 carried_grade 3",
		"a#2 label_model p 0.8 carried_share 1",
	}
	got := slices.DeleteFunc(said(back.Cases[0]), func(s string) bool { return !slices.Contains(want, s) })
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s\nall of them: %v", diff, said(back.Cases[0]))
	}
}

const (
	intro  = "The gateway takes requests from all services of the company and hands them on. It keeps a list of whom it has seen. "
	limit  = "Each service may send 100 requests a minute before the gateway turns it away. "
	outro  = "Whoever was turned away waits for a minute and asks again. The list is kept for a week and then thrown away. "
	others = "Somebody has written about gardens here, with beds of roses, tulips and a pond where frogs sit in the sun all day. "
)

func TestRebaseFindsEvidence(t *testing.T) {
	whole := intro + limit + outro
	quote := strings.TrimSpace(limit)
	for name, tc := range map[string]struct {
		now    []string // ids and texts
		how    string   // "" for lost
		id     string
		quote  string
		reason string
		checks []string
	}{
		"same":    {[]string{"a", whole}, "exact", "a", quote, "", nil},
		"renamed": {[]string{"b", whole}, "exact", "b", quote, "", []string{"rebase_renamed"}},
		"edited elsewhere": {
			[]string{"a", "News. " + intro + limit + "Whoever was turned away is out of luck."}, "exact", "a", quote, "", []string{"rebase_exact"},
		},
		"moved within": {[]string{"a", limit + intro + outro}, "exact", "a", quote, "", []string{"rebase_exact"}},
		"wrapped": {
			[]string{"a", intro + strings.ReplaceAll(limit, "may send ", "may\nsend  ") + outro}, "normalised", "a",
			"Each service may\nsend  100 requests a minute before the gateway turns it away.", "", []string{"rebase_normalised"},
		},
		"a word more": {
			[]string{"a", intro + strings.ReplaceAll(limit, "turns it", "politely turns it") + outro}, "fuzzy", "a",
			"Each service may send 100 requests a minute before the gateway politely turns it away.", "", []string{"rebase_fuzzy"},
		},
		"another form of a word, and a slip": {
			[]string{"a", intro + strings.NewReplacer("service", "services", "minute before", "minuet before").Replace(limit) + outro}, "fuzzy", "a",
			"Each services may send 100 requests a minuet before the gateway turns it away.", "", []string{"rebase_fuzzy"},
		},
		"another word": {
			[]string{"a", intro + strings.ReplaceAll(limit, "gateway", "database") + outro}, "", "", "", "fact changed: a", []string{"rebase_lost"},
		},
		"another number": {
			[]string{"a", intro + strings.ReplaceAll(limit, "100", "250") + outro}, "", "", "", "fact changed: a", []string{"rebase_lost"},
		},
		"turned around": {
			[]string{"a", intro + strings.ReplaceAll(limit, "may send", "may not send") + outro}, "", "", "", "fact changed: a", []string{"rebase_lost"},
		},
		"cut out": {[]string{"a", intro + outro}, "", "", "", "quote not found: a", []string{"rebase_lost"}},
		"gone":    {[]string{"b", others}, "", "", "", "document gone: a", []string{"rebase_lost"}},
		"its id is another text's": {
			[]string{"a", others}, "", "", "", "document gone: a", []string{"rebase_lost"},
		},
		"its id is another text's, and it has another id": {
			[]string{"a", others, "b", whole}, "exact", "b", quote, "", []string{"rebase_renamed"},
		},
		"renamed and edited": {
			[]string{"b", whole + "One more sentence stands at the end.", "c", others}, "exact", "b", quote, "", []string{"rebase_renamed", "rebase_exact"},
		},
		"renamed and edited twice": {
			[]string{"b", whole + "One more sentence stands at the end.", "c", whole + "Another end is here."}, "", "", "", "document gone: a", []string{"rebase_lost"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			from := cut("old", 0, "a", whole)
			draft, report := rebased(t, setOver(from, asked(from, "0123456789abcdef", quote)), from, cut("new", 0, tc.now...))
			c := draft.Cases[0]
			var checks []string
			for _, k := range c.Checks {
				checks = append(checks, k.Name)
			}
			if diff := gocmp.Diff(tc.checks, checks); diff != "" {
				t.Errorf("checks:\n%s", diff)
			}
			if diff := gocmp.Diff(oneSpan(tc.how), report.Spans); diff != "" {
				t.Errorf("spans:\n%s", diff)
			}
			if c.Reason != tc.reason || (c.Status == datasets.Retired) != (tc.reason != "") {
				t.Fatalf("status %s, reason %q, want %q", c.Status, c.Reason, tc.reason)
			}
			if tc.how != "" && (c.Evidence[0].Quote != tc.quote || c.Evidence[0].DocID != tc.id) {
				t.Errorf("found %q in %s, want %q in %s", c.Evidence[0].Quote, c.Evidence[0].DocID, tc.quote, tc.id)
			}
		})
	}
}

// oneSpan counts one span that was found in a way, or lost.
func oneSpan(how string) (out datasets.RebaseSpans) {
	switch how {
	case datasets.SpanExact:
		out.Exact = 1
	case datasets.SpanNormalised:
		out.Normalised = 1
	case datasets.SpanFuzzy:
		out.Fuzzy = 1
	default:
		out.Lost = 1
	}
	return out
}

func TestRebaseNeverLosesALeak(t *testing.T) {
	text := prose("secret", 1000)
	from := cut("old", 200, "a", text)
	c := asked(from, "0123456789abcdef")
	c.ExpectedAbstention, c.Forbidden = true, []string{"a#2"}
	for name, tc := range map[string]struct {
		to   *pile
		want []string
	}{
		"larger chunks":     {cut("new", 410, "a", text), []string{"a#0", "a#1"}},
		"smaller chunks":    {cut("new", 150, "a", text), []string{"a#2", "a#3"}},
		"text put before":   {cut("new", 200, "a", prose("front", 300)+text), []string{"a#3", "a#4"}},
		"replaced in place": {cut("new", 200, "a", text[:400]+prose("other", 200)+text[600:]), []string{"a#2"}},
		"another id":        {cut("new", 200, "b", text), []string{"b#2"}},
		"gone":              {cut("new", 200, "c", prose("weather", 500)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			draft, _ := rebased(t, setOver(from, c), from, tc.to)
			if diff := gocmp.Diff(tc.want, draft.Cases[0].Forbidden); diff != "" {
				t.Error(diff)
			}
			if draft.Cases[0].Status != datasets.Active {
				t.Errorf("a case that expects abstention became %s: %s", draft.Cases[0].Status, draft.Cases[0].Reason)
			}
		})
	}
}

func TestRebaseRefusesAHalfLostCorpus(t *testing.T) {
	from := cut("old", 0, "a", prose("a", 300), "b", prose("b", 300), "c", prose("c", 300), "d", prose("d", 300))
	to := cut("new", 0, "a", prose("a", 300), "x", prose("b", 300))
	set := setOver(from, asked(from, "0123456789abcdef", "The a has part a1."))
	_, report, err := datasets.Rebase(t.Context(), set, from, to, false)
	if !errors.Is(err, datasets.ErrLoss) || report.Documents.LostShare != 0.5 {
		t.Errorf("%v, %+v", err, report)
	}
	want := datasets.RebaseDocuments{Before: 4, Unchanged: 1, Renamed: 1, Gone: 2, LostShare: 0.5}
	_, report = rebased(t, set, from, to)
	if diff := gocmp.Diff(want, report.Documents); diff != "" {
		t.Error(diff)
	}
}

// TestRebaseProperty edits a document around its evidence, sentence by sentence,
// and cuts both versions anywhere: the evidence is found, is the quote, and a
// chunk that holds some of it is relevant.
func TestRebaseProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(rt, "sentences")
		var old, now strings.Builder
		kept := rapid.IntRange(0, n-1).Draw(rt, "evidence")
		quote := ""
		for i := range n {
			sentence := fmt.Sprintf("Sentence %d is about thing%d — “quoted” é日本. ", i, i)
			old.WriteString(sentence)
			if i == kept {
				quote = strings.TrimSpace(sentence)
			}
			if i == kept || rapid.Bool().Draw(rt, "keep") {
				now.WriteString(sentence)
			}
			if rapid.Bool().Draw(rt, "add") {
				fmt.Fprintf(&now, "Something new%d came in. ", i)
			}
		}
		from := cut("old", 0, "a", old.String())
		to := cut("new", 0, "a", now.String())
		draft, report, err := datasets.Rebase(t.Context(), setOver(from, asked(from, "0123456789abcdef", quote)), from, to, true)
		if err != nil {
			rt.Fatal(err)
		}
		if report.Documents.Reused > 0 {
			rt.Skip("too little is left of it")
		}
		c := draft.Cases[0]
		if len(c.Evidence) != 1 || c.Evidence[0].Quote != quote || now.String()[c.Evidence[0].Start:c.Evidence[0].End] != quote {
			rt.Fatalf("%s %q: %+v", c.Status, c.Reason, c.Evidence)
		}
		if len(c.Judgments) != 1 || *c.Judgments[0].Grade != 3 {
			rt.Fatalf("judgments %v", said(c))
		}
	})
}

// TestRebaseLongDocument edits every fiftieth sentence of a document of 2 MB: a
// sentence that stands there twice is found where it stood.
func TestRebaseLongDocument(t *testing.T) {
	const twice = "This sentence stands here twice, once early and once late. "
	var old, now strings.Builder
	for i := range 60_000 {
		sentence := fmt.Sprintf("Sentence %d says something of thing%d. ", i, i*7)
		if i == 10_000 || i == 50_000 {
			sentence = twice
		}
		old.WriteString(sentence)
		if i%50 != 7 {
			now.WriteString(sentence)
		}
	}
	from, to := cut("old", 0, "a", old.String()), cut("new", 0, "a", now.String())
	c := asked(from, "0123456789abcdef", strings.TrimSpace(twice))
	e := &c.Evidence[0]
	e.Start = strings.LastIndex(old.String(), e.Quote)
	e.End = e.Start + len(e.Quote)
	draft, _ := rebased(t, setOver(from, c), from, to)
	if got, want := draft.Cases[0].Evidence[0].Start, strings.LastIndex(now.String(), e.Quote); got != want {
		t.Errorf("found at %d, not at %d", got, want)
	}
}
