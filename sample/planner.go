package sample

import (
	"cmp"
	"slices"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
)

// QueryTypes lists the types that a mix may name.
func QueryTypes() []string { return slices.Clone(planned) }

// planner finds what the cases of one query type need, from the corpus alone.
// Chunks that a type joins share a key: a group of near-duplicates, a rare term,
// the target of a link. The corpus is read twice, so that nothing is kept but
// what may be planned: once to count the keys, once to gather the chunks of some
// of those whose count fits.
type planner interface {
	// keys calls join for each key of the chunk, at most once each. A key that
	// does not count gathers the chunk where others make the key fit.
	keys(c *view, join func(key string, counts bool))
	// bounds are the least and the most chunks that count for a key that fits.
	bounds() (least, most int)
	// candidates gives what can be asked of the chunks that share a key, best
	// first.
	candidates(b *bundle) []candidate
	// lacking says what a corpus without candidates does not have.
	lacking() string
}

// plannersOf is the table of the query types that need more than one chunk's
// text: how their cases are found. Several planners of a type are several ways
// to find them.
func plannersOf(queryType string, o *Options) []planner {
	switch queryType {
	case datasets.NearDuplicate:
		return []planner{nearPlanner{}}
	case datasets.RareTerm:
		return []planner{acronymPlanner{seed: o.Seed}, rarePlanner{}}
	case datasets.PermissionSensitive:
		return []planner{newPermissionPlanner(o)}
	case datasets.TimeSensitive:
		return []planner{timePlannerOf(o)}
	case datasets.MultiHop:
		return []planner{termHops{}, linkHops{}, sectionHops{}}
	case datasets.Ambiguous:
		return []planner{headingReadings{}, termReadings{}}
	case datasets.OutOfScope:
		return []planner{subjectPlanner{}}
	}
	return nil
}

// view is a chunk as planners see it. What several of them take from its text is
// taken once.
type view struct {
	*corpus.Chunk
	terms  []string
	looked bool // terms are known
}

// firstTerms gives the terms of the chunk's sentences.
func (v *view) firstTerms() []string {
	if !v.looked {
		v.terms, v.looked = firstTerms(v.Text), true
	}
	return v.terms
}

// bundle is the chunks that share a key, in the snapshot's order.
type bundle struct {
	key      string
	priority uint64    // uniform; lower is drawn earlier
	members  []*member // the first maxMembers of them
}

// member is a chunk in a bundle, with its place in the frame.
type member struct {
	corpus.Chunk
	row     uint32
	doc     uint32
	stratum string
}

// eligible reports whether a case may be written from the chunk.
func (m *member) eligible() bool { return len(m.Flags) == 0 }

// candidate is one thing that can be asked, or, where forbidden is set, the same
// thing asked by somebody who may and by somebody who may not.
type candidate struct {
	about     []*member // what answers it, or what it is to sound like
	rivals    []*member
	term      string
	otherForm string
	link      string
	asOf      *time.Time
	forbidden *corpus.Scope // of the asker who must not see it
	priority  uint64
}

// size is the number of rows that the candidate makes.
func (c *candidate) size() int {
	if c.forbidden != nil {
		return 2
	}
	return 1
}

// first is the chunk that the candidate's stratum and document are taken from.
func (c *candidate) first() *member { return c.about[0] }

// Wording names what is asked: rows of a group, which ask the same under different
// scopes, share it.
func (r *Row) Wording() string { return cmp.Or(r.Group, r.CaseID) }

// LeastScope is the least that somebody must hold to see records of all these
// scopes: the first value of each key of each.
func LeastScope(records ...corpus.Scope) corpus.Scope {
	scope := corpus.Scope{}
	for _, record := range records {
		for key, values := range record {
			if len(values) > 0 && !corpus.Scope.Visible(corpus.Scope{key: values}, scope) {
				scope[key] = append(scope[key], values[0])
			}
		}
	}
	return scope
}
