package datasets

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// edits are two texts with more or less in common: words of a small vocabulary,
// some of which the second text lacks, has more of or has elsewhere.
var edits = rapid.Custom(func(t *rapid.T) [2]string {
	word := rapid.SampledFrom([]string{"a", "é", "日本", "cat ", "dog ", "\n", ". ", "\xff", "tree", " ", "one", "two ", "three "})
	words := rapid.SliceOfN(word, 0, 60).Draw(t, "old")
	var now []string
	for _, w := range words {
		switch rapid.IntRange(0, 9).Draw(t, "edit") {
		case 0:
		case 1:
			now = append(now, w, word.Draw(t, "more"))
		case 2:
			now = append([]string{w}, now...)
		default:
			now = append(now, w)
		}
	}
	return [2]string{strings.Join(words, ""), strings.Join(now, "")}
})

func TestAlignmentIsOfEqualBytesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := edits.Draw(t, "texts")
		from, to := 0, 0
		for _, b := range align(texts[0], texts[1]).blocks {
			if b.from < from || b.to < to || b.length <= 0 {
				t.Fatalf("block %+v after %d, %d", b, from, to)
			}
			if from, to = b.from+b.length, b.to+b.length; texts[0][b.from:from] != texts[1][b.to:to] {
				t.Fatalf("block %+v: %q is not %q", b, texts[0][b.from:from], texts[1][b.to:to])
			}
		}
		if texts[0] == texts[1] && from != len(texts[0]) {
			t.Fatalf("a text and itself are aligned up to %d of %d", from, len(texts[0]))
		}
	})
}

// TestAlignmentOfSpans wants a span's exact place to hold the same bytes, its inner
// one to lie in its outer one, and that nothing outside of the outer one is of it.
func TestAlignmentOfSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := edits.Draw(t, "texts")
		a := align(texts[0], texts[1])
		start := rapid.IntRange(0, len(texts[0])).Draw(t, "start")
		s := Span{start, rapid.IntRange(start, len(texts[0])).Draw(t, "end")}
		outer := a.outer(s)
		if s.End > s.Start && (outer.Start > outer.End || outer.Start < 0 || outer.End > len(texts[1])) {
			t.Fatalf("%v became %v of %d bytes", s, outer, len(texts[1]))
		}
		inner, share := a.inner(s)
		if share > 0 && (inner.Start < outer.Start || inner.End > outer.End || inner.End <= inner.Start) {
			t.Fatalf("inner %v, outer %v", inner, outer)
		}
		at, ok := a.exact(s)
		if ok && texts[1][at.Start:at.End] != texts[0][s.Start:s.End] {
			t.Fatalf("%q became %q", texts[0][s.Start:s.End], texts[1][at.Start:at.End])
		}
		if ok && s.End > s.Start && (at != inner || share != 1) {
			t.Fatalf("exact %v, inner %v of share %v", at, inner, share)
		}
		for _, b := range a.blocks {
			for i := range b.length {
				if inside := b.from+i >= s.Start && b.from+i < s.End; inside && (b.to+i < outer.Start || b.to+i >= outer.End) {
					t.Fatalf("byte %d of %v is at %d, outside of %v", b.from+i, s, b.to+i, outer)
				}
			}
		}
	})
}

// FuzzMatch wants a fuzzy find to be in order and its cost to be a share.
func FuzzMatch(f *testing.F) {
	f.Add("the limit is 100 requests a minute", "some say the limit was 100 requests a minute or so")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, quote, text string) {
		m := &moved{fate: edited, old: quote, now: text, held: &foldedTexts{}}
		if quote == "" || len(quote)+len(text) > 4000 {
			return
		}
		p := m.place(Evidence{Start: 0, End: len(quote), Quote: quote})
		if p.lost == "" && (p.quote == "" || text[p.span.Start:p.span.End] != p.quote) {
			t.Errorf("%q found as %q at %v", quote, p.quote, p.span)
		}
	})
}

func BenchmarkAlign(b *testing.B) {
	var old, now strings.Builder
	for i := 0; old.Len() < 5<<20; i++ {
		sentence := strings.Repeat("w", i%7+1) + " says number " + strings.Repeat("x", i%11) + string(rune('a'+i%26)) + strconv.Itoa(i) + ". "
		old.WriteString(sentence)
		if i%50 != 0 {
			now.WriteString(sentence)
		}
	}
	for b.Loop() {
		if a := align(old.String(), now.String()); a.kept() < 0.9 {
			b.Fatal(a.kept())
		}
	}
}
