package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/review"
)

// ReviewOptions say what a person is shown of a set.
type ReviewOptions struct {
	Golden   string
	Sample   string // "" decisive where two results can be compared on uncertain labels, else uncertain, top or random
	N        int    // pairs; at least 1
	Reviewer string
	NotBlind bool     // show what the machine says before the label
	Results  []string // base and candidate; none takes the newest two retrievers of the history
}

// Validate names the option that cannot be.
func (o *ReviewOptions) Validate() error {
	if o.N < 1 {
		return fmt.Errorf("%w: %d pairs: want at least 1", ErrConfig, o.N)
	}
	if err := checkReviewer(o.Reviewer); err != nil {
		return err
	}
	kind, result, _ := strings.Cut(o.Sample, ":")
	switch {
	case len(o.Results) != 0 && len(o.Results) != 2:
		return fmt.Errorf("%w: results %q: want two, a base and a candidate", ErrConfig, o.Results)
	case o.Sample == "" || kind == review.SampleFailing && result != "":
		return nil
	case kind == review.SampleFailing || !slices.Contains(review.SampleNames(), o.Sample):
		return fmt.Errorf("%w: sample %q: want one of %s", ErrConfig, o.Sample, strings.Join(review.SampleNames(), ", "))
	}
	return nil
}

// checkReviewer refuses what cannot be a person's name.
func checkReviewer(name string) error {
	switch {
	case strings.TrimSpace(name) == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%w: reviewer %q: a name is wanted, in UTF-8 and without control characters", ErrConfig, name)
	case len(name) > maxReviewer:
		return fmt.Errorf("%w: a reviewer's name has at most %d bytes", ErrConfig, maxReviewer)
	}
	return nil
}

// maxReviewer keeps the names of journals below what file systems allow.
const maxReviewer = 60

// Review is a set open for one person's labels. Close it.
type Review struct {
	*review.Sitting
	Ref      datasets.Ref
	Sample   review.Sample
	Journal  string   // the file that keeps the labels
	Compared []string // base and candidate that the interval is of, or none
	Notes    []string // what the person should know
}

// OpenReview draws the sample and goes on where the person stopped.
func (p *Project) OpenReview(ctx context.Context, o ReviewOptions) (*Review, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	set, err := p.Store().Load(o.Golden)
	if err != nil {
		return nil, err
	}
	v, err := p.reviewView(set)
	if err != nil {
		return nil, err
	}
	opened := opening{Project: p, o: o, set: set, view: v}
	sample, err := opened.sample()
	if err != nil {
		return nil, err
	}
	head := review.Head{Set: set.Ref().String(), Digest: set.Manifest.Digest, Reviewer: o.Reviewer}
	journal, err := review.OpenJournal(p.journals(set.Ref()), head)
	if errors.Is(err, review.ErrBusy) {
		return nil, hinted("go on in the page that is open, or give another name with --reviewer", "golden set %s: %w", set.Ref(), err)
	}
	if err != nil {
		return nil, err
	}
	r, err := opened.sit(ctx, review.Setting{Set: set, Corpus: v, Journal: journal, Head: head, Sample: sample, Blind: !o.NotBlind, Now: p.Now})
	if err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	return r, nil
}

// sit joins a journal to what the page can do.
func (o *opening) sit(ctx context.Context, s review.Setting) (r *Review, err error) {
	r = &Review{Ref: s.Set.Ref(), Sample: s.Sample, Journal: s.Journal.Path}
	r.Ref.Path = s.Set.Dir
	if o.pair != nil {
		r.Compared = o.pair.paths
	}
	if s.Work, err = o.work(ctx); err != nil {
		return nil, err
	}
	open, err := o.unfinished(o.set)
	if err != nil {
		return nil, err
	}
	r.Notes = slices.Concat(o.notes, s.Journal.Notes, open)
	r.Sitting, err = review.Sit(ctx, s)
	return r, err
}

// journals is the folder of the labels of a version.
func (p *Project) journals(ref datasets.Ref) string {
	return review.JournalDir(p.state("reviews"), ref)
}

// reviewView loads the snapshot that a set is pinned to.
func (p *Project) reviewView(set *datasets.Set) (*reviewView, error) {
	s, err := p.snapshotOf(set, "")
	if err != nil {
		return nil, err
	}
	v, err := loadView(s)
	return &reviewView{v}, err
}

// reviewView is a review.Corpus.
type reviewView struct{ *view }

