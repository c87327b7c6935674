package llm

import (
	"context"
	"errors"
)

// EmbedHalving embeds a batch through one server's call. Servers refuse a whole
// batch (KindPromptTooLong) for one text that is too long and do not say which:
// the batch is halved until that text is alone, and the *Error of KindTooLong has
// its index, the first one's where there are several. Where both halves fit, the
// server counted the batch as a whole, and their vectors are the answer.
func EmbedHalving(ctx context.Context, req EmbedRequest, call func(context.Context, EmbedRequest) ([][]float32, error)) ([][]float32, error) {
	got, err := call(ctx, req)
	refused, ok := errors.AsType[*Error](err)
	switch {
	case !ok || refused.Kind != KindPromptTooLong:
		return got, err
	case len(req.Texts) == 1:
		alone := *refused
		alone.Kind, alone.Index, alone.Detail = KindTooLong, 0, "longer than the embedder takes"
		return nil, &alone
	}
	half := len(req.Texts) / 2
	first, second := req, req
	first.Texts, second.Texts = req.Texts[:half], req.Texts[half:]
	got, err = EmbedHalving(ctx, first, call)
	if err != nil {
		return nil, err
	}
	rest, err := EmbedHalving(ctx, second, call)
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == KindTooLong {
		e.Index += half
	}
	if err != nil {
		return nil, err
	}
	got = append(got, rest...)
	return got, sameLength(req.Model.Name, got)
}
