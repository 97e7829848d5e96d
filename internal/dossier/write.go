package dossier

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"concord/identity"
	"concord/wire"
)

// Writer writes a dossier, in constant memory.
type Writer struct {
	sealed io.WriteCloser
	zip    *zip.Writer
	files  []File
}

// NewWriter begins a dossier that is sealed to one auditor.
func NewWriter(w io.Writer, to *age.HybridRecipient) (*Writer, error) {
	sealed, err := age.Encrypt(w, to)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	return &Writer{sealed: sealed, zip: zip.NewWriter(sealed)}, nil
}

// Add adds a member.
func (d *Writer) Add(name string, content io.Reader) error {
	f, err := d.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(f, sum)}, struct{ io.Reader }{content}, make([]byte, 1<<20))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	d.files = append(d.files, File{name, n, wire.Hash(sum.Sum(nil))})
	return nil
}

// AddBytes adds a member.
func (d *Writer) AddBytes(name string, b []byte) error { return d.Add(name, bytes.NewReader(b)) }

// AddJSON adds a member in its canonical encoding.
func (d *Writer) AddJSON(name string, v any) error {
	b, err := wire.Canonical(v)
	if err != nil {
		return err
	}
	return d.AddBytes(name, b)
}

// Close ends the dossier with its index, signed by the analyst.
func (d *Writer) Close(x *Index, id *identity.Identity) error {
	x.Format, x.Files = 1, d.files
	part, err := x.signedPart()
	if err != nil {
		return err
	}
	x.Signature = id.Sign(wire.SignExport, part)
	b, err := wire.Canonical(x)
	if err != nil {
		return err
	}
	f, err := d.zip.CreateHeader(&zip.FileHeader{Name: IndexName, Method: zip.Store})
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, d.zip.Close(), d.sealed.Close())
}
