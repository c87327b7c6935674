package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/goldgen/goldgen/internal/atomicfile"
	"github.com/goldgen/goldgen/internal/wording"
)

// BuildOptions says what a snapshot is made of.
type BuildOptions struct {
	Source   Source
	Chunking Chunking // method none is implied by a chunk table
}

// Names of a snapshot's files.
const (
	documentsFile = "documents.parquet"
	chunksFile    = "chunks.parquet"
	manifestFile  = "manifest.json"
	stagedFile    = "staged.parquet" // chunks before their groups are known
	vectorsFolder = "vectors"
)

// Build makes the snapshot of a source under root, in a folder named by the
// first 16 hex digits of its digest, and records it as root's latest. changed
// is false when that snapshot was already there: then nothing is written but,
// where another was the latest, its name. Vectors that a chunk table brings are
// stored with it.
//
// Documents are read, cut and written one after the other. What grows with the
// corpus is 16 bytes a document (to find duplicate ids), 9 bytes a chunk, about
// 220 bytes a distinct chunk text (see grouper) and, for a chunk table, the
// list of its documents' ids with 8 bytes a chunk.
func Build(ctx context.Context, opts BuildOptions, root string) (s *Snapshot, changed bool, err error) {
	if err := opts.prepare(); err != nil {
		return nil, false, err
	}
	temp, err := atomicfile.NewTempDir(root)
	if err != nil {
		return nil, false, err
	}
	defer temp.Remove()
	b, err := newBuilder(temp.Path, opts)
	if err != nil {
		return nil, false, err
	}
	defer b.close()
	if err := b.readAll(ctx); err != nil {
		return nil, false, err
	}
	if old, ok := existing(root, b.digest.sum()); ok {
		changed, err := b.addVectors(ctx, old)
		if err != nil {
			return nil, false, err
		}
		old.manifest.SkippedBad, old.manifest.Unparsed, old.manifest.Scopes = b.manifest.SkippedBad, b.manifest.Unparsed, b.scopes.counts() // of this reading
		return old, changed, setLatest(root, filepath.Base(old.dir))
	}
	if err := b.finish(ctx); err != nil {
		return nil, false, err
	}
	return commit(ctx, root, temp, b.manifest)
}

// prepare fills defaults and checks the options.
func (o *BuildOptions) prepare() error {
	if o.Source.Chunks != "" && o.Chunking.Method == "" {
		o.Chunking.Method = "none"
	}
	o.Chunking = o.Chunking.WithDefaults()
	if err := o.Chunking.Validate(); err != nil {
		return err
	}
	o.Source = o.Source.ForChunking(o.Chunking)
	if err := o.Source.Validate(); err != nil {
		return err
	}
	switch {
	case o.Source.Chunks != "":
		o.Chunking = Chunking{Method: "none"}.WithDefaults()
	case o.Chunking.Method == "none":
		return errors.New("chunking.method none: needs a chunk table (corpus.chunks)")
	}
	return nil
}

// builder holds the state of one Build.
type builder struct {
	opts      BuildOptions
	temp      string
	documents *tableWriter[documentRow]
	staged    *tableWriter[chunkRow]
	vectors   *vectorStage
	digest    *rowDigest
	groups    *grouper
	scopes    *scopeCounter
	docIDs    idSet
	chunkIDs  idSet
	manifest  Manifest
}

func newBuilder(temp string, opts BuildOptions) (*builder, error) {
	documents, err := newTableWriter[documentRow](filepath.Join(temp, documentsFile))
	if err != nil {
		return nil, err
	}
	staged, err := newTableWriter[chunkRow](filepath.Join(temp, stagedFile))
	if err != nil {
		documents.abort()
		return nil, err
	}
	return &builder{
		opts: opts, temp: temp, documents: documents, staged: staged, vectors: &vectorStage{dir: temp},
		digest: newRowDigest(), groups: newGrouper(), scopes: newScopeCounter(opts.Source.Fields), docIDs: idSet{}, chunkIDs: idSet{},
		manifest: Manifest{
			Format: SnapshotFormat, Chunking: opts.Chunking, Source: opts.Source.info(), Derived: DerivedVersion,
		},
	}, nil
}

