package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// keyFormat is hashed first: a change of what keys cover changes all of them.
const keyFormat = "goldgen-llm-1\n"

// Validate names the field that no server could make sense of.
func (o Options) Validate() error {
	switch {
	case o.NumCtx <= 0:
		return fmt.Errorf("num_ctx: %d is not positive", o.NumCtx)
	case o.NumPredict <= 0:
		return fmt.Errorf("num_predict: %d is not positive", o.NumPredict)
	case o.NumPredict >= o.NumCtx:
		return fmt.Errorf("num_predict: %d leaves no room in num_ctx=%d", o.NumPredict, o.NumCtx)
	case o.NumThread < 0:
		return fmt.Errorf("num_thread: %d is negative", o.NumThread)
	case math.IsNaN(o.Temperature) || o.Temperature < 0 || o.Temperature > 2:
		return fmt.Errorf("temperature: %v is not in [0,2]", o.Temperature)
	case o.TopLogprobs < 0 || o.TopLogprobs > 20:
		return fmt.Errorf("top_logprobs: %d is not in [0,20]", o.TopLogprobs)
	}
	return nil
}

// Validate checks a request before it is keyed or sent.
func (r Request) Validate() error {
	if r.Model.Name == "" {
		return errors.New("request: model: empty name")
	}
	if len(r.Messages) == 0 {
		return errors.New("request: no messages")
	}
	for i, m := range r.Messages {
		if !slices.Contains([]string{"system", "user", "assistant"}, m.Role) {
			return fmt.Errorf("request: message %d: unknown role %q", i, m.Role)
		}
	}
	if len(r.Schema) > 0 && !json.Valid(r.Schema) {
		return errors.New("request: schema is not JSON")
	}
	if r.Attempt < 0 {
		return fmt.Errorf("request: attempt: %d is negative", r.Attempt)
	}
	if err := r.Options.Validate(); err != nil {
		return fmt.Errorf("request: %w", err)
	}
	return nil
}

// Key is the cache key of a request: SHA-256, in hex, over the JSON of the
// whole request with object keys in the order of the Go types, white space in
// the schema removed (its key order is kept, since servers follow it). It
// covers the model's provider, name, digest and revision, all messages, the
// schema, all options with the seed, and the attempt. It does not cover the
// endpoint, timeouts, or how a provider words the request. NumThread is left
// out: it changes speed, not text.
func (r Request) Key() string {
	r.Schema = compact(r.Schema)
	r.Options.NumThread = 0
	return digest("chat", r)
}

// Key is the cache key of text i of an embedding request: it covers the model,
// the prefix and the text alone, not the batch it came in.
func (r EmbedRequest) Key(i int) string {
	r.Texts = r.Texts[i : i+1]
	return digest("embed", r)
}

// digest hashes JSON made from structs, strings and numbers only, which
// encoding/json writes the same way every time.
func digest(what string, v any) string {
	h := sha256.New()
	h.Write([]byte(keyFormat + what + "\n"))
	enc := json.NewEncoder(h)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		// Only a schema that Validate would have refused gets here. Its bytes
		// still tell requests apart.
		fmt.Fprintf(h, "%q", fmt.Sprint(v))
	}
	return hex.EncodeToString(h.Sum(nil))
}

func compact(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return raw
	}
	return b.Bytes()
}
