// Package treesitter parses source code with tree-sitter and the grammars that
// its makers publish. They are C; here they are WebAssembly, run by wazero, so
// that goldgen needs no C compiler and hostile code can do no more than end its
// own sandbox. wasm/build makes them, a file for each grammar, so that only those
// are loaded which are wanted.
package treesitter

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

//go:embed *.wasm.gz
var packed embed.FS

// Language is one that can be parsed.
type Language string

// Languages that can be parsed.
const (
	Python     Language = "python"
	TypeScript Language = "typescript"
	TSX        Language = "tsx" // TypeScript with JSX in it
	Java       Language = "java"
)

// Bounds of a sandbox's memory.
const (
	pageSize = 64 << 10
	maxPages = 512 << 20 / pageSize // a text that needs more is refused
	maxIdle  = 64 << 20 / pageSize  // a sandbox that grew beyond is not used again
)

// Match is a place that a query names, in bytes of the text.
type Match struct {
	Pattern            int // of the query's patterns, from 0
	Start, End         int // of what it captures, but for @name
	NameStart, NameEnd int // of what it captures as @name; both 0 for nothing
}

// SyntaxError says that a text does not parse, and from where on.
type SyntaxError struct{ Offset int }

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("does not parse from byte %d on", e.Offset)
}

// ErrTooLarge is returned for a text whose tree needs more than 512 MiB.
var ErrTooLarge = errors.New("too large to parse")

// Parser finds in texts of one language what its query names. It may be used
// concurrently. The first call compiles the WebAssembly.
type Parser struct {
	query string
	load  func() (*machine, error)
	mu    sync.Mutex
	idle  []api.Module
}

// machine makes sandboxes: instances, each with memory of its own.
type machine struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
}

// New returns a parser. The query is in tree-sitter's language for queries, each
// pattern with one capture and, if it likes, @name.
func New(language Language, query string) *Parser {
	load := func() (*machine, error) { return load(language) }
	return &Parser{query: query, load: sync.OnceValues(load)}
}

func load(language Language) (*machine, error) {
	data, err := packed.ReadFile(string(language) + ".wasm.gz")
	if err != nil {
		return nil, err
	}
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	wasm, err := io.ReadAll(zipped)
	if err != nil {
		return nil, err
	}
	ctx := context.Background() // compiled once for all calls
	// Memory grows as it is needed: the garbage collector would count all of it as
	// used, and let as much garbage gather, were it set aside at once. Sandboxes do
	// not watch their context: they would leave for it at each loop, which makes
	// seconds minutes.
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithMemoryLimitPages(maxPages))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r); err != nil {
		return nil, err
	}
	compiled, err := r.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), wasm)
	if err != nil {
		return nil, err
	}
	return &machine{r, compiled}, nil
}

// Find parses a text and returns what the query matches in it, in no particular
// order. The context is looked at before, not meanwhile. A text that does not
// parse as a whole gives a *SyntaxError.
func (p *Parser) Find(ctx context.Context, text string) ([]Match, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	box, err := p.take(ctx)
	if err != nil {
		return nil, err
	}
	matches, err := find(ctx, box, text)
	var syntax *SyntaxError
	if err != nil && !errors.As(err, &syntax) || box.Memory().Size() > maxIdle*pageSize {
		return matches, errors.Join(err, box.Close(ctx))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, box)
	return matches, err
}

// take returns an idle sandbox, or a new one.
func (p *Parser) take(ctx context.Context) (api.Module, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		box := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return box, nil
	}
	m, err := p.load()
	if err != nil {
		return nil, fmt.Errorf("parser: %w", err)
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize")
	box, err := m.runtime.InstantiateModule(ctx, m.compiled, config)
	if err != nil {
		return nil, fmt.Errorf("parser: %w", err)
	}
	offset, err := withText(ctx, box, "set_query", p.query)
	if err == nil && offset != 0 {
		err = fmt.Errorf("its query is wrong at byte %d", offset-1)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("parser: %w", err), box.Close(ctx))
	}
	return box, nil
}

func find(ctx context.Context, box api.Module, text string) ([]Match, error) {
	n, err := withText(ctx, box, "find", text)
	switch {
	case err != nil:
		return nil, err
	case n == -1:
		return nil, ErrTooLarge
	case n < 0:
		return nil, &SyntaxError{Offset: int(-2 - n)}
	}
	return matches(ctx, box, int(n))
}

// withText calls a function with a text.
func withText(ctx context.Context, box api.Module, function, text string) (int64, error) {
	size := uint64(len(text))
	at, err := call(ctx, box, "take", max(size, 1))
	if err != nil {
		return 0, err
	}
	if at == 0 || !box.Memory().WriteString(uint32(at), text) {
		return 0, ErrTooLarge
	}
	result, err := call(ctx, box, function, at, size)
	if err != nil {
		return 0, err
	}
	_, err = call(ctx, box, "give", at)
	return int64(result), err
}

// call calls an exported function; what has no result gives 0. What ends the
// sandbox is want of memory.
func call(ctx context.Context, box api.Module, function string, args ...uint64) (uint64, error) {
	results, err := box.ExportedFunction(function).Call(ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if len(results) == 0 {
		return 0, nil
	}
	return results[0], nil
}

// matches reads the list of matches from the sandbox's memory.
func matches(ctx context.Context, box api.Module, n int) ([]Match, error) {
	const words = 5
	at, err := call(ctx, box, "match_list")
	if err != nil {
		return nil, err
	}
	data, ok := box.Memory().Read(uint32(at), uint32(n*words*4))
	if !ok {
		return nil, ErrTooLarge
	}
	list := make([]Match, n)
	for i := range list {
		var w [words]int
		for j := range w {
			w[j] = int(binary.LittleEndian.Uint32(data[(i*words+j)*4:]))
		}
		list[i] = Match{Pattern: w[0], Start: w[1], End: w[2], NameStart: w[3], NameEnd: w[4]}
	}
	return list, nil
}
