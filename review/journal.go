package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/atomicfile"
)

// JournalFormat is the version of the journals' format.
const JournalFormat = 1

// journalEnding is that of a journal's file; its lock ends with ".lock".
const journalEnding = ".jsonl"

// ErrBusy says that another process writes the same person's journal.
var ErrBusy = errors.New("is labelling it in another process")

// Head is the first line of a journal.
type Head struct {
	Goldgen  string `json:"goldgen"` // review
	Format   int    `json:"format"`
	Set      string `json:"set"`    // name@vN
	Digest   string `json:"digest"` // of its rows
	Reviewer string `json:"reviewer"`
}

// JournalDir is the folder, below root, of the journals of a version: one file
// for each person. Sets of equal names and other rows have different ones.
func JournalDir(root string, ref datasets.Ref) string {
	digest := strings.TrimPrefix(ref.Digest, datasets.DigestPrefix)
	return filepath.Join(root, ref.Name, fmt.Sprintf("v%04d-%.12s", ref.Version, digest))
}

// fileOf is a file's name for a person's, whatever characters that has: of a
// byte at most three. Capital letters are escaped too: some file systems do not
// tell them from small ones.
func fileOf(reviewer string) string {
	var b strings.Builder
	for _, c := range []byte(reviewer) {
		if plainInName(c) && (c != '.' || b.Len() > 0) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String() + journalEnding
}

func plainInName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~@+=", c) >= 0
}

// Journal is one person's file, open for writing. A lock of the operating system
// keeps a second process out until Close, or the process's end.
type Journal struct {
	Path   string
	Events []Event
	Notes  []string // what was found damaged

	file *os.File
	lock *flock.Flock
	end  int64 // of the last whole line
	lost error // an append failed and could not be taken back
}

// OpenJournal opens a person's journal in dir, which is made when missing. What
// a kill left of a line is cut off: nobody was told that it was kept. ErrBusy
// says that the file is in use.
func OpenJournal(dir string, head Head) (*Journal, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	j := &Journal{Path: filepath.Join(dir, fileOf(head.Reviewer))}
	j.lock = flock.New(j.Path + ".lock")
	locked, err := j.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock of %s: %w", j.Path, err)
	}
	if !locked {
		return nil, fmt.Errorf("%s %w", head.Reviewer, ErrBusy)
	}
	if err := j.open(head); err != nil {
		return nil, errors.Join(fmt.Errorf("journal %s: %w", j.Path, err), j.Close())
	}
	return j, nil
}

func (j *Journal) open(head Head) (err error) {
	if j.file, err = os.OpenFile(j.Path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return err
	}
	data, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	read, err := parseJournal(data)
	if err != nil {
		return err
	}
	j.Events, j.Notes, j.end = read.events, read.notes, int64(read.whole)
	if err := j.file.Truncate(j.end); err != nil {
		return err
	}
	if read.head == nil {
		head.Goldgen, head.Format = "review", JournalFormat
		return j.start(head)
	}
	if read.head.Reviewer != head.Reviewer || read.head.Digest != head.Digest {
		return fmt.Errorf("is of %s on %s", read.head.Reviewer, read.head.Set)
	}
	return nil
}

// newFolders is how many folders above a journal may be new: those of the
// version, of the set and of all reviews.
const newFolders = 3

// start writes the first line to disk, and the names of the file and of the
// folders that it stands in.
func (j *Journal) start(head Head) error {
	if err := j.write(head); err != nil {
		return err
	}
	at := j.Path
	for range 1 + newFolders {
		at = filepath.Dir(at)
		if err := atomicfile.SyncDir(at); err != nil {
			return err
		}
	}
	return nil
}

// Append keeps an event, whose number it fills in. The event is on disk when
// Append returns. After an error it is not in the journal.
func (j *Journal) Append(e Event) (Event, error) {
	if j.lost != nil {
		return e, j.lost
	}
	e.N = 1
	if n := len(j.Events); n > 0 {
		e.N = j.Events[n-1].N + 1
	}
	if err := j.write(e); err != nil {
		return e, fmt.Errorf("journal %s: %w", j.Path, err)
	}
	j.Events = append(j.Events, e)
	return e, nil
}

func (j *Journal) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if _, err = j.file.WriteAt(line, j.end); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		if cut := j.file.Truncate(j.end); cut != nil {
			j.lost = errors.Join(err, cut)
		}
		return err
	}
	j.end += int64(len(line))
	return nil
}

// Close ends the lock.
func (j *Journal) Close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.lock.Unlock())
}

// Read is a journal as it stands on disk.
type Read struct {
	Path   string
	Head   Head
	Events []Event
	Notes  []string
}

// ReadJournals reads every person's journal in dir, in the order of their
// files' names, also while they are written. No folder is no journal.
func ReadJournals(dir string) ([]Read, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []Read
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), journalEnding) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		read, err := parseJournal(data)
		if err != nil {
			return nil, fmt.Errorf("journal %s: %w", path, err)
		}
		if read.head != nil {
			out = append(out, Read{Path: path, Head: *read.head, Events: read.events, Notes: read.notes})
		}
	}
	return out, nil
}

// journal is what the bytes of a journal hold.
type journal struct {
	head   *Head
	events []Event
	notes  []string
	whole  int // bytes up to the end of the last whole line
}

// parseJournal reads whole lines. One that cannot be read is left where it is
// and noted; what follows the last line's end is noted as cut off. A first line
// that is no head, or of a later format, is an error.
func parseJournal(data []byte) (journal, error) {
	var out journal
	for n := 1; ; n++ {
		end := bytes.IndexByte(data[out.whole:], '\n')
		if end < 0 {
			break
		}
		line := data[out.whole : out.whole+end]
		out.whole += end + 1
		if out.head == nil {
			if err := out.readHead(line); err != nil {
				return out, err
			}
			continue
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil || !e.readable() {
			out.notes = append(out.notes, fmt.Sprintf("line %d cannot be read and is left out", n))
			continue
		}
		out.events = append(out.events, e)
	}
	if rest := len(data) - out.whole; rest > 0 {
		out.notes = append(out.notes, fmt.Sprintf("the last line was cut off after %d bytes, before it was answered, and is left out", rest))
	}
	slices.SortStableFunc(out.events, func(a, b Event) int { return a.N - b.N })
	return out, nil
}

func (j *journal) readHead(line []byte) error {
	var head Head
	if err := json.Unmarshal(line, &head); err != nil || head.Goldgen != "review" {
		return errors.New("the first line is not that of a review's journal")
	}
	if head.Format < 1 || head.Format > JournalFormat {
		return fmt.Errorf("format %d, this version reads 1 to %d", head.Format, JournalFormat)
	}
	j.head = &head
	return nil
}

func (e *Event) readable() bool {
	if e.N < 1 {
		return false
	}
	switch e.Kind {
	case KindLabel:
		return e.CaseID != "" && e.ChunkID != "" && e.Skip != (e.Grade != nil) && (e.Skip || *e.Grade >= 0 && *e.Grade <= 3)
	case KindQuery:
		return e.CaseID != "" && e.Wording != ""
	case KindReject:
		return e.CaseID != ""
	case KindAudit:
		return e.Key != "" && e.Question != "" && e.Yes != nil
	case KindUndo:
		return e.Undone > 0
	}
	return false
}
