package prompts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// Library is where prompts come from: the embedded ones, with a folder's files
// in place of those that have the same id. A nil Library has the embedded ones
// alone.
type Library struct {
	own map[string]*Prompt
}

// Open reads the prompt files (*.md) of a folder. Each takes the place of the
// embedded prompt that it is named after, and must be asked and read as that one
// is: of its variables, with the corpus's text still delimited, and with a reply
// that holds what goldgen reads. All files that do not are in the error, each
// with its line.
func Open(dir string) (*Library, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", dir)
	}
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(os.DirFS(dir), "*.md")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no prompt file (*.md) in it", dir)
	}
	l := &Library{own: map[string]*Prompt{}}
	var problems []error
	for _, name := range names {
		p, err := openOwn(filepath.Join(dir, name))
		if err != nil {
			problems = append(problems, err)
			continue
		}
		l.own[p.ID] = p
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return l, nil
}

// openOwn reads a file that takes an embedded prompt's place.
func openOwn(path string) (*Prompt, error) {
	id := strings.TrimSuffix(filepath.Base(path), ".md")
	original, err := Get(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, nearest(id, err))
	}
	src, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	p, err := Parse(path, src)
	if err != nil {
		return nil, err
	}
	if err := p.replaces(original); err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	p.Path, p.Vars, p.Data = path, original.Vars, original.Data
	return p, nil
}

// maxFile is how large a prompt file may be, in bytes: no model's window holds more.
const maxFile = 1 << 20

// readBounded reads a file, and no more of it than a prompt file may have.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(src) > maxFile {
		err = fmt.Errorf("%s: more than %d bytes: it is no prompt", path, maxFile)
	}
	return src, err
}

// nearest adds the embedded id that looks most like an unknown one.
func nearest(id string, unknown error) error {
	all, err := All()
	if err != nil {
		return err
	}
	best := slices.MinFunc(all, func(a, b *Prompt) int {
		return levenshtein.ComputeDistance(id, a.ID) - levenshtein.ComputeDistance(id, b.ID)
	})
	return fmt.Errorf("%w; did you mean %s.md?", unknown, best.ID)
}

// Get returns the prompt of that id, the folder's where it has one.
func (l *Library) Get(id string) (*Prompt, error) {
	if l != nil && l.own[id] != nil {
		return l.own[id], nil
	}
	return Get(id)
}

// All returns all prompts, ordered by id.
func (l *Library) All() ([]*Prompt, error) {
	all, err := All()
	if err != nil || l == nil {
		return all, err
	}
	for i, p := range all {
		if own := l.own[p.ID]; own != nil {
			all[i] = own
		}
	}
	return all, nil
}

// Ejected is a prompt file that Eject put into a folder.
type Ejected struct {
	ID      string `json:"id"`
	Path    string `json:"path"`
	Written bool   `json:"written"` // false: it was there, with these very bytes
}

// ErrChanged says that a file is there already and says something else.
var ErrChanged = errors.New("it was changed since it was ejected")

// Eject copies the embedded prompts of those ids, or all of them, into a folder,
// which is made. A file that is there and differs is an error that wraps
// ErrChanged unless force is set; then nothing is written.
func Eject(dir string, ids []string, force bool) ([]Ejected, error) {
	chosen, err := choose(ids)
	if err != nil {
		return nil, err
	}
	out := make([]Ejected, len(chosen))
	for i, p := range chosen {
		out[i] = Ejected{ID: p.ID, Path: filepath.Join(dir, p.ID+".md")}
		there, err := os.ReadFile(out[i].Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out[i].Written = true
		case err != nil:
			return nil, err
		case string(there) != p.Source:
			if out[i].Written = force; !force {
				return nil, fmt.Errorf("%s: %w", out[i].Path, ErrChanged)
			}
		}
	}
	return out, write(dir, chosen, out)
}

func choose(ids []string) ([]*Prompt, error) {
	if len(ids) == 0 {
		return All()
	}
	var chosen []*Prompt
	for _, id := range ids {
		p, err := Get(id)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, p)
	}
	return chosen, nil
}

func write(dir string, chosen []*Prompt, plan []Ejected) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, p := range chosen {
		if !plan[i].Written {
			continue
		}
		if err := atomicfile.WriteBytes(plan[i].Path, 0o644, []byte(p.Source)); err != nil {
			return err
		}
	}
	return nil
}
