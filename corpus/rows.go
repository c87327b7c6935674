package corpus

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pair is one entry of a metadata map as stored, sorted by key: the library's
// own maps come in no order.
type pair struct {
	Key   string `parquet:"key"`
	Value string `parquet:"value"`
}

// scopeEntry is one key of a scope as stored, sorted by key.
type scopeEntry struct {
	Key    string   `parquet:"key"`
	Values []string `parquet:"values,list"`
}

// documentRow is a row of documents.parquet.
type documentRow struct {
	DocID      string       `parquet:"doc_id"`
	Text       string       `parquet:"text,zstd"`
	Title      string       `parquet:"title"`
	Source     string       `parquet:"source"`
	Category   string       `parquet:"category,dict"`
	Language   string       `parquet:"language,dict"`
	Metadata   []pair       `parquet:"metadata,list"`
	Scope      []scopeEntry `parquet:"scope,list"`
	ValidFrom  *int64       `parquet:"valid_from,optional,timestamp(microsecond)"`
	ValidTo    *int64       `parquet:"valid_to,optional,timestamp(microsecond)"`
	UpdatedAt  *int64       `parquet:"updated_at,optional,timestamp(microsecond)"`
	TextDigest [32]byte     `parquet:"text_digest,uncompressed"`
}

// chunkRow is a row of chunks.parquet. Groups are the numbers whose 16 hex
// digits are the groups' names, flags are joined by commas and source is the
// document's: so that a scan without the text is cheap.
type chunkRow struct {
	ChunkID     string       `parquet:"chunk_id"`
	DocID       string       `parquet:"doc_id,dict"`
	Ordinal     int32        `parquet:"ordinal"`
	Start       int64        `parquet:"start"`
	End         int64        `parquet:"end"`
	Text        string       `parquet:"text,zstd"`
	HeadingPath []string     `parquet:"heading_path,list"`
	Unit        string       `parquet:"unit,dict"`
	Tokens      int32        `parquet:"tokens"`
	TextDigest  [32]byte     `parquet:"text_digest,uncompressed"`
	ExactGroup  uint64       `parquet:"exact_group,uncompressed"`
	NearGroup   uint64       `parquet:"near_group,uncompressed"`
	Flags       string       `parquet:"flags,dict"`
	Category    string       `parquet:"category,dict"`
	Language    string       `parquet:"language,dict"`
	Source      string       `parquet:"source,dict"`
	Metadata    []pair       `parquet:"metadata,list"`
	Scope       []scopeEntry `parquet:"scope,list"`
	ValidFrom   *int64       `parquet:"valid_from,optional,timestamp(microsecond)"`
	ValidTo     *int64       `parquet:"valid_to,optional,timestamp(microsecond)"`
	UpdatedAt   *int64       `parquet:"updated_at,optional,timestamp(microsecond)"`
}

func rowOfDocument(d Document) (documentRow, error) {
	digest, err := digestBytes(d.TextDigest)
	return documentRow{
		DocID: d.ID, Text: d.Text, Title: d.Title, Source: d.Source, Category: d.Category, Language: d.Language,
		Metadata: pairs(d.Metadata), Scope: scopeEntries(d.Scope),
		ValidFrom: micros(d.ValidFrom), ValidTo: micros(d.ValidTo), UpdatedAt: micros(d.UpdatedAt), TextDigest: digest,
	}, err
}

func (r *documentRow) document() Document {
	return Document{
		ID: r.DocID, Text: r.Text, Title: r.Title, Source: r.Source, Category: r.Category, Language: r.Language,
		Metadata: metadataOf(r.Metadata), Scope: scopeOf(r.Scope),
		ValidFrom: timeOf(r.ValidFrom), ValidTo: timeOf(r.ValidTo), UpdatedAt: timeOf(r.UpdatedAt),
		TextDigest: hex.EncodeToString(r.TextDigest[:]),
	}
}

func rowOfChunk(c Chunk, source string) (chunkRow, error) {
	digest, err := digestBytes(c.TextDigest)
	return chunkRow{
		ChunkID: c.ID, DocID: c.DocID, Ordinal: int32(c.Ordinal), Start: int64(c.Start), End: int64(c.End),
		Text: c.Text, HeadingPath: c.HeadingPath, Unit: c.Unit, Tokens: int32(c.Tokens), TextDigest: digest,
		Category: c.Category, Language: c.Language, Source: source,
		Metadata: pairs(c.Metadata), Scope: scopeEntries(c.Scope),
		ValidFrom: micros(c.ValidFrom), ValidTo: micros(c.ValidTo), UpdatedAt: micros(c.UpdatedAt),
	}, err
}

func (r *chunkRow) chunk() Chunk {
	return Chunk{
		ID: r.ChunkID, DocID: r.DocID, Ordinal: int(r.Ordinal), Start: int(r.Start), End: int(r.End),
		Text: r.Text, HeadingPath: filled(r.HeadingPath), Unit: r.Unit, Tokens: int(r.Tokens),
		TextDigest: hex.EncodeToString(r.TextDigest[:]),
		ExactGroup: groupName(r.ExactGroup), NearGroup: groupName(r.NearGroup), Flags: splitFlags(r.Flags),
		Category: r.Category, Language: r.Language, Metadata: metadataOf(r.Metadata), Scope: scopeOf(r.Scope),
		ValidFrom: timeOf(r.ValidFrom), ValidTo: timeOf(r.ValidTo), UpdatedAt: timeOf(r.UpdatedAt),
	}
}

// groupName is a group's number in 16 hex digits.
func groupName(g uint64) string {
	s := strconv.FormatUint(g, 16)
	return "0000000000000000"[len(s):] + s
}

func splitFlags(joined string) []string {
	if joined == "" {
		return nil
	}
	return strings.Split(joined, ",")
}

func digestBytes(digest string) (out [32]byte, err error) {
	n, err := hex.Decode(out[:], []byte(digest))
	if err == nil && n != len(out) {
		err = fmt.Errorf("digest %q: want 64 hex digits", digest)
	}
	return out, err
}

func filled(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

func pairs(m map[string]string) []pair {
	list := make([]pair, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, pair{key, m[key]})
	}
	return list
}

func metadataOf(list []pair) map[string]string {
	if len(list) == 0 {
		return nil
	}
	m := make(map[string]string, len(list))
	for _, p := range list {
		m[p.Key] = p.Value
	}
	return m
}

func scopeEntries(s Scope) []scopeEntry {
	list := make([]scopeEntry, 0, len(s))
	for _, key := range slices.Sorted(maps.Keys(s)) {
		list = append(list, scopeEntry{key, s[key]})
	}
	return list
}

func scopeOf(list []scopeEntry) Scope {
	if len(list) == 0 {
		return nil
	}
	s := make(Scope, len(list))
	for _, e := range list {
		s[e.Key] = e.Values
	}
	return s
}

func micros(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	n := t.UnixMicro()
	return &n
}

func timeOf(n *int64) *time.Time {
	if n == nil {
		return nil
	}
	t := time.UnixMicro(*n).UTC()
	return &t
}
