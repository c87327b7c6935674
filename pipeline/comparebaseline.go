package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
)

// Baseline is the result that another is compared with, and why it was taken.
type Baseline struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Forms of a baseline that name no folder.
const (
	baselineBest = "best"
	baselineGit  = "git:"
)

// sought is what a baseline must be of.
type sought struct {
	set       datasets.Ref
	retriever string // name
	measure   string // of best
	k         []int  // conventions of best
	source    string
}

// like reports whether an entry is of all cases, under the same conventions,
// and of a format that can be compared.
func (s *sought) like(e *HistoryEntry) bool {
	return e.Restriction == "" && e.Format == ResultFormat &&
		e.Conventions.Source == s.source && slices.Equal(e.Conventions.K, s.k)
}

// baseline finds the result that a text names: a folder; best, the highest of
// the history over the same version of the set; or git:REF, the last one of
// the same set and retriever in the history as of that commit.
func (p *Project) baseline(ctx context.Context, text string, s sought) (*Baseline, error) {
	base := &Baseline{Path: text, Why: "as named"}
	var err error
	if text == baselineBest {
		base, err = p.bestBaseline(s)
	} else if ref, ok := strings.CutPrefix(text, baselineGit); ok {
		base, err = p.gitBaseline(ctx, ref, s)
	}
	if err != nil {
		return nil, err
	}
	stored, err := ReadResult(base.Path)
	if err == nil {
		err = stored.check()
	}
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	return base, nil
}

// bestBaseline takes the highest mean, and of equals the newest.
func (p *Project) bestBaseline(s sought) (*Baseline, error) {
	h, err := p.History(s.set.Name)
	if err != nil {
		return nil, err
	}
	var best *HistoryEntry
	var highest float64
	others := 0
	for i := range h.Entries {
		e := &h.Entries[i]
		m, ok := e.Metrics.Get(s.measure)
		switch {
		case !s.like(e) || !ok || m.Mean == nil:
			continue
		case e.Golden.Digest != s.set.Digest:
			others++
			continue
		case !p.kept(e.Path):
			continue
		}
		if best == nil || *m.Mean >= highest {
			best, highest = e, *m.Mean
		}
	}
	if best == nil {
		return nil, p.noBest(s, others)
	}
	why := fmt.Sprintf("best %s in the history of %s: %.4f by %s on %s", s.measure, s.set, highest, best.Retriever.Name, best.Time)
	return &Baseline{Path: p.resultAt(best.Path), Why: why}, nil
}

func (p *Project) noBest(s sought, others int) error {
	err := fmt.Errorf("--baseline best: no result over %s with %s in %s whose folder is there", s.set, s.measure, HistoryFile)
	if others > 0 {
		return &HintedError{Err: fmt.Errorf("%w; %d are over other versions of the set", err, others),
			Hint: "goldgen compare BASE CANDIDATE --golden " + s.set.String() + " scores an older result again under this version"}
	}
	return &HintedError{Err: err, Hint: "goldgen eval without --baseline makes the first"}
}

// resultAt is the folder that a history names.
func (p *Project) resultAt(path string) string { return p.Path(filepath.FromSlash(path)) }

func (p *Project) kept(path string) bool {
	_, err := os.Stat(filepath.Join(p.resultAt(path), resultFile))
	return err == nil
}

// gitBaseline reads the history as a commit holds it.
func (p *Project) gitBaseline(ctx context.Context, ref string, s sought) (*Baseline, error) {
	text, err := p.historyAt(ctx, ref)
	if err != nil {
		return nil, err
	}
	h, err := ReadHistory(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var others []HistoryEntry
	for _, e := range slices.Backward(h.Entries) {
		switch {
		case e.Golden.Name != s.set.Name || e.Restriction != "":
			continue
		case e.Retriever.Name != s.retriever:
			others = append(others, e)
			continue
		}
		if !p.kept(e.Path) {
			return nil, hinted("commit result folders beside "+HistoryFile+", or have CI fetch them before the comparison",
				"--baseline git:%s: its last result of %s over %s is %s, and that folder is not here", ref, s.retriever, s.set.Name, e.Path)
		}
		return &Baseline{Path: p.resultAt(e.Path), Why: fmt.Sprintf("last result of %s over %s at %s, made %s", s.retriever, e.Golden.Ref, ref, e.Time)}, nil
	}
	err = fmt.Errorf("--baseline git:%s: %s there has no result of %s over %s", ref, HistoryFile, s.retriever, s.set.Name)
	if len(others) == 0 {
		return nil, &HintedError{Err: err, Hint: "goldgen eval makes one; commit " + HistoryFile + " and the result's folder with it"}
	}
	return nil, &HintedError{Err: err, Hint: fmt.Sprintf("git:REF looks for the same retriever; --baseline %s compares with the last result of %s", others[0].Path, others[0].Retriever.Name)}
}

// historyAt asks git for the file as of a commit, seen from the project's
// folder.
func (p *Project) historyAt(ctx context.Context, ref string) ([]byte, error) {
	if ref == "" || strings.HasPrefix(ref, "-") || strings.Contains(ref, ":") {
		return nil, fmt.Errorf("%w: --baseline git:%s: want a branch, tag or commit, such as git:main", ErrConfig, ref)
	}
	git := exec.CommandContext(ctx, "git", "-C", p.Dir, "show", ref+":./"+HistoryFile)
	git.WaitDelay = gitWait
	var stderr bytes.Buffer
	git.Stderr = &stderr
	out, err := git.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("--baseline git:%s: git is not installed", ref)
	}
	if err != nil {
		said := strings.TrimPrefix(strings.TrimSpace(stderr.String()), "fatal: ")
		return nil, fmt.Errorf("--baseline git:%s: git: %s", ref, cmp.Or(said, err.Error()))
	}
	return out, nil
}

// headline is the measure that best looks at: that of the first gate with one,
// else ndcg at the largest k.
func headline(gates []eval.Gate, ks []int) string {
	for _, g := range gates {
		if m, ok := g.Measure(); ok {
			return m.Name
		}
	}
	return fmt.Sprintf("ndcg@%d", slices.Max(ks))
}
