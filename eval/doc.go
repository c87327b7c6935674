// Package eval owns what a ranking is worth: measures by name, means with
// their intervals, slices, leaks, abstention, latency, and the Result that
// holds them. It takes rankings and labels, not retrievers or files: a measure
// is a function of one case's ranking and labels, so the same numbers come from
// a golden set, from TREC files or from labels drawn at random.
package eval
