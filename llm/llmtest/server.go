package llmtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goldgen/goldgen/llm"
)

// Config says what a fake server has and how it behaves. The zero value is a
// well-behaved server with one chat model and one embedder.
type Config struct {
	Model      string  // chat model; "" means "fake-chat"
	Embedder   string  // embedder; "" means "fake-embed"
	Digest     string  // of both, where the protocol has digests; "" means one made of the names
	Handler    Handler // nil means Answer
	Dimensions int     // of vectors; 0 means 64
	Window     int     // tokens that the model was trained for; 0 means 32768
	EmbedLimit int     // tokens that the embedder takes; 0 means 512
	APIKey     string  // where set, other keys get 401

	Delay      time.Duration // before every answer to a chat or embedding call
	NoTemplate bool          // the model has no chat template: system messages are dropped
	NoDebug    bool          // ollama: the rendered template cannot be asked for
	NoShow     bool          // ollama: capabilities are not told
	Thinks     bool          // ollama: the model can think
	Truncates  bool          // prompts are cut to the window without a word
	Forgetful  bool          // schemas are ignored
}

func (c Config) withDefaults() Config {
	if c.Model == "" {
		c.Model = "fake-chat"
	}
	if c.Embedder == "" {
		c.Embedder = "fake-embed"
	}
	if c.Digest == "" {
		c.Digest = strings.Repeat("ab12", 16)
	}
	if c.Window == 0 {
		c.Window = 32768
	}
	if c.EmbedLimit == 0 {
		c.EmbedLimit = 512
	}
	return c
}

// Server is a fake server of one protocol. Counting and faults concern chat and
// embedding calls, not the calls that list or describe models, nor a client's
// probe for system messages.
type Server struct {
	URL string // what a client is given as its endpoint

	cfg  Config
	http *httptest.Server
	quit chan struct{}
	once sync.Once

	mu       sync.Mutex
	queue    []Fault
	byCall   map[int]Fault
	calls    int
	inFlight int
	peak     int
	requests []llm.Request
	embeds   []llm.EmbedRequest
	bodies   []json.RawMessage
}

func newServer(cfg Config, routes func(*Server) http.Handler) *Server {
	s := &Server{cfg: cfg.withDefaults(), byCall: map[int]Fault{}, quit: make(chan struct{})}
	s.http = httptest.NewServer(routes(s))
	s.URL = s.http.URL
	return s
}

// Close ends the server; calls that hang are let go. It may be called twice.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.quit)
		s.http.CloseClientConnections()
		s.http.Close()
	})
}

// FailNext makes the next calls fail in these ways, one each; a zero Fault
// lets its call pass.
func (s *Server) FailNext(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, faults...)
}

// FailCall makes call n fail, counted from 1.
func (s *Server) FailCall(n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byCall[n] = f
}

// Calls counts chat and embedding calls, failed ones included.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Peak is the largest number of calls that were in flight at once.
func (s *Server) Peak() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.peak
}

// Requests lists the chat calls as the server understood them, in order of
// arrival: the model's name only, and of a protocol without num_ctx none.
func (s *Server) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// EmbedRequests lists the embedding calls, prefixes already applied.
func (s *Server) EmbedRequests() []llm.EmbedRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.embeds)
}

// Bodies lists the bodies of chat and embedding calls as they came.
func (s *Server) Bodies() []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// enter counts a call and says how it fails.
func (s *Server) enter(body []byte) (Fault, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	s.inFlight++
	s.peak = max(s.peak, s.inFlight)
	s.bodies = append(s.bodies, body)
	f, ok := s.byCall[s.calls]
	if !ok && len(s.queue) > 0 {
		f, s.queue = s.queue[0], s.queue[1:]
	}
	return f, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight--
	}
}

func (s *Server) note(req llm.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
}

func (s *Server) noteEmbed(req llm.EmbedRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.embeds = append(s.embeds, req)
}

// call is one chat or embedding call on its way.
type call struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	fault  Fault
	errors func(status int, message string) any // how the protocol words an error
}

// begin reads the body and applies the faults that need no answer; false means
// that the call is over.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, body []byte, errors func(int, string) any) (*call, func(), bool) {
	fault, leave := s.enter(body)
	c := &call{server: s, w: w, r: r, fault: fault, errors: errors}
	if !c.wait() {
		return c, leave, false
	}
	return c, leave, !c.failEarly()
}

// wait is the server's work; false means that the caller gave up.
func (c *call) wait() bool {
	if c.server.cfg.Delay <= 0 {
		return true
	}
	timer := time.NewTimer(c.server.cfg.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.r.Context().Done():
	case <-c.server.quit:
	}
	return false
}

func (c *call) failEarly() bool {
	f := c.fault
	switch {
	case f.Hang:
		select {
		case <-c.r.Context().Done():
		case <-c.server.quit:
		}
	case f.Reset:
		reset(c.w)
	case f.Raw:
		io.WriteString(c.w, f.Body)
	case f.Status != 0:
		if f.RetryAfter != "" {
			c.w.Header().Set("Retry-After", f.RetryAfter)
		}
		c.fail(f.Status, f.Body)
	default:
		return false
	}
	return true
}

func (c *call) fail(status int, message string) {
	if message == "" {
		c.w.WriteHeader(status)
		return
	}
	writeJSON(c.w, status, c.errors(status, message))
}

// send writes the answer, or as much of it as the fault lets through.
func (c *call) send(v any) {
	body, err := json.Marshal(v)
	if err != nil {
		c.fail(http.StatusInternalServerError, err.Error())
		return
	}
	half := body[:len(body)/2]
	switch {
	case c.fault.Cut:
		promise(c.w, len(body), half)
	case c.fault.Truncated:
		c.w.Write(half)
	default:
		c.w.Header().Set("Content-Type", "application/json")
		c.w.Write(append(body, '\n'))
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// reset closes the connection with unread data behind it.
func reset(w http.ResponseWriter) {
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	if conn, _, err := h.Hijack(); err == nil {
		conn.Close()
	}
}

// promise sends a body shorter than its Content-Length.
func promise(w http.ResponseWriter, length int, body []byte) {
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	conn, buf, err := h.Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	buf.WriteString("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ")
	buf.WriteString(strconv.Itoa(length) + "\r\n\r\n")
	buf.Write(body)
	buf.Flush()
}

func readBody(w http.ResponseWriter, r *http.Request, into any, errors func(int, string) any) ([]byte, bool) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		writeJSON(w, http.StatusBadRequest, errors(http.StatusBadRequest, err.Error()))
		return nil, false
	}
	return body, true
}

// without drops system messages, as a model without a chat template does.
func without(role string, messages []llm.Message) []llm.Message {
	return slices.DeleteFunc(slices.Clone(messages), func(m llm.Message) bool { return m.Role == role })
}
