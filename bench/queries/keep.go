package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/goldgen/goldgen/internal/atomicfile"
)

// keep writes a fixture, one query a line.
func keep(path string, list []written) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, 0o644, func(f io.Writer) error {
		enc := json.NewEncoder(f)
		enc.SetEscapeHTML(false)
		for _, q := range list {
			if err := enc.Encode(q); err != nil {
				return err
			}
		}
		return nil
	})
}
