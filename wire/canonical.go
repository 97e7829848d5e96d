package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Canonical returns the one JSON encoding of v that DecodeCanonical accepts:
// fields in the order of the Go type, no spaces, no HTML escapes.
func Canonical(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// DecodeCanonical reads into v what Canonical wrote and refuses any other
// spelling of the same value: unknown, repeated or differently cased keys,
// other orders, spaces, trailing data. What has been signed or hashed then
// means the same to every reader.
func DecodeCanonical(b []byte, v any) error {
	if err := DecodeStrict(b, v); err != nil {
		return err
	}
	again, err := Canonical(v)
	if err != nil {
		return err
	}
	return SameEncoding(b, again)
}

func DecodeStrict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the JSON text is incomplete")
		}
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("there is data after the JSON value, from byte %d on", dec.InputOffset())
	}
	return nil
}

func SameEncoding(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	n := min(len(got), len(want))
	at := n
	for i := range n {
		if got[i] != want[i] {
			at = i
			break
		}
	}
	return fmt.Errorf("not the canonical encoding: byte %d differs (a repeated, reordered or differently spelled key?)", at+1)
}
