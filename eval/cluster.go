package eval

import (
	"fmt"

	"github.com/goldgen/goldgen/internal/unionfind"
	"github.com/goldgen/goldgen/internal/wording"
)

const (
	minDocuments = 30 // below, cases are grouped by something smaller than a document
	minClusters  = 10 // below, there is no interval
)

// clusters says which cases are dependent. Cases are numbered by cluster, and
// order lists them cluster by cluster, in the input's order within one.
type clusters struct {
	of    []int32
	order []int32
	n     int
	what  string // what makes a cluster, for the conventions
	note  string // set when it is not a document
}

// newClusters joins cases that share a source document; with fewer than 30
// documents those that share a heading section, or else a chunk.
func newClusters(cases []Case) *clusters {
	byDocument := func(c *Case) []string { return c.about().Documents }
	documents := distinct(cases, byDocument)
	if documents == 0 || documents >= minDocuments {
		c := connect(cases, byDocument)
		c.what = "cases that share a source document"
		if documents == 0 {
			c.what = "each case alone: no source is known"
		}
		return c
	}
	name, key := "chunk", func(c *Case) []string { return c.about().Chunks }
	if everyDocumentHas(cases, func(c *Case) []string { return c.about().Sections }) {
		name, key = "heading section", func(c *Case) []string { return c.about().Sections }
	} else if !everyDocumentHas(cases, key) {
		name, key = "document", byDocument
	}
	c := connect(cases, key)
	c.what = "cases that share a source " + name
	if name != "document" {
		c.note = fmt.Sprintf("only %s: cases count as dependent when they share a %s", wording.Count(documents, "source document"), name)
	}
	return c
}

func distinct(cases []Case, key func(*Case) []string) int {
	seen := map[string]struct{}{}
	for i := range cases {
		for _, k := range key(&cases[i]) {
			seen[k] = struct{}{}
			if len(seen) >= minDocuments {
				return len(seen)
			}
		}
	}
	return len(seen)
}

func everyDocumentHas(cases []Case, key func(*Case) []string) bool {
	for i := range cases {
		if len(cases[i].about().Documents) > 0 && len(key(&cases[i])) == 0 {
			return false
		}
	}
	return true
}

// connect finds the connected components by union-find; a root is the first
// case of its component.
func connect(cases []Case, key func(*Case) []string) *clusters {
	sets := unionfind.New(len(cases))
	first := map[string]int32{}
	for i := range cases {
		for _, k := range key(&cases[i]) {
			if j, ok := first[k]; ok {
				sets.Join(j, int32(i))
			} else {
				first[k] = int32(i)
			}
		}
	}
	return number(sets)
}

// number counts clusters in the order of their first case and sorts the cases
// by cluster.
func number(sets unionfind.Sets) *clusters {
	c := &clusters{of: make([]int32, len(sets)), order: make([]int32, len(sets))}
	var sizes []int32
	for i := range sets {
		r := sets.Root(int32(i))
		if int(r) == i {
			c.of[i] = int32(len(sizes))
			sizes = append(sizes, 0)
		}
		c.of[i] = c.of[r]
		sizes[c.of[i]]++
	}
	c.n = len(sizes)
	at := int32(0)
	for g, n := range sizes {
		sizes[g] = at
		at += n
	}
	for i, g := range c.of {
		c.order[sizes[g]] = int32(i)
		sizes[g]++
	}
	return c
}
