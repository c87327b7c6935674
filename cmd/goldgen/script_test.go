package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goldgen/goldgen/internal/bucket/buckettest"
	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/llm/llmtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"goldgen": main})
}

// TestScripts runs testdata/script: one behaviour of the command line each.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			root, err := filepath.Abs("../..")
			env.Setenv("QUICKSTART", filepath.Join(root, "examples", "quickstart"))
			env.Setenv("UPGRADE", filepath.Join(root, "cmd", "goldgen", "testdata", "upgrade"))
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"addline":     addLine,
			"answersheet": answerSheet,
			"exits":       exits,
			"fakejudge":   fakeJudge,
			"fakeollama":  fakeOllama,
			"fakes3":      fakeS3,
			"fillsheet":   fillSheet,
			"makeanswers": makeAnswers,
			"quickstart":  quickstart,
			"relabel":     relabel,
			"reviewpage":  reviewPage,
			"tear":        tear,
			"records":     records,
			"ranks":       ranks,
		},
	})
}

// exits CODE goldgen ...: runs the command and wants that exit code; 0,3 allows
// either.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command [args]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		if _, err := fmt.Sscanf(err.Error(), "exit status %d", &got); err != nil {
			ts.Fatalf("%v", err)
		}
	}
	if !slices.Contains(strings.Split(args[0], ","), fmt.Sprint(got)) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// fakeollama [blind|credulous|types]: starts a fake server with the model fake-chat and the
// embedder fake-embed, and sets OLLAMA_HOST to it. A blind model grades every
// passage alike; a credulous one finds every answer good; types is typist.
func fakeOllama(ts *testscript.TestScript, _ bool, args []string) {
	handler := actor
	if slices.Contains(args, "blind") {
		handler = blindActor
	}
	if slices.Contains(args, "credulous") {
		handler = credulous
	}
	if slices.Contains(args, "types") {
		handler = typist
	}
	serveModel(ts, handler)
}

// serveModel starts a fake server until the script ends, and sets OLLAMA_HOST to it.
func serveModel(ts *testscript.TestScript, handler func(llm.Request) llm.Reply) {
	s := llmtest.NewOllama(llmtest.Config{Handler: handler})
	ts.Defer(s.Close)
	ts.Setenv("OLLAMA_HOST", s.URL)
}

// fakeS3 [key file]...: starts a store that speaks S3, with the bucket team and copies of
// the files in it, until the script ends, and sets the environment to it.
func fakeS3(ts *testscript.TestScript, _ bool, args []string) {
	s := buckettest.Start()
	ts.Defer(s.Close)
	for pair := range slices.Chunk(args, 2) {
		s.Set(pair[0], ts.ReadFile(pair[1]))
	}
	for _, assignment := range s.Environ() {
		name, value, _ := strings.Cut(assignment, "=")
		ts.Setenv(name, value)
	}
}

// quickstart [line...]: copies the quickstart into the script's folder and adds
// lines to its goldgen.yaml.
func quickstart(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(".")
	ts.Check(os.CopyFS(filepath.Join(dir, "docs"), os.DirFS(filepath.Join(ts.Getenv("QUICKSTART"), "docs"))))
	yaml, err := os.ReadFile(filepath.Join(ts.Getenv("QUICKSTART"), "goldgen.yaml"))
	ts.Check(err)
	text := string(yaml) + strings.Join(args, "\n") + "\n"
	ts.Check(os.WriteFile(filepath.Join(dir, "goldgen.yaml"), []byte(text), 0o644))
}
