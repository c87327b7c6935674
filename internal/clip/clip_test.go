package clip_test

import (
	"testing"

	"github.com/goldgen/goldgen/internal/clip"
)

func TestBytes(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"clay", 9, "clay"},
		{"clay", 4, "clay"},
		{"clay", 2, "cl"},
		{"größe", 3, "gr"}, // ö is bytes 2 and 3
		{"größe", 4, "grö"},
		{"日本", 2, ""},
		{"clay", 0, ""},
		{"clay", -1, ""},
		{"\x80\x80\x80", 2, ""}, // no character begins anywhere
	} {
		if got := clip.Bytes(tt.text, tt.n); got != tt.want {
			t.Errorf("%q to %d bytes: %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}
