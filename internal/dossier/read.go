package dossier

import (
	"archive/zip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"concord/bundle"
	"concord/identity"
	"concord/wire"
)

// Dossier is an open dossier. Nothing in it is authentic before Verify.
type Dossier struct {
	Index *Index
	files map[string]*io.SectionReader
}

// refuse says why a dossier is refused, as a *[bundle.Refusal], and what a person can do.
func refuse(kind error, format string, args ...any) error {
	cure := "copy the file again, or ask the analyst for another export"
	switch kind {
	case bundle.ErrMismatch:
		cure = "name the auditor's folder with --dir; compare the fingerprint in auditor.json with the contract's"
	case bundle.ErrVersion:
		cure = "use a newer version of this program"
	}
	return &bundle.Refusal{Kind: kind, Text: fmt.Sprintf(format, args...), Cure: cure}
}

func damaged(format string, args ...any) error { return refuse(bundle.ErrDamaged, format, args...) }

// Open opens a dossier of size bytes with the auditor's key. f stays open while it is
// in use. Memory does not grow with its contents. What is wrong with it comes as a
// [bundle.Refusal]: ErrMismatch where it is sealed to another auditor, ErrVersion, ErrDamaged.
func Open(f io.ReaderAt, size int64, identity age.Identity) (*Dossier, error) {
	plain, n, err := age.DecryptReaderAt(f, size, identity)
	var other *age.NoIdentityMatchError
	if errors.As(err, &other) {
		return nil, refuse(bundle.ErrMismatch, "the export is not sealed to this auditor")
	}
	if err != nil {
		return nil, damaged("the export is damaged: %v", err)
	}
	z, err := zip.NewReader(plain, n)
	if err != nil {
		return nil, damaged("the export is damaged: %v", err)
	}
	if len(z.File) > maxFiles+1 {
		return nil, damaged("the export has %d members, at most %d are read", len(z.File), maxFiles)
	}
	d := &Dossier{files: map[string]*io.SectionReader{}}
	for _, member := range z.File {
		if d.files[member.Name] != nil {
			return nil, damaged("the export has the member %q twice", member.Name)
		}
		at, err := member.DataOffset()
		if err != nil || member.Method != zip.Store || member.UncompressedSize64 != member.CompressedSize64 || member.CompressedSize64 > uint64(n) {
			return nil, damaged("the export is damaged: member %q is not stored as it is", member.Name)
		}
		d.files[member.Name] = io.NewSectionReader(plain, at, int64(member.UncompressedSize64))
	}
	b, err := d.Bytes(IndexName, maxIndexBytes)
	if err != nil {
		return nil, err
	}
	if d.Index, err = decodeIndex(b); err != nil {
		return nil, err
	}
	return d, nil
}

// Has says whether there is a member.
func (d *Dossier) Has(name string) bool { return d.files[name] != nil }

// Open returns a member.
func (d *Dossier) Open(name string) (*io.SectionReader, error) {
	f := d.files[name]
	if f == nil {
		return nil, damaged("the export has no %s", name)
	}
	return io.NewSectionReader(f, 0, f.Size()), nil
}

// Bytes returns a whole member of at most most bytes.
func (d *Dossier) Bytes(name string, most int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	if f.Size() > most {
		return nil, damaged("the export's %s has %d bytes, at most %d are read", name, f.Size(), most)
	}
	return io.ReadAll(f)
}

// JSON reads a member that was added by AddJSON.
func (d *Dossier) JSON(name string, most int64, v any) error {
	b, err := d.Bytes(name, most)
	if err != nil {
		return err
	}
	if err := wire.DecodeCanonical(b, v); err != nil {
		return damaged("the export's %s: %v", name, err)
	}
	return nil
}

// Keys is an identity that opens the bundle with a manifest, nil if the analyst gave
// none.
func (d *Dossier) Keys(manifest wire.Hash) (age.Identity, error) {
	name := Name(KeysOf, manifest)
	if !d.Has(name) {
		return nil, nil
	}
	b, err := d.Bytes(name, maxKeysBytes)
	if err != nil {
		return nil, err
	}
	return DecodeKeys(b)
}

// Verify compares every member with the index, which the analyst must have signed.
//
// Cost: one pass over everything.
func (d *Dossier) Verify(analyst *identity.Statement) error {
	if analyst.Fingerprint() != d.Index.Analyst {
		return fmt.Errorf("the export is by %s, not by %s", d.Index.Analyst.Short(), analyst.Fingerprint().Short())
	}
	if err := d.Index.Verify(analyst.SigningKey); err != nil {
		return err
	}
	for _, want := range d.Index.Files {
		f, err := d.Open(want.Name)
		if err != nil {
			return err
		}
		sum := sha256.New()
		if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, struct{ io.Reader }{f}, make([]byte, 1<<20)); err != nil {
			return fmt.Errorf("the export's %s: %w", want.Name, err)
		}
		if f.Size() != want.Bytes || wire.Hash(sum.Sum(nil)) != want.SHA256 {
			return damaged("the export's %s is not the one that the analyst signed", want.Name)
		}
	}
	if len(d.files) != len(d.Index.Files)+1 {
		return damaged("the export has %d members, the analyst signed %d", len(d.files)-1, len(d.Index.Files))
	}
	return nil
}
