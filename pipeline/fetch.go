package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/bucket"
	"github.com/goldgen/goldgen/internal/fetched"
)

// A place of the configuration (corpus.source, corpus.chunks, sample.queries) is a
// path, an address of a store such as s3://bucket/docs/, or the name of an entry of
// sources. What is no path is fetched into .goldgen/fetched before it is read, and
// stages read the copy.

func (p *Project) fetched() *fetched.Store {
	return &fetched.Store{Root: p.state("fetched"), Dir: p.Dir, Getenv: p.Getenv}
}

// remote reports whether a place is elsewhere.
func (c *Config) remote(place string) bool {
	_, named := c.Sources[place]
	return named || bucket.IsRemote(place)
}

// fileName is what the copy of a place is called, or the place itself.
func (c *Config) fileName(place string) string {
	if source, named := c.Sources[place]; named {
		return (&fetched.Store{}).RowsPath(source)
	}
	if bucket.IsRemote(place) {
		return (&fetched.Store{}).ObjectsPath(place)
	}
	return place
}

// local is where a place is read.
func (p *Project) local(place string) string {
	if source, named := p.Config.Sources[place]; named {
		return p.fetched().RowsPath(source)
	}
	if bucket.IsRemote(place) {
		return p.fetched().ObjectsPath(place)
	}
	return p.Path(place)
}

// fetch brings the copy of a place up to date; want says which objects below a prefix
// are read.
func (p *Project) fetch(ctx context.Context, place string, want func(key string) bool) (err error) {
	if !p.Config.remote(place) {
		return nil
	}
	p.Progress.Begin("fetch", 0)
	defer p.Progress.End()
	if source, named := p.Config.Sources[place]; named {
		if _, err = p.fetched().Rows(ctx, source); err != nil {
			err = fmt.Errorf("sources.%s: %w", place, err)
		}
	} else {
		err = p.fetched().Objects(ctx, place, want)
	}
	return placeHint(err)
}

// fetchCorpus brings the copies of the corpus up to date.
func (p *Project) fetchCorpus(ctx context.Context) error {
	want := p.buildOptions().Source.Wants
	return errors.Join(p.fetch(ctx, p.Config.Corpus.Source, want), p.fetch(ctx, p.Config.Corpus.Chunks, want))
}

// fetchLog brings the copy of the query log up to date, once: what looks at the log and
// what draws from it then see the same.
func (p *Project) fetchLog(ctx context.Context) error {
	if p.logFetched {
		return nil
	}
	err := p.fetch(ctx, p.Config.Sample.Queries, func(string) bool { return true })
	p.logFetched = err == nil
	return err
}

// placeHint says what helps where a place cannot be read.
func placeHint(err error) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, bucket.ErrRefused):
		return hinted(keysHint, "%w", err)
	case errors.Is(err, bucket.ErrMissing):
		return hinted("look at the address; AWS_ENDPOINT_URL names another server than Amazon's", "%w", err)
	case isNetError(err):
		return hinted("see that the server runs and that its address is right", "%w", err)
	}
	return err
}

// checkSources reports sources that cannot be fetched by what they say alone.
func (c *Config) checkSources() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
		if datasets.ValidateName(name) != nil {
			errs = append(errs, fmt.Errorf("sources: %q: want a name of letters, digits, '-', '_' and '.'", name))
			continue
		}
		errs = append(errs, keyed("sources."+name, c.Sources[name].Validate()))
	}
	for key, place := range map[string]string{"corpus.source": c.Corpus.Source, "corpus.chunks": c.Corpus.Chunks, "sample.queries": c.Sample.Queries} {
		if bucket.IsRemote(place) {
			_, err := bucket.Open(place, func(string) string { return "" })
			errs = append(errs, keyed(key, err))
		}
		if key != "corpus.source" && bucket.IsRemote(place) && fetched.IsPrefix(place) {
			errs = append(errs, fmt.Errorf("%s: %s: want one file", key, place))
		}
	}
	return errors.Join(errs...)
}

// unfetched reports whether what the corpus is read from has no copy: nothing can be
// said of it then.
func (p *Project) unfetched() bool {
	for _, place := range []string{p.Config.Corpus.Source, p.Config.Corpus.Chunks} {
		if _, err := os.Stat(p.local(place)); p.Config.remote(place) && err != nil {
			return true
		}
	}
	return false
}

// doctorPlaces asks whether what the configuration reads elsewhere can be reached.
func (p *Project) doctorPlaces(ctx context.Context) []Finding {
	var out []Finding
	for _, place := range []string{p.Config.Corpus.Source, p.Config.Corpus.Chunks, p.Config.Sample.Queries} {
		if !p.Config.remote(place) {
			continue
		}
		var err error
		if source, named := p.Config.Sources[place]; named {
			err = p.fetched().Probe(ctx, source)
		} else {
			err = p.fetched().ProbeObjects(ctx, place)
		}
		out = append(out, finding("source "+place, placeHint(err), "can be read"))
	}
	return out
}
