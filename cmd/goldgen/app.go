package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
)

// version is set when a release is built.
var version = "0.1.0-dev"

// app is what commands share: the surroundings and the global flags.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	now            func() time.Time
	chdir          func(string) error
	outTerminal    bool
	errTerminal    bool
	width          int

	dir       string
	json      bool
	quiet     bool
	allowExec bool
}

// system is the app of the real process.
func system() *app {
	width, _, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		width = 0
	}
	return &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, now: time.Now, chdir: os.Chdir,
		outTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		errTerminal: term.IsTerminal(int(os.Stderr.Fd())),
		width:       width,
	}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, a *app) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	return a.finish(ctx, err)
}

// style says how stdout is written to.
func (a *app) style() report.Style {
	return report.Style{Terminal: a.outTerminal, Color: a.outTerminal && a.mayColor(), Width: a.width}
}

// mayColor reports whether the surroundings want colours on a terminal.
func (a *app) mayColor() bool { return a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb" }

// enter goes to the folder of -C, so that every path of the command line is seen
// from there. From then on paths are shown in full: the caller stands elsewhere.
func (a *app) enter() error {
	if filepath.Clean(a.dir) == "." {
		return nil
	}
	dir, err := filepath.Abs(a.dir)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return usagef("no such folder: %s", a.dir)
	}
	if err := a.chdir(dir); err != nil {
		return err
	}
	a.dir = dir
	return nil
}

// project opens the project of -C with this process's surroundings.
func (a *app) project() (*pipeline.Project, error) {
	p, err := pipeline.Open(a.dir)
	if err != nil {
		return nil, err
	}
	p.Version, p.Getenv, p.Now, p.AllowExec = version, a.getenv, a.now, a.allowExec
	p.Log = a.logger()
	p.Progress = a.progress()
	return p, nil
}

func (a *app) logger() *slog.Logger {
	return slog.New(&lineHandler{w: a.stderr})
}

// lineHandler writes a log record as one plain line.
type lineHandler struct{ w io.Writer }

func (h *lineHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("goldgen: ")
	if r.Level >= slog.LevelWarn {
		b.WriteString("warning: ")
	}
	b.WriteString(report.Escape(r.Message))
	r.Attrs(func(attr slog.Attr) bool {
		fmt.Fprintf(&b, " %s=%s", attr.Key, report.Escape(attr.Value.String()))
		return true
	})
	_, err := fmt.Fprintln(h.w, b.String())
	return err
}

func (h *lineHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h *lineHandler) WithGroup(string) slog.Handler { return h }

// bindEnv sets flags that the command line left alone from GOLDGEN_<FLAG>.
func (a *app) bindEnv(cmd *cobra.Command) error {
	var first error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "GOLDGEN_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := a.getenv(name)
		if f.Changed || value == "" || f.Name == "help" || first != nil {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			first = usagef("%s: %v", name, err)
		}
	})
	return first
}
