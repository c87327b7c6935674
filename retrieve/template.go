package retrieve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/goldgen/goldgen/corpus"
)

// queryData is what the templates of a configuration see of a query.
type queryData struct {
	ID      string
	Query   string
	K       int
	Scope   corpus.Scope
	Filters []corpus.Filter
	AsOf    string // RFC 3339, "" without a date

	vector func() ([]float32, error)
}

// Vector embeds the query with the configured embedder.
func (d queryData) Vector() ([]float32, error) { return d.vector() }

func dataOf(q Query, vector func() ([]float32, error)) queryData {
	d := queryData{ID: q.ID, Query: q.Text, K: q.K, Scope: q.Scope, Filters: q.Filters, vector: vector}
	if q.AsOf != nil {
		d.AsOf = q.AsOf.UTC().Format(time.RFC3339Nano)
	}
	return d
}

// sampleQuery has in it what a template must quote, so that one that does not
// is found before the first query.
func sampleQuery() queryData {
	return dataOf(Query{ID: "sample", Text: "a \"quoted\" \\ query", K: 10}, func() ([]float32, error) { return []float32{1}, nil })
}

// usesVector reports whether a template sends the query's vector.
func usesVector(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, ".Vector") })
}

// environment reads the variables that a configuration names as ${NAME}, and
// keeps their values out of every error. The zero value stands for a check
// without them.
type environment struct {
	getenv  func(string) string // nil: every variable is "x"
	secrets *[]string           // NAME, value, NAME, value ...
}

func newEnvironment(getenv func(string) string) environment {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	return environment{getenv: getenv, secrets: &[]string{}}
}

// value is the value of a variable; one that is not set is an error.
func (e environment) value(name string) (string, error) {
	if e.getenv == nil {
		return "x", nil
	}
	v := e.getenv(name)
	if v == "" {
		return "", fmt.Errorf("environment variable %s is not set", name)
	}
	e.hide(name, v)
	return v, nil
}

// hide keeps a secret out of what scrub lets through.
func (e environment) hide(name, secret string) {
	if secret != "" && e.secrets != nil && !slices.Contains(*e.secrets, secret) {
		*e.secrets = append(*e.secrets, secret, "${"+name+"}")
	}
}

// scrub puts the names of secrets in the place of their values.
func (e environment) scrub(text string) string {
	if e.secrets == nil {
		return text
	}
	return strings.NewReplacer(*e.secrets...).Replace(text)
}

// named finds the variables of a template.
var named = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// parseTemplate reads a text/template whose ${NAME} are variables of the
// environment. Variables are read here, once.
func parseTemplate(field, text string, env environment) (*template.Template, error) {
	values := map[string]string{}
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		v, err := env.value(m[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
		values[m[1]] = v
	}
	funcs := template.FuncMap{"json": toJSON, "join": strings.Join, "env": func(name string) string { return values[name] }}
	t, err := template.New(field).Funcs(funcs).Parse(named.ReplaceAllString(text, `{{env "$1"}}`))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, located(field, err))
	}
	return t, nil
}

// render fills a template in.
func render(t *template.Template, data any) (string, error) {
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return "", fmt.Errorf("%s: %w", t.Name(), located(t.Name(), err))
	}
	return out.String(), nil
}

// located is a template's error without its name: line and column stay.
func located(name string, err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "template: "+name+":"))
}

// renderJSON fills in a template that makes JSON.
func renderJSON(t *template.Template, data any) ([]byte, error) {
	text, err := render(t, data)
	if err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("%s: makes no JSON: %w (write text as {{json .Query}}, without quotes)", t.Name(), err)
	}
	return []byte(text), nil
}

// toJSON is the templates' json: lists and mappings are never null.
func toJSON(v any) (string, error) {
	switch r := reflect.ValueOf(v); {
	case r.Kind() == reflect.Slice && r.IsNil():
		return "[]", nil
	case r.Kind() == reflect.Map && r.IsNil():
		return "{}", nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSpace(out.String()), err
}
