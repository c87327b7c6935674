package pipeline

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/goldgen/goldgen/datasets"
	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/ollama"
)

//go:embed init.yaml.tmpl
var initTemplate string

// InitOptions say what a new goldgen.yaml is to hold.
type InitOptions struct {
	Name     string // "" takes the folder's
	Source   string // "" takes docs where it is there, else the folder itself, or the one table in it
	Endpoint string // of an Ollama to look for; "" is the usual one
}

// Initialised is what Init wrote.
type Initialised struct {
	Path string `json:"path"`
	Name string `json:"name"`
	InitCorpus
	Ollama   string `json:"ollama,omitempty"` // its address, "" none found
	Model    string `json:"model,omitempty"`
	Embedder string `json:"embedder,omitempty"`
}

// Init writes a commented goldgen.yaml into dir, for the Ollama server that it
// finds running and the models there. An existing file is left alone.
func Init(ctx context.Context, dir string, o InitOptions) (*Initialised, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: no such folder: %s", ErrConfig, dir)
	}
	path := filepath.Join(dir, ConfigFile)
	if _, err := os.Stat(path); err == nil {
		return nil, fmt.Errorf("%w: %s is there already", ErrConfig, path)
	}
	done := &Initialised{Path: path, Name: o.Name}
	if done.Name == "" {
		done.Name = nameOf(dir)
	}
	if err := datasets.ValidateName(done.Name); err != nil {
		return nil, fmt.Errorf("%w: name: %w", ErrConfig, err)
	}
	done.InitCorpus = corpusOf(dir, o.Source)
	findOllama(ctx, o.Endpoint, done)
	t, err := template.New(ConfigFile).Parse(initTemplate)
	if err != nil {
		return nil, err
	}
	return done, atomicfile.Write(path, 0o644, func(w io.Writer) error { return t.Execute(w, done) })
}

var notInName = regexp.MustCompile(`[^a-z0-9_-]+`)

// nameOf makes a set's name of a folder's.
func nameOf(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "golden"
	}
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(filepath.Base(abs)), "-"), "-_")
	if name == "" {
		return "golden"
	}
	return name
}

func sourceOf(dir string) string {
	for _, name := range []string{"docs", "doc", "content", "handbook"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.IsDir() {
			return name
		}
	}
	return "."
}

// findOllama fills in the server and its models. That there is none is no
// error: the file then says how to name one.
func findOllama(ctx context.Context, endpoint string, done *Initialised) {
	if endpoint == "" {
		endpoint = ollama.DefaultEndpoint
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	client, err := ollama.New(ollama.Config{Endpoint: endpoint, HTTP: llm.NewHTTPClient(llm.TransportConfig{Timeout: 3 * time.Second, Retries: -1})})
	if err != nil {
		return
	}
	models, err := client.Models(ctx)
	if err != nil {
		return
	}
	done.Ollama = llm.RedactURL(endpoint)
	for _, m := range models {
		can, err := client.Capabilities(ctx, m.Name)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return
		case slices.Contains(can, "embedding") && done.Embedder == "":
			done.Embedder = m.Name
		case slices.Contains(can, "completion") && done.Model == "":
			done.Model = m.Name
		}
	}
}
