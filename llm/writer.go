package llm

import (
	"database/sql"
	"fmt"
	"sync"
	"time"
)

const (
	batchRows = 500
	// batchWait is how long a row waits for others. A commit costs about a
	// millisecond of processor time however few its rows, so a wait shorter than
	// several calls would pay it for each call; kill -9 loses what waits.
	batchWait = 500 * time.Millisecond
)

// rowID finds a row: its table and the raw bytes of its key.
type rowID struct {
	table table
	key   string
}

type row struct {
	id    rowID
	model string
	value []byte
}

// writer is the only goroutine of a process that writes rows: two processes
// that write single rows starve each other, two that write batches do not.
type writer struct {
	db  *sql.DB
	now func() time.Time

	mu      sync.Mutex
	changed *sync.Cond // waiting shrank, err was set, or closing
	waiting map[rowID]row
	order   []rowID // of waiting, oldest first
	err     error   // of the first batch that was not written: it stays
	flushes int     // callers that wait for an empty queue
	closing bool
	wake    chan struct{}
	done    chan struct{}
}

func startWriter(db *sql.DB, now func() time.Time) *writer {
	w := &writer{db: db, now: now, waiting: map[rowID]row{}, wake: make(chan struct{}, 1), done: make(chan struct{})}
	w.changed = sync.NewCond(&w.mu)
	go w.run()
	return w
}

// put takes a row. It blocks while a whole batch waits, which bounds what
// kill -9 can lose.
func (w *writer) put(r row) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.waiting) >= batchRows && w.err == nil && !w.closing {
		w.changed.Wait()
	}
	switch {
	case w.err != nil:
		return w.err
	case w.closing:
		return fmt.Errorf("%w: closed", ErrCache)
	}
	if _, ok := w.waiting[r.id]; ok {
		return nil // as on the disk, the first reply stays
	}
	w.waiting[r.id] = r
	w.order = append(w.order, r.id)
	if len(w.waiting) == 1 || len(w.waiting) >= batchRows {
		w.poke()
	}
	return nil
}

func (w *writer) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *writer) pending(id rowID) ([]byte, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, ok := w.waiting[id]
	return r.value, ok
}

// run writes a batch as soon as it is full, or batchWait after its first row.
func (w *writer) run() {
	defer close(w.done)
	for range w.wake {
		for w.open(1) {
			w.gather()
			w.writeBatch()
		}
		if w.ended() {
			return
		}
	}
}

// open says whether at least n rows wait and may be written.
func (w *writer) open(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting) >= n && w.err == nil
}

func (w *writer) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closing
}

// hurry says whether there is a reason not to wait for more rows.
func (w *writer) hurry() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting) >= batchRows || w.closing || w.flushes > 0
}

// gather waits for more rows, but not long.
func (w *writer) gather() {
	timer := time.NewTimer(batchWait)
	defer timer.Stop()
	for !w.hurry() {
		select {
		case <-timer.C:
			return
		case <-w.wake:
		}
	}
}

// writeBatch commits what waits now.
func (w *writer) writeBatch() {
	w.mu.Lock()
	batch := make([]row, 0, len(w.order))
	for _, id := range w.order {
		batch = append(batch, w.waiting[id])
	}
	w.mu.Unlock()
	err := w.commit(batch)

	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.changed.Broadcast()
	if err != nil {
		w.err = fmt.Errorf("%w: %w", ErrCache, err)
		return
	}
	for _, r := range batch {
		delete(w.waiting, r.id)
	}
	w.order = append([]rowID(nil), w.order[len(batch):]...)
}

// commit writes rows in one transaction. The first reply to a request stays,
// whichever process wrote it.
func (w *writer) commit(batch []row) error {
	tx, err := w.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	created := w.now().Unix()
	stmts := map[table]*sql.Stmt{}
	for _, r := range batch {
		stmt := stmts[r.id.table]
		if stmt == nil {
			stmt, err = tx.Prepare("INSERT OR IGNORE INTO " + string(r.id.table) + " VALUES (?, ?, ?, ?)")
			if err != nil {
				return err
			}
			defer stmt.Close()
			stmts[r.id.table] = stmt
		}
		if _, err := stmt.Exec([]byte(r.id.key), r.model, created, r.value); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// flush waits until nothing waits.
func (w *writer) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushes++
	defer func() { w.flushes-- }()
	w.poke()
	for len(w.waiting) > 0 && w.err == nil {
		w.changed.Wait()
	}
	return w.err
}

func (w *writer) close() error {
	w.mu.Lock()
	w.closing = true
	w.changed.Broadcast()
	w.mu.Unlock()
	w.poke()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
