package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/goldgen/goldgen/internal/browsertest"
	"github.com/goldgen/goldgen/report"
)

// pageOf writes the findings' page and gives its address.
func pageOf(t *testing.T, f *report.Findings) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.HTML(&b, f); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

var looks = []browsertest.Look{
	{Name: "light", Width: 1200, Scheme: "light", Media: "screen"},
	{Name: "dark", Width: 1200, Scheme: "dark", Media: "screen"},
	{Name: "narrow", Width: 360, Scheme: "light", Media: "screen"},
	{Name: "narrow-dark", Width: 360, Scheme: "dark", Media: "screen"},
	{Name: "print", Width: 800, Scheme: "dark", Media: "print"},
}
