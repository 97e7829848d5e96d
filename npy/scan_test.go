package npy_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"concord/npy"
)

// scanned is what the scanners hand over, put where the header says it belongs.
func scanned(b []byte) (values []float64, ints []int64, err, errInts error) {
	err = npy.ScanMatrix(bytes.NewReader(b), npy.Limits{}, func(h npy.Header, first int64, part []float64) error {
		if values == nil {
			values = make([]float64, h.Elements())
		}
		cols := int64(1)
		if len(h.Shape) == 2 {
			cols = int64(h.Shape[1])
		}
		for i, v := range part {
			row, col := h.Position(first + int64(i))
			values[(row-1)*cols+col-1] = v
		}
		return nil
	})
	errInts = npy.ScanInts(bytes.NewReader(b), npy.Limits{}, func(_ npy.Header, first int64, part []int64) error {
		if int(first) != len(ints) {
			return errors.New("parts out of order")
		}
		ints = append(ints, part...)
		return nil
	})
	return values, ints, err, errInts
}

// sameAsRead fails unless scanning a file gives what reading it gives, errors included.
func sameAsRead(t *testing.T, name string, b []byte) {
	t.Helper()
	m, wantErr := npy.ReadMatrix(bytes.NewReader(b), npy.Limits{})
	wantInts, wantErrInts := npy.ReadInts(bytes.NewReader(b), npy.Limits{})
	got, ints, err, errInts := scanned(b)
	if text(err) != text(wantErr) || text(errInts) != text(wantErrInts) {
		t.Fatalf("%s: scanning says %v and %v, reading %v and %v", name, err, errInts, wantErr, wantErrInts)
	}
	if err == nil && !m.IsEmpty() && !sameBits(got, values(m)) {
		t.Errorf("%s: scanning gives other numbers than reading", name)
	}
	if errInts == nil && !slices.Equal(ints, wantInts) {
		t.Errorf("%s: scanning gives other integers than reading", name)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestScanIsRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*.npy")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		b := sample(t, name)
		sameAsRead(t, name, b)
		sameAsRead(t, name+" without its end", b[:len(b)-1])
		sameAsRead(t, name+" with more", append(slices.Clone(b), 0))
	}
}

// TestScanStops: what visit says ends the scan.
func TestScanStops(t *testing.T) {
	stop, calls := errors.New("enough"), 0
	err := npy.ScanMatrix(bytes.NewReader(sample(t, "f8_long.npy")), npy.Limits{}, func(npy.Header, int64, []float64) error {
		calls++
		return stop
	})
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("the scan ends with %v after %d parts, want visit's error after one", err, calls)
	}
}

func FuzzScanMatrix(f *testing.F) {
	files, err := filepath.Glob("testdata/*.npy")
	if err != nil || len(files) == 0 {
		f.Fatal("no samples", err)
	}
	for _, file := range files {
		if b := sample(f, filepath.Base(file)); len(b) < 1000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) { sameAsRead(t, "input", b) })
}
