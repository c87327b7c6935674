package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/eval"
	"github.com/goldgen/goldgen/generate"
	"github.com/goldgen/goldgen/internal/fetched"
	"github.com/goldgen/goldgen/judge"
	"github.com/goldgen/goldgen/retrieve"
	"github.com/goldgen/goldgen/sample"
)

// ConfigFile is the name of a project's configuration.
const ConfigFile = "goldgen.yaml"

// Providers of models.
const (
	ProviderOllama  = "ollama"
	ProviderOpenAI  = "openai"
	ProviderBuiltin = "builtin" // no model
	ProviderNone    = "none"    // judge only: no judging
	ProviderPanel   = "panel"   // only in pins: several judges
)

// ErrConfig marks a configuration or a flag that cannot be used: exit code 2.
var ErrConfig = errors.New("configuration")

// Config is goldgen.yaml with its defaults filled in.
type Config struct {
	Version    int                       `yaml:"version"`
	Name       string                    `yaml:"name"`
	Corpus     CorpusConfig              `yaml:"corpus"`
	Chunking   corpus.Chunking           `yaml:"chunking"`
	Embedding  *EmbeddingConfig          `yaml:"embedding,omitempty"`
	Sample     sample.Options            `yaml:"sample"`
	Generate   GenerateConfig            `yaml:"generate"`
	Judge      JudgeConfig               `yaml:"judge"`
	Eval       EvalConfig                `yaml:"eval"`
	Retrievers map[string]retrieve.Spec  `yaml:"retrievers,omitempty"`
	Gate       GateConfig                `yaml:"gate"`
	Golden     GoldenConfig              `yaml:"golden"`
	Waivers    []eval.Waiver             `yaml:"waivers,omitempty"`
	Sources    map[string]fetched.Config `yaml:"sources,omitempty"` // databases that places can name
	Endpoints  []string                  `yaml:"endpoints,omitempty"`
	Prompts    string                    `yaml:"prompts,omitempty"` // folder of changed prompt files
	Server     ServerConfig              `yaml:"server,omitempty"`
}

// CorpusConfig says where the corpus is and how its fields are called.
type CorpusConfig struct {
	Source  string            `yaml:"source"` // folder, .jsonl or .parquet of documents
	Chunks  string            `yaml:"chunks"` // .jsonl or .parquet of chunks
	Include []string          `yaml:"include"`
	Exclude []string          `yaml:"exclude"`
	Fields  map[string]string `yaml:"fields"` // our field -> theirs
	Path    string            `yaml:"path"`   // pattern such as {category}/{team}/**
	Unit    string            `yaml:"unit"`   // of records that do not say theirs
	SkipBad bool              `yaml:"skip_bad"`
}

// ModelConfig names a model and how it is asked.
type ModelConfig struct {
	Provider    string   `yaml:"provider"`
	Model       string   `yaml:"model"`
	Revision    string   `yaml:"revision"` // where the server has no digest
	NumCtx      int      `yaml:"num_ctx"`
	NumPredict  int      `yaml:"num_predict"`
	NumThread   int      `yaml:"num_thread"`
	Temperature float64  `yaml:"temperature"`
	Endpoints   []string `yaml:"endpoints"`   // default: the project's
	Concurrency int      `yaml:"concurrency"` // calls in flight
}

// GenerateConfig configures the generate stage.
type GenerateConfig struct {
	ModelConfig `yaml:",inline"`
	Evidence    string             `yaml:"evidence"`             // pick or quote
	Spare       float64            `yaml:"spare"`                // accepted cases beyond the plan's, as a share
	Difficulty  map[string]float64 `yaml:"difficulty,omitempty"` // band -> share of the cases; none: as it comes
}

// JudgeConfig configures the judge stage. In YAML it may also be a bare
// provider: `judge: none`.
type JudgeConfig struct {
	ModelConfig `yaml:",inline"`
	Ask         string         `yaml:"ask"` // grade or yes
	Panel       []PanelMember  `yaml:"panel,omitempty"`
	Combine     string         `yaml:"combine"` // of a panel: median or mean
	Pool        map[string]int `yaml:"pool"`    // member -> depth
	Labels      string         `yaml:"labels"`  // auto, none, prior or fitted: probabilities of a label model
	Profile     string         `yaml:"profile"` // of labels: fitted, the file that calibrate wrote
}

// PanelMember is a judge of a panel. What it leaves out is that of the judge.
type PanelMember struct {
	ModelConfig `yaml:",inline"`
	Ask         string `yaml:"ask"`
}

