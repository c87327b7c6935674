package retrieve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
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
	secrets *[][2]string        // how a secret may be written, and ${NAME}; the longest first
}

func newEnvironment(getenv func(string) string) environment {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	return environment{getenv: getenv, secrets: &[][2]string{}}
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

// hide keeps a secret out of what scrub lets through, also where it is quoted or
// escaped.
func (e environment) hide(name, secret string) {
	if secret == "" || e.secrets == nil {
		return
	}
	for _, written := range spellings(secret) {
		if !slices.ContainsFunc(*e.secrets, func(s [2]string) bool { return s[0] == written }) {
			*e.secrets = append(*e.secrets, [2]string{written, "${" + name + "}"})
		}
	}
	slices.SortStableFunc(*e.secrets, func(a, b [2]string) int { return len(b[0]) - len(a[0]) })
}

// spellings are the ways in which servers and errors write a text: as it is, as JSON, escaped for addresses, and these in quotes.
func spellings(text string) []string {
	out := []string{text, url.QueryEscape(text), url.PathEscape(text)}
	for _, encode := range []func(any) (string, error){toJSON, toHTMLSafeJSON} {
		if asJSON, err := encode(text); err == nil {
			out = append(out, asJSON[1:len(asJSON)-1])
		}
	}
	for _, s := range slices.Clone(out) {
		quoted := strconv.Quote(s)
		out = append(out, quoted[1:len(quoted)-1])
	}
	return out
}

func toHTMLSafeJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

// scrub puts the names of secrets in the place of their values.
func (e environment) scrub(text string) string {
	if e.secrets == nil {
		return text
	}
	var pairs []string
	for _, s := range *e.secrets {
		pairs = append(pairs, s[:]...)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// excerpt is the beginning of an answer, without secrets: one that is cut in two
// would be found by nobody.
func (e environment) excerpt(text []byte) string { return excerpt([]byte(e.scrub(string(text)))) }

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
