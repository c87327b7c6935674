package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goldgen/goldgen/internal/clip"
	"github.com/goldgen/goldgen/internal/httpretry"
)

// Kind says in which way a call or a reply failed. It is an error itself, so
// that errors.Is(err, llm.KindTimeout) works on anything that wraps an *Error.
type Kind string

// Kinds of failure. The first group comes from clients: there is no complete
// reply, and nothing is cached. The second is found in complete replies by the
// parsers of this package; such replies are cached and stay what they are.
const (
	KindPromptTooLong  Kind = "prompt_too_long"  // the prompt does not fit into the window, or was cut to it
	KindModelNotFound  Kind = "model_not_found"  // the server does not have the model
	KindNotAChatModel  Kind = "not_a_chat_model" // an embedder was asked to chat
	KindNotAnEmbedder  Kind = "not_an_embedder"  // a chat model was asked for vectors
	KindNoSystem       Kind = "no_system"        // the model's template drops the system message
	KindServerDown     Kind = "server_down"      // nobody listens at the address
	KindServerGone     Kind = "server_gone"      // the connection or the body ended in mid-call
	KindServerError    Kind = "server_error"     // an HTTP status of 500 or more, after the retries
	KindTimeout        Kind = "timeout"          // the call took longer than the configured time
	KindAuth           Kind = "auth"             // 401 or 403
	KindBadRequest     Kind = "bad_request"      // the server understood and refused
	KindBadSchema      Kind = "bad_schema"       // the server cannot make a grammar of the schema
	KindRateLimited    Kind = "rate_limited"     // 429, after the retries
	KindNotTheProtocol Kind = "not_the_protocol" // an answer, but not of this protocol (HTML, another service)
	KindTooLong        Kind = "too_long"         // a text longer than the embedder takes; Index names it
	KindVectors        Kind = "vectors"          // wrong number of vectors, a zero vector, not a number
	KindDimension      Kind = "dimension"        // vectors of different lengths

	KindCutOff            Kind = "cut_off"             // num_predict reached before the answer could be read
	KindSchemaNotEnforced Kind = "schema_not_enforced" // JSON, but not of the schema
	KindNotJSON           Kind = "not_json"            // prose where JSON was asked
	KindEmpty             Kind = "empty"               // no text at all
	KindRefusal           Kind = "refusal"             // the model declined
)

// Error makes a Kind usable as a target of errors.Is.
func (k Kind) Error() string { return strings.ReplaceAll(string(k), "_", " ") }

// maxDetail bounds what an error repeats of a server's body, in bytes.
const maxDetail = 300

// Error is a failed call or an unusable reply. It never holds a key, nor the
// user part of an address.
type Error struct {
	Kind     Kind
	Model    string // the model's name, where known
	Endpoint string // the server's address without user, query and fragment
	Status   int    // HTTP status, 0 if none came
	Detail   string // what the server or the parser said, at most 300 bytes
	Index    int    // of the text that is too long (KindTooLong), else 0
	Cut      bool   // a status of 200 came, but the body ended early: worth asking again
	Err      error  // the cause, where there is one worth matching
	Advice   string // replaces the general hint
}

// Error reads "model m: timeout: detail (http://host, status 500)".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Model != "" {
		fmt.Fprintf(&b, "model %s: ", e.Model)
	}
	b.WriteString(e.Kind.Error())
	if e.Kind == KindTooLong {
		fmt.Fprintf(&b, " (text %d)", e.Index)
	}
	if d := Bounded(e.Detail); d != "" {
		b.WriteString(": " + d)
	}
	b.WriteString(e.place())
	return b.String()
}

func (e *Error) place() string {
	switch {
	case e.Endpoint != "" && e.Status != 0:
		return fmt.Sprintf(" (%s, status %d)", e.Endpoint, e.Status)
	case e.Endpoint != "":
		return fmt.Sprintf(" (%s)", e.Endpoint)
	case e.Status != 0:
		return fmt.Sprintf(" (status %d)", e.Status)
	}
	return ""
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is matches a Kind.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// Hint is the next thing to do, or "" where nothing general can be said.
func (e *Error) Hint() string {
	if e.Advice != "" {
		return e.Advice
	}
	switch e.Kind {
	case KindModelNotFound:
		return "ollama pull " + e.Model
	case KindServerDown:
		return "start the server (Ollama: ollama serve), or set endpoints in goldgen.yaml"
	case KindPromptTooLong:
		return "raise num_ctx, or make chunks smaller"
	case KindCutOff:
		return "raise num_predict"
	case KindAuth:
		return "set the key in the environment"
	case KindNoSystem:
		return "use an instruct model with a chat template"
	case KindNotAnEmbedder:
		return "name an embedding model under embedding.model, such as all-minilm"
	case KindNotAChatModel:
		return "name a chat model, such as llama3.1:8b"
	case KindTimeout:
		return "raise timeout, or lower concurrency"
	case KindSchemaNotEnforced, KindNotJSON:
		return "use a server that enforces JSON schemas"
	case KindNotTheProtocol:
		return "check provider and endpoints in goldgen.yaml"
	}
	return ""
}

// Hint gives the hint of the first *Error in err's chain, or "".
func Hint(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint()
	}
	return ""
}

// KindOf gives the kind of the first *Error in err's chain, or "".
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// EndsRun tells the errors that every further call would meet too (no server,
// no such model, wrong key, a cache that cannot be written, cancellation) from
// those of a single unit.
func EndsRun(err error) bool {
	switch KindOf(err) {
	case KindServerDown, KindModelNotFound, KindAuth, KindNoSystem, KindNotAnEmbedder, KindNotAChatModel, KindNotTheProtocol, KindBadSchema:
		return true
	}
	return errors.Is(err, ErrCache) || errors.Is(err, context.Canceled)
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

// Bounded shortens a server's words to one printable line of at most 300 bytes.
func Bounded(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	if len(s) <= maxDetail {
		return s
	}
	return clip.Bytes(s, maxDetail) + "..."
}

// RedactURL drops user, password, query and fragment from an address, so that
// it can be shown.
func RedactURL(raw string) string { return httpretry.RedactURL(raw) }
