package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/internal/filedigest"
	"github.com/goldgen/goldgen/internal/parquetfile"
	"github.com/goldgen/goldgen/judge"
)

// AnswersHistoryFile is where every answers result leaves a line.
const AnswersHistoryFile = "answers_results.jsonl"

// AnswersFormat is the version of an answers result's format.
const AnswersFormat = 1

// answersManifest is result.json of an answers result.
type answersManifest struct {
	Format    int               `json:"format"`
	Goldgen   string            `json:"goldgen"`
	CreatedAt string            `json:"created_at"`
	Pins      datasets.Pins     `json:"pins"`
	Files     map[string]string `json:"files"` // name -> sha256
	AnswersReport
}

// answerRow is a row of an answers result's cases.parquet.
type answerRow struct {
	CaseID      string        `parquet:"case_id"`
	Query       string        `parquet:"query"`
	Answer      string        `parquet:"answer"`
	Given       bool          `parquet:"given"`
	Reference   string        `parquet:"reference"`
	Abstained   findingRow    `parquet:"abstained"`
	AbstainedBy string        `parquet:"abstained_by"`
	Relevance   findingRow    `parquet:"relevance"`
	Correctness findingRow    `parquet:"correctness"`
	Claims      []claimRow    `parquet:"claims,list"`
	Citations   []citationRow `parquet:"citations,list"`
	Metrics     []metricRow   `parquet:"metrics,list"`
	Unknown     []string      `parquet:"unknown,list"`
}

type findingRow struct {
	Value   *float64 `parquet:"value,optional"`
	P       *float64 `parquet:"p,optional"`
	Unknown string   `parquet:"unknown"`
}

type claimRow struct {
	Text      string     `parquet:"text"`
	Support   findingRow `parquet:"support"`
	Citations []int32    `parquet:"citations,list"`
	CitedWell findingRow `parquet:"cited_well"`
}

type citationRow struct {
	Ref       string     `parquet:"ref"`
	ChunkID   string     `parquet:"chunk_id"`
	Whole     bool       `parquet:"whole"`
	InContext bool       `parquet:"in_context"`
	Missing   bool       `parquet:"missing"`
	Supports  findingRow `parquet:"supports"`
}

func asFindingRow(f judge.Finding) findingRow {
	return findingRow{Value: f.Value, P: f.P, Unknown: f.Unknown}
}

func asAnswerRow(c AnswersCase) answerRow {
	row := answerRow{
		CaseID: c.CaseID, Query: c.Query, Answer: c.Answer, Given: c.Given, Reference: c.Reference, Unknown: c.Unknown,
		Abstained: asFindingRow(c.Judged.Abstained), AbstainedBy: c.Judged.AbstainedBy,
		Relevance: asFindingRow(c.Judged.Relevance), Correctness: asFindingRow(c.Judged.Correctness),
	}
	for _, v := range c.Metrics {
		row.Metrics = append(row.Metrics, metricRow(v))
	}
	for _, claim := range c.Judged.Claims {
		out := claimRow{Text: claim.Text, Support: asFindingRow(claim.Support), CitedWell: asFindingRow(claim.CitedWell)}
		for _, at := range claim.Citations {
			out.Citations = append(out.Citations, int32(at))
		}
		row.Claims = append(row.Claims, out)
	}
	for _, c := range c.Judged.Citations {
		row.Citations = append(row.Citations, citationRow{
			Ref: c.Ref, ChunkID: c.ChunkID, Whole: c.Whole, InContext: c.InContext, Missing: c.Missing, Supports: asFindingRow(c.Supports),
		})
	}
	return row
}

// keepAnswers writes the result's folder and its line of the history.
func (p *Project) keepAnswers(r *answersRun, report *AnswersReport) error {
	m := answersManifest{
		Format: AnswersFormat, Goldgen: p.Version, CreatedAt: p.stamp(), Pins: r.set.Manifest.Pins, AnswersReport: *report,
	}
	if err := r.write(m); err != nil {
		return err
	}
	report.Path = r.out
	return p.appendAnswersHistory(m, r.out)
}

// checkPlace refuses a folder that holds something else, or answers to another
// set or by another judge.
func (r *answersRun) checkPlace() error {
	dir := r.out
	if free, err := placeIsFree(dir); free || err != nil {
		return err
	}
	old, err := readAnswersManifest(dir)
	if err != nil {
		return fmt.Errorf("%w: --out %s: holds something that is no result of eval answers", ErrConfig, dir)
	}
	if old.Golden.Name != r.set.Manifest.Name || old.Judge.Name != r.judge.Name {
		return hinted("choose another folder for --out", "%w: --out %s: holds answers to %s judged by %s", ErrConfig, dir, old.Golden.Name, old.Judge.Name)
	}
	return nil
}

// write makes the folder, whole or not at all.
func (r *answersRun) write(m answersManifest) error {
	rows := make([]answerRow, len(m.Cases))
	for i := range m.Cases {
		rows[i] = asAnswerRow(m.Cases[i])
	}
	_, err := writeResult(r.out, rows, func(files map[string]string) any {
		m.Files, m.Cases, m.Path = files, nil, ""
		return m
	}, r.checkPlace)
	return err
}

