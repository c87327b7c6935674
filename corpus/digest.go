package corpus

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// rowDigest hashes rows in order: each field with its length before it, so that
// no two rows read alike. Derived columns and file bytes do not count.
type rowDigest struct {
	documents, chunks hash.Hash
	buf               []byte
}

func newRowDigest() *rowDigest {
	return &rowDigest{documents: sha256.New(), chunks: sha256.New()}
}

// sum is the hex digest over all documents and all chunks.
func (d *rowDigest) sum() string {
	all := sha256.New()
	all.Write([]byte("goldgen snapshot 1\n"))
	all.Write(d.documents.Sum(nil))
	all.Write(d.chunks.Sum(nil))
	return hex.EncodeToString(all.Sum(nil))
}

func (d *rowDigest) document(r *documentRow) {
	d.buf = d.buf[:0]
	d.strings(r.DocID, r.Title, r.Source, r.Category, r.Language)
	d.buf = append(d.buf, r.TextDigest[:]...)
	d.attributes(r.Metadata, r.Scope, r.ValidFrom, r.ValidTo, r.UpdatedAt)
	d.documents.Write(d.buf)
}

func (d *rowDigest) chunk(r *chunkRow) {
	d.buf = d.buf[:0]
	d.strings(r.ChunkID, r.DocID, r.Unit, r.Category, r.Language)
	d.buf = binary.AppendUvarint(d.buf, uint64(len(r.HeadingPath)))
	d.strings(r.HeadingPath...)
	for _, n := range []int64{int64(r.Ordinal), r.Start, r.End} {
		d.buf = binary.AppendVarint(d.buf, n)
	}
	d.buf = append(d.buf, r.TextDigest[:]...)
	d.attributes(r.Metadata, r.Scope, r.ValidFrom, r.ValidTo, r.UpdatedAt)
	d.chunks.Write(d.buf)
}

func (d *rowDigest) strings(list ...string) {
	for _, s := range list {
		d.buf = binary.AppendUvarint(d.buf, uint64(len(s)))
		d.buf = append(d.buf, s...)
	}
}

func (d *rowDigest) attributes(metadata []pair, scope []scopeEntry, dates ...*int64) {
	d.buf = binary.AppendUvarint(d.buf, uint64(len(metadata)))
	for _, p := range metadata {
		d.strings(p.Key, p.Value)
	}
	d.buf = binary.AppendUvarint(d.buf, uint64(len(scope)))
	for _, e := range scope {
		d.strings(e.Key)
		d.buf = binary.AppendUvarint(d.buf, uint64(len(e.Values)))
		d.strings(e.Values...)
	}
	for _, date := range dates {
		if date == nil {
			d.buf = append(d.buf, 0)
			continue
		}
		d.buf = binary.AppendVarint(append(d.buf, 1), *date)
	}
}
