package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// digestKey is where a result.json holds the digest of everything else in it.
const digestKey = "digest"

// sealResult gives a result.json's text as it is written: indented, with the
// digest of the document in it.
func sealResult(document any) (text []byte, digest string, err error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, "", err
	}
	if digest, _, err = digestResult(data); err != nil {
		return nil, "", err
	}
	var out json.RawMessage = fmt.Appendf(nil, "{%q:%q,%s", digestKey, digest, data[1:])
	data, err = json.MarshalIndent(out, "", "  ")
	return append(data, '\n'), digest, err
}

// digestResult is the SHA-256 over a result.json without its digest, and the
// digest that it holds. White space between values does not count.
func digestResult(data []byte) (digest, held string, err error) {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return "", "", err
	}
	if part, ok := parts[digestKey]; ok {
		if err := json.Unmarshal(part, &held); err != nil {
			return "", "", fmt.Errorf("%s: %w", digestKey, err)
		}
		delete(parts, digestKey)
	}
	rest, err := json.Marshal(parts)
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(rest)
	return hex.EncodeToString(sum[:]), held, nil
}

// checkResult refuses a result.json that is not as it was written, as
// ErrDamaged. Older ones hold no digest.
func checkResult(path string, data []byte) error {
	digest, held, err := digestResult(data)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	case held != "" && held != digest:
		return hinted("score the retriever again with goldgen eval", "%w: %s: was changed after it was written", ErrDamaged, path)
	}
	return nil
}
