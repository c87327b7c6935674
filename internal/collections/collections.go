// Package collections reads the three test collections with human judgments
// that the label model's prior is fitted on: Cranfield, CACM and CISI. It is for
// commands under bench and for tests; no part of goldgen reads them.
package collections

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Document is one abstract. Its text begins with the title.
type Document struct {
	ID    string
	Title string
	Text  string
}

// Query is one of the collection's own queries.
type Query struct {
	ID   string
	Text string
}

// Collection is a test collection. Qrels holds what people judged, by query and
// document: 1 relevant, 0 not. Documents that are absent were not judged
// relevant, which in these collections means not relevant.
type Collection struct {
	Name      string
	Documents []Document
	Queries   []Query // those with a relevant document
	Qrels     map[string]map[string]int
}

// Names are the collections, in the order of Load's errors and of every table.
func Names() []string { return []string{"cranfield", "cacm", "cisi"} }

// Load reads one collection from its folder below dir.
func Load(dir, name string) (Collection, error) {
	read := map[string]func(string) (Collection, error){"cranfield": readCranfield, "cacm": readCACM, "cisi": readCISI}[name]
	if read == nil {
		return Collection{}, fmt.Errorf("collection %q: valid are %s", name, strings.Join(Names(), ", "))
	}
	c, err := read(filepath.Join(dir, name))
	if err != nil {
		return Collection{}, fmt.Errorf("collection %s: %w", name, err)
	}
	c.Name = name
	return c.judged()
}

// judged keeps the queries that have a relevant document.
func (c Collection) judged() (Collection, error) {
	var kept []Query
	for _, q := range c.Queries {
		for _, grade := range c.Qrels[q.ID] {
			if grade > 0 {
				kept = append(kept, q)
				break
			}
		}
	}
	c.Queries = kept
	if len(c.Documents) == 0 || len(kept) == 0 {
		return c, errors.New("no documents, or no judged queries")
	}
	return c, nil
}

// squeeze makes one line of a text.
func squeeze(text string) string { return strings.Join(strings.Fields(text), " ") }

func (c *Collection) judge(query, document string, grade int) {
	if c.Qrels == nil {
		c.Qrels = map[string]map[string]int{}
	}
	if c.Qrels[query] == nil {
		c.Qrels[query] = map[string]int{}
	}
	c.Qrels[query][document] = grade
}
