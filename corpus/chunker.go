package corpus

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

// Chunker cuts documents. What it does with one does not depend on those before
// it; it may be used concurrently.
type Chunker struct {
	cfg      Chunking
	tokens   tokenCounter
	markdown parser.Parser
	code     codeParser
}

// NewChunker returns the chunker of a configuration; zero fields take their
// defaults.
func NewChunker(cfg Chunking) (*Chunker, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Chunker{
		cfg:      cfg,
		markdown: goldmark.New(goldmark.WithExtensions(extension.Table)).Parser(),
		code:     newCodeParser(),
	}, nil
}

// section is a part of a document that no chunk crosses.
type section struct {
	path   []string // headings above and including the section's own
	pieces []piece
}

// piece is a span that is kept whole where its size allows.
type piece struct {
	Span
	solid bool // code or table: no overlap begins inside it
}

// cut is a chunk to be.
type cut struct {
	Span
	path []string
	kind string // of a code symbol; "" is none
}

// Chunks cuts one document, in order. Each chunk's Text equals
// doc.Text[Start:End], is at most Size units long (for the methods that have a
// size; code symbols are never cut) and never parts a rune. A document with
// nothing but white space gets one chunk of it, flagged empty later on; method
// none gives one chunk, too. With method code, documents that are no code are cut
// as Markdown, and code that does not parse is an error.
func (k *Chunker) Chunks(ctx context.Context, doc Document) ([]Chunk, error) {
	code, err := k.parse(ctx, doc)
	if err != nil {
		return nil, err
	}
	return k.chunks(doc, code), nil
}

// parse reads a document that is to be cut by symbols; of any other it says
// nothing.
func (k *Chunker) parse(ctx context.Context, doc Document) (parsedCode, error) {
	if k.cfg.Method == "code" {
		if language := codeLanguage(doc); language != "" {
			return k.code.parse(ctx, language, doc)
		}
	}
	return parsedCode{}, nil
}

func (k *Chunker) chunks(doc Document, code parsedCode) []Chunk {
	if k.cfg.Method == "document" || k.cfg.Method == "none" {
		c := newChunk(doc, 0, cut{Span: Span{0, len(doc.Text)}}, k.tokens.count(doc.Text))
		c.ID, c.Unit = doc.ID, cmp.Or(doc.Unit, UnitDocument)
		return []Chunk{c}
	}
	r := newRuler(doc.Text, k.cfg.Unit, &k.tokens)
	cuts := k.cuts(r, code)
	if len(cuts) == 0 {
		cuts = []cut{{Span: Span{0, len(doc.Text)}}}
	}
	chunks := make([]Chunk, len(cuts))
	for i, c := range cuts {
		tokens := r.count(c.Span)
		if k.cfg.Unit != "tokens" {
			tokens = k.tokens.count(doc.Text[c.Start:c.End])
		}
		chunks[i] = newChunk(doc, i, c, tokens)
		chunks[i].describeCode(code.language, c.kind)
	}
	return chunks
}

// describeCode marks a chunk of code.
func (c *Chunk) describeCode(language, kind string) {
	if language == "" {
		return
	}
	meta := map[string]string{}
	maps.Copy(meta, c.Metadata)
	meta[MetaCodeLanguage] = language
	if kind != "" {
		c.Unit, meta[MetaSymbolKind] = UnitCodeSymbol, kind
	}
	c.Metadata = meta
}

func (k *Chunker) cuts(r *ruler, code parsedCode) []cut {
	if code.language != "" {
		return k.cutCode(r, code)
	}
	switch k.cfg.Method {
	case "fixed":
		return k.fixed(r)
	case "sentence":
		return k.pack(r, section{pieces: k.sentencePieces(r)})
	case "recursive":
		return k.pack(r, section{pieces: k.split(r, piece{Span: Span{0, len(r.text)}}, 0)})
	}
	var cuts []cut
	for _, s := range markdownSections(k.markdown, r.text) {
		cuts = append(cuts, k.pack(r, k.fit(r, s))...)
	}
	return cuts
}

