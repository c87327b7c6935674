package study

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/collections"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
)

// Cases makes cases of synthetic queries as goldgen does before anybody judges
// them: the document is the only chunk of itself.
func Cases(lines []Written) []datasets.Case {
	cases := make([]datasets.Case, len(lines))
	for i, l := range lines {
		cases[i] = datasets.Case{
			ID: fmt.Sprintf("%s-%d", l.Document, l.Place), Query: l.Query, QueryType: l.Type,
			Origin: datasets.OriginSynthetic, Status: datasets.Active, Source: []string{l.Document}, Evidence: l.Evidence,
			Judgments: []datasets.Judgment{datasets.SourceJudgment(l.Document, l.Document)},
		}
	}
	return cases
}

// Questions are the queries of cases.
func Questions(cases []datasets.Case) []retrieve.Query {
	queries := make([]retrieve.Query, len(cases))
	for i, c := range cases {
		queries[i] = retrieve.Query{ID: c.ID, Text: c.Query}
	}
	return queries
}

// synthetic is a collection asked with the queries of a kind that a model wrote.
type synthetic struct {
	kind string
	*Material
}

// AddSynthetic reads the collection's fixture below dir and pools the queries of
// each kind.
func (m *Material) AddSynthetic(ctx context.Context, dir string) (err error) {
	if m.Lines, err = ReadLines[Written](filepath.Join(dir, m.Name+".jsonl")); err != nil {
		return err
	}
	for _, kind := range Kinds() {
		kept := Kept(m.Lines, kind)
		if len(kept) < 2 {
			return fmt.Errorf("%s: %d queries, %s: too few to measure anything with", m.Name, len(kept), kind)
		}
		asked, err := m.asked(ctx, Cases(kept))
		if err != nil {
			return fmt.Errorf("%s: queries, %s: %w", m.Name, kind, err)
		}
		m.synthetic = append(m.synthetic, synthetic{kind, asked})
	}
	return nil
}

// asked is the collection with other queries, in the pools that goldgen makes and
// with nobody's judgments.
func (m *Material) asked(ctx context.Context, cases []datasets.Case) (*Material, error) {
	out := *m
	out.Queries, out.pools, out.synthetic = nil, nil, nil
	var err error
	if out.rankings, err = m.Ask(ctx, Questions(cases)); err != nil {
		return nil, err
	}
	observed, err := judge.Observe(ctx, cases, judge.Deps{Members: m.Members, View: m.View}, judge.Options{Pool: judge.DefaultPool(Seed), Concurrency: 2})
	if err != nil {
		return nil, err
	}
	for i, c := range cases {
		q := pooled{id: c.ID, plain: len(observed[i]), source: c.Source[0]}
		for _, pair := range observed[i] {
			q.ids, q.seen = append(q.ids, pair.Item.ChunkID), append(q.seen, pair.Seen)
		}
		out.Queries, out.pools = append(out.Queries, collections.Query{ID: c.ID, Text: c.Query}), append(out.pools, q)
	}
	return &out, nil
}

// Basis says what shift variances are measured with here.
func (m *Material) Basis() judge.ShiftBasis {
	out := judge.ShiftBasis{Collection: m.Name, Human: len(m.Queries)}
	digest := sha256.New()
	for _, l := range m.Lines {
		if l.Refused != "" {
			continue
		}
		out.Synthetic++
		out.Models, out.Prompts = append(out.Models, l.Model), append(out.Prompts, l.Prompt)
		fmt.Fprintf(digest, "%s-%d\t%s\n", l.Document, l.Place, l.Query)
	}
	slices.Sort(out.Models)
	slices.Sort(out.Prompts)
	out.Models, out.Prompts = slices.Compact(out.Models), slices.Compact(out.Prompts)
	out.Digest = hex.EncodeToString(digest.Sum(nil))
	return out
}

// SyntheticShift measures how far the differences between variants by synthetic
// queries under a model's labels are from those by people's queries under people's
// labels, beyond a scale that all have in common, the sampling of both and what
// draws show. Both kinds of sets count alike; kinds leaves out the others.
func SyntheticShift(m *Material, model *judge.LabelModel, metrics string, modes []datasets.SourceMode, kinds ...string) ([]judge.ShiftVariance, error) {
	var pairs []modelErrors
	for _, s := range m.synthetic {
		if !slices.Contains(kinds, s.kind) {
			continue
		}
		found, err := comparison{people: m, asked: s.Material, errorOf: s.errorBeside}.errorsUnder(model, metrics, modes...)
		if err != nil {
			return nil, err
		}
		if pairs == nil {
			pairs = make([]modelErrors, len(found))
		}
		for i, f := range found {
			pairs[i].metric, pairs[i].mode, pairs[i].errors = f.metric, f.mode, append(pairs[i].errors, onOneScale(f.errors)...)
		}
	}
	return shiftOf(pairs, judge.QueriesSynthetic), nil
}

// errorBeside compares the differences of two variants by the collection's queries
// with those by people's, which are others: both means have errors of sampling.
// Queries of one document are a cluster.
func (m *Material) errorBeside(truth []float64, draws [][]float64) pairError {
	own := overDraws(draws)
	var known []float64
	for _, d := range truth {
		if !math.IsNaN(d) {
			known = append(known, d)
		}
	}
	mean, sampling, noise := m.clustered(own)
	e := pairError{common: max(0, own.between-noise), own: estimate{mean, sampling}}
	e.people.mean, e.people.variance = stat.MeanVariance(known, nil)
	e.people.variance /= float64(len(known))
	return e
}

// onOneScale fills in the errors of differences on the scale of the synthetic
// queries. They are easier or harder than people's, and pools are judged alone, so
// that all differences are greater or less by a factor, which changes no order: it
// is the regression of the ones on the others, whose own sampling is taken off.
func onOneScale(errors []pairError) []pairError {
	products, squares := 0.0, 0.0
	for _, e := range errors {
		products += float64(e.own.mean * e.people.mean)
		squares += float64(e.people.mean*e.people.mean) - e.people.variance
	}
	scale := 1.0
	if products > 0 && squares > 0 {
		scale = products / squares
	}
	out := slices.Clone(errors)
	for i, e := range errors {
		d := e.own.mean - float64(scale*e.people.mean)
		out[i].square, out[i].sampling = float64(d*d), e.own.variance+float64(scale*scale*e.people.variance)
	}
	return out
}

// clustered is the mean over queries, its variance as documents were sampled, and
// how much draws of it differ if those of queries are independent.
func (m *Material) clustered(own drawnMeans) (mean, variance, noise float64) {
	sums, counts, n := map[string]float64{}, map[string]float64{}, 0.0
	var order []string
	for q, x := range own.means {
		if math.IsNaN(x) {
			continue
		}
		source := m.pools[q].source
		if counts[source] == 0 {
			order = append(order, source)
		}
		sums[source] += x
		counts[source]++
		mean, noise, n = mean+x, noise+own.variances[q], n+1
	}
	mean /= n
	for _, source := range order {
		d := sums[source] - float64(counts[source]*mean)
		variance += float64(d * d)
	}
	clusters := float64(len(order))
	return mean, variance / (n * n) * clusters / (clusters - 1), noise / (n * n)
}
