package llmtest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/ollama/ollama/api"

	"github.com/goldgen/goldgen/llm"
)

// NewOllama starts a fake of Ollama's native API. Close it.
func NewOllama(cfg Config) *Server {
	return newServer(cfg, func(s *Server) http.Handler {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /api/tags", s.ollamaTags)
		mux.HandleFunc("GET /api/version", s.ollamaVersion)
		mux.HandleFunc("POST /api/show", s.ollamaShow)
		mux.HandleFunc("POST /api/chat", s.ollamaChat)
		mux.HandleFunc("POST /api/embed", s.ollamaEmbed)
		mux.HandleFunc("POST /api/pull", s.ollamaPull)
		return mux
	})
}

func ollamaError(_ int, message string) any { return map[string]string{"error": message} }

func sameModel(asked, have string) bool { return asked == have || asked+":latest" == have }

func (s *Server) ollamaTags(w http.ResponseWriter, _ *http.Request) {
	models := []map[string]any{}
	for _, name := range []string{s.cfg.Model, s.cfg.Embedder} {
		models = append(models, map[string]any{"name": name, "model": name, "digest": s.cfg.Digest})
	}
	writeJSON(w, http.StatusOK, map[string]any{"models": models})
}

func (s *Server) ollamaVersion(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"version": "0.0.0"})
}

func (s *Server) ollamaShow(w http.ResponseWriter, r *http.Request) {
	var req api.ShowRequest
	if _, ok := readBody(w, r, &req, ollamaError); !ok {
		return
	}
	can := []string{"completion"}
	switch {
	case sameModel(req.Model, s.cfg.Embedder):
		can = []string{"embedding"}
	case !sameModel(req.Model, s.cfg.Model):
		writeJSON(w, http.StatusNotFound, ollamaError(0, fmt.Sprintf("model '%s' not found", req.Model)))
		return
	case s.cfg.Thinks:
		can = append(can, "thinking")
	}
	if s.cfg.NoShow {
		can = nil
	}
	writeJSON(w, http.StatusOK, map[string]any{"capabilities": can})
}

// ollamaPull streams a download's progress.
func (s *Server) ollamaPull(w http.ResponseWriter, r *http.Request) {
	var req api.PullRequest
	body, ok := readBody(w, r, &req, ollamaError)
	if !ok {
		return
	}
	c, leave, ok := s.begin(w, r, body, ollamaError)
	defer leave()
	if !ok {
		return
	}
	steps := []string{
		`{"status":"pulling manifest"}`,
		`{"status":"pulling layer","digest":"sha256:1","total":100,"completed":40}`,
		`{"status":"pulling layer","digest":"sha256:1","total":100,"completed":100}`,
		`{"status":"success"}`,
	}
	switch {
	case !sameModel(req.Model, s.cfg.Model) && !sameModel(req.Model, s.cfg.Embedder):
		steps = []string{steps[0], `{"error":"pull model manifest: file does not exist"}`}
	case c.fault.Truncated:
		steps = steps[:2]
	}
	fmt.Fprintln(w, strings.Join(steps, "\n"))
}

func (s *Server) ollamaChat(w http.ResponseWriter, r *http.Request) {
	var wire api.ChatRequest
	body, ok := readBody(w, r, &wire, ollamaError)
	if !ok {
		return
	}
	req := s.understood(wire)
	if probe := wire.DebugRenderOnly && !s.cfg.NoDebug; probe || isProbe(req) {
		s.ollamaProbe(w, wire, req, probe)
		return
	}
	c, leave, ok := s.begin(w, r, body, ollamaError)
	defer leave()
	if !ok {
		return
	}
	if status, message := s.ollamaRefuses(wire, req); status != 0 {
		c.fail(status, message)
		return
	}
	s.note(req)
	if len(req.Messages) == 0 {
		c.send(api.ChatResponse{Model: wire.Model, Done: true, DoneReason: "load"})
		return
	}
	c.send(s.ollamaAnswer(c, wire, req))
}

// understood translates a call, as the model sees it.
func (s *Server) understood(wire api.ChatRequest) llm.Request {
	req := llm.Request{Model: llm.Model{Provider: "ollama", Name: wire.Model}, Schema: wire.Format}
	for _, m := range wire.Messages {
		req.Messages = append(req.Messages, llm.Message{Role: m.Role, Content: m.Content})
	}
	if s.cfg.NoTemplate {
		req.Messages = without("system", req.Messages)
	}
	if s.cfg.Forgetful {
		req.Schema = nil
	}
	req.Options = llm.Options{
		NumCtx: min(int(option(wire, "num_ctx", 4096)), s.cfg.Window), NumPredict: int(option(wire, "num_predict", 128)),
		NumThread: int(option(wire, "num_thread", 0)), Temperature: option(wire, "temperature", 0.8), Seed: int64(option(wire, "seed", 0)),
	}
	if wire.Logprobs {
		req.Options.TopLogprobs = wire.TopLogprobs
	}
	return req
}

