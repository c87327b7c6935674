package pipeline

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goldgen/goldgen/eval"
)

// waiverDay is the form of a waiver's last day.
const waiverDay = time.DateOnly

// ParseGates reads gates; all that is wrong comes in one error.
func ParseGates(texts []string) ([]eval.Gate, error) {
	var gates []eval.Gate
	var errs []error
	for _, text := range texts {
		gate, err := eval.ParseGate(text)
		gates, errs = append(gates, gate), append(errs, err)
	}
	return gates, errors.Join(errs...)
}

func (g GateConfig) validate() error {
	var alpha error
	if !(g.Alpha > 0 && g.Alpha < 0.5) {
		alpha = fmt.Errorf("alpha: %v, want more than 0 and less than 0.5", g.Alpha)
	}
	return errors.Join(alpha, oneOf("cannot_tell", g.CannotTell, "fail", "warn", "pass"))
}

// checkWaivers wants all that a reader needs to know why a gate does not
// count: which, why, who, until when.
func checkWaivers(waivers []eval.Waiver) error {
	var errs []error
	for i, w := range waivers {
		var lacks []string
		for _, field := range []struct{ name, value string }{{"gate", w.Gate}, {"reason", w.Reason}, {"owner", w.Owner}, {"until", w.Until}} {
			if strings.TrimSpace(field.value) == "" {
				lacks = append(lacks, field.name)
			}
		}
		if len(lacks) > 0 {
			errs = append(errs, fmt.Errorf("%d: %s missing", i+1, strings.Join(lacks, ", ")))
		}
		if _, err := time.Parse(waiverDay, w.Until); err != nil && w.Until != "" {
			errs = append(errs, fmt.Errorf("%d: until: %q, want a day such as 2027-01-31", i+1, w.Until))
		}
	}
	return errors.Join(errs...)
}