// Chunk implements review.Corpus.
func (v *reviewView) Chunk(id string) (*corpus.Chunk, bool) { return v.chunk(id) }

// Document implements review.Corpus.
func (v *reviewView) Document(id string) (*corpus.Document, bool) {
	i, ok := v.docAt[id]
	if !ok {
		return nil, false
	}
	return &v.docs[i], true
}

// opening is a review in the making.
type opening struct {
	*Project
	o     ReviewOptions
	set   *datasets.Set
	view  *reviewView
	pair  *comparedPair // nil where nothing is compared
	notes []string
}

// work is what the page can do besides labelling.
func (o *opening) work(ctx context.Context) (review.Work, error) {
	bm25, err := retrieve.ParseSpec(retrieve.KindBM25, nil)
	if err != nil {
		return review.Work{}, err
	}
	r, err := retrieve.NewBuilder(retrieve.Deps{Chunks: o.view.all(), Dir: o.Dir}).Build(ctx, bm25)
	if err != nil {
		return review.Work{}, err
	}
	work := review.Work{
		Check: o.check,
		Search: func(ctx context.Context, c *datasets.Case, query string, k int) ([]string, error) {
			found, err := r.Retrieve(ctx, retrieve.Query{ID: c.ID, Text: query, K: k, Scope: c.Scope, Filters: c.Filters, AsOf: c.AsOf})
			ids := make([]string, len(found.Hits))
			for i, hit := range found.Hits {
				ids[i] = hit.ChunkID
			}
			return ids, err
		},
		Finish: func(ctx context.Context) (review.Finished, error) {
			f, err := o.finishReview(ctx, o.set.Ref(), o.set.Manifest.Pins.Corpus)
			if err != nil {
				return review.Finished{}, err
			}
			return f.Finished, nil
		},
	}
	if o.pair != nil && o.canRefit(ctx) {
		work.Interval = o.pair.interval
	}
	return work, nil
}

// check runs the gates over another wording.
func (o *opening) check(c *datasets.Case, wording string) ([]datasets.Check, bool) {
	chunks := map[string]corpus.Chunk{}
	for _, id := range generate.ChunksOf(c) {
		if chunk, ok := o.view.chunk(id); ok {
			chunks[id] = *chunk
		}
	}
	return generate.Recheck(c, wording, chunks, o.set.Cases)
}

// unfinished names labels of other versions of the set that no version holds.
func (p *Project) unfinished(set *datasets.Set) ([]string, error) {
	newest, err := p.newestOf(set)
	if err != nil {
		return nil, err
	}
	reads, err := p.journalsElsewhere(set.Ref())
	if err != nil {
		return nil, err
	}
	var notes []string
	for _, r := range reads {
		if n := missingFrom(newest, r); n > 0 {
			notes = append(notes, fmt.Sprintf("%d labels that %s gave on %s are in no version yet: goldgen review %s --finish", n, r.Head.Reviewer, r.Head.Set, r.Head.Set))
		}
	}
	return notes, nil
}

// newestOf is the newest version of a set; itself where its name is not among
// the project's sets.
func (p *Project) newestOf(set *datasets.Set) (*datasets.Set, error) {
	newest, err := p.Store().Resolve(set.Manifest.Name)
	if err != nil || newest.Version <= set.Manifest.Version {
		return set, nil
	}
	return p.Store().Load(newest.Path)
}

// missingFrom counts a person's labels of pairs for which the set could hold
// one and does not.
func missingFrom(set *datasets.Set, r review.Read) (n int) {
	stand := review.StandOf(r.Head.Reviewer, r.Events)
	for i := range set.Cases {
		c := &set.Cases[i]
		for pair, e := range stand.Labels {
			if pair.CaseID == c.ID && !e.Skip && c.Status != datasets.Retired && e.Query == c.Query && !gradedByPeople(c, pair.ChunkID) {
				n++
			}
		}
	}
	return n
}

func gradedByPeople(c *datasets.Case, chunkID string) bool {
	return slices.ContainsFunc(c.Judgments, func(j datasets.Judgment) bool {
		return j.ChunkID == chunkID && j.By == datasets.ByHuman && j.Grade != nil
	})
}

// largestK is the largest cut that a result was scored at.
func (k *Kept) largestK() int {
	ks := k.Result.Conventions.K
	if len(ks) == 0 {
		ks = DefaultConfig().Eval.K
	}
	return slices.Max(ks)
}
