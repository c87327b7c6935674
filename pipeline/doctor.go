package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/internal/wording"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/ollama"
)

// States of a finding.
const (
	StateOK   = "ok"
	StateWarn = "warn"
	StateFail = "fail"
)

// Finding is what doctor says of one part.
type Finding struct {
	Part   string `json:"part"`
	State  string `json:"state"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// Doctor looks at everything that a run needs and changes nothing, unless pull
// is set: then models that an Ollama server lacks are fetched.
func (p *Project) Doctor(ctx context.Context, pull func(model, status string, completed, total int64)) []Finding {
	findings := []Finding{{Part: "configuration", State: StateOK, Detail: ConfigFile + " of " + p.Config.Name}}
	findings = append(findings, p.doctorPlaces(ctx)...)
	findings = append(findings, p.doctorCorpus(), p.doctorSnapshot(ctx), p.doctorCache(ctx))
	for _, m := range p.doctorModels() {
		findings = append(findings, p.doctorModel(ctx, m, pull))
	}
	findings = append(findings, p.doctorRetrievers(ctx)...)
	return append(findings, p.doctorSets()...)
}

func finding(part string, err error, detail string) Finding {
	if err == nil {
		return Finding{Part: part, State: StateOK, Detail: detail}
	}
	f := Finding{Part: part, State: StateFail, Detail: err.Error(), Hint: llm.Hint(err)}
	var h *HintedError
	if errors.As(err, &h) {
		f.Hint = h.Hint
	}
	return f
}

func (p *Project) doctorCorpus() Finding {
	if p.unfetched() {
		return Finding{Part: "corpus", State: StateWarn, Detail: "lies elsewhere and was not fetched yet", Hint: "goldgen snapshot"}
	}
	files, err := p.statSources()
	if err == nil && len(files) == 0 {
		err = errors.New(p.buildOptions().Source.WhyNothing())
	}
	if source := p.buildOptions().Source; err == nil && source.Chunks == "" {
		return p.readCorpus(source, wording.Count(len(files), "file"))
	}
	return finding("corpus", err, wording.Count(len(files), "file"))
}

// Doctor reads the corpus for corpusTime at most, and names the first few of what
// it finds wrong.
const (
	corpusTime  = 5 * time.Second
	corpusEvery = 64 // documents between two looks at the clock
	corpusNamed = 3
)

// readCorpus reads the documents as a snapshot would, and names those that it would
// refuse, or skip with skip_bad, and those without any text.
func (p *Project) readCorpus(source corpus.Source, size string) Finding {
	f := Finding{Part: "corpus", State: StateOK, Detail: size}
	var bad, empty []string
	read, end := 0, p.Now().Add(corpusTime)
	for doc, err := range corpus.ReadDocuments(source) {
		switch {
		case err != nil:
			bad = append(bad, err.Error())
		case strings.TrimSpace(doc.Text) == "":
			empty = append(empty, doc.ID)
		}
		if read++; read%corpusEvery == 0 && p.Now().After(end) {
			f.Detail += fmt.Sprintf("; the first %d were read in %s", read, corpusTime)
			break
		}
	}
	if len(empty) > 0 {
		f.State, f.Detail = StateWarn, f.Detail+"; without any text: "+someOf(empty, corpusNamed)
	}
	if len(bad) > 0 {
		f.State, f.Detail, f.Hint = StateFail, f.Detail+"; cannot be read: "+someOf(bad, corpusNamed), "mend them, or leave them out: corpus.exclude, or skip_bad: true for what is not UTF-8"
		if source.SkipBad {
			f.State, f.Hint = StateWarn, ""
		}
	}
	if len(empty) > 0 && len(empty) == read {
		f.State = StateFail
	}
	return f
}

func (p *Project) doctorSnapshot(ctx context.Context) Finding {
	s, err := p.latestSnapshot("")
	if err != nil {
		f := finding("snapshot", err, "")
		f.State = StateWarn
		return f
	}
	m := s.Manifest()
	drift, err := p.sourceDrift(ctx, s)
	if err == nil && drift != "" {
		return Finding{Part: "snapshot", State: StateWarn, Detail: "older than the corpus: " + drift, Hint: "goldgen snapshot"}
	}
	return finding("snapshot", err, fmt.Sprintf("%.16s, %s, %s", m.Digest, wording.Count(m.Documents, "document"), wording.Count(m.Chunks, "chunk")))
}

func (p *Project) doctorCache(ctx context.Context) Finding {
	err := p.begin(ctx)
	if err != nil {
		return finding("cache", err, "")
	}
	stats, err := p.models.cache.Stats(ctx)
	replies := 0
	for _, s := range stats {
		replies += s.Replies
	}
	return finding("cache", err, wording.Count(replies, "reply"))
}

// doctored is a model of the configuration and what it must be able to do.
type doctored struct {
	part, provider, model string
	endpoints             []string
	capability            string
	config                ModelConfig // how a model is asked; an embedder has none
}

func (p *Project) doctorModels() []doctored {
	g, j, e := p.Config.Generate, p.Config.Judge, p.Config.Embedding
	out := []doctored{{"generate", g.Provider, g.Model, g.Endpoints, "completion", g.ModelConfig}}
	for i, m := range j.Panel {
		out = append(out, doctored{fmt.Sprintf("judge %d", i+1), m.Provider, m.Model, m.Endpoints, "completion", m.ModelConfig})
	}
	if len(j.Panel) == 0 {
		out = append(out, doctored{"judge", j.Provider, j.Model, j.Endpoints, "completion", j.ModelConfig})
	}
	if e != nil {
		out = append(out, doctored{part: "embedding", provider: e.Provider, model: e.Model, endpoints: e.Endpoints, capability: "embedding"})
	}
	return out
}

func (p *Project) doctorModel(ctx context.Context, m doctored, pull func(model, status string, completed, total int64)) Finding {
	switch m.provider {
	case ProviderBuiltin:
		return Finding{Part: m.part, State: StateWarn, Detail: "provider builtin: no model; shows the pipeline, not quality",
			Hint: fmt.Sprintf("set %s: {provider: ollama, model: ...} in goldgen.yaml", m.part)}
	case ProviderNone:
		return Finding{Part: m.part, State: StateOK, Detail: "off"}
	}
	p.Progress.Begin("ask "+m.model, 0) // a large model takes minutes to load
	defer p.Progress.End()
	if m.provider == ProviderOllama {
		return p.doctorOllama(ctx, m, pull)
	}
	err := p.askOnce(ctx, m)
	return finding(m.part, err, fmt.Sprintf("%s %s answers", m.provider, m.model))
}

func (p *Project) doctorOllama(ctx context.Context, m doctored, pull func(model, status string, completed, total int64)) Finding {
	endpoints, err := p.endpoints(m.endpoints, m.provider)
	if err != nil {
		return finding(m.part, err, "")
	}
	if len(endpoints) == 0 {
		endpoints = []string{ollama.DefaultEndpoint}
	}
	for _, endpoint := range endpoints {
		if err := checkOllama(ctx, endpoint, m, pull); err != nil {
			return finding(m.part, err, "")
		}
	}
	err = p.askOnce(ctx, m)
	at := make([]string, len(endpoints))
	for i, endpoint := range endpoints {
		at[i] = llm.RedactURL(endpoint)
	}
	return finding(m.part, err, fmt.Sprintf("ollama %s answers at %s", m.model, strings.Join(at, ", ")))
}

func checkOllama(ctx context.Context, endpoint string, m doctored, pull func(model, status string, completed, total int64)) error {
	client, err := ollama.New(ollama.Config{Endpoint: endpoint, HTTP: llm.NewHTTPClient(llm.TransportConfig{})})
	if err != nil {
		return err
	}
	_, err = client.Resolve(ctx, m.model)
	if errors.Is(err, llm.KindModelNotFound) && pull != nil {
		err = client.Pull(ctx, m.model, func(status string, completed, total int64) { pull(m.model, status, completed, total) })
	}
	if err != nil {
		return err
	}
	can, err := client.Capabilities(ctx, m.model)
	if err == nil && can != nil && !slices.Contains(can, m.capability) {
		err = fmt.Errorf("model %s cannot do %s (it can: %v)", m.model, m.capability, can)
	}
	return err
}

// askOnce asks the model for a word, or the embedder for a vector.
func (p *Project) askOnce(ctx context.Context, m doctored) error {
	if m.capability == "embedding" {
		e, err := p.openEmbedder(ctx)
		if err != nil {
			return err
		}
		return e.Close()
	}
	stack, err := p.openModel(ctx, m.config)
	if err != nil {
		return err
	}
	defer stack.Close()
	options := m.config.options(1)
	options.NumPredict = 8
	_, err = stack.Client.Complete(ctx, llm.Request{Model: stack.Model, Options: options, Messages: []llm.Message{
		{Role: "system", Content: "Answer in one word."}, {Role: "user", Content: "Say yes."},
	}})
	return err
}

func (p *Project) doctorSets() []Finding {
	entries, err := p.Store().List()
	if err != nil {
		return []Finding{finding("golden sets", err, "")}
	}
	latest := ""
	if s, err := corpus.Open(p.snapshotRoot()); err == nil {
		latest = s.Manifest().Digest
	}
	var out []Finding
	for _, e := range entries {
		f := Finding{Part: "golden set " + e.Ref.String(), State: StateOK,
			Detail: fmt.Sprintf("%s, trust %s", wording.Count(e.Manifest.Counts.Active, "active case"), e.Manifest.Trust.Level)}
		switch {
		case e.Problem != "":
			f.State, f.Detail = StateFail, e.Problem
		case latest != "" && e.Manifest.Pins.Corpus.Digest != latest:
			f.State, f.Detail = StateWarn, "made for another snapshot than the latest"
		}
		out = append(out, f)
	}
	return out
}
