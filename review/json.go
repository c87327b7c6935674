package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// decodeOne reads exactly one JSON value whose keys are all known.
func decodeOne(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}
