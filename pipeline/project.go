// Package pipeline joins the stages: what to run, in what order, under which
// pins. It owns goldgen.yaml, the project's folders, the embedding of chunks,
// result folders and their history. It knows neither flags nor terminals.
package pipeline

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/prompts"
)

// Project is a folder with a goldgen.yaml and what a run needs of its
// surroundings. Methods are the stages and may not be called concurrently on
// one Project; several processes may work in one folder.
type Project struct {
	Dir      string
	Config   Config
	Version  string // goldgen's
	Getenv   func(string) string
	Log      *slog.Logger
	Progress Progress
	Now      func() time.Time

	Limits       llm.Limits       // hard bounds on the run's model calls
	DryRun       bool             // no call is made; DryRunReport says what would be
	RetryUnknown bool             // make new attempts where earlier ones left a unit unknown
	AllowExec    bool             // let retrievers of goldgen.yaml start commands where CI is set
	Prompts      *prompts.Library // nil: the embedded ones

	models     models
	logFetched bool // the query log is read in one state of it
}

// Progress is told how a stage goes on. Calls may come from several goroutines.
type Progress interface {
	// Begin starts a stage of total units; 0 means unknown.
	Begin(stage string, total int)
	// Step says what was done since the last step.
	Step(s Step)
	// Grow adds units that turned out to be needed.
	Grow(units int)
	// End ends the stage.
	End()
}

// Step is what a stage did since it last said so. A unit takes any number of
// calls.
type Step struct {
	Done, Rejected int // units
	Unknown        int // grades that were asked for and not given
	Calls, Cached  int // calls answered, and how many of them by the cache
}

// NoProgress drops what it is told.
type NoProgress struct{}

// Begin implements Progress.
func (NoProgress) Begin(string, int) {}

// Step implements Progress.
func (NoProgress) Step(Step) {}

// Grow implements Progress.
func (NoProgress) Grow(int) {}

// End implements Progress.
func (NoProgress) End() {}

// Open reads the configuration of a project folder. The fields that Open does
// not fill have working defaults and can be set before the first stage.
func Open(dir string) (*Project, error) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: no such folder: %s", ErrConfig, dir)
	}
	config, err := LoadConfig(dir)
	if err != nil {
		return nil, err
	}
	library, err := openPrompts(dir, config.Prompts)
	if err != nil {
		return nil, err
	}
	return &Project{
		Dir: dir, Config: config, Prompts: library, Version: "dev", Getenv: os.Getenv,
		Log: slog.New(slog.DiscardHandler), Progress: NoProgress{}, Now: time.Now,
	}, nil
}

// mayExec reports whether retrievers that goldgen.yaml names may start commands:
// in CI, where the file may be a stranger's, only if that was said.
func (p *Project) mayExec() bool { return p.AllowExec || p.Getenv("CI") == "" }

// Path joins a path of the configuration to the project's folder.
func (p *Project) Path(path string) string { return under(p.Dir, path) }

func under(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// openPrompts reads the prompt files of the project, if it has any of its own.
func openPrompts(dir, folder string) (*prompts.Library, error) {
	if folder == "" {
		return nil, nil
	}
	library, err := prompts.Open(under(dir, folder))
	if err != nil {
		return nil, hinted("goldgen prompts eject "+folder+" writes the embedded ones", "%w: prompts: %w", ErrConfig, err)
	}
	return library, nil
}

func (p *Project) state(elem ...string) string {
	return filepath.Join(append([]string{p.Dir, ".goldgen"}, elem...)...)
}

// CachePath is the file of the reply cache.
func (p *Project) CachePath() string { return p.state("cache", "replies.sqlite") }

// Store is where the project's golden sets are.
func (p *Project) Store() *datasets.Store {
	return &datasets.Store{Root: filepath.Join(p.Dir, "golden"), Locks: p.state("locks"), Now: p.Now}
}

// ErrNotComparable says that a set and what it is to be used with were made
// from different things: exit code 5.
var ErrNotComparable = errors.New("not comparable")

// HintedError is an error with the next command to type.
type HintedError struct {
	Err  error
	Hint string
}

func (e *HintedError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e *HintedError) Unwrap() error { return e.Err }

func hinted(hint string, format string, args ...any) error {
	return &HintedError{Err: fmt.Errorf(format, args...), Hint: hint}
}