func readAnswersManifest(dir string) (answersManifest, error) {
	var m answersManifest
	path := filepath.Join(dir, resultFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, hinted("a result of answers is a folder that goldgen eval answers made", "no result in %s: %s is missing", dir, resultFile)
	}
	if err != nil {
		return m, err
	}
	kind, err := kindOfResult(data)
	if err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	if kind != KindAnswers {
		return m, fmt.Errorf("%w: %s: a result of retrieval, and one of answers is wanted", ErrConfig, dir)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	switch {
	case m.Format != AnswersFormat || m.AnswersResult == nil:
		return m, fmt.Errorf("%s: format %d, this version reads %d", path, m.Format, AnswersFormat)
	}
	return m, checkResult(path, data)
}

// kindOfResult is the kind that a result.json names; "" is retrieval's.
func kindOfResult(data []byte) (string, error) {
	var m struct {
		Kind string `json:"kind"`
	}
	err := json.Unmarshal(data, &m)
	return m.Kind, err
}

// readBaseline reads an earlier result. It must be of the same version of the
// set, as it must be by the same judge: else a difference could be theirs.
func (r *answersRun) readBaseline(dir string) error {
	if dir == "" {
		return nil
	}
	m, err := readAnswersManifest(dir)
	if err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	if ref := r.set.Ref(); m.Golden.Digest != ref.Digest {
		return fmt.Errorf("%w: --baseline %s: answers to %s, and these are to %s", ErrNotComparable, dir, m.Golden.Ref, ref)
	}
	r.base, r.baseDir = &m, dir
	r.baseCases, err = readAnswerValues(dir, m)
	return err
}

func readAnswerValues(dir string, m answersManifest) (eval.AnswerBaseline, error) {
	rows, err := readAnswerRows(dir, m)
	if err != nil {
		return nil, err
	}
	out := eval.AnswerBaseline{}
	for _, row := range rows {
		values := eval.Values{}
		for _, v := range row.Metrics {
			values = append(values, eval.Value(v))
		}
		out[row.CaseID] = values
	}
	return out, nil
}

// readAnswerRows reads the cases of a result.
func readAnswerRows(dir string, m answersManifest) ([]answerRow, error) {
	path := filepath.Join(dir, casesFile)
	digest, err := filedigest.SHA256(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if digest != m.Files[casesFile] {
		return nil, fmt.Errorf("%w: %s: it is not the file that eval answers wrote: cut short or changed", ErrDamaged, path)
	}
	rows, err := parquetfile.ReadFile[answerRow](path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return rows, nil
}

// sameJudge refuses a baseline that another model, or other prompts, judged.
func (r *answersRun) sameJudge() error {
	if r.base == nil {
		return nil
	}
	was, now := r.base.Judge.Pin, r.pin
	same := was != nil && was.Provider == now.Provider && was.Model == now.Model && was.Digest == now.Digest &&
		was.Revision == now.Revision && maps.Equal(was.Prompts, now.Prompts)
	if same {
		return nil
	}
	return hinted("judge the baseline's answers again with this judge",
		"%w: --baseline %s: judged by %s, and these by %s: another model, or another version of it or of its prompts",
		ErrNotComparable, r.baseDir, r.base.Judge.Name, r.judge.Name)
}

// readRetrieval reads the result to lay beside the answers.
func (r *answersRun) readRetrieval(dir string) (*Kept, error) {
	if dir == "" {
		return nil, nil
	}
	stored, err := ReadResult(dir)
	if err != nil {
		return nil, fmt.Errorf("--retrieval: %w", err)
	}
	if g := stored.Result.Golden; g == nil || g.Digest != r.set.Ref().Digest {
		return nil, fmt.Errorf("%w: --retrieval %s: not a result over %s", ErrNotComparable, dir, r.set.Ref())
	}
	kept, err := stored.Read()
	if err != nil {
		return nil, fmt.Errorf("--retrieval: %w", err)
	}
	return kept, nil
}

// answersHistoryLine is a line of answers_results.jsonl.
type answersHistoryLine struct {
	Format      int                `json:"format"`
	Time        string             `json:"time"`
	Golden      *eval.GoldenRef    `json:"golden"`
	Trust       string             `json:"trust"`
	TrustDetail string             `json:"trust_detail"`
	Judge       string             `json:"judge"`
	Answers     AnswersFile        `json:"answers"`
	Metrics     eval.AnswerMetrics `json:"metrics"`
	Counts      eval.AnswerCounts  `json:"counts"`
	Verdict     string             `json:"verdict"`
	Path        string             `json:"path"` // of the result, seen from the project's folder
}

func (p *Project) appendAnswersHistory(m answersManifest, path string) error {
	return appendLine(filepath.Join(p.Dir, AnswersHistoryFile), answersHistoryLine{
		Format: AnswersFormat, Time: m.CreatedAt, Golden: p.fromHere(&m.Golden), Trust: m.Trust, TrustDetail: m.TrustDetail,
		Judge: m.Judge.Name, Answers: m.Answers, Metrics: m.Metrics, Counts: m.Counts, Verdict: m.Verdict,
		Path: p.relative(path),
	})
}