func (b *builder) close() {
	b.documents.abort()
	b.staged.abort()
	b.vectors.close()
}

// bundle is a document with all that comes from it.
type bundle struct {
	doc     Document
	chunks  []Chunk
	traits  []chunkTraits
	vectors [][]float32 // of a chunk table that has them, by chunk; nil for none
}

// readAll reads the source and writes documents and staged chunks.
func (b *builder) readAll(ctx context.Context) error {
	for bun, err := range b.bundles(ctx) {
		if err != nil {
			if !b.skip(err) {
				return err
			}
			continue
		}
		if err := b.add(bun); err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if b.manifest.Documents == 0 || b.manifest.Bytes == 0 {
		return b.emptyError()
	}
	return nil
}

func (b *builder) emptyError() error {
	from := b.opts.Source.Chunks
	if from == "" {
		from = b.opts.Source.Documents
	}
	what := "no documents were found"
	switch {
	case b.manifest.Documents > 0:
		what = wording.Count(b.manifest.Documents, "document") + " without any text"
	case len(b.manifest.SkippedBad)+len(b.manifest.Unparsed) == 0 && b.opts.Source.Chunks == "" && tableKind(from) == "":
		return fmt.Errorf("corpus: %s: %s", from, b.opts.Source.WhyNothing())
	}
	if n := len(b.manifest.SkippedBad); n > 0 {
		what += fmt.Sprintf(", %d skipped as not UTF-8", n)
	}
	if n := len(b.manifest.Unparsed); n > 0 {
		what += fmt.Sprintf(", %d left out, the first because %s", n, b.manifest.Unparsed[0])
	}
	return fmt.Errorf("corpus: %s is empty: %s", from, what)
}

// skip counts a bad file where that is allowed, and always code that does not
// parse: nothing of it could be called a symbol.
func (b *builder) skip(err error) bool {
	var code *unparsed
	if errors.As(err, &code) {
		b.manifest.Unparsed = append(b.manifest.Unparsed, code.text)
		return true
	}
	var bad *badFile
	if !b.opts.Source.SkipBad || !errors.As(err, &bad) {
		return false
	}
	b.manifest.SkippedBad = append(b.manifest.SkippedBad, bad.where)
	return true
}

// bundles reads and cuts documents, several at once and in order.
func (b *builder) bundles(ctx context.Context) iter.Seq2[bundle, error] {
	m := newMinhasher()
	traits := func(bun bundle) bundle {
		bun.traits = make([]chunkTraits, len(bun.chunks))
		for i := range bun.chunks {
			bun.traits[i] = traitsOf(m, bun.chunks[i].Text)
		}
		return bun
	}
	chunker, err := NewChunker(b.opts.Chunking)
	if err != nil {
		return func(yield func(bundle, error) bool) { yield(bundle{}, err) }
	}
	if b.opts.Source.Chunks != "" {
		return ordered(ctx, tableBundles(ctx, b.opts.Source, b.temp, b.skip), func(bun bundle) (bundle, error) {
			bun.doc.detect(bun.doc.Text)
			for i := range bun.chunks {
				c := &bun.chunks[i]
				c.Tokens = chunker.tokens.count(c.Text)
				c.Language = cmp.Or(c.Language, bun.doc.Language)
			}
			return traits(bun), nil
		})
	}
	return ordered(ctx, ReadDocuments(b.opts.Source), func(d Document) (bundle, error) {
		bun, err := chunker.bundle(ctx, d)
		return traits(bun), err
	})
}

// bundle cuts a document.
func (k *Chunker) bundle(ctx context.Context, d Document) (bundle, error) {
	code, err := k.parse(ctx, d)
	if err != nil {
		return bundle{}, err
	}
	prose := d.Text
	if code.language != "" {
		prose = code.prose(d.Text)
	}
	d.detect(prose)
	return bundle{doc: d, chunks: k.chunks(d, code)}, nil
}

// add writes one document with its chunks.
func (b *builder) add(bun bundle) error {
	if err := checkID("document", bun.doc.ID); err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	if !b.docIDs.add(bun.doc.ID) {
		return fmt.Errorf("corpus: duplicate document id %q", bun.doc.ID)
	}
	row, err := rowOfDocument(bun.doc)
	if err != nil {
		return fmt.Errorf("document %s: %w", bun.doc.ID, err)
	}
	b.digest.document(&row)
	b.manifest.Documents++
	b.manifest.Bytes += int64(len(bun.doc.Text))
	b.groups.nextDocument()
	if err := b.documents.add(row, len(row.Text)); err != nil {
		return err
	}
	if b.opts.Source.Chunks == "" {
		b.scopes.add(bun.doc.Scope)
	}
	for i, c := range bun.chunks {
		if err := b.addChunk(c, bun.doc.Source, bun.traits[i]); err != nil {
			return err
		}
		if bun.vectors != nil {
			if err := b.vectors.add(c.ID, bun.vectors[i], bun.traits[i].empty); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) addChunk(c Chunk, source string, t chunkTraits) error {
	if b.opts.Source.Chunks != "" && !b.chunkIDs.add(c.ID) {
		return fmt.Errorf("corpus: duplicate chunk id %q", c.ID)
	}
	row, err := rowOfChunk(c, source)
	if err != nil {
		return fmt.Errorf("chunk %s: %w", c.ID, err)
	}
	b.digest.chunk(&row)
	b.groups.add(t)
	if b.opts.Source.Chunks != "" {
		b.scopes.add(c.Scope)
	}
	b.manifest.Chunks++
	b.manifest.Tokens += int64(c.Tokens)
	return b.staged.add(row, len(row.Text))
}

// finish writes the chunks with their groups, vectors of a table and, last, the
// manifest.
func (b *builder) finish(ctx context.Context) error {
	docs, err := b.documents.close()
	if err != nil {
		return err
	}
	chunks, err := b.groupChunks(ctx)
	if err != nil {
		return err
	}
	b.manifest.Digest, b.manifest.Scopes = b.digest.sum(), b.scopes.counts()
	b.manifest.Files = []FileInfo{docs, chunks}
	b.manifest.ExactSets, b.manifest.NearSets = b.groups.exactSets(), b.groups.nearN
	set, err := b.vectors.store(b.temp)
	if err != nil {
		return err
	}
	if set != nil {
		b.manifest.Vectors = []VectorSet{*set}
	}
	return writeManifest(b.temp, b.manifest)
}

// addVectors adds the table's vectors to a snapshot that was already there, when
// it has not got them.
func (b *builder) addVectors(ctx context.Context, old *Snapshot) (bool, error) {
	set, err := b.vectors.store(b.temp)
	if err != nil || set == nil {
		return false, err
	}
	if old.CheckVectors(set.Key) == nil {
		return false, nil
	}
	return true, old.commitVectors(ctx, filepath.Join(b.temp, filepath.FromSlash(set.File.Name)), *set)
}

// groupChunks writes chunks.parquet from the staged chunks.
func (b *builder) groupChunks(ctx context.Context) (FileInfo, error) {
	if _, err := b.staged.close(); err != nil {
		return FileInfo{}, err
	}
	b.groups.finish()
	out, err := newTableWriter[chunkRow](filepath.Join(b.temp, chunksFile))
	if err != nil {
		return FileInfo{}, err
	}
	defer out.abort()
	b.manifest.Flagged = map[string]int{}
	staged := filepath.Join(b.temp, stagedFile)
	i := 0
	for row, err := range tableRows[chunkRow](staged) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return FileInfo{}, err
		}
		b.groups.fill(i, row)
		for _, flag := range splitFlags(row.Flags) {
			b.manifest.Flagged[flag]++
		}
		if err := out.add(*row, len(row.Text)); err != nil {
			return FileInfo{}, err
		}
		i++
	}
	info, err := out.close()
	if err == nil {
		err = os.Remove(staged)
	}
	return info, err
}

// idSet finds ids that come twice by 128 bits of their digest.
type idSet map[[16]byte]struct{}

// add reports whether the id is new.
func (s idSet) add(id string) bool {
	key := [16]byte(sha256Of(id))
	if _, known := s[key]; known {
		return false
	}
	s[key] = struct{}{}
	return true
}

// folderName is the name of the snapshot with a digest.
func folderName(digest string) string { return digest[:min(16, len(digest))] }

// cleanName refuses a name that would leave its folder.
func cleanName(name string) bool {
	return name != "" && filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`)
}
