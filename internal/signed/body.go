package signed

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"

	"concord/wire"
)

// ErrBody is returned at the end of a body that is not the one that was signed.
var ErrBody = errors.New("the body is not the one that was signed; something between changed it")

// CheckBody returns a reader of body that ends with ErrBody instead of io.EOF
// unless its SHA-256 is want. What was read before the end may not be acted on.
func CheckBody(body io.ReadCloser, want wire.Hash) io.ReadCloser {
	return &checkedBody{body, sha256.New(), want, nil}
}

type checkedBody struct {
	body io.ReadCloser
	hash hash.Hash
	want wire.Hash
	end  error
}

// Read gives ErrBody in place of the end where the bytes are not those that were signed.
func (b *checkedBody) Read(p []byte) (int, error) {
	if b.end != nil {
		return 0, b.end
	}
	n, err := b.body.Read(p)
	b.hash.Write(p[:n])
	if err == io.EOF && wire.Hash(b.hash.Sum(nil)) != b.want {
		err = ErrBody
	}
	b.end = err
	return n, err
}

// Close closes the body.
func (b *checkedBody) Close() error { return b.body.Close() }

// HashBody reads r to its end and returns the SHA-256, in memory that does not
// depend on its length.
func HashBody(r io.Reader) (wire.Hash, error) {
	h := sha256.New()
	_, err := io.Copy(h, r)
	return wire.Hash(h.Sum(nil)), err
}