// EmbeddingConfig names the embedder of chunks and queries.
type EmbeddingConfig struct {
	Provider    string   `yaml:"provider"`
	Model       string   `yaml:"model"`
	Revision    string   `yaml:"revision"`
	Endpoints   []string `yaml:"endpoints"`
	Prefix      string   `yaml:"prefix"`       // before every chunk
	QueryPrefix string   `yaml:"query_prefix"` // before every query
	Batch       int      `yaml:"batch"`        // texts a call
	Concurrency int      `yaml:"concurrency"`
	Long        string   `yaml:"long"` // cut, split or fail
}

// EvalConfig says what eval computes when flags do not.
type EvalConfig struct {
	K            []int    `yaml:"k"`
	Metrics      []string `yaml:"metrics"`
	Retrievers   []string `yaml:"retrievers"`
	SliceBy      []string `yaml:"slice_by"`
	Source       string   `yaml:"source"`        // auto, in, judged or out
	Gates        []string `yaml:"gates"`         // what compare and eval --gates hold a result to
	FalseAnswers float64  `yaml:"false_answers"` // rate that the abstention threshold keeps
	MaxFailed    float64  `yaml:"max_failed"`    // share of failed queries from which on a result does not stand
}

// GateConfig says how gates decide.
type GateConfig struct {
	Alpha      float64 `yaml:"alpha"`       // one-sided level
	CannotTell string  `yaml:"cannot_tell"` // fail, warn or pass
}

// ServerConfig holds what every call to a model server obeys.
type ServerConfig struct {
	Timeout   time.Duration `yaml:"timeout"` // one call
	Rate      float64       `yaml:"rate"`    // calls a second and endpoint, 0 no limit
	KeepAlive time.Duration `yaml:"keep_alive"`
	Retries   int           `yaml:"retries"`
	KeyEnv    string        `yaml:"key_env"`  // environment variable that holds the API key
	KeyFile   string        `yaml:"key_file"` // or the file
}

// DefaultConfig returns the configuration of an empty goldgen.yaml.
func DefaultConfig() Config {
	return Config{
		Version: 1,
		Golden:  GoldenConfig{SizeWithin: 0.1, MixWithin: 0.1},
		Sample:  sampleDefaults(),
		Generate: GenerateConfig{
			ModelConfig: ModelConfig{NumCtx: 4096, NumPredict: 200},
			Evidence:    "pick", Spare: 0.2,
		},
		Judge: JudgeConfig{
			ModelConfig: ModelConfig{NumCtx: 4096, NumPredict: 16}, Ask: judge.AskGrade, Combine: judge.Median, Labels: LabelsAuto, Profile: ProfileFile,
		},
		Eval:   EvalConfig{K: []int{1, 5, 10}, Retrievers: []string{"bm25"}, SliceBy: []string{"query_type"}, Source: datasets.SourceAuto, FalseAnswers: eval.DefaultFalseAnswers, MaxFailed: 0.1},
		Gate:   GateConfig{Alpha: 0.05, CannotTell: "warn"},
		Server: ServerConfig{Timeout: 10 * time.Minute, KeepAlive: 30 * time.Minute, Retries: 4, KeyEnv: "GOLDGEN_API_KEY"},
	}
}

// sampleDefaults leaves the mix to fill: a map in the file takes the place of
// the default and is not merged into it.
func sampleDefaults() sample.Options {
	o := sample.Defaults()
	o.Mix = nil
	return o
}

// fill sets what the file left out and what hangs on other fields.
func (c *Config) fill() {
	if c.Sample.Mix == nil {
		c.Sample.Mix = sample.Defaults().Mix
	}
	c.Judge.Pool = poolWithDefaults(c.Judge.Pool)
	if len(c.Judge.Panel) > 0 {
		c.Judge.Provider = cmp.Or(c.Judge.Provider, ProviderOllama)
	}
	for _, m := range []*ModelConfig{&c.Generate.ModelConfig, &c.Judge.ModelConfig} {
		if m.Provider == "" {
			m.Provider = ProviderBuiltin
			if m.Model != "" {
				m.Provider = ProviderOllama
			}
		}
	}
	for i := range c.Judge.Panel {
		c.Judge.Panel[i].fill(c.Judge)
	}
	c.Chunking = c.Chunking.WithDefaults()
	if c.Corpus.Chunks != "" {
		c.Chunking = corpus.Chunking{Method: "none"}.WithDefaults()
	}
	c.Embedding.fill()
}

