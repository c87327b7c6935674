package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// ErrBusy says that another process refreshes the set.
var ErrBusy = errors.New("another refresh is at work")

// owner is who holds the lock of a refresh.
type owner struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Since string `json:"since"` // RFC 3339, UTC
}

func (o owner) String() string {
	return fmt.Sprintf("process %d on %s, since %s", o.PID, o.Host, o.Since)
}

// lockRefresh takes the file lock under which a set is refreshed; it ends with the
// process at the latest. The owner stands in a file beside it, since a locked file
// cannot be read everywhere.
func (p *Project) lockRefresh(name string) (unlock func(), err error) {
	if err := os.MkdirAll(p.state("locks"), 0o755); err != nil {
		return nil, err
	}
	path := p.state("locks", "refresh-"+name+".lock")
	named := p.state("locks", "refresh-"+name+".json")
	l := flock.New(path)
	held, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !held {
		return nil, hinted("wait until it has ended; its lock ends with its process", "golden set %s: %w: %s", name, ErrBusy, ownerIn(named))
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	now := owner{PID: os.Getpid(), Host: host, Since: p.Now().UTC().Format(time.RFC3339)}
	if err := atomicfile.WriteJSON(named, 0o644, now); err != nil {
		return nil, errors.Join(err, l.Unlock())
	}
	return func() { l.Unlock() }, nil
}

// ownerIn reads who wrote the file of a lock; what cannot be read names nobody.
func ownerIn(path string) string {
	var o owner
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		return "its owner has not said who it is"
	}
	return o.String()
}
