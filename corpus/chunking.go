package corpus

import (
	"fmt"
	"slices"
	"strings"
)

// Methods lists the chunking methods.
func Methods() []string {
	return []string{"fixed", "sentence", "recursive", "markdown", "code", "document", "none"}
}

// WithDefaults fills what is not set: markdown, 256 tokens with an overlap of
// 32. A given size alone gets an overlap of an eighth of it.
func (c Chunking) WithDefaults() Chunking {
	if c.Method == "" {
		c.Method = "markdown"
	}
	if c.Unit == "" {
		c.Unit = "tokens"
	}
	if c.Size == 0 {
		c.Size = 256
		if c.Overlap == 0 {
			c.Overlap = 32
		}
	}
	if c.Method == "document" || c.Method == "none" {
		c.Size, c.Overlap = 0, 0
	}
	return c
}

// Validate reports the first field that cannot be used, with its value.
func (c Chunking) Validate() error {
	switch {
	case !slices.Contains(Methods(), c.Method):
		return fmt.Errorf("chunking.method %q: want one of %s", c.Method, strings.Join(Methods(), ", "))
	case c.Unit != "tokens" && c.Unit != "characters":
		return fmt.Errorf("chunking.unit %q: want tokens or characters", c.Unit)
	case c.Method == "document" || c.Method == "none":
		return nil
	case c.Size < 1:
		return fmt.Errorf("chunking.size %d: want 1 or more", c.Size)
	case c.Overlap < 0 || c.Overlap >= c.Size:
		return fmt.Errorf("chunking.overlap %d: want 0 or more and less than size %d", c.Overlap, c.Size)
	}
	return nil
}
