package retrieve

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Description is what results record of a retriever. Two retrievers with equal
// settings give equal rankings over one snapshot and embedding.
type Description struct {
	Name     string            `json:"name"`
	Kind     string            `json:"kind"`
	Settings map[string]string `json:"settings"` // every parameter with its value, defaults included
}

// Digest is the hex SHA-256 of kind and settings; the name does not count.
func (d Description) Digest() string {
	h := sha256.New()
	e := json.NewEncoder(h)
	_ = e.Encode(d.Kind)     // a hash takes everything
	_ = e.Encode(d.Settings) // keys are sorted
	return hex.EncodeToString(h.Sum(nil))
}

// Differs names the settings in which two retrievers differ, sorted; kind is
// one of them.
func (d Description) Differs(other Description) []string {
	keys := map[string]bool{"kind": d.Kind != other.Kind}
	for k, v := range d.Settings {
		keys[k] = keys[k] || other.Settings[k] != v
	}
	for k, v := range other.Settings {
		keys[k] = keys[k] || d.Settings[k] != v
	}
	maps.DeleteFunc(keys, func(_ string, differs bool) bool { return !differs })
	return slices.Sorted(maps.Keys(keys))
}

// Describe says what the retriever is, what it is made of included.
func (s Spec) Describe(configured map[string]Spec) (Description, error) {
	return s.describe(configured, 0)
}

// maxNesting is how deep retrievers may contain others; one that contains
// itself has no end.
const maxNesting = 8

func (s Spec) describe(configured map[string]Spec, depth int) (Description, error) {
	if err := s.Validate(); err != nil {
		return Description{}, err
	}
	d := Description{Name: s.Name, Kind: s.Kind, Settings: s.config().settings()}
	n, ok := s.config().(nested)
	if !ok {
		return d, nil
	}
	if depth > maxNesting {
		return Description{}, wrong("retriever %s: members are nested over %d deep, or contain themselves", s.Name, maxNesting)
	}
	members := n.members()
	for _, prefix := range slices.Sorted(maps.Keys(members)) {
		member, err := ParseSpec(members[prefix], configured)
		if err != nil {
			return Description{}, fmt.Errorf("%s: %w", s.Name, err)
		}
		m, err := member.describe(configured, depth+1)
		if err != nil {
			return Description{}, err
		}
		d.Settings[prefix+".kind"] = m.Kind
		for key, value := range m.Settings {
			d.Settings[prefix+"."+key] = value
		}
	}
	return d, nil
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
