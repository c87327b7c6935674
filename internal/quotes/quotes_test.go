package quotes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/internal/quotes"
)

func TestOccurrences(t *testing.T) {
	const text = "Keep “all\u00a0 keys”. KEEP \"ALL\nKEYS\" - keep \"all keyses\"."
	var found []string
	for start, end := range quotes.Fold(text).Occurrences(`keep "all keys"`) {
		found = append(found, text[start:end])
	}
	if diff := cmp.Diff([]string{"Keep “all\u00a0 keys”", "KEEP \"ALL\nKEYS\""}, found); diff != "" {
		t.Error(diff)
	}
}

func TestPieces(t *testing.T) {
	got := quotes.Pieces("Don't  stop\n\n日本 v2.5\xff!")
	want := []string{"Don", "'", "t", "  ", "stop", "\n\n", "日", "本", " ", "v2", ".", "5", "\xff", "!"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPiecesJoinToTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "text")
		pieces := quotes.Pieces(text)
		if got := strings.Join(pieces, ""); got != text {
			t.Fatalf("%q became %q", text, got)
		}
		for _, p := range pieces {
			if p == "" {
				t.Fatal("an empty piece")
			}
		}
	})
}
