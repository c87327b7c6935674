package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
)

// digestLines is the digest that a stage file of these records has.
func digestLines[T any](records []T) (string, error) {
	sum := sha256.New()
	for i := range records {
		if _, err := writeLine(sum, records[i]); err != nil {
			return "", err
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
