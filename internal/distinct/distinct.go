// Package distinct numbers the names in a column of a long table: queries of a
// run, topics of qrels.
package distinct

import "slices"

// Names numbers names in order of first appearance. A name that comes again
// after another one gets a new number at first; Settle puts that right. The
// zero value is ready.
type Names struct {
	list   []string
	number map[string]int32 // of settled names; nil where they ascend
}

// Add numbers the next row's name.
func (n *Names) Add(name string) int32 {
	if last := len(n.list) - 1; last >= 0 && n.list[last] == name {
		return int32(last)
	}
	if len(n.list) == cap(n.list) {
		n.list = slices.Grow(n.list, max(64, len(n.list))) // append alone would throw away more as it grows
	}
	n.list = append(n.list, name)
	return int32(len(n.list) - 1)
}

// AddBytes is Add; it keeps no part of name.
func (n *Names) AddBytes(name []byte) int32 {
	if last := len(n.list) - 1; last >= 0 && n.list[last] == string(name) {
		return int32(last)
	}
	return n.Add(string(name))
}

// Settle gives every name one number and renumbers the rows that Add numbered.
// Names that ascend, as those of most files do, are distinct and need no map: of
// a hundred thousand it would take some megabytes.
func (n *Names) Settle(rows []int32) {
	if n.ascend() {
		return
	}
	n.number = map[string]int32{}
	renumber, list := make([]int32, len(n.list)), n.list[:0]
	for i, name := range n.list {
		at, known := n.number[name]
		if !known {
			at = int32(len(list))
			n.number[name] = at
			list = append(list, name)
		}
		renumber[i] = at
	}
	n.list = list
	for i, at := range rows {
		rows[i] = renumber[at]
	}
}

func (n *Names) ascend() bool {
	for i := 1; i < len(n.list); i++ {
		if n.list[i-1] >= n.list[i] {
			return false
		}
	}
	return true
}

// List is the names by number. It must not be changed.
func (n *Names) List() []string { return n.list }

// IndexAfter is Index for who asks for names in an order that is mostly theirs:
// it first looks at the one behind number last, -1 for none.
func (n *Names) IndexAfter(last int, name string) (int, bool) {
	if last+1 < len(n.list) && n.list[last+1] == name {
		return last + 1, true
	}
	return n.Index(name)
}

// Index is the number of a settled name.
func (n *Names) Index(name string) (int, bool) {
	if n.number == nil {
		return slices.BinarySearch(n.list, name)
	}
	i, ok := n.number[name]
	return int(i), ok
}
