// Package unionfind finds connected components by disjoint sets.
package unionfind

// Sets are disjoint sets of the numbers from 0 on. The root of a set is its
// smallest member, whatever order sets were joined in.
type Sets []int32 // the parent of each number

// New makes n sets of one number each.
func New(n int) Sets {
	s := make(Sets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// Root is the smallest number of i's set.
func (s Sets) Root(i int32) int32 {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

// Join makes one set of those that a and b are in.
func (s Sets) Join(a, b int32) {
	a, b = s.Root(a), s.Root(b)
	s[max(a, b)] = min(a, b)
}
