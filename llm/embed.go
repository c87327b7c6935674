package llm

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"
)

// Batched sends at most n texts in one call, one batch after the other.
func Batched(e Embedder, n int) Embedder {
	n = max(1, n)
	return embedderFunc(func(ctx context.Context, req EmbedRequest) ([][]float32, error) {
		out := make([][]float32, 0, len(req.Texts))
		for at := 0; at < len(req.Texts); at += n {
			part := req
			part.Texts = req.Texts[at:min(at+n, len(req.Texts))]
			got, err := e.Embed(ctx, part)
			if long, ok := errors.AsType[*Error](err); ok && long.Kind == KindTooLong {
				named := *long
				named.Index += at
				return nil, &named
			}
			if err != nil {
				return nil, err
			}
			out = append(out, got...)
		}
		return out, nil
	})
}

// EmbedShortened embeds texts, shortening each that is too long at a word's end
// until it is accepted. cut lists the indexes of those, in order. Every other
// error ends it.
func EmbedShortened(ctx context.Context, e Embedder, req EmbedRequest) (out [][]float32, cut []int, err error) {
	req.Texts = append([]string(nil), req.Texts...)
	shortened := make([]bool, len(req.Texts))
	for {
		out, err = e.Embed(ctx, req)
		long, ok := errors.AsType[*Error](err)
		if !ok || long.Kind != KindTooLong || long.Index < 0 || long.Index >= len(req.Texts) {
			break
		}
		shorter := Shorten(req.Texts[long.Index])
		if shorter == "" {
			break
		}
		req.Texts[long.Index], shortened[long.Index] = shorter, true
	}
	for i, s := range shortened {
		if s {
			cut = append(cut, i)
		}
	}
	return out, cut, err
}

// Shorten drops the last tenth or so of a text, at a white space where there is
// one; "" when nothing is left.
func Shorten(text string) string {
	at := len(text) * 9 / 10
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	if space := strings.LastIndexAny(text[:at], " \t\r\n"); space > at/2 {
		at = space
	}
	return strings.TrimRight(text[:at], " \t\r\n")
}
