package pipeline

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/review"
)

// errNoPair says that there is nothing to compare.
var errNoPair = errors.New("no two results of different retrievers over this corpus in the history")

// sample draws the pairs that were asked for.
func (o *opening) sample() (review.Sample, error) {
	pool := review.Pool(o.set, o.view.HasChunk)
	if err := o.comparison(); err != nil {
		return review.Sample{}, err
	}
	name, worths, err := o.chosen(pool)
	if err != nil {
		return review.Sample{}, err
	}
	s, err := review.Draw(name, pool, worths, o.o.N, o.set.Manifest.Pins.Seed)
	if errors.Is(err, review.ErrNothingToLabel) {
		return s, hinted(fmt.Sprintf("goldgen review %s --sample failing:RESULT shows what the failed cases of a result were given; goldgen judge --extend adds what retrievers found since", o.set.Manifest.Name), "golden set %s: %w: people graded every judged chunk", o.set.Ref(), err)
	}
	if kind, _, _ := strings.Cut(name, ":"); kind != review.SampleRandom && len(worths) == 0 && err == nil {
		return s, fmt.Errorf("golden set %s has no pair for --sample %s", o.set.Ref(), name)
	}
	return s, err
}

// comparison finds the two results that labels are to narrow the difference of.
// Only where they were asked for must there be two.
func (o *opening) comparison() error {
	paths := o.o.Results
	if len(paths) == 0 {
		var err error
		if paths, err = o.newestPair(); err != nil {
			return err
		}
	}
	var err error
	switch {
	case len(paths) == 2:
		o.pair, err = o.comparePair(o.set, paths)
	case o.o.Sample == review.SampleDecisive:
		return hinted("goldgen eval two retrievers over it, or name two results: --results BASE,CANDIDATE", "--sample %s: %w", review.SampleDecisive, errNoPair)
	}
	if err != nil && len(o.o.Results) == 0 && o.o.Sample != review.SampleDecisive {
		o.notes = append(o.notes, "no interval is shown: "+err.Error())
		return nil
	}
	return err
}

// newestPair are the folders of the newest results of two retrievers, the older
// one first, whose rankings are of the set's corpus; fewer where there are not
// two.
func (o *opening) newestPair() ([]string, error) {
	h, err := o.History(o.set.Manifest.Name)
	if err != nil {
		return nil, err
	}
	var paths []string
	newest := ""
	for i := len(h.Entries) - 1; i >= 0 && len(paths) < 2; i-- {
		e := &h.Entries[i]
		fits := e.Format == ResultFormat && e.Restriction == "" && e.Pins != nil && e.Pins.Corpus.Digest == o.set.Manifest.Pins.Corpus.Digest
		if !fits || !o.kept(e.Path) || e.Retriever.Name == newest {
			continue
		}
		newest = e.Retriever.Name
		paths = append([]string{o.resultAt(e.Path)}, paths...)
	}
	return paths, nil
}

// chosen names the sample and weighs its pairs. Where none was asked for it is
// the decisive one if anything decides.
func (o *opening) chosen(pool []review.Pair) (string, []review.Worth, error) {
	kind, result, _ := strings.Cut(o.o.Sample, ":")
	switch {
	case kind == review.SampleFailing:
		worths, err := o.failing(result)
		return o.o.Sample, worths, err
	case kind != "" && kind != review.SampleDecisive:
		return kind, review.Worths(kind, o.set, pool), nil
	case o.pair == nil:
		return o.informative(pool, errNoPair.Error())
	}
	worths, err := o.pair.decisive(pool, o.o.N)
	if err != nil {
		return "", nil, err
	}
	if len(worths) > 0 || kind == review.SampleDecisive {
		return review.SampleDecisive, worths, o.nothingDecides(worths)
	}
	return o.informative(pool, nothingDecides)
}

// informative is the sample where nothing can be decided: the uncertain one if
// there are probabilities, else of what retrievers rank first, since most of a pool
// is not relevant and says the same again and again. Where neither is known it is
// random.
func (o *opening) informative(pool []review.Pair, why string) (string, []review.Worth, error) {
	for _, name := range []string{review.SampleUncertain, review.SampleTop} {
		if worths := review.Worths(name, o.set, pool); len(worths) > 0 {
			o.notes = append(o.notes, fmt.Sprintf("sample %s: %s", name, why))
			return name, worths, nil
		}
	}
	o.notes = append(o.notes, "sample random: "+why)
	return review.SampleRandom, nil, nil
}

const nothingDecides = "no label that the comparison rests on comes of a label model"

func (o *opening) nothingDecides(worths []review.Worth) error {
	if len(worths) > 0 {
		return nil
	}
	return hinted("judge: {labels: prior} gives each pair one; or take --sample random", "--sample %s: golden set %s: %s", review.SampleDecisive, o.set.Ref(), nothingDecides)
}

// failing weighs what the failed cases of a result were given in their first k
// results and what no person has looked at: by rank, and what nobody judged
// before what has a probability.
func (o *opening) failing(dir string) ([]review.Worth, error) {
	k, err := readKept(dir)
	if err != nil {
		return nil, err
	}
	if k.Input.Unit == eval.UnitSpans {
		return nil, fmt.Errorf("%w: result %s ranks spans, and labels are of chunks", ErrNotComparable, dir)
	}
	if _, err := k.rescoreUnder(o.set); err != nil {
		return nil, err
	}
	depth := k.largestK()
	failed, err := k.failing(depth)
	if err != nil {
		return nil, err
	}
	var out []review.Worth
	for i := range k.Input.Cases {
		if c := &k.Input.Cases[i]; failed[c.ID] {
			out = append(out, o.unseen(o.set.Case(c.ID), c, depth)...)
		}
	}
	o.o.Sample = review.SampleFailing + ":" + filepath.ToSlash(filepath.Clean(dir))
	return out, nil
}

// unseen lists the first results of a case whose relevance no grade says.
func (o *opening) unseen(c *datasets.Case, asked *eval.Case, depth int) []review.Worth {
	if c == nil || c.Status == datasets.Retired {
		return nil
	}
	labels := c.Labels(datasets.SourceJudged).Chunks
	seen := map[string]bool{}
	var out []review.Worth
	for n, id := range asked.Ranking[:min(depth, len(asked.Ranking))] {
		l := labels[id]
		if seen[id] || !o.view.HasChunk(id) || l.Grade != nil {
			continue
		}
		seen[id] = true
		worth := 1 / float64(n+1)
		if l.P != nil {
			worth *= float64(4 * *l.P * (1 - *l.P))
		}
		out = append(out, review.Worth{Pair: review.Pair{CaseID: c.ID, ChunkID: id}, Worth: worth})
	}
	return out
}
