package seeded_test

import (
	"testing"

	"github.com/goldgen/goldgen/internal/seeded"
)

// The numbers are part of what a seed means: sets made with it are made again
// byte for byte.
func TestRandIsTheSameForEver(t *testing.T) {
	for _, tt := range []struct {
		seed        int64
		stage, unit string
		want        uint64
	}{
		{1, "pool", "c1", 796258223880715682},
		{-1, "pool", "c1", 8208035631591590440},
		{1, "generate", "c1", 1433637370923264059},
		{1, "pool", "c2", 16234410508390139076},
	} {
		if got := seeded.Rand(tt.seed, tt.stage, tt.unit).Uint64(); got != tt.want {
			t.Errorf("seed %d, stage %s, unit %s: %d, want %d", tt.seed, tt.stage, tt.unit, got, tt.want)
		}
	}
}