// fill takes from the judge what the member leaves out; a revision only with the
// model that it is of.
func (m *PanelMember) fill(j JudgeConfig) {
	m.Ask, m.Provider = cmp.Or(m.Ask, j.Ask), cmp.Or(m.Provider, j.Provider)
	if m.Model == "" {
		m.Model, m.Revision = j.Model, cmp.Or(m.Revision, j.Revision)
	}
	m.NumCtx, m.NumPredict = cmp.Or(m.NumCtx, j.NumCtx), cmp.Or(m.NumPredict, j.NumPredict)
	m.NumThread, m.Concurrency = cmp.Or(m.NumThread, j.NumThread), cmp.Or(m.Concurrency, j.Concurrency)
	m.Temperature = cmp.Or(m.Temperature, j.Temperature)
	if m.Endpoints == nil {
		m.Endpoints = j.Endpoints
	}
}

// poolWithDefaults keeps the default depths of what is no retriever; naming
// retrievers takes the place of the default ones.
func poolWithDefaults(pool map[string]int) map[string]int {
	out := judge.DefaultPool(0).Depth
	if pool == nil {
		return out
	}
	for name := range out {
		if !isPoolSetting(name) {
			delete(out, name)
		}
	}
	maps.Copy(out, pool)
	return out
}

func (e *EmbeddingConfig) fill() {
	if e == nil {
		return
	}
	e.Provider = cmp.Or(e.Provider, ProviderOllama)
	e.Long = cmp.Or(e.Long, "cut")
	e.Batch = cmp.Or(e.Batch, 32)
}

// LoadConfig reads dir/goldgen.yaml. All mistakes of the file come in one
// error, each with its line.
func LoadConfig(dir string) (Config, error) {
	path := filepath.Join(dir, ConfigFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, hinted("goldgen init writes one; -C names another folder", "%w: no %s in %s", ErrConfig, ConfigFile, dir)
	}
	if err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return ParseConfig(data, path)
}

// Validate reports what cannot work, each thing by its key.
func (c *Config) Validate() error {
	checks := []error{
		c.checkVersion(),
		datasets.ValidateName(c.Name),
		c.checkCorpus(),
		c.checkSources(),
		keyed("chunking", c.Chunking.Validate()),
		keyed("sample", c.Sample.Validate()),
		keyed("generate", c.Generate.validate()),
		keyed("judge", c.Judge.validate()),
		keyed("embedding", c.Embedding.validate()),
		keyed("eval", c.Eval.validate()),
		keyed("gate", c.Gate.validate()),
		keyed("golden", c.Golden.validate()),
		keyed("waivers", checkWaivers(c.Waivers)),
	}
	checks = append(checks, c.checkRetrievers()...)
	checks = slices.DeleteFunc(checks, func(err error) bool { return err == nil })
	if len(checks) == 0 {
		return nil
	}
	return problems(checks)
}

// problems are several mistakes, reported on one line.
type problems []error

func (p problems) Unwrap() []error { return p }

func (p problems) Error() string {
	texts := make([]string, len(p))
	for i, err := range p {
		texts[i] = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	return strings.Join(texts, "; ")
}

func keyed(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}

func (c *Config) checkVersion() error {
	if c.Version != 1 {
		return fmt.Errorf("version: %d, this goldgen reads 1", c.Version)
	}
	return nil
}

func (c *Config) checkCorpus() error {
	if c.Corpus.Source == "" && c.Corpus.Chunks == "" {
		return errors.New("corpus: neither source nor chunks is set")
	}
	if c.Chunking.Method == "none" && c.Corpus.Chunks == "" {
		return errors.New("chunking.method none: needs a chunk table (corpus.chunks)")
	}
	source := c.Corpus.source()
	source.Documents, source.Chunks = c.fileName(source.Documents), c.fileName(source.Chunks)
	return source.Validate()
}

// source is what corpus reads, with the paths as they stand in the file.
func (c CorpusConfig) source() corpus.Source {
	s := corpus.Source{
		Documents: c.Source, Chunks: c.Chunks, Include: c.Include, Exclude: c.Exclude, Fields: c.Fields, Unit: c.Unit, SkipBad: c.SkipBad,
	}
	if c.Path != "" {
		s.Paths = []string{c.Path}
	}
	return s
}

// checkRetrievers reads the retrievers that the file configures or names,
// before anything is spent on a set that they could not be scored over.
func (c *Config) checkRetrievers() []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(c.Retrievers)) {
		_, err := retrieve.ParseSpec(name, c.Retrievers)
		errs = append(errs, keyed("retrievers", err))
	}
	for _, name := range c.Eval.Retrievers {
		if _, configured := c.Retrievers[name]; !configured {
			_, err := retrieve.ParseSpec(name, c.Retrievers)
			errs = append(errs, keyed("eval.retrievers", err))
		}
	}
	return errs
}

func oneOf(key, value string, valid ...string) error {
	if slices.Contains(valid, value) {
		return nil
	}
	return fmt.Errorf("%s: %q, valid are %s", key, value, strings.Join(valid, ", "))
}

