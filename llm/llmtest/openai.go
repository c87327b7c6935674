package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/goldgen/goldgen/llm"
)

// NewOpenAI starts a fake of OpenAI's protocol; its URL ends in /v1. Close it.
func NewOpenAI(cfg Config) *Server {
	s := newServer(cfg, func(s *Server) http.Handler {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /v1/models", s.openAIModels)
		mux.HandleFunc("POST /v1/chat/completions", s.openAIChat)
		mux.HandleFunc("POST /v1/embeddings", s.openAIEmbed)
		return s.keyed(mux)
	})
	s.URL += "/v1"
	return s
}

func openAIError(status int, message string) any {
	return map[string]any{"error": map[string]any{"message": message, "type": "api_error", "code": nil}}
}

// keyed refuses calls without the key, and repeats the wrong one as some
// services do.
func (s *Server) keyed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := r.Header.Get("Authorization")
		if s.cfg.APIKey != "" && sent != "Bearer "+s.cfg.APIKey {
			writeJSON(w, http.StatusUnauthorized, openAIError(0, "incorrect API key provided: "+sent))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) openAIModels(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []map[string]string{
		{"id": s.cfg.Model, "object": "model"}, {"id": s.cfg.Embedder, "object": "model"},
	}})
}

// openAIWire is what the fake reads of a call.
type openAIWire struct {
	Model               string        `json:"model"`
	Messages            []llm.Message `json:"messages"`
	MaxTokens           int           `json:"max_tokens"`
	MaxCompletionTokens int           `json:"max_completion_tokens"`
	Temperature         *float64      `json:"temperature"`
	Seed                int64         `json:"seed"`
	LogProbs            bool          `json:"logprobs"`
	TopLogProbs         int           `json:"top_logprobs"`
	ResponseFormat      struct {
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func (s *Server) openAIChat(w http.ResponseWriter, r *http.Request) {
	var wire openAIWire
	body, ok := readBody(w, r, &wire, openAIError)
	if !ok {
		return
	}
	req := s.openAIUnderstood(wire)
	if isProbe(req) {
		s.sendOpenAI(&call{server: s, w: w, r: r, errors: openAIError}, req)
		return
	}
	c, leave, ok := s.begin(w, r, body, openAIError)
	defer leave()
	switch {
	case !ok:
		return
	case !sameModel(wire.Model, s.cfg.Model):
		c.fail(http.StatusNotFound, fmt.Sprintf("model '%s' not found", wire.Model))
		return
	case PromptTokens(req.Messages) >= s.cfg.Window && !s.cfg.Truncates:
		c.fail(http.StatusBadRequest, fmt.Sprintf("this model's maximum context length is %d tokens", s.cfg.Window))
		return
	}
	s.note(req)
	s.sendOpenAI(c, req)
}

func (s *Server) openAIUnderstood(wire openAIWire) llm.Request {
	req := llm.Request{Model: llm.Model{Provider: "openai", Name: wire.Model}, Messages: wire.Messages, Schema: wire.ResponseFormat.JSONSchema.Schema}
	req.Options = llm.Options{NumPredict: max(wire.MaxTokens, wire.MaxCompletionTokens), Seed: wire.Seed, Temperature: 1}
	if wire.Temperature != nil {
		req.Options.Temperature = *wire.Temperature
	}
	if wire.LogProbs {
		req.Options.TopLogprobs = wire.TopLogProbs
	}
	if s.cfg.NoTemplate {
		req.Messages = without("system", req.Messages)
	}
	if s.cfg.Forgetful {
		req.Schema = nil
	}
	return req
}

func (s *Server) sendOpenAI(c *call, req llm.Request) {
	reply := answer(s.cfg.Handler, req)
	if s.cfg.Truncates && reply.PromptTokens > s.cfg.Window {
		// As Ollama's /v1: nothing says that the prompt was cut.
		reply = llm.Reply{FinishReason: llm.FinishStop, PromptTokens: s.cfg.Window}
	}
	if c.fault.Reply != nil {
		c.fault.Reply(&reply)
	}
	if reply.Thinking != "" {
		reply.Text = "<think>" + reply.Thinking + closedBefore(reply.Text)
	}
	choices := []map[string]any{}
	if !c.fault.NoChoices {
		choices = append(choices, map[string]any{
			"index": 0, "message": map[string]string{"role": "assistant", "content": reply.Text},
			"finish_reason": finish(c.fault, reply), "logprobs": openAILogprobs(reply),
		})
	}
	c.send(map[string]any{
		"object": "chat.completion", "model": req.Model.Name, "choices": choices,
		"usage": map[string]int{"prompt_tokens": reply.PromptTokens, "completion_tokens": reply.OutputTokens},
	})
}

func closedBefore(answer string) string {
	if answer == "" {
		return ""
	}
	return "</think>\n" + answer
}

func finish(f Fault, r llm.Reply) any {
	if f.NotDone {
		return nil
	}
	return r.FinishReason
}

func openAILogprobs(r llm.Reply) any {
	if len(r.Logprobs) == 0 {
		return nil
	}
	content := []map[string]any{}
	for _, t := range r.Logprobs {
		content = append(content, map[string]any{"token": t.Token, "logprob": t.Logprob, "top_logprobs": t.Top})
	}
	return map[string]any{"content": content}
}

func (s *Server) openAIEmbed(w http.ResponseWriter, r *http.Request) {
	var wire struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	body, ok := readBody(w, r, &wire, openAIError)
	if !ok {
		return
	}
	c, leave, ok := s.begin(w, r, body, openAIError)
	defer leave()
	switch {
	case !ok:
		return
	case !sameModel(wire.Model, s.cfg.Embedder):
		c.fail(http.StatusNotFound, fmt.Sprintf("model '%s' not found", wire.Model))
		return
	}
	s.noteEmbed(llm.EmbedRequest{Model: llm.Model{Provider: "openai", Name: wire.Model}, Texts: wire.Input})
	if s.tooLong(wire.Input) && !s.cfg.Truncates {
		c.fail(http.StatusBadRequest, fmt.Sprintf("this model's maximum context length is %d tokens", s.cfg.EmbedLimit))
		return
	}
	data := []map[string]any{}
	for i, v := range s.vectors(c, wire.Input) {
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
	}
	c.send(map[string]any{"object": "list", "model": wire.Model, "data": data})
}
