package corpus

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchText is about 1 MB of Markdown with headings, lists, code and a table.
func benchText() string {
	const words = "the valve opens when pressure in the main line falls below two bar and the pump has been running for a minute "
	var b strings.Builder
	for i := 0; b.Len() < 1<<20; i++ {
		fmt.Fprintf(&b, "## Section %d of part %d\n\n", i, i%7)
		for j := range 4 {
			b.WriteString(words[(i*7+j*13)%40:] + "It takes " + fmt.Sprint(i*j) + " seconds. " + words + "See e.g. Dr. Smith.\n\n")
		}
		b.WriteString("- first item\n- second item\n\n```go\nfunc run() error {\n\treturn nil\n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n")
	}
	return b.String()
}

func BenchmarkChunk(b *testing.B) {
	doc := Document{ID: "d", Text: benchText()}
	for _, method := range Methods() {
		for _, unit := range []string{"tokens", "characters"} {
			cfg := Chunking{Method: method, Unit: unit}
			if unit == "characters" {
				cfg.Size, cfg.Overlap = 1000, 100
			}
			chunker, err := NewChunker(cfg)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(method+"/"+unit, func(b *testing.B) {
				b.SetBytes(int64(len(doc.Text)))
				for b.Loop() {
					if _, err := chunker.Chunks(b.Context(), doc); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkSentences(b *testing.B) {
	text := benchText()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Sentences(text)
	}
}

func BenchmarkTraits(b *testing.B) {
	m, text := newMinhasher(), benchText()[:1200]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		traitsOf(m, text)
	}
}

// BenchmarkBuild makes snapshots of documents of some 900 bytes, a chunk each.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		if n > 10_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) { benchmarkBuild(b, n) })
	}
}

func benchmarkBuild(b *testing.B, n int) {
	path := filepath.Join(b.TempDir(), "docs.jsonl")
	var lines bytes.Buffer
	text := strings.ReplaceAll(strings.ReplaceAll(benchText(), "\n", `\n`), "\t", `\t`)
	for i := range n {
		at := (i * 997) % (len(text) - 1000)
		fmt.Fprintf(&lines, "{\"id\":\"doc-%d\",\"text\":\"Record %d. %s\"}\n", i, i, strings.Trim(text[at:at+900], `\nt`))
	}
	if err := os.WriteFile(path, lines.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(lines.Len()))
	for b.Loop() {
		opts := BuildOptions{Source: Source{Documents: path}, Chunking: Chunking{Method: "recursive", Size: 512, Overlap: 32}}
		s, _, err := Build(b.Context(), opts, b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.Manifest().Chunks), "chunks")
	}
}

// syntheticSnapshot writes a snapshot of n chunks, 20 to a document, straight to
// its files.
func syntheticSnapshot(b *testing.B, n int) *Snapshot {
	dir := b.TempDir()
	w, err := newTableWriter[chunkRow](filepath.Join(dir, chunksFile))
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		doc := fmt.Sprintf("part%d/team%d/doc-%07d.md", i/20%40, i/20%7, i/20)
		r := chunkRow{
			ChunkID: fmt.Sprintf("%s#%d", doc, i%20), DocID: doc, Ordinal: int32(i % 20), Text: "short text", Unit: UnitChunk, Tokens: int32(20 + i%200),
			ExactGroup: uint64(i) * 0x9e3779b97f4a7c15, NearGroup: uint64(i/2) * 0x9e3779b97f4a7c15,
			Category: fmt.Sprintf("part%d", i/20%40), Language: "en", Source: doc, TextDigest: sha256.Sum256([]byte(doc)),
		}
		if i%50 == 0 {
			r.Flags = "duplicate"
		}
		if err := w.add(r, 10); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.close(); err != nil {
		b.Fatal(err)
	}
	return &Snapshot{dir: dir, manifest: Manifest{Chunks: n}}
}

func BenchmarkChunkInfos(b *testing.B) {
	for _, n := range []int{1_000_000, 10_000_000} {
		if n > 1_000_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := syntheticSnapshot(b, n)
			for b.Loop() {
				seen := 0
				for _, err := range s.ChunkInfos() {
					if err != nil {
						b.Fatal(err)
					}
					seen++
				}
				if seen != n {
					b.Fatalf("%d rows", seen)
				}
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	s := syntheticSnapshot(b, 1_000_000)
	ids := make([]string, 300)
	for i := range ids {
		row := i * 3331
		ids[i] = fmt.Sprintf("part%d/team%d/doc-%07d.md#%d", row/20%40, row/20%7, row/20, row%20)
	}
	for b.Loop() {
		found, err := s.ChunksByID(ids)
		if err != nil || len(found) != len(ids) {
			b.Fatal(len(found), err)
		}
	}
}