func option(wire api.ChatRequest, name string, otherwise float64) float64 {
	if v, ok := wire.Options[name].(float64); ok {
		return v
	}
	return otherwise
}

// isProbe knows the calls by which a client compares prompt lengths.
func isProbe(req llm.Request) bool {
	last := len(req.Messages) - 1
	return last >= 0 && req.Messages[last].Content == probeUser && req.Options.NumPredict == 1
}

const probeUser = "goldgenusermark"

// ollamaProbe answers a client that wants to know whether system messages are
// delivered; such calls are not counted.
func (s *Server) ollamaProbe(w http.ResponseWriter, wire api.ChatRequest, req llm.Request, render bool) {
	if !sameModel(wire.Model, s.cfg.Model) {
		writeJSON(w, http.StatusNotFound, ollamaError(0, fmt.Sprintf("model '%s' not found", wire.Model)))
		return
	}
	resp := api.ChatResponse{Model: wire.Model}
	if render {
		var b strings.Builder
		for _, m := range req.Messages {
			fmt.Fprintf(&b, "<%s>%s\n", m.Role, m.Content)
		}
		resp.DebugInfo = &api.DebugInfo{RenderedTemplate: b.String()}
	} else {
		resp.Done, resp.DoneReason = true, llm.FinishLength
		resp.PromptEvalCount = PromptTokens(req.Messages)
	}
	writeJSON(w, http.StatusOK, resp)
}

// ollamaRefuses says with which status a call is refused, 0 for none.
func (s *Server) ollamaRefuses(wire api.ChatRequest, req llm.Request) (int, string) {
	long := PromptTokens(req.Messages) >= req.Options.NumCtx
	switch {
	case sameModel(wire.Model, s.cfg.Embedder):
		return http.StatusBadRequest, fmt.Sprintf("%q does not support chat", wire.Model)
	case !sameModel(wire.Model, s.cfg.Model):
		return http.StatusNotFound, fmt.Sprintf("model '%s' not found", wire.Model)
	case long && !s.cfg.Truncates && wire.Truncate != nil && !*wire.Truncate:
		return http.StatusBadRequest, "the input length exceeds the context length"
	}
	return 0, ""
}

func (s *Server) ollamaAnswer(c *call, wire api.ChatRequest, req llm.Request) api.ChatResponse {
	reply := answer(s.cfg.Handler, req)
	if c.fault.Reply != nil {
		c.fault.Reply(&reply)
	}
	resp := api.ChatResponse{
		Model:   wire.Model,
		Message: api.Message{Role: "assistant", Content: reply.Text, Thinking: reply.Thinking},
		Done:    !c.fault.NotDone,
		Metrics: api.Metrics{PromptEvalCount: min(reply.PromptTokens, req.Options.NumCtx), EvalCount: reply.OutputTokens},
	}
	if resp.Done {
		resp.DoneReason = reply.FinishReason
	}
	for _, t := range reply.Logprobs {
		out := api.Logprob{TokenLogprob: api.TokenLogprob{Token: t.Token, Logprob: t.Logprob}}
		for _, o := range t.Top {
			out.TopLogprobs = append(out.TopLogprobs, api.TokenLogprob{Token: o.Token, Logprob: o.Logprob})
		}
		resp.Logprobs = append(resp.Logprobs, out)
	}
	return resp
}

func (s *Server) ollamaEmbed(w http.ResponseWriter, r *http.Request) {
	var wire struct {
		Model    string   `json:"model"`
		Input    []string `json:"input"`
		Truncate *bool    `json:"truncate"`
	}
	body, ok := readBody(w, r, &wire, ollamaError)
	if !ok {
		return
	}
	c, leave, ok := s.begin(w, r, body, ollamaError)
	defer leave()
	if !ok {
		return
	}
	if !sameModel(wire.Model, s.cfg.Embedder) && !sameModel(wire.Model, s.cfg.Model) {
		c.fail(http.StatusNotFound, fmt.Sprintf("model '%s' not found", wire.Model))
		return
	}
	s.noteEmbed(llm.EmbedRequest{Model: llm.Model{Provider: "ollama", Name: wire.Model}, Texts: wire.Input})
	if s.tooLong(wire.Input) && wire.Truncate != nil && !*wire.Truncate {
		c.fail(http.StatusBadRequest, "the input length exceeds the context length")
		return
	}
	c.send(map[string]any{"model": wire.Model, "embeddings": s.vectors(c, wire.Input)})
}

func (s *Server) tooLong(texts []string) bool {
	for _, t := range texts {
		if Tokens(t) > s.cfg.EmbedLimit {
			return true
		}
	}
	return false
}

func (s *Server) vectors(c *call, texts []string) [][]float32 {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = Vector(t, s.cfg.Dimensions)
	}
	if c.fault.Vectors != nil {
		out = c.fault.Vectors(out)
	}
	return out
}
