package corpus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goldgen/goldgen/corpus"
)

// words is a text of n words of its own, but for one in every.
func words(name string, n, every int) string {
	var b strings.Builder
	for i := range n {
		word := fmt.Sprintf("%s%d ", name, i)
		if every > 0 && i%every == 0 {
			word = "changed "
		}
		b.WriteString(word)
	}
	return b.String()
}

func TestFindAlike(t *testing.T) {
	for name, tc := range map[string]struct {
		old, now []string
		want     [][2]int
	}{
		"edited and moved": {
			[]string{words("a", 200, 0), words("b", 200, 0)}, []string{words("b", 200, 20), words("a", 200, 20)}, [][2]int{{0, 1}, {1, 0}},
		},
		"nothing like it":   {[]string{words("a", 200, 0)}, []string{words("c", 200, 0)}, nil},
		"rewritten":         {[]string{words("a", 200, 0)}, []string{words("a", 200, 3)}, nil},
		"two that would do": {[]string{words("a", 200, 0)}, []string{words("a", 200, 40), words("a", 200, 50)}, nil},
		"one from two":      {[]string{words("a", 200, 40), words("a", 200, 50)}, []string{words("a", 200, 0)}, nil},
		"nothing":           {nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got [][2]int
			for _, m := range corpus.FindAlike(sketches(tc.old), sketches(tc.now)) {
				got = append(got, [2]int{m.Old, m.New})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func sketches(texts []string) []corpus.Sketch {
	s := corpus.NewSketcher()
	var out []corpus.Sketch
	for _, text := range texts {
		out = append(out, s.Sketch(text))
	}
	return out
}
