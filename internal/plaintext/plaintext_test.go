package plaintext_test

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/goldgen/goldgen/internal/plaintext"
)

// encoded gives a text in UTF-16, without a byte order mark.
func encoded(text string, order binary.AppendByteOrder) []byte {
	var out []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

func TestProblem(t *testing.T) {
	const le = "it is UTF-16LE, want UTF-8 (iconv -f UTF-16LE -t UTF-8)"
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"a text":           {[]byte("Öffnungszeiten, 日本語"), ""},
		"nothing":          {nil, ""},
		"marked":           {append([]byte{0xff, 0xfe}, encoded("query", binary.LittleEndian)...), "it is UTF-16, want UTF-8 (iconv -f UTF-16 -t UTF-8)"},
		"marked, 32 bits":  {[]byte{0xff, 0xfe, 0, 0, 'a', 0, 0, 0}, "it is UTF-32, want UTF-8 (iconv -f UTF-32 -t UTF-8)"},
		"little end":       {encoded("query,count\n", binary.LittleEndian), le},
		"with accents":     {encoded("Wo ist das Büro in Łódź?", binary.LittleEndian), le},
		"big end":          {encoded("query,count\n", binary.BigEndian), "it is UTF-16BE, want UTF-8 (iconv -f UTF-16BE -t UTF-8)"},
		"one NUL":          {[]byte("query\x00,count"), "a NUL byte at offset 5: it is no text"},
		"NULs all over":    {make([]byte, 64), "a NUL byte at offset 0: it is no text"},
		"latin 1":          {[]byte("caf\xe9"), "not UTF-8 text"},
		"a character torn": {[]byte("caf\xc3"), "not UTF-8 text"},
	} {
		if got := plaintext.Problem(tc.data); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestDelimiter(t *testing.T) {
	wanted := func(column string) bool { return column == "query" }
	for header, want := range map[string]rune{
		"query,count": ',', "count;query": ';', "query\tcount": '\t', `"query";"count"`: ';', "query;count,all": ';',
		"query": ',', "asked;times": ',', "": ',',
	} {
		if got := plaintext.Delimiter(header, wanted); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}
