package corpus

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// spilled holds the rows of a chunk table on disk, to be read by document. In
// memory are the documents' ids and 8 bytes a row.
type spilled struct {
	file    *os.File
	order   []string           // document ids by their first row
	offsets map[string][]int64 // where each row of a document is
	used    map[string]bool    // documents that were found in a source
}

// spillTable reads a chunk table into a temporary file in dir.
func spillTable(ctx context.Context, src Source, dir string, skip func(error) bool) (*spilled, error) {
	f, err := os.Create(filepath.Join(dir, "table.spill"))
	if err != nil {
		return nil, err
	}
	s := &spilled{file: f, offsets: map[string][]int64{}, used: map[string]bool{}}
	if err := s.fill(ctx, src, skip); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *spilled) close() {
	s.file.Close()
	os.Remove(s.file.Name())
}

func (s *spilled) fill(ctx context.Context, src Source, skip func(error) bool) error {
	need := columns{{"chunk_id", "id", "_id"}, {"doc_id"}, {"text"}}
	w := bufio.NewWriterSize(s.file, 1<<20)
	at := int64(0)
	for rec, err := range records(src.Chunks, src.Fields, need) {
		var c tableChunk
		if err == nil {
			c, err = readTableChunk(rec, src.Fields)
			c.Attributes.Unit = cmp.Or(c.Attributes.Unit, src.Unit)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && skip(err) {
			continue
		}
		if err != nil {
			return err
		}
		n, err := writeFrame(w, &c)
		if err != nil {
			return err
		}
		if _, known := s.offsets[c.DocID]; !known {
			s.order = append(s.order, c.DocID)
		}
		s.offsets[c.DocID] = append(s.offsets[c.DocID], at)
		at += n
	}
	return w.Flush()
}

// writeFrame writes a row with its length before it.
func writeFrame(w io.Writer, c *tableChunk) (int64, error) {
	buf, err := json.Marshal(c)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.Where, err)
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(buf)))
	if _, err := w.Write(head); err != nil {
		return 0, err
	}
	_, err = w.Write(buf)
	return int64(len(head) + len(buf)), err
}

// chunks reads the rows of a document in table order.
func (s *spilled) chunks(id string) ([]tableChunk, error) {
	rows := make([]tableChunk, len(s.offsets[id]))
	for i, at := range s.offsets[id] {
		var head [8]byte
		if _, err := s.file.ReadAt(head[:], at); err != nil {
			return nil, err
		}
		body := make([]byte, binary.LittleEndian.Uint64(head[:]))
		if _, err := s.file.ReadAt(body, at+int64(len(head))); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(body, &rows[i]); err != nil {
			return nil, fmt.Errorf("document %s: %w", id, err)
		}
	}
	return rows, nil
}
