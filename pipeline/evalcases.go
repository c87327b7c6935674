package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
)

// Restriction says that only some cases are asked. Its parts all hold; slices
// of one dimension are alternatives.
type Restriction struct {
	Cases   []string // ids, or beginnings of one
	Slices  []string // dimension=value
	Failing string   // a result: only the cases that failed in it
}

// chooseCases lists the cases to ask and says which they are.
func (j *evalJob) chooseCases() error {
	if j.earlier != nil {
		return j.casesOf(j.earlier)
	}
	var parts []string
	if j.cases = activeCases(j.set, j.o.Include); len(j.cases) == 0 {
		return fmt.Errorf("golden set %s has no active case", j.set.Ref())
	}
	for _, restrict := range []func() (string, error){j.onlyNamed, j.onlySlices, j.onlyFailing} {
		part, err := restrict()
		if err != nil {
			return err
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	j.restriction = strings.Join(parts, ", ")
	if len(j.cases) == 0 {
		return fmt.Errorf("%w: golden set %s has no such case: %s", ErrConfig, j.set.Ref(), j.restriction)
	}
	return nil
}

// casesOf takes those that an earlier result asked.
func (j *evalJob) casesOf(k *Kept) error {
	asked := map[string]bool{}
	for i := range k.Input.Cases {
		asked[k.Input.Cases[i].ID] = true
	}
	j.keepCases(asked)
	j.restriction = k.Restriction
	if len(j.cases) != len(asked) {
		return fmt.Errorf("%w: result %s asked %d cases, golden set %s has %d of them", ErrNotComparable, k.Dir, len(asked), j.set.Ref(), len(j.cases))
	}
	return nil
}

// keepCases chooses from all cases of the set where none are chosen yet.
func (j *evalJob) keepCases(ids map[string]bool) {
	from := j.cases
	if from == nil {
		from = j.set.Cases
	}
	j.cases = slices.DeleteFunc(slices.Clone(from), func(c datasets.Case) bool { return !ids[c.ID] })
}

func (j *evalJob) onlyNamed() (string, error) {
	if len(j.o.Cases) == 0 {
		return "", nil
	}
	ids := map[string]bool{}
	var names []string
	for _, name := range j.o.Cases {
		c, err := findCase(j.set, name)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrConfig, err)
		}
		ids[c.ID] = true
		names = append(names, c.ID)
	}
	j.keepCases(ids)
	return "case " + strings.Join(names, " "), nil
}

func (j *evalJob) onlySlices() (string, error) {
	wanted := map[string][]string{}
	var order []string
	for _, s := range j.o.Slices {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return "", fmt.Errorf("%w: slice %q: want dimension=value, such as query_type=factual", ErrConfig, s)
		}
		if wanted[name] == nil {
			order = append(order, name)
		}
		wanted[name] = append(wanted[name], value)
	}
	for _, name := range order {
		if err := j.onlySlice(name, wanted[name]); err != nil {
			return "", err
		}
	}
	return strings.Join(j.o.Slices, " "), nil
}

// onlySlice keeps the cases with one of the values, each of which must exist.
func (j *evalJob) onlySlice(name string, values []string) error {
	d, err := eval.GoldenDimension(j.cases, name)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	ids, seen := map[string]bool{}, map[string]bool{}
	for i := range j.cases {
		for _, v := range d.Values(i) {
			seen[v] = true
			if slices.Contains(values, v) {
				ids[j.cases[i].ID] = true
			}
		}
	}
	for _, v := range values {
		if !seen[v] {
			return fmt.Errorf("%w: no case with %s=%s; there is %s", ErrConfig, name, v, strings.Join(sortedKeys(seen), ", "))
		}
	}
	j.keepCases(ids)
	return nil
}

func sortedKeys(m map[string]bool) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// onlyFailing keeps the cases that failed in a result: their query failed, they
// leaked, or nothing relevant was in their top k.
func (j *evalJob) onlyFailing() (string, error) {
	if j.o.Failing == "" {
		return "", nil
	}
	k, err := readKept(j.o.Failing)
	if err != nil {
		return "", fmt.Errorf("--filter-failing: %w", err)
	}
	ids, err := k.failing(slices.Max(j.o.K))
	if err != nil {
		return "", err
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("%w: no case failed in %s", ErrConfig, k.Dir)
	}
	j.keepCases(ids)
	return "failing in " + k.Dir, nil
}

// failing lists the cases that failed at k.
func (k *Kept) failing(depth int) (map[string]bool, error) {
	ids := map[string]bool{}
	if k.Input.Unit == eval.UnitSpans {
		return ids, k.missedSpans(depth, ids)
	}
	for _, i := range eval.FailedCases(k.Input.Cases, k.Result.Leaks, k.Input.MinGrade, depth) {
		ids[k.Input.Cases[i].ID] = true
	}
	return ids, nil
}

// missedSpans is failing where spans were ranked: none of the evidence is in
// the top k.
func (k *Kept) missedSpans(depth int, ids map[string]bool) error {
	found, err := eval.ParseMeasure(fmt.Sprintf("span_recall@%d", depth))
	if err != nil {
		return err
	}
	in := k.Input
	in.Measures, in.Dimensions = []eval.Measure{found}, nil
	result, err := eval.Evaluate(in)
	if err != nil {
		return err
	}
	for row := range result.Rows() {
		value, has := row.Metrics.Get(found.Name)
		if row.Missing || len(row.Leaks) > 0 || (has && value == 0) {
			ids[row.CaseID] = true
		}
	}
	return nil
}
