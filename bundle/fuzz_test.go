package bundle_test

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"

	"concord/bundle"
)

func FuzzReadEnvelope(f *testing.F) {
	f.Add(sealed(f, draft(bob()), bob()))
	for _, c := range badBundles {
		b := newCraft(f)
		c.change(b)
		f.Add(b.bytes()[:min(2000, len(b.bytes()))])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, line, err := bundle.ReadEnvelope(bytes.NewReader(b))
		if err != nil {
			if !known(err) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.HasPrefix(b, line) || !bytes.Equal(e.Line(), line) {
			t.Fatalf("%q was read, it encodes as %q", line, e.Line())
		}
		if err := e.Verify(alice().public()); err != nil && !known(err) {
			t.Fatal(err)
		}
		if err := e.CheckCiphertext(bytes.NewReader(b[len(line):])); err != nil && !known(err) {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeManifest(f *testing.F) {
	f.Add(describe(f, draft(bob(), carol())).Encode())
	for _, c := range badBundles {
		b := newCraft(f)
		c.change(b)
		b.inner()
		f.Add(b.manifestBytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := bundle.DecodeManifest(b)
		if err != nil {
			if !known(err) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(m.Encode(), b) {
			t.Fatalf("%q was read, it encodes as %q", b, m.Encode())
		}
	})
}

func FuzzDecodeApproval(f *testing.F) {
	f.Add(approve(f, describe(f, draft(bob())), alice().key).Encode())
	for _, c := range badBundles {
		b := newCraft(f)
		c.change(b)
		b.inner()
		f.Add(b.approval)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := bundle.DecodeApproval(b)
		if err != nil {
			if !known(err) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(a.Encode(), b) {
			t.Fatalf("%q was read, it encodes as %q", b, a.Encode())
		}
		if err := a.Verify(a.Manifest, a.Approver); err != nil && !known(err) {
			t.Fatal(err)
		}
	})
}

// FuzzOpenUnsealed compares with the standard library: a zip that is accepted
// must be the one that archive/zip writes for what archive/zip reads from it.
func FuzzOpenUnsealed(f *testing.F) {
	var b bytes.Buffer
	d := draft(bob())
	if err := bundle.WriteUnsealed(&b, describe(f, d), d.Members); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	for _, c := range badBundles {
		b := newCraft(f)
		c.change(b)
		f.Add(b.inner())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := openUnsealed(b)
		if err != nil {
			if !known(err) {
				t.Fatal(err)
			}
			return
		}
		std, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		var files []zipFile
		for _, f := range std.File {
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(in)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, stored(f.Name, data))
			if _, listed := r.Manifest.Member(f.Name); !listed {
				continue
			}
			if got, err := r.Bytes(f.Name, int64(len(b))); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%s: %q, %v; archive/zip reads %q", f.Name, got, err, data)
			}
		}
		if again := zipped(t, files); !bytes.Equal(again, b) {
			t.Fatalf("%q was read, archive/zip writes %q", b, again)
		}
		if err := r.Verify(alice().public(), nil); err != nil && !known(err) {
			t.Fatal(err)
		}
	})
}
