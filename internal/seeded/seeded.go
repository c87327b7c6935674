// Package seeded makes the random sources of stages.
package seeded

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// Rand is the random source of one unit of a stage: a PCG seeded with the first
// 16 bytes of the SHA-256 of the run's seed, the stage and the unit's id. What
// one unit draws does not depend on the others, nor on their order.
func Rand(seed int64, stage, unit string) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s", seed, stage, unit))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])))
}
