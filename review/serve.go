package review

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// TokenHeader is the request header in which the page sends the token that its
// own address was opened with.
const TokenHeader = "X-Goldgen-Token"

// tokenBytes is how many random bytes a token is made of.
const tokenBytes = 32

// How long the server waits: for a request, for an answer, for the next request
// of an open connection, and, once it is told to stop, for answers under way.
const (
	headerWait = 10 * time.Second
	readWait   = 30 * time.Second
	writeWait  = 5 * time.Minute // a version of a large set is written meanwhile
	idleWait   = 2 * time.Minute
	stopWait   = 5 * time.Second
)

// Server gives one desk's page to this machine alone.
type Server struct {
	listener net.Listener
	token    string
}

// Listen takes a port of the loopback interface, any free one for 0, and draws
// the token from random, which must be unpredictable. Nobody is answered before
// Serve.
func Listen(ctx context.Context, port int, random io.Reader) (*Server, error) {
	token := make([]byte, tokenBytes)
	if _, err := io.ReadFull(random, token); err != nil {
		return nil, fmt.Errorf("token of the page: %w", err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
	if err != nil {
		return nil, fmt.Errorf("port of the page: %w", err)
	}
	return &Server{listener: listener, token: base64.RawURLEncoding.EncodeToString(token)}, nil
}

// URL is the address to open, with the token. Whoever has it can label.
func (s *Server) URL() string {
	return "http://" + s.listener.Addr().String() + "/?token=" + s.token
}

// Serve answers until the context ends; answers under way are then finished.
// The end of the context is not an error. It must be called once, and closes
// the port.
func (s *Server) Serve(ctx context.Context, d Desk) error {
	work := context.WithoutCancel(ctx)
	server := &http.Server{
		Handler:           s.guard(s.routes(d)),
		BaseContext:       func(net.Listener) context.Context { return work },
		ReadHeaderTimeout: headerWait,
		ReadTimeout:       readWait,
		WriteTimeout:      writeWait,
		IdleTimeout:       idleWait,
		MaxHeaderBytes:    maxBody,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("server of the page: %w", err)
	case <-ctx.Done():
	}
	return stop(work, server)
}

// stop lets answers under way finish, and ends what takes too long.
func stop(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	return err
}

func (s *Server) routes(d Desk) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/api/", API(d))
	mux.HandleFunc("GET /{$}", asset("index.html"))
	for _, name := range besideThePage() {
		mux.HandleFunc("GET /"+name, asset(name))
	}
	return mux
}
