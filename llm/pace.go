package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// paceReplies is how many of a model's newest replies its pace is read from.
const paceReplies = 500

// Pace is the mean time that the model's newest calls in the cache took, one
// beside others in flight as they were then; false when none is known.
func (c *Cache) Pace(ctx context.Context, model Model) (time.Duration, bool, error) {
	if err := c.Flush(); err != nil {
		return 0, false, err
	}
	rows, err := c.db.QueryContext(ctx,
		"SELECT value FROM replies WHERE model = ? ORDER BY created DESC LIMIT ?", model.ID(), paceReplies)
	if err != nil {
		return 0, false, fmt.Errorf("%w: %w", ErrCache, err)
	}
	defer rows.Close()
	var sum time.Duration
	n := 0
	for rows.Next() {
		var value []byte
		var r Reply
		if err := rows.Scan(&value); err != nil {
			return 0, false, fmt.Errorf("%w: %w", ErrCache, err)
		}
		if json.Unmarshal(value, &r) == nil && r.Elapsed > 0 {
			sum += r.Elapsed
			n++
		}
	}
	if err := rows.Err(); err != nil || n == 0 {
		return 0, false, err
	}
	return sum / time.Duration(n), true, nil
}
