package retrieve

import (
	"context"
	"errors"
)

// Exec asks a program that speaks JSON lines. It is started at the first query,
// asked in order, and ended by Close.
type Exec struct{}

// NewExec splits command into words as a shell does, without a shell.
func NewExec(command string, config ExecConfig) (*Exec, error) {
	return nil, errors.New("not built yet")
}

// Retrieve implements Retriever. Concurrent calls wait for each other.
func (e *Exec) Retrieve(ctx context.Context, q Query) (Result, error) {
	return Result{}, errors.New("not built yet")
}

// Close ends the program and whatever it started.
func (e *Exec) Close() error { return nil }
