package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/goldgen/goldgen/llm"
	"github.com/goldgen/goldgen/retrieve"
)

// answerCache keeps what retrievers answered, found by the index version and
// the whole query. It is a file of the same kind as the cache of replies, and
// is looked at only when asked: what a program or a server outside would answer
// today, goldgen cannot know.
type answerCache struct {
	store *llm.Cache
	model llm.Model // as rows and statistics name the retriever
	index string
	hits  atomic.Int64
}

// AnswersPath is the file of the answers that --cache keeps.
func (p *Project) AnswersPath() string { return p.state("cache", "answers.sqlite") }

func (p *Project) openAnswerCache(ctx context.Context, index string, d retrieve.Description) (*answerCache, error) {
	store, err := llm.OpenCache(ctx, p.AnswersPath(), p.Now)
	if err != nil {
		return nil, err
	}
	return &answerCache{store: store, index: index, model: llm.Model{Provider: "retriever", Name: d.Name, Digest: index}}, nil
}

// Close writes what is left.
func (a *answerCache) Close() error { return a.store.Close() }

// before answers from the cache, and keeps what next answers.
func (a *answerCache) before(next retrieve.Retriever) retrieve.Retriever {
	return &cachedRetriever{a, next}
}

type cachedRetriever struct {
	*answerCache
	next retrieve.Retriever
}

// Retrieve implements retrieve.Retriever. Errors are not kept.
func (c *cachedRetriever) Retrieve(ctx context.Context, q retrieve.Query) (retrieve.Result, error) {
	key, err := c.key(q)
	if err != nil {
		return retrieve.Result{}, err
	}
	reply, ok, err := c.store.Reply(ctx, key)
	if err != nil {
		return retrieve.Result{}, err
	}
	if ok {
		var kept retrieve.Result
		if err := json.Unmarshal([]byte(reply.Text), &kept); err != nil {
			return kept, fmt.Errorf("%w: answer of %s: %w", llm.ErrCache, c.model.Name, err)
		}
		c.hits.Add(1)
		return kept, nil
	}
	out, err := c.next.Retrieve(ctx, q)
	if err != nil {
		return out, err
	}
	text, err := json.Marshal(out)
	if err != nil {
		return out, err
	}
	return out, c.store.PutReply(key, c.model, llm.Reply{Text: string(text)})
}

// key covers all of the query but the case's id.
func (c *cachedRetriever) key(q retrieve.Query) (string, error) {
	q.ID = ""
	query, err := json.Marshal(q)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write([]byte(c.index))
	h.Write(query)
	return hex.EncodeToString(h.Sum(nil)), nil
}
