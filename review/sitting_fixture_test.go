package review_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/review"
)

// library is a corpus of documents of one chunk each: d0, d1 ...
type library map[string]string

func (l library) Chunk(id string) (*corpus.Chunk, bool) {
	text, ok := l[id]
	return &corpus.Chunk{ID: id, DocID: id, Text: text, End: len(text), HeadingPath: []string{"Top"}}, ok
}

func (l library) Document(id string) (*corpus.Document, bool) {
	text, ok := l[id]
	return &corpus.Document{ID: id, Text: text, Title: "Title of " + id}, ok
}

func shelf(n int) library {
	l := library{}
	for i := range n {
		l[fmt.Sprintf("d%d", i)] = fmt.Sprintf("Text number %d of the shelf.", i)
	}
	return l
}

func pointer[T any](x T) *T { return &x }

// labelled by a model: P under the label model, and the judge's grade.
func modelled(chunk string, p float64) datasets.Judgment {
	return datasets.Judgment{ChunkID: chunk, DocID: chunk, P: &p, By: datasets.ByLabelModel, Inclusion: 1}
}

func graded(chunk string, grade int, features map[string]float64) datasets.Judgment {
	return datasets.Judgment{ChunkID: chunk, DocID: chunk, Grade: &grade, By: datasets.ByLLM, Features: features, Inclusion: 1}
}

// goldenSet has a case for each list of judgments, c0, c1 ...
func goldenSet(cases ...[]datasets.Judgment) *datasets.Set {
	s := &datasets.Set{Manifest: datasets.Manifest{
		Name: "handbook", Version: 1, Digest: "sha256:0123456789abcdef", RelevantGrade: 2, Pins: datasets.Pins{Seed: 7},
	}}
	for i, judgments := range cases {
		s.Cases = append(s.Cases, datasets.Case{
			ID: fmt.Sprintf("c%d", i), Query: fmt.Sprintf("question %d", i), QueryType: datasets.Factual,
			Origin: datasets.OriginImported, Status: datasets.Active, Judgments: judgments,
		})
	}
	return s
}

func pair(id string) review.Pair {
	caseID, chunk, _ := strings.Cut(id, " ")
	return review.Pair{CaseID: caseID, ChunkID: chunk}
}

// sampleOf shows the pairs, "c0 d1", in their order.
func sampleOf(pairs ...string) review.Sample {
	s := review.Sample{Name: "random", Pool: len(pairs)}
	for _, p := range pairs {
		s.Pairs = append(s.Pairs, review.Drawn{Pair: pair(p), Inclusion: 0.25})
	}
	return s
}

// clock ticks a second at each look.
func clock() func() time.Time {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	return func() time.Time { now = now.Add(time.Second); return now }
}

// seat opens a sitting of kim in dir; change may edit what it is about.
func seat(t *testing.T, dir string, set *datasets.Set, sample review.Sample, change func(*review.Setting)) *review.Sitting {
	t.Helper()
	head := review.Head{Set: set.Ref().String(), Digest: set.Manifest.Digest, Reviewer: "kim"}
	journal, err := review.OpenJournal(dir, head)
	if err != nil {
		t.Fatal(err)
	}
	o := review.Setting{Set: set, Corpus: shelf(10), Journal: journal, Head: head, Sample: sample, Blind: true, Now: clock()}
	if change != nil {
		change(&o)
	}
	s, err := review.Sit(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// grades labels items, one after the other, from the first.
func gradeAll(t *testing.T, s *review.Sitting, grades ...int) {
	t.Helper()
	for n, g := range grades {
		if _, err := s.Label(t.Context(), n, review.Said{Grade: &g}); err != nil {
			t.Fatal(err)
		}
	}
}

// event makes an event of a journal; its number is its place.
func events(list ...review.Event) []review.Event {
	at := clock()
	for i := range list {
		list[i].N, list[i].At = i+1, at()
		if list[i].Kind == "" {
			list[i].Kind = review.KindLabel
		}
	}
	return list
}

// said is a label of a pair under the wording that the set has.
func says(p string, grade int) review.Event {
	at := pair(p)
	return review.Event{
		CaseID: at.CaseID, ChunkID: at.ChunkID, Query: "question " + at.CaseID[1:], Grade: &grade,
		Label: datasets.LabelOf(grade, 2), Sample: "random", Inclusion: 0.25,
	}
}
