package generate

import "cmp"

// A query in a noisy style has two forms: the clean one, as it was written, and the
// final one, which is kept. What must be true of a query and its evidence is asked
// of the final form. Faults that slips of the keys or words left out would be taken
// for, or would hide, are looked for in the clean one.

// clean is the query as it was written.
func (c Candidate) clean() string { return cmp.Or(c.Clean, c.Query) }

// asWritten has a gate look at the clean form alone.
func asWritten(gate Gate) Gate {
	return func(c Candidate) Verdict {
		c.Query = c.clean()
		return gate(c)
	}
}

// inBothForms has a gate look at the final form and then at the clean one, of
// which neither may fail: a slip in the fifth word of six copied ones makes a
// query no less of a copy.
func inBothForms(gate Gate) Gate {
	return func(c Candidate) Verdict {
		final := gate(c)
		if written := asWritten(gate)(c); final.Check.Passed && !written.Check.Passed {
			return written
		}
		return final
	}
}
