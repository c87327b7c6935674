package judge

import (
	"context"
	"slices"

	"github.com/goldgen/goldgen/corpus"
	"github.com/goldgen/goldgen/retrieve"
)

// BuiltinName is the builtin judge's name in judgments.
const BuiltinName = "builtin"

// BuiltinNote says what the builtin judge is.
const BuiltinNote = "the builtin judge has no model: it labels the source chunk and its exact copies relevant, chunks that share no content word with the query irrelevant, and all others unknown"

// Builtin labels without a model. It says only what follows from how a
// known-item query is made: the source and its exact copies are the item (3), a
// chunk without any of the query's content words is not (0). Whether another
// chunk that shares words with the query answers it, it cannot tell, and says
// unknown. A score made from word overlap would only hand bm25 its own ranking
// as labels.
type Builtin struct{}

// NewBuiltin is the judge without a model.
func NewBuiltin() Judge { return Judge{Grader: Builtin{}, Name: BuiltinName, Builtin: true} }

// Grade labels one pair.
func (Builtin) Grade(_ context.Context, q Query, chunk *corpus.Chunk) (Grade, error) {
	if slices.Contains(q.SourceGroups, chunk.ExactGroup) {
		return certain(3), nil
	}
	terms := retrieve.Terms(q.Text)
	for _, term := range retrieve.Terms(chunk.Text) {
		if slices.Contains(terms, term) {
			return Grade{Unknown: UnknownNoModel}, nil
		}
	}
	if len(terms) == 0 {
		return Grade{Unknown: UnknownNoModel}, nil
	}
	return certain(0), nil
}

func certain(grade int) Grade { return Grade{Grade: &grade} }
