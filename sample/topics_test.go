package sample_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goldgen/goldgen/sample"
)

// around gives a unit vector at an angle, in degrees.
func around(degrees float64) []float32 {
	rad := degrees * math.Pi / 180
	return []float32{float32(math.Cos(rad)), float32(math.Sin(rad))}
}

func TestTopicsFindSeparateBundles(t *testing.T) {
	var vectors [][]float32
	for i := range 60 {
		vectors = append(vectors, around(float64(i%3)*120+float64(i)/10))
	}
	got := sample.Topics(vectors, 3, 1)
	for i := range got {
		if got[i] != got[i%3] {
			t.Fatalf("vector %d is in topic %d, others of its bundle in %d", i, got[i], got[i%3])
		}
	}
	if got[0] == got[1] || got[1] == got[2] || got[0] == got[2] {
		t.Errorf("bundles share a topic: %v", got[:3])
	}
}

func TestTopicsWithoutDirection(t *testing.T) {
	got := sample.Topics([][]float32{around(0), nil, {0, 0}, {1, 0, 0}, around(0)}, 4, 1)
	if diff := cmp.Diff([]int{0, -1, -1, -1, 0}, got); diff != "" {
		t.Errorf("topics (-want +got):\n%s", diff)
	}
	if got := sample.Topics(nil, 4, 1); len(got) != 0 {
		t.Errorf("no vectors gave %v", got)
	}
}

func TestTopicsAreRepeatable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vectors := make([][]float32, rapid.IntRange(1, 50).Draw(t, "n"))
		for i := range vectors {
			vectors[i] = around(rapid.Float64Range(0, 360).Draw(t, "angle"))
		}
		k, seed := rapid.IntRange(1, 8).Draw(t, "k"), rapid.Int64().Draw(t, "seed")
		got := sample.Topics(vectors, k, seed)
		for i, topic := range got {
			if topic < 0 || topic >= k {
				t.Fatalf("vector %d is in topic %d of %d", i, topic, k)
			}
		}
		if diff := cmp.Diff(got, sample.Topics(vectors, k, seed)); diff != "" {
			t.Fatalf("again (-first +second):\n%s", diff)
		}
	})
}
