package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v4"

	"github.com/goldgen/goldgen/retrieve"
)

// ParseConfig reads the text of a goldgen.yaml; path is how errors call it.
func ParseConfig(data []byte, path string) (Config, error) {
	c := DefaultConfig()
	var root yaml.Node
	if len(bytes.TrimSpace(data)) == 0 {
		return c, configError(path, []string{"the file is empty; goldgen init writes one"})
	}
	if err := yaml.Load(data, &root); err != nil {
		return c, configError(path, yamlMessages(err))
	}
	doc := &root
	if doc.Kind == yaml.DocumentNode {
		doc = doc.Content[0]
	}
	bareProviders(doc)
	mistakes := unknownKeys(doc, reflect.TypeFor[Config](), "")
	if err := doc.Load(&c); err != nil {
		mistakes = append(mistakes, yamlMessages(err)...)
	} else {
		c.fill()
		if err := c.Validate(); err != nil {
			mistakes = append(mistakes, err.Error())
		}
	}
	if len(mistakes) > 0 {
		return c, configError(path, mistakes)
	}
	return c, nil
}

func configError(path string, mistakes []string) error {
	return fmt.Errorf("%w %s: %s", ErrConfig, path, strings.Join(mistakes, "; "))
}

// yamlMessages gives one text for each mistake that the YAML library found.
func yamlMessages(err error) []string {
	var all *yaml.LoadErrors
	if !errors.As(err, &all) {
		return []string{strings.TrimPrefix(err.Error(), "go-yaml load error in ")}
	}
	var out []string
	for _, e := range all.Errors {
		out = append(out, fmt.Sprintf("line %d: %s", e.Mark.Line, wrongType(e.Message)))
	}
	return out
}

var constructed = regexp.MustCompile("^cannot construct !!(\\w+)(?: `(.*)`)? into (.*)$")

// wrongType puts the library's words for a value of the wrong type into those
// of the file.
func wrongType(message string) string {
	m := constructed.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	found := map[string]string{"seq": "a list", "map": "a mapping", "null": "nothing"}[m[1]]
	if m[2] != "" {
		found = strconv.Quote(m[2])
	}
	return fmt.Sprintf("%s, want %s", found, wanted(m[3]))
}

// wanted describes a Go type as a reader of goldgen.yaml knows it.
func wanted(goType string) string {
	switch goType {
	case "int", "int64", "uint64":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "string":
		return "text"
	case "time.Duration":
		return "a duration such as 90s"
	}
	if strings.HasPrefix(goType, "[]") {
		return "a list"
	}
	return "a mapping"
}

// bareProviders turns `judge: none` into `judge: {provider: none}`, and
// generate likewise.
func bareProviders(doc *yaml.Node) {
	for key, value := range pairs(doc) {
		if (key.Value == "judge" || key.Value == "generate") && value.Kind == yaml.ScalarNode && value.Tag == "!!str" {
			provider := *value
			name := yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "provider", Line: value.Line, Column: value.Column}
			*value = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: provider.Line, Column: provider.Column,
				Content: []*yaml.Node{&name, &provider}}
		}
	}
}

// pairs yields the keys and values of a mapping.
func pairs(n *yaml.Node) func(yield func(key, value *yaml.Node) bool) {
	return func(yield func(key, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], n.Content[i+1]) {
				return
			}
		}
	}
}

// unknownKeys lists the keys below n that t has no field for, with line and
// nearest known key.
func unknownKeys(n *yaml.Node, t reflect.Type, path string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var out []string
	switch t.Kind() {
	case reflect.Struct:
		fields := fieldsOf(n, t)
		for key, value := range pairs(n) {
			field, ok := fields[key.Value]
			if !ok {
				out = append(out, fmt.Sprintf("line %d: unknown key %q%s", key.Line, path+key.Value, didYouMean(key.Value, fields)))
				continue
			}
			out = append(out, unknownKeys(value, field, path+key.Value+".")...)
		}
	case reflect.Slice:
		if n.Kind == yaml.SequenceNode {
			for i, element := range n.Content {
				out = append(out, unknownKeys(element, t.Elem(), fmt.Sprintf("%s%d.", path, i+1))...)
			}
		}
	case reflect.Map:
		for key, value := range pairs(n) {
			out = append(out, unknownKeys(value, t.Elem(), path+key.Value+".")...)
		}
	}
	return out
}

// fieldsOf are the keys of a mapping that is read into t. Those of a retriever
// hang on its kind; of an unknown kind, every key is one.
func fieldsOf(n *yaml.Node, t reflect.Type) map[string]reflect.Type {
	if t != reflect.TypeFor[retrieve.Spec]() {
		return yamlFields(t)
	}
	kind, fields := "", map[string]reflect.Type{}
	for key, value := range pairs(n) {
		fields[key.Value] = reflect.TypeFor[any]()
		if key.Value == "kind" {
			kind = value.Value
		}
	}
	if config := retrieve.NewConfig(kind); config != nil {
		fields = yamlFields(reflect.TypeOf(config).Elem())
	}
	fields["kind"], fields["arg"] = reflect.TypeFor[string](), reflect.TypeFor[string]()
	return fields
}

func yamlFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if len(f.Index) > 1 || name == "-" {
			continue
		}
		if strings.Contains(options, "inline") {
			for k, v := range yamlFields(f.Type) {
				fields[k] = v
			}
			continue
		}
		if name != "" {
			fields[name] = f.Type
		}
	}
	return fields
}

func didYouMean(key string, fields map[string]reflect.Type) string {
	best, distance := "", len(key)/2+2
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if d := levenshtein.ComputeDistance(key, name); d < distance {
			best, distance = name, d
		}
	}
	if best == "" {
		return "; known are " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
