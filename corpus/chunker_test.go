package corpus_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
)

// markdownText draws texts with everything that offsets go wrong on: CRLF,
// multibyte runes, headings, fences, tables, lists, long words, front matter.
func markdownText() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		"# Title\n", "## Sub *x*\r\n", "Setext\n===\n", "\n", "\r\n\r\n", "\n\n",
		"Plain words here. Another sentence! ", "Ünïcödé wörds. ", "日本語の文。次の文。", "🙂👩‍👩‍👧 ", "word ",
		"```go\nfunc main() {}\n\nx := 1\n```\n", "~~~\nopen", "| a | b |\n|---|---|\n| 1 | 2 |\n", "- item one\n- item two\n",
		"> quote\n> more\n", "    indented\n", "<div>\nx\n</div>\n", "---\nkey: value\n---\n", "\t", strings.Repeat("x", 300), "é", " ", "[a]: http://b\n",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(part, 0, 40).Draw(t, "parts"), "")
	})
}

func TestChunksAreSpansOfTheirDocument(t *testing.T) {
	for _, method := range corpus.Methods() {
		for _, unit := range []string{"tokens", "characters"} {
			t.Run(method+"/"+unit, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					size := rapid.IntRange(1, 60).Draw(t, "size")
					cfg := corpus.Chunking{Method: method, Unit: unit, Size: size, Overlap: rapid.IntRange(0, size-1).Draw(t, "overlap")}
					checkChunks(t, cfg, markdownText().Draw(t, "text"))
				})
			})
		}
	}
}

func checkChunks(t *rapid.T, cfg corpus.Chunking, text string) {
	chunker, err := corpus.NewChunker(cfg)
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := chunker.Chunks(t.Context(), corpus.Document{ID: "d", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	if len(chunks) == 0 {
		t.Fatal("no chunk")
	}
	covered, lastStart, lastEnd := 0, -1, -1
	for i, c := range chunks {
		if c.Start < 0 || c.Start > c.End || c.End > len(text) || c.Text != text[c.Start:c.End] {
			t.Fatalf("chunk %d [%d,%d) of %d bytes is %q", i, c.Start, c.End, len(text), c.Text)
		}
		if !utf8.ValidString(c.Text) {
			t.Fatalf("chunk %d parts a rune: %q", i, c.Text)
		}
		if gap := text[min(covered, c.Start):c.Start]; strings.TrimSpace(gap) != "" {
			t.Fatalf("text lost before chunk %d: %q", i, gap)
		}
		if c.Start <= lastStart || c.End <= lastEnd {
			t.Fatalf("chunk %d [%d,%d) does not go beyond the one before it", i, c.Start, c.End)
		}
		covered, lastStart, lastEnd = max(covered, c.End), c.Start, c.End
		if n := utf8.RuneCountInString(c.Text); cfg.Unit == "characters" && cfg.Method != "document" && cfg.Method != "none" && n > cfg.Size && strings.TrimSpace(text) != "" {
			t.Fatalf("chunk %d has %d characters, size is %d", i, n, cfg.Size)
		}
	}
	if rest := text[covered:]; strings.TrimSpace(rest) != "" {
		t.Fatalf("text lost at the end: %q", rest)
	}
}

func TestMarkdownChunks(t *testing.T) {
	const doc = "Intro.\n\n# Guide\n\n## Install\n\nRun this now.\n\n```sh\nmake all\n\nmake install\n```\n\n## Use\n\n| key | value |\n|---|---|\n| a | 1 |\n| b | 2 |\n"
	chunker, err := corpus.NewChunker(corpus.Chunking{Method: "markdown", Size: 30, Overlap: 4, Unit: "tokens"})
	if err != nil {
		t.Fatal(err)
	}
	type got struct {
		ID, Text string
		Path     []string
	}
	cut, err := chunker.Chunks(t.Context(), corpus.Document{ID: "d.md", Text: doc})
	if err != nil {
		t.Fatal(err)
	}
	var chunks []got
	for _, c := range cut {
		chunks = append(chunks, got{c.ID, c.Text, c.HeadingPath})
	}
	want := []got{
		{"d.md#0", "Intro.", nil},
		{"d.md#1", "# Guide\n\n## Install\n\nRun this now.\n\n```sh\nmake all\n\nmake install\n```", []string{"Guide", "Install"}},
		{"d.md#2", "## Use\n\n| key | value |\n|---|---|\n| a | 1 |\n| b | 2 |", []string{"Guide", "Use"}},
	}
	if diff := cmp.Diff(want, chunks); diff != "" {
		t.Error(diff)
	}
}

func TestChunkingValidate(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  corpus.Chunking
		want string
	}{
		"method":  {corpus.Chunking{Method: "semantic", Size: 1, Unit: "tokens"}, `chunking.method "semantic": want one of fixed, sentence, recursive, markdown, code, document, none`},
		"unit":    {corpus.Chunking{Method: "fixed", Size: 1, Unit: "words"}, `chunking.unit "words": want tokens or characters`},
		"size":    {corpus.Chunking{Method: "fixed", Size: -3, Unit: "tokens"}, "chunking.size -3: want 1 or more"},
		"overlap": {corpus.Chunking{Method: "fixed", Size: 10, Overlap: 10, Unit: "tokens"}, "chunking.overlap 10: want 0 or more and less than size 10"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := corpus.NewChunker(c.cfg)
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}
