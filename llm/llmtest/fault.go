package llmtest

import (
	"net/http"
	"strings"

	"github.com/goldgen/goldgen/llm"
)

// Fault is one way in which a server fails a call. The zero value is no fault.
type Fault struct {
	Status     int    // HTTP status; 0 means 200
	RetryAfter string // header, in seconds or as a date
	Body       string // sent as it is, when Status or Raw is set
	Raw        bool   // send Body with status 200

	Cut       bool // the body ends in the middle, after a full Content-Length was promised
	Truncated bool // the body ends in the middle, and its length says so too
	Reset     bool // the connection is reset before an answer
	Hang      bool // no answer until the caller gives up
	NotDone   bool // ollama: done is false; openai: no finish reason
	NoChoices bool // openai: an empty list

	Reply   func(*llm.Reply)                // changes the answer
	Vectors func(v [][]float32) [][]float32 // changes the vectors
}

// Status is an HTTP error as both protocols word it.
func Status(code int, message string) Fault {
	return Fault{Status: code, Body: message}
}

// RateLimited is a 429 with a Retry-After header.
func RateLimited(after string) Fault {
	return Fault{Status: http.StatusTooManyRequests, Body: "slow down", RetryAfter: after}
}

// HTML is a page with status 200, as a proxy or another service sends it.
func HTML() Fault {
	return Fault{Raw: true, Body: "<!DOCTYPE html><html><body>It works!</body></html>"}
}

// EmptyBody is a status of 200 without a body.
func EmptyBody() Fault { return Fault{Raw: true} }

// Garbage is a status of 200 with bytes that are no JSON.
func Garbage() Fault { return Fault{Raw: true, Body: "%$#@ \x00\x01 not json"} }

// CutOff is a reply that ended at num_predict.
func CutOff() Fault {
	return Fault{Reply: func(r *llm.Reply) {
		r.Text, r.FinishReason = r.Text[:len(r.Text)/2], llm.FinishLength
	}}
}

// Padded is a complete reply, followed by white space up to num_predict.
func Padded() Fault {
	return Fault{Reply: func(r *llm.Reply) {
		r.Text, r.FinishReason = r.Text+strings.Repeat(" \n", 40), llm.FinishLength
	}}
}

// ThinkingOnly is a reply that spent all its tokens thinking.
func ThinkingOnly() Fault {
	return Fault{Reply: func(r *llm.Reply) {
		r.Thinking, r.Text, r.FinishReason = "Let me see. The text says", "", llm.FinishLength
	}}
}

// Says replaces the reply's text.
func Says(text string) Fault {
	return Fault{Reply: func(r *llm.Reply) { r.Text, r.FinishReason = text, llm.FinishStop }}
}

// Refusal is a model that declines.
func Refusal() Fault { return Says("I'm sorry, but I can't assist with that request.") }

// WrongCount drops the last vector.
func WrongCount() Fault {
	return Fault{Vectors: func(v [][]float32) [][]float32 { return v[:len(v)-1] }}
}

// ZeroVector makes the first vector zero.
func ZeroVector() Fault {
	return Fault{Vectors: func(v [][]float32) [][]float32 {
		v[0] = make([]float32, len(v[0]))
		return v
	}}
}

// Ragged shortens the last vector.
func Ragged() Fault {
	return Fault{Vectors: func(v [][]float32) [][]float32 {
		last := len(v) - 1
		v[last] = v[last][:len(v[last])-1]
		return v
	}}
}
