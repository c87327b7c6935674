package corpus

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/goldgen/goldgen/internal/unionfind"
)

// Near-duplicates: two texts are similar when the estimated Jaccard similarity
// of their sets of word triples reaches minSimilar. Candidates come from
// locality-sensitive hashing of MinHash signatures (Broder 1997; bands after
// Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, 3.4): with 16 bands
// of 4 values a pair at 0.7 is found with probability 0.99, at 0.8 with 0.9998.
const (
	hashes     = 64
	bandRows   = 4
	bands      = hashes / bandRows
	minSimilar = 0.7
	maxLeaders = 8 // members of a bucket that later ones are compared with
)

// signature is a MinHash signature, the low 16 bits of each minimum.
type signature [hashes]uint16

// minhasher holds the multipliers of the hash functions; it is read only.
type minhasher struct{ a, b [hashes]uint64 }

func newMinhasher() *minhasher {
	r := rand.New(rand.NewPCG(0x676f6c64, 0x67656e))
	var m minhasher
	for i := range hashes {
		m.a[i], m.b[i] = r.Uint64()|1, r.Uint64()
	}
	return &m
}

// signature hashes the word triples of a text. A text of one or two words is
// one triple.
func (m *minhasher) signature(text string) signature {
	var least [hashes]uint64
	for i := range least {
		least[i] = ^uint64(0)
	}
	for _, s := range shingles(text) {
		for i := range hashes {
			if v := s*m.a[i] + m.b[i]; v < least[i] {
				least[i] = v
			}
		}
	}
	var sig signature
	for i, v := range least {
		sig[i] = uint16(v >> 32)
	}
	return sig
}

// shingles are the distinct hashes of a text's word triples. A word is a run of
// letters and digits in lower case; an ideograph is a word.
func shingles(text string) []uint64 {
	const basis, prime = 14695981039346656037, 1099511628211 // FNV-1a
	words := make([]uint64, 0, len(text)/6+1)
	h, inside := uint64(basis), false
	end := func() {
		if inside {
			words = append(words, h)
		}
		h, inside = basis, false
	}
	for _, r := range text {
		switch {
		case r >= 0x2e80 && unicode.IsLetter(r):
			end()
			words = append(words, (basis^uint64(r))*prime)
		case r < 0x80 && (r|0x20 >= 'a' && r|0x20 <= 'z'):
			h, inside = (h^uint64(r|0x20))*prime, true
		case r >= '0' && r <= '9' || r >= 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			h, inside = (h^uint64(unicode.ToLower(r)))*prime, true
		default:
			end()
		}
	}
	end()
	return triples(words)
}

func triples(words []uint64) []uint64 {
	for len(words) < 3 {
		words = append(words, 0)
	}
	out := make([]uint64, len(words)-2)
	for i := range out {
		v := words[i]
		v = (v<<21 | v>>43) * 0x9e3779b97f4a7c15
		v ^= words[i+1]
		v = (v<<21 | v>>43) * 0x9e3779b97f4a7c15
		v ^= words[i+2]
		out[i] = (v ^ v>>29) * 0xbf58476d1ce4e5b9
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// exactHash is the first 8 bytes of the SHA-256 of a text whose white space is
// normalised; empty reports that nothing else is there.
func exactHash(text string) (hash uint64, empty bool) {
	fields := strings.Fields(text)
	sum := sha256.Sum256([]byte(strings.Join(fields, " ")))
	return binary.BigEndian.Uint64(sum[:8]), len(fields) == 0
}

func (s *signature) similar(o *signature) bool {
	same := 0
	for i := range s {
		if s[i] == o[i] {
			same++
		}
	}
	return float64(same) >= minSimilar*hashes
}

// nearGroups returns, for each signature, the index of the first one of its
// group. Groups are the connected components of similar pairs, found in index
// order, so they do not depend on how the signatures were made.
func nearGroups(sigs []signature) []int32 {
	sets := unionfind.New(len(sigs))
	type entry struct {
		key   uint64
		index int32
	}
	entries := make([]entry, len(sigs))
	for band := range bands {
		for i := range sigs {
			v := sigs[i][band*bandRows:]
			entries[i] = entry{uint64(v[0])<<48 | uint64(v[1])<<32 | uint64(v[2])<<16 | uint64(v[3]), int32(i)}
		}
		slices.SortFunc(entries, func(a, b entry) int {
			if a.key != b.key {
				if a.key < b.key {
					return -1
				}
				return 1
			}
			return int(a.index - b.index)
		})
		var leaders []int32
		for i, e := range entries {
			if i == 0 || entries[i-1].key != e.key {
				leaders = leaders[:0]
			}
			leaders = joinSimilar(sigs, sets, leaders, e.index)
		}
	}
	for i := range sets {
		sets[i] = sets.Root(int32(i))
	}
	return sets
}

// joinSimilar joins one member of a bucket with the leaders that it resembles;
// one that resembles none becomes a leader.
func joinSimilar(sigs []signature, sets unionfind.Sets, leaders []int32, member int32) []int32 {
	joined := false
	for _, l := range leaders {
		if sets.Root(l) == sets.Root(member) {
			joined = true
			continue
		}
		if sigs[l].similar(&sigs[member]) {
			sets.Join(l, member)
			joined = true
		}
	}
	if !joined && len(leaders) < maxLeaders {
		leaders = append(leaders, member)
	}
	return leaders
}
