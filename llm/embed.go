package llm

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"
)

// EmbedShortened embeds texts, shortening each that is too long at a word's end
// until it is accepted. cut lists the indexes of those, in order. Every other
// error ends it.
func EmbedShortened(ctx context.Context, e Embedder, req EmbedRequest) (out [][]float32, cut []int, err error) {
	req.Texts = append([]string(nil), req.Texts...)
	shortened := make([]bool, len(req.Texts))
	for {
		out, err = e.Embed(ctx, req)
		progress := false
		for _, i := range TooLong(err) {
			shorter := ""
			if i >= 0 && i < len(req.Texts) {
				shorter = Shorten(req.Texts[i])
			}
			if shorter == "" {
				progress = false
				break
			}
			req.Texts[i], shortened[i], progress = shorter, true, true
		}
		if !progress {
			break
		}
	}
	for i, s := range shortened {
		if s {
			cut = append(cut, i)
		}
	}
	return out, cut, err
}

// TooLong lists the texts that err says are too long for the embedder, in the
// order found; nil for any other error.
func TooLong(err error) []int {
	switch e := err.(type) {
	case nil:
		return nil
	case *Error:
		if e.Kind == KindTooLong {
			return []int{e.Index}
		}
		return nil
	case interface{ Unwrap() []error }:
		var all []int
		for _, inner := range e.Unwrap() {
			all = append(all, TooLong(inner)...)
		}
		return all
	}
	return TooLong(errors.Unwrap(err))
}

// Shorten drops the last quarter or so of a text, at a white space where there is
// one; "" when nothing is left.
func Shorten(text string) string {
	at := len(text) * 3 / 4
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	if space := strings.LastIndexAny(text[:at], " \t\r\n"); space > at/2 {
		at = space
	}
	return strings.TrimRight(text[:at], " \t\r\n")
}