func (m ModelConfig) validate(providers ...string) error {
	if err := oneOf("provider", m.Provider, providers...); err != nil {
		return err
	}
	if m.UsesModel() && m.Model == "" {
		return fmt.Errorf("model: empty, provider %s needs one", m.Provider)
	}
	switch {
	case m.NumCtx <= 0:
		return fmt.Errorf("num_ctx: %d, want more than 0", m.NumCtx)
	case m.NumPredict <= 0:
		return fmt.Errorf("num_predict: %d, want more than 0", m.NumPredict)
	}
	if m.Concurrency < 0 || m.NumThread < 0 || m.Temperature < 0 {
		return errors.New("concurrency, num_thread, temperature: want 0 or more")
	}
	return nil
}

// UsesModel reports whether the provider is a model server.
func (m ModelConfig) UsesModel() bool {
	return m.Provider == ProviderOllama || m.Provider == ProviderOpenAI
}

func (g GenerateConfig) validate() error {
	if g.Spare < 0 {
		return fmt.Errorf("spare: %v, want 0 or more", g.Spare)
	}
	errs := []error{
		g.ModelConfig.validate(ProviderOllama, ProviderOpenAI, ProviderBuiltin),
		oneOf("evidence", g.Evidence, "pick", "quote"),
	}
	if len(g.Difficulty) > 0 {
		errs = append(errs, generate.CheckDifficulty("difficulty", g.Difficulty))
	}
	return errors.Join(errs...)
}

func (j JudgeConfig) validate() error {
	for _, member := range slices.Sorted(maps.Keys(j.Pool)) {
		if depth := j.Pool[member]; depth < 0 {
			return fmt.Errorf("pool: %s: %d, want 0 or more", member, depth)
		}
	}
	return errors.Join(
		oneOf("ask", j.Ask, judge.AskGrade, judge.AskYes),
		oneOf("labels", j.Labels, LabelsAuto, LabelsNone, judge.LevelPrior, judge.LevelFitted),
		j.validateModels())
}

// validateModels checks the judge, or each member of its panel.
func (j JudgeConfig) validateModels() error {
	if len(j.Panel) == 0 {
		return j.ModelConfig.validate(ProviderOllama, ProviderOpenAI, ProviderBuiltin, ProviderNone)
	}
	errs := []error{oneOf("combine", j.Combine, judge.Median, judge.Mean)}
	if !j.UsesModel() {
		errs = append(errs, fmt.Errorf("panel: provider %s asks no model", j.Provider))
	}
	if len(j.Panel) == 1 {
		errs = append(errs, errors.New("panel: 1 member, want at least 2"))
	}
	for i, m := range j.Panel {
		err := errors.Join(oneOf("ask", m.Ask, judge.AskGrade, judge.AskYes), m.ModelConfig.validate(ProviderOllama, ProviderOpenAI))
		errs = append(errs, keyed(fmt.Sprintf("panel[%d]", i), err))
	}
	return errors.Join(errs...)
}

func (e *EmbeddingConfig) validate() error {
	if e == nil {
		return nil
	}
	if e.Model == "" {
		return errors.New("model: empty")
	}
	return errors.Join(
		oneOf("provider", e.Provider, ProviderOllama, ProviderOpenAI),
		oneOf("long", e.Long, "cut", "split", "fail"))
}

func (e EvalConfig) validate() error {
	errs := []error{oneOf("source", e.Source, datasets.SourceAuto, "in", "judged", "out")}
	if len(e.K) == 0 {
		errs = append(errs, errors.New("k: none named"))
	}
	for _, k := range e.K {
		if k < 1 || k > eval.MaxCut {
			errs = append(errs, fmt.Errorf("k: %d, want 1 to %d", k, eval.MaxCut))
		}
	}
	if len(e.Metrics) > 0 {
		_, err := eval.ParseMeasures(strings.Join(e.Metrics, ","))
		errs = append(errs, keyed("metrics", err))
	}
	if _, err := ParseGates(e.Gates); err != nil {
		errs = append(errs, keyed("gates", err))
	}
	if !(e.FalseAnswers >= 0 && e.FalseAnswers <= 1) {
		errs = append(errs, fmt.Errorf("false_answers: %v, want a share from 0 to 1", e.FalseAnswers))
	}
	if !(e.MaxFailed >= 0 && e.MaxFailed <= 1) {
		errs = append(errs, fmt.Errorf("max_failed: %v, want a share from 0 to 1", e.MaxFailed))
	}
	for _, name := range e.SliceBy {
		errs = append(errs, oneOf("slice_by", name, eval.SliceNames()...))
	}
	return errors.Join(errs...)
}