// newChunk fills a chunk from its document.
func newChunk(doc Document, n int, c cut, tokens int) Chunk {
	text := doc.Text[c.Start:c.End]
	return Chunk{
		ID: doc.ID + "#" + strconv.Itoa(n), DocID: doc.ID, Ordinal: n,
		Start: c.Start, End: c.End, Text: text, HeadingPath: c.path,
		Unit: cmp.Or(doc.Unit, UnitChunk), Tokens: tokens, TextDigest: textDigest(text),
		Category: doc.Category, Language: doc.Language, Metadata: doc.Metadata, Scope: doc.Scope,
		ValidFrom: doc.ValidFrom, ValidTo: doc.ValidTo, UpdatedAt: doc.UpdatedAt,
	}
}

// textDigest is the hex SHA-256 of a text.
func textDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// fixed cuts windows of Size units, Overlap of them shared with the one before.
func (k *Chunker) fixed(r *ruler) []cut {
	var cuts []cut
	for start, i := 0, 0; start < len(r.text); {
		end := r.reach(start, k.cfg.Size)
		if len(cuts) == 0 || end > cuts[len(cuts)-1].End {
			cuts = append(cuts, cut{Span: Span{start, end}})
		}
		if end == len(r.text) {
			break
		}
		i += k.cfg.Size - k.cfg.Overlap
		start = min(max(r.offset(i), start+1), end)
		start = min(runeCeil(r.text, start), end)
	}
	return cuts
}

// sentencePieces are the sentences, each with the white space and the markers
// before it.
func (k *Chunker) sentencePieces(r *ruler) []piece {
	var pieces []piece
	end := 0
	for _, s := range Sentences(r.text) {
		pieces = append(pieces, k.split(r, piece{Span: Span{end, s.End}}, levelWords)...)
		end = s.End
	}
	if rest := (Span{end, len(r.text)}); strings.TrimSpace(r.text[end:]) != "" {
		pieces = append(pieces, k.split(r, piece{Span: rest}, levelWords)...)
	}
	return pieces
}

// fit splits the pieces of a section that are longer than Size.
func (k *Chunker) fit(r *ruler, s section) section {
	var pieces []piece
	for i, p := range s.pieces {
		level := levelParagraphs
		if i == 0 && len(s.path) > 0 && !p.solid {
			level = levelSentences // so that a heading does not stand alone
		}
		pieces = append(pieces, k.split(r, p, level)...)
	}
	s.pieces = pieces
	return s
}

// pack joins neighbouring pieces into chunks of at most Size units. Where a
// chunk ends before its section does, the next one repeats up to Overlap units
// of it, from a place where a line, a sentence or at least a word starts.
func (k *Chunker) pack(r *ruler, s section) []cut {
	var cuts []cut
	var current Span
	emit := func() {
		t := trim(r.text, current)
		if t.Start < t.End && (len(cuts) == 0 || t.End > cuts[len(cuts)-1].End) {
			cuts = append(cuts, cut{Span: t, path: s.path})
		}
	}
	floor := 0
	for i, p := range s.pieces {
		switch joined := (Span{current.Start, p.End}); {
		case i == 0:
			current = p.Span
		case r.count(joined) <= k.cfg.Size:
			current = joined
		default:
			emit()
			current = Span{k.overlapStart(r, current, p, floor), p.End}
		}
		if p.solid {
			floor = p.End
		}
	}
	emit()
	return cuts
}

// overlapStart is where the chunk that holds p begins: at p or up to Overlap
// units before it, as far as the size allows, after floor and inside previous.
func (k *Chunker) overlapStart(r *ruler, previous Span, p piece, floor int) int {
	room := min(k.cfg.Overlap, k.cfg.Size-r.count(p.Span))
	if room <= 0 || p.solid {
		return p.Start
	}
	at := r.index(p.Start) - room
	from := max(r.offset(at), trim(r.text, previous).Start+1, floor)
	from = runeCeil(r.text, from)
	if r.index(from) < at || from >= p.Start {
		return p.Start
	}
	return from + boundary(r.text[from:p.Start])
}
