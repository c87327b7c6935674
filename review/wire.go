// Package review lets people label what a golden set holds: which pairs of a
// query and a chunk to show, what a person said of each, kept line by line on
// disk, and the next version that comes of it. It owns the page and its
// server; it asks no model and knows nothing of flags.
package review

import (
	"context"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// Desk is one person's work on one set: what the page shows and does. All
// methods may be called at once. Items are numbered from 0 in the order in
// which they are to be labelled; an added passage becomes the last one. Errors
// that are the asker's are *Problem.
type Desk interface {
	// Session says how far the work is.
	Session() Session
	// Item reads one item with a window of the document around its passage.
	Item(n int) (Item, error)
	// Text reads more of the item's document: bytes [start, end), moved to whole
	// characters and cut to MaxWindow.
	Text(n, start, end int) (Text, error)
	// Items lists items from a number on.
	Items(from, limit int) ([]Row, error)
	// Label keeps what the person says of an item. It is on disk on return.
	Label(ctx context.Context, n int, said Said) (Labelled, error)
	// Undo withdraws the last thing that the person did.
	Undo(ctx context.Context) (Undone, error)
	// Rewrite gives a case another wording, unless a gate refuses it.
	Rewrite(ctx context.Context, caseID, query string) (Rewritten, error)
	// Reject takes a case out of the set.
	Reject(ctx context.Context, caseID, reason string) (Labelled, error)
	// Search finds chunks that the case's asker may see.
	Search(ctx context.Context, caseID, query string) ([]Found, error)
	// Add puts a chunk before the person as an item of the case, graded.
	Add(ctx context.Context, caseID string, added Added) (Undone, error)
	// Finish writes what was said so far as the set's next version.
	Finish(ctx context.Context) (Finished, error)
}

// MaxWindow is how many bytes of a document one answer holds at most.
const MaxWindow = 64 << 10

// Problem is an error that the asker can mend.
type Problem struct {
	Status int    `json:"-"` // HTTP status
	Text   string `json:"error"`
	Hint   string `json:"hint"`
}

func (p *Problem) Error() string { return p.Text }

// Session is how far one person's work on one sample is.
type Session struct {
	Set      string    `json:"set"` // name@vN
	Reviewer string    `json:"reviewer"`
	Sample   string    `json:"sample"`
	Blind    bool      `json:"blind"` // the machine's p is shown only after the label
	Total    int       `json:"total"`
	Labelled int       `json:"labelled"` // judged, or of a rejected case
	Skipped  int       `json:"skipped"`
	Next     int       `json:"next"` // first item neither labelled nor skipped; -1 when there is none
	Interval *Interval `json:"interval"`
	Grades   []Grade   `json:"grades"`
}

// Interval is the interval of the comparison at hand, at the start and now.
// It is of the measure named in What, and absent where nothing is compared.
type Interval struct {
	What         string  `json:"what"` // e.g. "ndcg@10, lsa less bm25"
	Low          float64 `json:"low"`
	High         float64 `json:"high"`
	WidthAtStart float64 `json:"width_at_start"`
	Width        float64 `json:"width"`
}

// Grade is one of the grades that a person can give.
type Grade struct {
	Grade   int    `json:"grade"`
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// Item is one pair of a query and a chunk. Offsets are bytes of the document.
type Item struct {
	N             int          `json:"n"`
	CaseID        string       `json:"case_id"`
	Query         string       `json:"query"`
	QueryType     string       `json:"query_type"`
	Scope         corpus.Scope `json:"scope"`
	AsOf          *time.Time   `json:"as_of"`
	Status        string       `json:"status"`
	DocID         string       `json:"doc_id"`
	ChunkID       string       `json:"chunk_id"`
	Title         string       `json:"title"`
	HeadingPath   []string     `json:"heading_path"`
	Text          string       `json:"text"`       // the window
	TextStart     int          `json:"text_start"` // where the window begins
	DocumentBytes int          `json:"document_bytes"`
	Passage       [2]int       `json:"passage"`
	Evidence      [][2]int     `json:"evidence"` // of this document, in order
	ValidFrom     *time.Time   `json:"valid_from"`
	ValidTo       *time.Time   `json:"valid_to"`
	Label         *Given       `json:"label"`
	Revealed      *Revealed    `json:"revealed"` // nil while blind and unlabelled
}

// Given is what the person said of an item.
type Given struct {
	Grade *int      `json:"grade"` // nil when skipped
	Label string    `json:"label"`
	Skip  bool      `json:"skip"`
	At    time.Time `json:"at"`
}

// Revealed is what the machine, or another person, says of an item.
type Revealed struct {
	P     *float64 `json:"p"`
	Grade *int     `json:"grade"`
	By    string   `json:"by"` // label_model, llm, synthetic, human
}

// Text is a part of an item's document.
type Text struct {
	Text          string `json:"text"`
	TextStart     int    `json:"text_start"`
	DocumentBytes int    `json:"document_bytes"`
}

// Row is an item in a list.
type Row struct {
	N        int    `json:"n"`
	CaseID   string `json:"case_id"`
	Query    string `json:"query"` // cut
	ChunkID  string `json:"chunk_id"`
	Labelled bool   `json:"labelled"`
	Skipped  bool   `json:"skipped"`
	Grade    *int   `json:"grade"`
}

// Said is what a person says of an item: a grade 0-3, a skip, or a label stale
// or out_of_scope, which stand for grade 0. An empty label follows the grade.
type Said struct {
	Grade *int   `json:"grade"`
	Label string `json:"label"`
	Skip  bool   `json:"skip"`
}

// Labelled answers a label and a rejection.
type Labelled struct {
	Item    Item    `json:"item"`
	Session Session `json:"session"`
	Next    int     `json:"next"` // the next item to label after this one, round the end; -1 when there is none
}

// Undone answers an undo and an added passage: the item that it was about.
type Undone struct {
	Item    Item    `json:"item"`
	Session Session `json:"session"`
}

// Rewritten answers another wording. Item is the first item of the case.
type Rewritten struct {
	Kept   bool             `json:"kept"`
	Checks []datasets.Check `json:"checks"`
	Item   Item             `json:"item"`
}

// Found is a chunk that a search found.
type Found struct {
	DocID   string `json:"doc_id"`
	ChunkID string `json:"chunk_id"`
	Title   string `json:"title"`
	Text    string `json:"text"`    // cut
	InPool  bool   `json:"in_pool"` // the set already has a judgment of it for this case
}

// Added is a chunk to put before the person, with its grade.
type Added struct {
	ChunkID string `json:"chunk_id"`
	Grade   *int   `json:"grade"`
}

// Finished is the version that came of the labels. Written is false when it
// would have been equal to the newest one.
type Finished struct {
	Golden  datasets.Ref `json:"golden"`
	Labels  int          `json:"labels"`
	Written bool         `json:"written"`
}
