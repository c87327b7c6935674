package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/pipeline"
	"github.com/goldgen/goldgen/report"
	"github.com/goldgen/goldgen/retrieve"
)

// Exit codes, as each command's help lists them.
const (
	exitDone          = 0
	exitFailed        = 1
	exitUsage         = 2
	exitPartly        = 3
	exitGate          = 4
	exitNotComparable = 5
	exitBusy          = 75 // EX_TEMPFAIL of sysexits.h
	exitInterrupted   = 130
)

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// codeError ends a command that has already said everything with a code.
type codeError struct {
	code int
	why  string
}

func (e *codeError) Error() string { return e.why }

// finish reports err and returns the exit code that stands for it.
func (a *app) finish(ctx context.Context, err error) int {
	if err == nil {
		return exitDone
	}
	code := exitCode(ctx, err)
	if code == exitInterrupted {
		fmt.Fprintln(a.stderr, "goldgen: interrupted; what was done is kept: run the same command again to go on")
		return code
	}
	if brokenPipe(err) {
		return exitFailed
	}
	fmt.Fprintf(a.stderr, "goldgen: %s: %s\n", severity(code), report.Escape(oneLine(err)))
	a.pointAt(err)
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(a.stderr, "goldgen: hint: %s\n", report.Escape(hint))
	}
	return code
}

// pointAt shows the text that one error is about, with a mark under the
// character that is wrong. Of several errors each line says which it means.
func (a *app) pointAt(err error) {
	var at interface{ Caret() string }
	if !errors.As(err, &at) || strings.Contains(err.Error(), "\n") {
		return
	}
	for line := range strings.Lines(at.Caret()) {
		fmt.Fprintf(a.stderr, "goldgen:   %s\n", report.Escape(strings.TrimRight(line, "\n")))
	}
}

// oneLine sets joined errors side by side; what was said already, as by each of several
// writers to a disk that is full, is not said again.
func oneLine(err error) string {
	var said []string
	for line := range strings.SplitSeq(strings.TrimSpace(err.Error()), "\n") {
		if !slices.Contains(said, line) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}

func severity(code int) string {
	if code == exitPartly {
		return "note"
	}
	return "error"
}

func exitCode(ctx context.Context, err error) int {
	var usage *usageError
	var coded *codeError
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &usage), errors.Is(err, pipeline.ErrConfig), errors.Is(err, retrieve.ErrSpec):
		return exitUsage
	case errors.Is(err, llm.ErrBudget):
		return exitPartly
	case errors.Is(err, pipeline.ErrNotComparable):
		return exitNotComparable
	case errors.Is(err, pipeline.ErrBusy):
		return exitBusy
	}
	return exitFailed
}

func brokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

func hintOf(err error) string {
	var hinted *pipeline.HintedError
	if errors.As(err, &hinted) {
		return hinted.Hint
	}
	if _, ok := errors.AsType[*datasets.MissingError](err); ok {
		return "goldgen run makes a set, goldgen datasets ls lists those that are there; -C names another project's folder"
	}
	if d, ok := errors.AsType[*datasets.DamagedError](err); ok {
		return fmt.Sprintf("goldgen datasets verify %s says all that is wrong; put the folder back from a copy, such as version control, or move it away: the other versions stand", d.Dir)
	}
	if llm.Full(err) {
		return fullHint(err)
	}
	if errors.Is(err, os.ErrPermission) {
		return "nothing half written is left; give the permission, then run the same command again"
	}
	if errors.Is(err, retrieve.ErrNotAllowed) {
		return "where CI is set, --allow-exec lets retrievers of goldgen.yaml start commands"
	}
	return llm.Hint(err)
}

// fullHint says which folder's disk has no room, and what helps.
func fullHint(err error) string {
	const again = "then run the same command again: what was done is kept"
	if errors.Is(err, llm.ErrCache) {
		return "replies are kept in .goldgen/cache: free space on its disk, or move that folder to another disk and leave a symbolic link in its place, " + again
	}
	where := "the disk"
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		where = "the disk of " + filepath.Dir(filepath.Dir(path.Path))
	}
	return "free space on " + where + ", " + again + ", and nothing half written is left"
}

// exactArgs and friends are cobra's, as usage errors.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usagef("%s: %w", cmd.CommandPath(), err)
		}
		return nil
	}
}
