package pipeline

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// historyLine is a line of eval_results.jsonl.
type historyLine struct {
	Format      int                  `json:"format"`
	Time        string               `json:"time"`
	Golden      *eval.GoldenRef      `json:"golden"`
	Trust       string               `json:"trust"`
	TrustDetail string               `json:"trust_detail"`
	Retriever   retrieve.Description `json:"retriever"`
	Conventions eval.Conventions     `json:"conventions"`
	Pins        *datasets.Pins       `json:"pins,omitempty"`
	Metrics     eval.Metrics         `json:"metrics"`
	Leaks       int                  `json:"leaks"`
	Missing     int                  `json:"missing"`
	Path        string               `json:"path"` // of the result, seen from the project's folder
}

// appendHistory adds one line in one write, so that two runs at once do not
// mix theirs.
func (p *Project) appendHistory(m resultManifest, path string) error {
	r := m.Result
	line, err := json.Marshal(historyLine{
		Format: ResultFormat, Time: m.CreatedAt, Golden: p.fromHere(r.Golden), Trust: r.Trust, TrustDetail: r.TrustDetail,
		Retriever: m.Retriever, Conventions: r.Conventions, Pins: m.Pins, Metrics: r.Metrics,
		Leaks: len(r.Leaks), Missing: r.Missing, Path: p.relative(path),
	})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(p.Dir, "eval_results.jsonl"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	if endsTorn(f) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = f.Write(append(line, '\n'))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// endsTorn reports a last line without its end: a full disk, or a kill, cut it.
func endsTorn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// relative is a path as seen from the project's folder, with slashes: the
// history may be read from anywhere.
func (p *Project) relative(path string) string {
	root, err1 := filepath.Abs(p.Dir)
	abs, err2 := filepath.Abs(path)
	if err := errors.Join(err1, err2); err != nil {
		return path
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil {
		return filepath.ToSlash(abs)
	}
	return filepath.ToSlash(rel)
}

func (p *Project) fromHere(g *eval.GoldenRef) *eval.GoldenRef {
	if g == nil {
		return nil
	}
	out := *g
	out.Path = p.relative(g.Path)
	return &out
}
