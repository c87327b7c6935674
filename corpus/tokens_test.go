package corpus_test

import (
	"testing"

	"github.com/tiktoken-go/tokenizer"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/corpus"
)

func TestCountTokensIsTheEncodingsOwn(t *testing.T) {
	codec, err := tokenizer.Get(tokenizer.Encoding(corpus.TokenEncoding))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(markdownText(), rapid.StringMatching(`[a-zA-Z0-9 '.,\n-]{0,300}`)).Draw(t, "text")
		if len(text) > 2000 {
			text = ""
		}
		want, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := corpus.CountTokens(text); got != want {
			t.Fatalf("%d tokens, the tokenizer says %d: %q", got, want, text)
		}
	})
}
