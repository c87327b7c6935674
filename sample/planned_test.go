package sample_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/sample"
)

// passage is a chunk of its own document, in groups of its own.
func passage(id, text string, change ...func(*corpus.Chunk)) corpus.Chunk {
	c := corpus.Chunk{
		ID: id + "#0", DocID: id, Text: text, Unit: corpus.UnitChunk, Language: "en",
		TextDigest: digest(text), ExactGroup: digest(text), NearGroup: digest(text), Tokens: 40,
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func near(group string) func(*corpus.Chunk) { return func(c *corpus.Chunk) { c.NearGroup = group } }

func under(headings ...string) func(*corpus.Chunk) {
	return func(c *corpus.Chunk) { c.HeadingPath = headings }
}

func category(name string) func(*corpus.Chunk) { return func(c *corpus.Chunk) { c.Category = name } }

func only(key, value string) func(*corpus.Chunk) {
	return func(c *corpus.Chunk) { c.Scope = corpus.Scope{key: {value}} }
}

func valid(from, to string) func(*corpus.Chunk) {
	return func(c *corpus.Chunk) { c.ValidFrom, c.ValidTo = date(from), date(to) }
}

func updated(day string) func(*corpus.Chunk) {
	return func(c *corpus.Chunk) { c.UpdatedAt = date(day) }
}

func date(day string) *time.Time {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return nil
	}
	return &t
}

// whole is an input of chunks.
func whole(chunks []corpus.Chunk) sample.Input {
	infos := make([]sample.Info, len(chunks))
	for i, c := range chunks {
		infos[i] = sample.Info{
			ChunkID: c.ID, DocID: c.DocID, TextDigest: c.TextDigest, Category: c.Category, Language: c.Language,
			Unit: c.Unit, Tokens: c.Tokens, Flags: c.Flags,
		}
	}
	in := input(infos)
	in.Chunks = func(yield func(corpus.Chunk, error) bool) {
		for _, c := range chunks {
			if !yield(c, nil) {
				return
			}
		}
	}
	return in
}

// onlyType asks for n cases of one type, without strata and reserves.
func onlyType(queryType string, n int) sample.Options {
	return options(func(o *sample.Options) {
		o.Cases, o.Mix, o.Strata, o.Reserve = n, map[string]float64{queryType: 1}, nil, 0
	})
}

// need is what a row says beyond where it stands.
type need struct {
	Chunks, Rivals  []string
	Term, OtherForm string
	Link, AsOf      string
	Scope           corpus.Scope
	Forbidden       bool
}

func needs(p *sample.Plan) []need {
	var out []need
	for _, r := range p.Rows {
		n := need{r.ChunkIDs, r.Rivals, r.Term, r.OtherForm, r.Link, "", r.Scope, r.Forbidden}
		if r.AsOf != nil {
			n.AsOf = r.AsOf.Format(time.DateOnly)
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b need) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return out
}

// needCase is a corpus and what the rows that are planned over it need, as many
// as are wanted.
type needCase struct {
	name   string
	chunks []corpus.Chunk
	change func(*sample.Options)
	want   []need
}

func checkNeeds(t *testing.T, queryType string, tests []needCase) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := onlyType(queryType, len(test.want))
			if test.change != nil {
				test.change(&o)
			}
			p, err := sample.Draw(t.Context(), whole(test.chunks), o)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(test.want, func(a, b need) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			if diff := cmp.Diff(test.want, needs(p)); diff != "" {
				t.Errorf("needs (-want +got):\n%s", diff)
			}
			if len(p.Shortfall) > 0 {
				t.Errorf("shortfall %v", p.Shortfall)
			}
		})
	}
}
