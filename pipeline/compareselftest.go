package pipeline

import (
	"fmt"
	"strings"

	"github.com/goldgen/goldgen/eval"
)

// SelfTest says how often the comparison's tests raise a false alarm on these
// two results: each against itself, and both with the sides of random cases
// swapped. Gates have no part in it. p may be nil, as in Compare.
func SelfTest(p *Project, o CompareOptions) (*eval.SelfTestResult, error) {
	in, _, err := compareInput(p, o)
	if err != nil {
		return nil, err
	}
	c, err := eval.Compare(eval.CompareInput{Base: in.Base, Candidate: in.Candidate, Common: in.Common})
	if err != nil {
		return nil, err
	}
	if !c.Comparable {
		return nil, fmt.Errorf("%w: %s", ErrNotComparable, strings.Join(c.Differs, "; "))
	}
	return eval.SelfTest(in, 0)
}
