package prompts

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/llm"
)

// replaces reports, with its line, what keeps p from being asked in the place of
// the original.
func (p *Prompt) replaces(original *Prompt) error {
	if p.ID != original.ID {
		return fmt.Errorf("%d: id %q is not the file's name", lineOf(p.Source, "id:"), p.ID)
	}
	for _, name := range p.Vars {
		if slices.Contains(original.Data, name) {
			return fmt.Errorf("%d: %q is text of the corpus or of a user: it stands under data, where it is delimited", lineOf(p.Source, "vars:"), name)
		}
		if !slices.Contains(original.Vars, name) {
			return fmt.Errorf("%d: unknown variable %q%s", lineOf(p.Source, "vars:"), name, original.variables())
		}
	}
	for _, name := range p.Data {
		if !slices.Contains(original.Data, name) && !slices.Contains(original.Vars, name) {
			return fmt.Errorf("%d: unknown variable %q%s", lineOf(p.Source, "data:"), name, original.variables())
		}
	}
	if err := p.schemaReplaces(original); err != nil {
		return fmt.Errorf("%d: schema: %w", lineOf(p.Source, "schema:"), err)
	}
	return nil
}

func (p *Prompt) variables() string {
	return fmt.Sprintf("; %s has %s", p.ID, strings.Join(slices.Concat(p.Vars, p.Data), ", "))
}

// shape is what goldgen needs to know of a reply's schema.
type shape struct {
	Required   []string                   `json:"required"`
	Properties map[string]json.RawMessage `json:"properties"`
}

// schemaReplaces reports a schema that a server cannot take, and one whose
// replies lack what goldgen reads.
func (p *Prompt) schemaReplaces(original *Prompt) error {
	switch {
	case p.Schema == nil && original.Schema == nil:
		return nil
	case p.Schema == nil:
		return fmt.Errorf("there is none, and the reply of %s is read as JSON", original.ID)
	case original.Schema == nil:
		return fmt.Errorf("the reply of %s is one word, which no schema describes", original.ID)
	}
	if _, err := llm.CompileSchema(p.Schema); err != nil {
		return err
	}
	var own, theirs shape
	if err := json.Unmarshal(p.Schema, &own); err != nil {
		return err
	}
	if err := json.Unmarshal(original.Schema, &theirs); err != nil {
		return err
	}
	for _, name := range theirs.Required {
		if own.Properties[name] == nil || !slices.Contains(own.Required, name) {
			return fmt.Errorf("%q, which goldgen reads, is not among its required properties (%s)", name, strings.Join(own.Required, ", "))
		}
	}
	return own.types()
}

// types reports a property of a type that JSON Schema does not have, which
// servers refuse and the validator lets pass.
func (s shape) types() error {
	known := []string{"string", "number", "integer", "boolean", "array", "object", "null"}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		var property struct {
			Type any `json:"type"`
		}
		if err := json.Unmarshal(s.Properties[name], &property); err != nil {
			return fmt.Errorf("property %q: %w", name, err)
		}
		if t, ok := property.Type.(string); ok && !slices.Contains(known, t) {
			return fmt.Errorf("property %q: type %q is none of %s", name, t, strings.Join(known, ", "))
		}
	}
	return nil
}
