package llm

import "errors"

// What ends a run from inside, found with errors.Is.
var (
	ErrBudget = errors.New("budget used up")                     // calls, tokens or time
	ErrDryRun = errors.New("dry run: the reply is not in cache") // no call is made
	ErrCache  = errors.New("cache")                              // the cache cannot be read or written
)
