package npy_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/npy"
)

func archive(t testing.TB, name string) *npy.Archive {
	t.Helper()
	b := sample(t, name)
	a, err := npy.OpenArchive(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestArchive(t *testing.T) {
	for _, name := range []string{"plain.npz", "compressed.npz"} {
		t.Run(name, func(t *testing.T) {
			a := archive(t, name)
			if got := a.Names(); !slices.Equal(got, []string{"X", "bits", "y"}) {
				t.Errorf("names %q", got)
			}
			x, err := matrix(a, "X", npy.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if want := []float64{1.5, -2.25, 3e300, 0.1, math.Float64frombits(0x7ff8 << 48), math.Copysign(0, -1)}; !sameBits(x.RawMatrix().Data, want) {
				t.Errorf("X %v, want %v", x.RawMatrix().Data, want)
			}
			var y []int64
			err = a.Read("y", func(r io.Reader) (err error) { y, err = npy.ReadInts(r, npy.Limits{}); return err })
			if err != nil || !slices.Equal(y, []int64{3, -1}) {
				t.Errorf("y %v, %v", y, err)
			}
			bits, err := matrix(a, "bits", npy.Limits{})
			if err != nil || !mat.Equal(bits, mat.NewDense(2, 2, []float64{0x81, 0x40, 0x60, 0xc0})) {
				t.Errorf("bits %v, %v", bits, err)
			}
		})
	}
}

func matrix(a *npy.Archive, name string, lim npy.Limits) (x *mat.Dense, err error) {
	err = a.Read(name, func(r io.Reader) (err error) { x, err = npy.ReadMatrix(r, lim); return err })
	return x, err
}

func TestArchiveRefused(t *testing.T) {
	a := archive(t, "plain.npz")
	_, err := matrix(a, "Z", npy.Limits{})
	wantError(t, "no array", err, `no array "Z"`)
	_, err = matrix(a, "X", npy.Limits{Rows: 1})
	wantError(t, "rows", err, `array "X": npy: shape (2, 3): 2 rows, at most 1`)
	_, err = matrix(a, "X", npy.Limits{Cols: 1})
	wantError(t, "columns", err, "3 columns, at most 1")
	_, err = matrix(a, "bits", npy.Limits{Bytes: 31})
	wantError(t, "bytes", err, "at most 31 bytes are read")
	err = a.Read("X", func(r io.Reader) error { _, err := npy.ReadInts(r, npy.Limits{}); return err })
	wantError(t, "floats", err, "integers are wanted")

	b := sample(t, "bad_twice.npz")
	_, err = npy.OpenArchive(bytes.NewReader(b), int64(len(b)))
	wantError(t, "twice", err, `two arrays "X"`)
	b = sample(t, "f8.npy")
	_, err = npy.OpenArchive(bytes.NewReader(b), int64(len(b)))
	wantError(t, "no zip", err, "not an archive of arrays")

	// A header that claims a terabyte takes no memory and is found out.
	head := []byte("\x93NUMPY\x01\x00\x00\x00{'descr': '|u1', 'fortran_order': False, 'shape': (1000000, 1000000), }\n")
	binary.LittleEndian.PutUint16(head[8:], uint16(len(head)-10))
	var file bytes.Buffer
	z := zip.NewWriter(&file)
	w, err := z.Create("X.npy")
	if err != nil {
		t.Fatal(err)
	}
	w.Write(head)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	a, err = npy.OpenArchive(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	_, err = matrix(a, "X", npy.Limits{})
	wantError(t, "claims too much", err, "at most 17179869184 bytes")
	_, err = matrix(a, "X", npy.Limits{Bytes: 1 << 50})
	wantError(t, "has too little", err, "0 are there")
}

func wantError(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want one with %q", name, err, want)
	}
}

// FuzzArchive wants whatever opens to be read within its limits, without a
// panic.
func FuzzArchive(f *testing.F) {
	for _, name := range []string{"plain.npz", "compressed.npz", "bad_fortran.npz", "bad_twice.npz"} {
		f.Add(sample(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := npy.OpenArchive(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		lim := npy.Limits{Rows: 100, Cols: 100, Bytes: 1 << 16}
		for _, name := range a.Names() {
			if x, err := matrix(a, name, lim); err == nil && !x.IsEmpty() {
				if r, c := x.Dims(); r > 100 || c > 100 {
					t.Errorf("%d × %d, beyond the limits", r, c)
				}
			}
		}
	})
}
