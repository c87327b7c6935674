package sample

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/corpus"
)

// maxScopes bounds how many scopes of a corpus are kept to choose askers from.
const maxScopes = 256

// permissionPlanner finds chunks that some may see and others may not, with
// nothing like them that these others may see.
type permissionPlanner struct {
	asked   []corpus.Scope // that the team named; empty: those that the corpus names
	unknown map[string]bool
	seen    map[string]corpus.Scope // where the team named none: by canonical form
	seed    int64
}

func newPermissionPlanner(o *Options) *permissionPlanner {
	p := &permissionPlanner{asked: o.Scopes, unknown: map[string]bool{}, seen: map[string]corpus.Scope{}, seed: o.Seed}
	for _, scope := range o.Scopes {
		for key, values := range scope {
			for _, value := range values {
				p.unknown[key+"="+value] = true
			}
		}
	}
	return p
}

func (p *permissionPlanner) keys(c *view, join func(string, bool)) {
	if len(c.Scope) > 0 {
		p.note(c.Scope)
	}
	join(c.NearGroup, len(c.Scope) > 0)
}

// note remembers a record's scope as an asker's.
func (p *permissionPlanner) note(record corpus.Scope) {
	if len(p.unknown) > 0 {
		for key, values := range record {
			for _, value := range values {
				delete(p.unknown, key+"="+value)
			}
		}
	}
	if len(p.asked) > 0 || len(p.seen) >= maxScopes {
		return
	}
	asker := LeastScope(record)
	p.seen[canonicalScope(asker)] = asker
}

func canonicalScope(s corpus.Scope) string {
	text, err := json.Marshal(s)
	if err != nil { // a map of strings can always be written
		return fmt.Sprint(s)
	}
	return string(text)
}

func (*permissionPlanner) bounds() (least, most int) { return 1, 250 }

func (p *permissionPlanner) candidates(b *bundle) []candidate {
	i := slices.IndexFunc(b.members, (*member).eligible)
	if i < 0 || len(b.members) == maxMembers { // more copies than are known
		return nil
	}
	m := b.members[i]
	other, ok := p.outsider(b)
	if !ok || len(m.Scope) == 0 {
		return nil
	}
	c := candidate{about: []*member{m}, forbidden: &other}
	for _, o := range b.members {
		if o != m {
			c.rivals = append(c.rivals, o)
		}
	}
	return []candidate{c}
}

// outsider gives an asker who sees none of the members: one whom the team named
// or whom other records are for, else somebody without any rights.
func (p *permissionPlanner) outsider(b *bundle) (corpus.Scope, bool) {
	askers := p.asked
	if len(askers) == 0 {
		for _, key := range slices.Sorted(maps.Keys(p.seen)) {
			askers = append(askers, p.seen[key])
		}
		if n := len(askers); n > 0 {
			at := int(draw(p.seed, "asker", b.priority) % uint64(n))
			askers = append(slices.Concat(askers[at:], askers[:at]), corpus.Scope{})
		}
	}
	for _, asker := range askers {
		if !slices.ContainsFunc(b.members, func(m *member) bool { return m.Scope.Visible(asker) }) {
			return asker, true
		}
	}
	return nil, false
}

func (*permissionPlanner) lacking() string {
	return "chunks with a scope of which an asker with another scope sees no copy"
}

// check names askers' values that no record has: such a case would prove
// nothing.
func (p *permissionPlanner) check() error {
	if len(p.unknown) == 0 {
		return nil
	}
	return fmt.Errorf("sample.scopes: no document has %s", strings.Join(slices.Sorted(maps.Keys(p.unknown)), ", "))
}
