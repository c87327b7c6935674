package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/wording"
)

func (p *Project) snapshotRoot() string { return p.state("snapshots") }

func (p *Project) buildOptions() corpus.BuildOptions {
	opts := corpus.BuildOptions{Source: p.Config.Corpus.source().ForChunking(p.Config.Chunking), Chunking: p.Config.Chunking}
	for i, place := range []string{opts.Source.Documents, opts.Source.Chunks} {
		if p.Config.remote(place) {
			opts.Source.From[i] = place
		}
	}
	opts.Source.Documents, opts.Source.Chunks = p.local(opts.Source.Documents), p.local(opts.Source.Chunks)
	if opts.Source.Documents != "" {
		opts.Source.Exclude = append(slices.Clip(opts.Source.Exclude), p.ownFolders(opts.Source.Documents)...)
	}
	return opts
}

// MakeSnapshot reads the corpus, cuts it and, where an embedder is configured,
// embeds its chunks. The snapshot becomes the project's latest, unless out
// names another folder for it. changed is false when it was there already.
func (p *Project) MakeSnapshot(ctx context.Context, out string) (s *corpus.Snapshot, changed bool, err error) {
	if s, changed, err = p.buildCorpus(ctx, out); err != nil {
		return nil, false, err
	}
	embedded, err := p.embedChunks(ctx, s)
	return s, changed || embedded, err
}

// buildCorpus is MakeSnapshot without the embedding.
func (p *Project) buildCorpus(ctx context.Context, out string) (s *corpus.Snapshot, changed bool, err error) {
	if out == "" {
		s, changed, err = p.buildLatest(ctx)
	} else {
		s, err = p.buildInto(ctx, out)
		changed = true
	}
	if err != nil {
		return nil, false, err
	}
	p.warnSkipped("not UTF-8 or named so that no id can be made of it", s.Manifest().SkippedBad)
	p.warnSkipped("code that does not parse", s.Manifest().Unparsed)
	p.warnOpen(s.Manifest())
	return s, changed, nil
}

// warnOpen says how many records lack a key of scope that corpus.fields maps: to
// that key they are public, which a misspelled field makes them by mistake.
func (p *Project) warnOpen(m corpus.Manifest) {
	for _, key := range m.OpenKeys() {
		if field, mapped := p.Config.Corpus.Fields["scope."+key]; mapped {
			n := m.Scopes[key]
			p.Log.Warn(fmt.Sprintf("%d of %s have no %s (field %q): public, as far as %s goes", n.Without, wording.Count(n.With+n.Without, "record"), key, field, key))
		}
	}
}

// warnSkipped names what is not in the snapshot, and why.
func (p *Project) warnSkipped(why string, names []string) {
	if len(names) > 0 {
		p.Log.Warn(fmt.Sprintf("%d skipped, %s: %s", len(names), why, someOf(names, 5)))
	}
}

// someOf names the first few and counts the others.
func someOf(names []string, shown int) string {
	text := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func (p *Project) buildLatest(ctx context.Context) (*corpus.Snapshot, bool, error) {
	if err := p.fetchCorpus(ctx); err != nil {
		return nil, false, err
	}
	files, err := p.statSources()
	if err != nil {
		return nil, false, fmt.Errorf("%w: corpus: %w", ErrConfig, err)
	}
	p.Progress.Begin("snapshot", 0)
	defer p.Progress.End()
	s, changed, err := corpus.Build(ctx, p.buildOptions(), p.snapshotRoot())
	if err != nil {
		return nil, false, err
	}
	return s, changed, p.saveSourceState(s.Manifest().Digest, files)
}

// buildInto makes the snapshot beside its place and moves it there.
func (p *Project) buildInto(ctx context.Context, out string) (*corpus.Snapshot, error) {
	if _, err := os.Stat(out); err == nil {
		if _, err := corpus.Open(out); err != nil {
			return nil, fmt.Errorf("%w: %s is there already and is no snapshot", ErrConfig, out)
		}
	}
	if err := p.fetchCorpus(ctx); err != nil {
		return nil, err
	}
	parent := filepath.Dir(filepath.Clean(out))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	aside, err := os.MkdirTemp(parent, ".snapshot-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(aside)
	s, _, err := corpus.Build(ctx, p.buildOptions(), aside)
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	if err := os.Rename(s.Dir(), out); err != nil {
		return nil, err
	}
	return corpus.Open(out)
}

// latestSnapshot opens the snapshot that stages work on: dir where it is
// named, else the project's latest.
func (p *Project) latestSnapshot(dir string) (*corpus.Snapshot, error) {
	if dir != "" {
		s, err := corpus.Open(dir)
		if err != nil {
			return nil, fmt.Errorf("snapshot %s: %w", dir, err)
		}
		return s, nil
	}
	if _, err := os.Stat(p.snapshotRoot()); err != nil {
		return nil, hinted("goldgen snapshot", "no snapshot of the corpus yet")
	}
	s, err := corpus.Open(p.snapshotRoot())
	if err != nil && !errors.Is(err, os.ErrPermission) {
		err = hinted("goldgen snapshot makes it again, of the corpus as it is now", "the project's snapshot: %w", err)
	}
	return s, err
}

// snapshotOf opens the snapshot that a golden set is pinned to, in dir or, for "",
// among the project's.
func (p *Project) snapshotOf(set *datasets.Set, dir string) (*corpus.Snapshot, error) {
	return p.pinnedSnapshot(dir, set.Manifest.Pins.Corpus, "golden set "+set.Ref().String())
}

// pinnedSnapshot opens the snapshot that pins name.
func (p *Project) pinnedSnapshot(dir string, pin datasets.CorpusPin, what string) (*corpus.Snapshot, error) {
	if dir != "" {
		s, err := p.latestSnapshot(dir)
		if err != nil {
			return nil, err
		}
		return s, checkPin(s, pin, what)
	}
	var damage error
	if len(pin.Digest) >= 16 {
		own := filepath.Join(p.snapshotRoot(), pin.Digest[:16])
		s, err := corpus.Open(own)
		if err == nil && s.Manifest().Digest == pin.Digest {
			return s, nil
		}
		if _, statErr := os.Stat(own); err != nil && statErr == nil {
			damage = err
		}
	}
	s, err := p.latestSnapshot("")
	if err != nil {
		return nil, err
	}
	if err = checkPin(s, pin, what); err != nil && damage != nil {
		err = fmt.Errorf("%w; its own snapshot is damaged: %w", err, damage)
	}
	return s, err
}

// checkPin refuses a snapshot that is not the pinned one.
func checkPin(s *corpus.Snapshot, pin datasets.CorpusPin, what string) error {
	m := s.Manifest()
	if m.Digest == pin.Digest {
		return nil
	}
	return fmt.Errorf("%w: %s was made from corpus %.12s (%d documents, %d chunks), the snapshot is %.12s (%d documents, %d chunks)",
		ErrNotComparable, what, pin.Digest, pin.Documents, pin.Chunks, m.Digest, m.Documents, m.Chunks)
}

func corpusPin(s *corpus.Snapshot) datasets.CorpusPin {
	m := s.Manifest()
	return datasets.CorpusPin{Digest: m.Digest, Documents: m.Documents, Chunks: m.Chunks}
}
