package report

import (
	"fmt"

	"github.com/goldgen/goldgen/eval"
)

// fact is a named value that stands at the head of a report.
type fact struct{ Name, Value string }

// facts say what was scored, over what, and under which conventions.
func facts(f *Findings) []fact {
	r := f.Results[0].Result
	out := []fact{{"retriever", retrieverWords(r.Retriever)}}
	if c := f.Comparison; c != nil {
		out = append(out, fact{"baseline", retrieverWords(c.Base)})
	}
	if r.Golden != nil {
		out = append(out, fact{"golden set", r.Golden.Ref + " (" + ShortDigest(r.Golden.Digest) + ")"})
	}
	out = append(out, fact{"trust", trustWords(r.Trust, r.TrustDetail)}, fact{"cases", caseWords(r)})
	if c := f.Comparison; c != nil && c.Comparable {
		out = append(out, fact{"changed", changedWords(c)}, fact{"method", c.Method})
		if c.Judged.K > 0 {
			out = append(out, fact{fmt.Sprintf("judged@%d", c.Judged.K), share(c.Judged.Base) + " of the baseline's results, " + share(c.Judged.Candidate) + " of the candidate's"})
		}
	}
	out = append(out, fact{"conventions", conventionWords(&r.Conventions)})
	if made := f.Results[0].Made; !made.IsZero() {
		out = append(out, fact{"scored", made.UTC().Format("2006-01-02 15:04 UTC")})
	}
	if f.Goldgen != "" {
		out = append(out, fact{"goldgen", f.Goldgen})
	}
	return out
}

func changedWords(c *eval.Comparison) string {
	return fmt.Sprintf("%d of %s, in %s", c.Changed, count(c.Cases, "case", "cases"), count(c.Clusters, "cluster", "clusters"))
}

func share(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100**v)
}

// subject names what was scored in a line.
func subject(r *eval.Result) string {
	s := retrieverWords(r.Retriever)
	if r.Golden != nil {
		s += " on " + r.Golden.Ref
	}
	return s
}
