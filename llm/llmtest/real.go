package llmtest

import (
	"os"
	"strings"
	"testing"
)

// Real names a real Ollama server and its models, for tests.
type Real struct {
	URL, Model, Embedder string
}

// RealOllama reads GOLDGEN_TEST_OLLAMA or OLLAMA_HOST, GOLDGEN_TEST_MODEL and
// GOLDGEN_TEST_EMBEDDER. Without them the test is skipped, or fails where CI is
// set.
func RealOllama(t testing.TB) Real {
	t.Helper()
	r := Real{URL: os.Getenv("GOLDGEN_TEST_OLLAMA"), Model: os.Getenv("GOLDGEN_TEST_MODEL"), Embedder: os.Getenv("GOLDGEN_TEST_EMBEDDER")}
	if r.URL == "" {
		r.URL = os.Getenv("OLLAMA_HOST")
	}
	if r.URL == "" || r.Model == "" || r.Embedder == "" {
		const how = "no real model: run ../shared/llm/up.sh and export the lines that it prints"
		if os.Getenv("CI") != "" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
	if !strings.Contains(r.URL, "://") {
		r.URL = "http://" + r.URL
	}
	return r
}
