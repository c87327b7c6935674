package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/clip"
	"github.com/goldgen/goldgen/internal/wording"
)

// sourceState remembers what the latest snapshot was made of, so that a source
// that changed since is noticed without chunking it again each time.
type sourceState struct {
	Snapshot string          `json:"snapshot"` // digest
	Corpus   CorpusConfig    `json:"corpus"`
	Chunking corpus.Chunking `json:"chunking"`
	Files    []fileStat      `json:"files"`
}

type fileStat struct {
	Path  string `json:"path"`
	Size  int64  `json:"size"`
	MTime int64  `json:"mtime"` // nanoseconds
}

func (p *Project) sourceStatePath() string { return p.state("source.json") }

func (p *Project) saveSourceState(digest string, files []fileStat) error {
	state := sourceState{Snapshot: digest, Corpus: p.Config.Corpus, Chunking: p.Config.Chunking, Files: files}
	data, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(p.sourceStatePath(), 0o644, data)
}

func (p *Project) loadSourceState() (sourceState, error) {
	var state sourceState
	data, err := os.ReadFile(p.sourceStatePath())
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(data, &state)
}

// statSources lists the files that the corpus is made of.
func (p *Project) statSources() ([]fileStat, error) {
	paths, err := p.buildOptions().Source.Files()
	if err != nil {
		return nil, err
	}
	files := make([]fileStat, 0, len(paths))
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		files = append(files, fileStat{Path: path, Size: info.Size(), MTime: info.ModTime().UnixNano()})
	}
	return files, nil
}

// ownFolders are globs for what goldgen itself writes into the project, where
// that is inside the corpus: a set's card is no document.
func (p *Project) ownFolders(source string) []string {
	var globs []string
	for _, own := range []string{"golden", "results"} {
		rel, err := relative(source, p.Path(own))
		if err == nil && rel != "." && filepath.IsLocal(rel) {
			globs = append(globs, literal.Replace(filepath.ToSlash(rel))+"/**")
		}
	}
	return globs
}

// literal escapes what has a meaning in a glob.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`)

func relative(from, to string) (string, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	if to, err = filepath.Abs(to); err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// sourceDrift says how the configured corpus differs from the latest snapshot;
// "" means that it does not. Only where a file's size or time changed is the
// corpus read again.
func (p *Project) sourceDrift(ctx context.Context, latest *corpus.Snapshot) (string, error) {
	state, err := p.loadSourceState()
	if errors.Is(err, fs.ErrNotExist) || state.Snapshot != latest.Manifest().Digest {
		return "", nil // made elsewhere: nothing is known of its source
	}
	if err != nil {
		return "", err
	}
	if state.Chunking != p.Config.Chunking {
		return fmt.Sprintf("chunking is %s in %s and was %s in the snapshot",
			describeChunking(p.Config.Chunking), ConfigFile, describeChunking(state.Chunking)), nil
	}
	if p.unfetched() {
		return "it is read from a place now that was not fetched yet", nil
	}
	files, err := p.statSources()
	if err != nil {
		return "", err
	}
	if reflect.DeepEqual(files, state.Files) && reflect.DeepEqual(state.Corpus, p.Config.Corpus) {
		return "", nil
	}
	return p.rereadSource(ctx, latest, files)
}

func describeChunking(c corpus.Chunking) string {
	if c.Size == 0 {
		return c.Method
	}
	return fmt.Sprintf("%s %d/%d %s", c.Method, c.Size, c.Overlap, c.Unit)
}

// rereadSource makes the snapshot of today's source aside and compares.
func (p *Project) rereadSource(ctx context.Context, latest *corpus.Snapshot, files []fileStat) (string, error) {
	if err := os.MkdirAll(p.state("tmp"), 0o755); err != nil {
		return "", err
	}
	aside, err := os.MkdirTemp(p.state("tmp"), "source-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(aside)
	now, _, err := corpus.Build(ctx, p.buildOptions(), aside)
	if err != nil {
		return "", fmt.Errorf("corpus, read again because it changed: %w", err)
	}
	if now.Manifest().Digest == latest.Manifest().Digest {
		return "", p.saveSourceState(now.Manifest().Digest, files)
	}
	return describeDrift(latest, now)
}

// describeDrift names what differs between two snapshots: how many chunks, and
// the first few by id.
func describeDrift(old, new *corpus.Snapshot) (string, error) {
	before, err := chunkDigests(old)
	if err != nil {
		return "", err
	}
	after, err := chunkDigests(new)
	if err != nil {
		return "", err
	}
	var added, removed, changed []string
	for id, digest := range after {
		if was, ok := before[id]; !ok {
			added = append(added, id)
		} else if was != digest {
			changed = append(changed, id)
		}
	}
	for id := range before {
		if _, ok := after[id]; !ok {
			removed = append(removed, id)
		}
	}
	var parts []string
	for _, part := range []struct {
		what string
		ids  []string
	}{{"changed", changed}, {"added", added}, {"removed", removed}} {
		if len(part.ids) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", wording.Count(len(part.ids), "chunk"), part.what, firstFew(part.ids)))
		}
	}
	if len(parts) == 0 {
		return "fields of documents or offsets of chunks differ", nil
	}
	return strings.Join(parts, ", "), nil
}

// firstFew names the first three ids in order, the beginnings of long ones.
func firstFew(ids []string) string {
	ids = slices.Sorted(slices.Values(ids))
	more := len(ids) > 3
	ids = ids[:min(len(ids), 3)]
	for i, id := range ids {
		if short := clip.Bytes(id, 80); short != id {
			ids[i] = short + "..."
		}
	}
	if more {
		ids = append(ids, "...")
	}
	return strings.Join(ids, ", ")
}

func chunkDigests(s *corpus.Snapshot) (map[string]string, error) {
	out := make(map[string]string, s.Manifest().Chunks)
	for info, err := range s.ChunkInfos() {
		if err != nil {
			return nil, err
		}
		out[strings.Clone(info.ChunkID)] = strings.Clone(info.TextDigest)
	}
	return out, nil
}
