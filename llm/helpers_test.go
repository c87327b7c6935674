package llm_test

import (
	"testing"
	"time"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/ollama"
)

// ollamaClient retries so often without noticeable waits; negative is never.
func ollamaClient(t testing.TB, address string, retries int) *ollama.Client {
	t.Helper()
	c, err := ollama.New(ollama.Config{Endpoint: address, HTTP: llm.NewHTTPClient(llm.TransportConfig{
		Timeout: time.Minute, Retries: retries, WaitMin: time.Millisecond, WaitMax: 2 * time.Millisecond, Connections: 1000,
	})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
