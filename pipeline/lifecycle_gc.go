package pipeline

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/review"
)

// CollectOptions say what of a set may go.
type CollectOptions struct {
	Name     string
	Delete   bool // else it is only told what would go
	Branches bool // those that were not merged may go too
}

// Collect deletes the versions of a set that nothing needs: see
// datasets.Store.Collect. Beside what it keeps, those stay that a result names, in
// the histories or under results/, and those that people have labelled.
func (p *Project) Collect(ctx context.Context, o CollectOptions) (*datasets.Collected, error) {
	if err := datasets.ValidateName(o.Name); err != nil {
		return nil, hinted("goldgen datasets ls lists the sets", "%w: %w", ErrConfig, err)
	}
	named, err := p.namedByResults()
	if err != nil {
		return nil, err
	}
	needed := func(r datasets.Ref) string {
		if where := named[namedVersion{r.Name, r.Version, r.Digest}]; where != "" {
			return "result " + where
		}
		reads, err := review.ReadJournals(p.journals(r))
		switch {
		case err != nil:
			return "a journal of labels of it cannot be read: " + err.Error()
		case len(reads) > 0:
			return "people labelled it"
		}
		return ""
	}
	return p.Store().Collect(ctx, o.Name, datasets.CollectOptions{DryRun: !o.Delete, Branches: o.Branches, Needed: needed})
}

// namedVersion is a version as a result names it.
type namedVersion struct {
	name    string
	version int
	digest  string
}

// namedByResults finds the versions that results name, and one of them for each.
func (p *Project) namedByResults() (map[namedVersion]string, error) {
	out := map[namedVersion]string{}
	note := func(g *eval.GoldenRef, where string) {
		if g != nil {
			out[namedVersion{g.Name, g.Version, g.Digest}] = where
		}
	}
	for _, file := range []string{HistoryFile, AnswersHistoryFile} {
		if err := eachNamed(filepath.Join(p.Dir, file), note); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	paths, err := filepath.Glob(filepath.Join(p.Dir, "results", "*", resultFile))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		g, err := goldenIn(path)
		if err != nil {
			return nil, hinted("delete the result, or make it again with goldgen eval", "%w: %s: which version it is of cannot be read: %w", ErrDamaged, path, err)
		}
		note(g, p.relative(filepath.Dir(path)))
	}
	return out, nil
}

// eachNamed reads the lines of a history; one that is torn names nothing, and its
// result's folder says the same.
func eachNamed(path string, note func(*eval.GoldenRef, string)) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		var e struct {
			Golden *eval.GoldenRef `json:"golden"`
			Path   string          `json:"path"`
		}
		if json.Unmarshal(line, &e) == nil {
			note(e.Golden, e.Path)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// goldenIn reads which version a result is of: of retrieval, or of answers. One
// of TREC files is of none.
func goldenIn(path string) (*eval.GoldenRef, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var m struct {
		Golden *eval.GoldenRef `json:"golden"`
		Result struct {
			Golden *eval.GoldenRef `json:"golden"`
		} `json:"result"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if m.Golden != nil {
		return m.Golden, nil
	}
	return m.Result.Golden, nil
}
