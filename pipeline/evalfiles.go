package pipeline

import (
	"fmt"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/retrieve"
)

// FilesOptions score a run file against a qrels file: no project, no golden
// set.
type FilesOptions struct {
	Qrels    string
	Run      string
	Measures string
	K        []int
	MinGrade int // 0 means 1
	PerCase  bool
	Out      string // result folder; "" keeps nothing
	Version  string
	Now      func() time.Time
}

// EvalFiles scores a TREC or Parquet run against TREC or Parquet qrels with
// trec_eval's conventions: a topic with nothing relevant scores 0 and counts,
// and so does a judged topic that the run lacks.
func EvalFiles(o FilesOptions) (*Evaluation, error) {
	measures, err := measuresOf(o.Measures, o.K)
	if err != nil {
		return nil, err
	}
	if err := eval.CheckConditions(measures, nil); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	qrels, run, err := readBoth(o.Qrels, o.Run)
	if err != nil {
		return nil, err
	}
	cases, extra := topicCases(qrels, run)
	if len(extra) == len(run.Queries) {
		return nil, fmt.Errorf("run %s: none of its %d topics (%s) is in the qrels", o.Run, len(extra), firstFew(extra))
	}
	in := eval.Input{
		Cases: cases, Measures: measures, MinGrade: max(1, o.MinGrade), KeepEmpty: true, Duplicates: run.Duplicates,
		Header: eval.Header{
			Trust: datasets.TrustReviewed, TrustDetail: "as the qrels say",
			Retriever: eval.RetrieverRef{Spec: "run:" + o.Run, Name: runName(run, o.Run)}, K: o.K,
		},
	}
	result, err := eval.Evaluate(in)
	if err != nil {
		return nil, refused(err)
	}
	var notes []string
	if len(extra) > 0 {
		notes = append(notes, fmt.Sprintf("%d topics of the run have no qrels and are left out: %s", len(extra), firstFew(extra)))
	}
	result.Notes = append(result.Notes, notes...)
	if o.PerCase {
		result.AddCases()
	}
	if o.Out == "" {
		return &Evaluation{Result: result}, nil
	}
	return o.keep(in, result, notes)
}

// keep writes the result's folder.
func (o FilesOptions) keep(in eval.Input, result *eval.Result, notes []string) (*Evaluation, error) {
	description, err := retrieve.Spec{Name: "run:" + o.Run, Kind: retrieve.KindRun, Config: &retrieve.RunConfig{File: o.Run}}.Describe(nil)
	if err != nil {
		return nil, err
	}
	d := resultDraft{input: in, resultManifest: resultManifest{
		Format: ResultFormat, Goldgen: o.Version, CreatedAt: o.Now().UTC().Format(time.RFC3339),
		Retriever: description, Scoring: scoringOf(&in, notes), Result: result,
	}}
	return &Evaluation{Result: result, Path: o.Out}, d.write(o.Out)
}

// readBoth reads the two files at once.
func readBoth(qrelsPath, runPath string) (qrels *datasets.Qrels, run *retrieve.Run, err error) {
	done := make(chan error, 1)
	go func() {
		var e error
		qrels, e = datasets.ReadQrels(qrelsPath)
		done <- e
	}()
	run, err = retrieve.ReadRun(runPath)
	if e := <-done; e != nil {
		return nil, nil, e
	}
	return qrels, run, err
}

func runName(run *retrieve.Run, path string) string {
	if run.Tag != "" {
		return run.Tag
	}
	return path
}

// topicCases joins the run's rankings to the qrels' topics, and lists the
// run's topics that the qrels lack.
func topicCases(qrels *datasets.Qrels, run *retrieve.Run) (cases []eval.Case, extra []string) {
	cases = eval.FromQrels(qrels)
	judged := make(map[string]bool, len(cases))
	for i := range cases {
		judged[cases[i].ID] = true
		ranking, _ := run.Ranking(cases[i].ID)
		cases[i].Ranking, cases[i].Scores = ranking.IDs, ranking.Scores
	}
	for _, topic := range run.Queries {
		if !judged[topic] {
			extra = append(extra, topic)
		}
	}
	return cases, extra
}
