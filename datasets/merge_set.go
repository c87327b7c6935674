package datasets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mergedRejects keeps the rejects that both sides have and those that one added.
func mergedRejects(base, ours, theirs *Set) []Reject {
	before, mine, others := rejectKeys(base), rejectKeys(ours), rejectKeys(theirs)
	var out []Reject
	for i := range ours.Rejects {
		if key := rejectKey(&ours.Rejects[i]); others[key] || !before[key] {
			out = append(out, ours.Rejects[i])
		}
	}
	for i := range theirs.Rejects {
		if key := rejectKey(&theirs.Rejects[i]); !mine[key] && !before[key] {
			out = append(out, theirs.Rejects[i])
		}
	}
	return out
}

func rejectKey(r *Reject) string { return string(mustJSON(r.Canonical())) }

func rejectKeys(s *Set) map[string]bool {
	out := make(map[string]bool, len(s.Rejects))
	for i := range s.Rejects {
		out[rejectKey(&s.Rejects[i])] = true
	}
	return out
}

// manifest merges what is said of the set into ours. What says how the labels are
// to be read (relevant_grade, trust, pins but for goldgen's version) can be in
// conflict; of estimates and counts that both sides changed, ours stay, as each
// side's are of its own cases.
func (m *merger) manifest(ours, base, theirs *Manifest) error {
	everything := func(string) bool { return true }
	merged := m.fields("", sides{reading(base), reading(ours), reading(theirs)}, everything)
	pins := m.fields("", sides{pinFields(base), pinFields(ours), pinFields(theirs)}, everything)
	ours.Trust, ours.Pins = Trust{}, Pins{Goldgen: ours.Pins.Goldgen}
	if err := errors.Join(json.Unmarshal(mustJSON(merged), ours), json.Unmarshal(mustJSON(pins.without(pinPrefix)), &ours.Pins)); err != nil {
		return fmt.Errorf("merged manifest: %w", err)
	}
	ours.Shortfall = changedOf(base.Shortfall, ours.Shortfall, theirs.Shortfall)
	ours.Missed = changedOf(base.Missed, ours.Missed, theirs.Missed)
	ours.Coverage = changedOf(base.Coverage, ours.Coverage, theirs.Coverage)
	ours.Notes = union(ours.Notes, theirs.Notes)
	ours.Reviews = union(ours.Reviews, theirs.Reviews)
	ours.Disagreements = union(ours.Disagreements, theirs.Disagreements)
	return nil
}

// reading are the values that say how labels are to be read.
func reading(m *Manifest) fields {
	return fields{"relevant_grade": mustJSON(m.RelevantGrade), "trust": mustJSON(m.Trust)}
}

const pinPrefix = "pins."

// pinFields are the pins, each under its name, without goldgen's version.
func pinFields(m *Manifest) fields {
	out := fields{}
	for name, value := range fieldsOf(m.Pins) {
		if name != "goldgen" {
			out[pinPrefix+name] = value
		}
	}
	return out
}

// without are the fields with a prefix taken from their names.
func (f fields) without(prefix string) fields {
	out := fields{}
	for name, value := range f {
		out[strings.TrimPrefix(name, prefix)] = value
	}
	return out
}

// changedOf is theirs where only they changed it, else ours.
func changedOf[T any](base, ours, theirs T) T {
	if bytes.Equal(mustJSON(base), mustJSON(ours)) {
		return theirs
	}
	return ours
}

// union is a list with what another one has beside it.
func union[T any](a, b []T) []T {
	out, seen := slices.Clone(a), map[string]bool{}
	for _, x := range a {
		seen[string(mustJSON(x))] = true
	}
	for _, x := range b {
		if !seen[string(mustJSON(x))] {
			out = append(out, x)
		}
	}
	return out
}
