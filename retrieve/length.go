package retrieve

import "math/bits"

// freeLengths is how many small lengths keep their exact value in a byte.
const freeLengths = 24

// lengthByte quantises a length to a byte as Lucene's SmallFloat.intToByte4
// does: exact under 40, then four significant bits.
func lengthByte(n int) byte {
	if n < freeLengths {
		return byte(n)
	}
	rest := uint64(n - freeLengths)
	width := bits.Len64(rest)
	if width < 4 {
		return byte(freeLengths + rest)
	}
	shift := width - 4
	return byte(freeLengths + (int(rest>>shift)&7 | (shift+1)<<3))
}

// lengthOf is the length that a byte stands for.
func lengthOf(b byte) int {
	if b < freeLengths {
		return int(b)
	}
	code := int(b) - freeLengths
	if code < 8 {
		return freeLengths + code
	}
	return freeLengths + (code&7|8)<<(code>>3-1)
}
