package pipeline

import (
	"cmp"
	"fmt"
	"runtime/debug"
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
	joined, err := o.read()
	if err != nil {
		return nil, err
	}
	in := eval.Input{
		Cases: joined.cases, Measures: measures, MinGrade: max(1, o.MinGrade), KeepEmpty: true, Duplicates: joined.duplicates,
		Header: eval.Header{
			Trust: datasets.TrustReviewed, TrustDetail: "as the qrels say",
			Retriever: eval.RetrieverRef{Spec: "run:" + o.Run, Name: cmp.Or(joined.tag, o.Run)}, K: o.K,
		},
	}
	notes := joined.notes()
	result, err := eval.Evaluate(joined.input(in))
	if err != nil {
		return nil, refused(err)
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
	_, err = d.write(o.Out)
	return &Evaluation{Result: result, Path: o.Out}, err
}

// topics are the two files, joined.
type topics struct {
	cases      []eval.Case
	apart      *eval.Topics // labels and rankings of cases that have none of their own
	extra      []string     // the run's topics that the qrels lack
	duplicates int          // results dropped already
	tag        string       // the run's
}

// read reads the two files and joins them: for a result that is kept, all ids
// are needed at once.
func (o FilesOptions) read() (*topics, error) {
	qrels, run, err := readBoth(o.Qrels, o.Run)
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // what reading leaves behind is as large as what is kept: scoring is to take its place
	t := &topics{tag: run.Tag}
	row := t.match(qrels, run)
	if all := len(run.Queries()); len(t.extra) == all {
		return nil, fmt.Errorf("run %s: none of its %d topics (%s) is in the qrels", o.Run, all, firstFew(t.extra))
	}
	if o.Out != "" {
		t.whole(qrels, run, row)
	} else {
		t.slim(qrels, run, row)
	}
	return t, nil
}

// input is in with what stands apart: only Evaluate holds that, and lets go of
// it as soon as it can.
func (t *topics) input(in eval.Input) eval.Input {
	in.Topics = t.apart
	return in
}

func (t *topics) notes() []string {
	if len(t.extra) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d topics of the run have no qrels and are left out: %s", len(t.extra), firstFew(t.extra))}
}

// readBoth reads the two files at once.
func readBoth(qrelsPath, runPath string) (qrels *datasets.Qrels, run *retrieve.Table, err error) {
	done := make(chan error, 1)
	go func() {
		var e error
		qrels, e = datasets.ReadQrels(qrelsPath)
		done <- e
	}()
	run, err = retrieve.ReadTable(runPath)
	if e := <-done; e != nil {
		return nil, nil, e
	}
	return qrels, run, err
}

// match finds the query of the run for each topic of the qrels, -1 for none,
// and lists those that no topic has.
func (t *topics) match(qrels *datasets.Qrels, run *retrieve.Table) []int32 {
	row := make([]int32, len(qrels.Topics))
	judged := make([]bool, len(run.Queries()))
	last := -1
	for i := range qrels.Topics {
		row[i] = -1
		if at, ok := run.Index(qrels.Topics[i].ID, last); ok {
			row[i], judged[at] = int32(at), true
			last = at
		}
	}
	for at, query := range run.Queries() {
		if !judged[at] {
			t.extra = append(t.extra, query)
		}
	}
	return row
}

// whole takes over the table. It counts the results dropped of judged topics
// alone, as scoring does.
func (t *topics) whole(qrels *datasets.Qrels, table *retrieve.Table, row []int32) {
	t.cases = eval.FromQrels(qrels)
	for _, at := range row {
		if at >= 0 {
			t.duplicates += len(table.Scores(int(at)))
		}
	}
	run := table.Run()
	for i, at := range row {
		if at >= 0 {
			t.cases[i].Ranking, t.cases[i].Scores = run.Rankings[at].IDs, run.Rankings[at].Scores
			t.duplicates -= len(run.Rankings[at].IDs)
		}
	}
}

func (t *topics) slim(qrels *datasets.Qrels, run *retrieve.Table, row []int32) {
	t.cases = make([]eval.Case, len(row))
	for i, at := range row {
		t.cases[i].ID = qrels.Topics[i].ID
		if at >= 0 {
			t.cases[i].Scores = run.Scores(int(at))
		}
	}
	t.apart = &eval.Topics{Qrels: qrels, Ranking: func(i int, to []string) []string { return run.IDs(int(row[i]), to) }}
}
