package npy_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
	"concord/npy"
)

type expected struct {
	Numpy    string `json:"numpy"`
	Matrices map[string]struct {
		Shape  []int     `json:"shape"`
		Values []float64 `json:"values"`
	} `json:"matrices"`
	Ints map[string]struct {
		Values []int64 `json:"values"`
	} `json:"ints"`
}

func load(t *testing.T) expected {
	t.Helper()
	var e expected
	if err := json.Unmarshal(sample(t, "expected.json"), &e); err != nil {
		t.Fatal(err)
	}
	if len(e.Matrices) < 12 || len(e.Ints) < 13 {
		t.Fatalf("expected.json holds %d matrices and %d vectors; run testdata/make.py", len(e.Matrices), len(e.Ints))
	}
	return e
}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sameBits compares to the last bit: a codec may not round.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

func values(m *mat.Dense) []float64 {
	if m.IsEmpty() {
		return nil
	}
	rows, cols := m.Dims()
	var v []float64
	for i := range rows {
		v = append(v, m.RawRowView(i)[:cols]...)
	}
	return v
}

func TestReadsNumPy(t *testing.T) {
	e := load(t)
	for name, want := range e.Matrices {
		b := sample(t, name+".npy")
		for _, lim := range []npy.Limits{{}, {Input: int64(len(b))}} {
			m, err := npy.ReadMatrix(iotest.OneByteReader(bytes.NewReader(b)), lim)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			// NumPy wrote float32 values as the doubles that they are.
			if !sameBits(values(m), want.Values) {
				t.Errorf("%s = %v, want %v", name, values(m), want.Values)
			}
			if rows, cols := m.Dims(); !m.IsEmpty() && (rows != want.Shape[0] || len(want.Shape) == 2 && cols != want.Shape[1]) {
				t.Errorf("%s is %d × %d, want %v", name, rows, cols, want.Shape)
			}
		}
		h, err := npy.ReadHeader(bytes.NewReader(b))
		if err != nil || h.Bytes() != int64(len(b)) || !slices.Equal(h.Shape, want.Shape) {
			t.Errorf("%s: header %+v, %v; the file has %d bytes and shape %v", name, h, err, len(b), want.Shape)
		}
	}
	for name, want := range e.Ints {
		v, err := npy.ReadInts(bytes.NewReader(sample(t, name+".npy")), npy.Limits{})
		if err != nil || !slices.Equal(v, want.Values) {
			t.Errorf("%s = %v, %v; want %v", name, v, err, want.Values)
		}
	}
}

func TestReadsLongArrays(t *testing.T) {
	for _, name := range []string{"f8_long.npy", "f8_long_fortran.npy"} {
		m, err := npy.ReadMatrix(bytes.NewReader(sample(t, name)), npy.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values(m) {
			if v != float64(i) {
				t.Fatalf("%s: element %d is %v", name, i, v)
			}
		}
		if rows, cols := m.Dims(); rows != 1200 || cols != 7 {
			t.Errorf("%s is %d × %d", name, rows, cols)
		}
	}
}

func TestIntegersAsMatrix(t *testing.T) {
	m, err := npy.ReadMatrix(bytes.NewReader(sample(t, "i4.npy")), npy.Limits{})
	if err != nil || m.At(5, 0) != math.MinInt32 {
		t.Errorf("i4 = %v, %v", m, err)
	}
	_, err = npy.ReadMatrix(bytes.NewReader(sample(t, "i8.npy")), npy.Limits{})
	if err == nil || err.Error() != "npy: element 5 is an integer beyond 2^53, which float64 does not hold" {
		t.Errorf("i8 as floats: %v", err)
	}
}

// TestWritesAsNumPy compares whole files: numpy.save made the samples.
func TestWritesAsNumPy(t *testing.T) {
	m := mat.NewDense(2, 3, []float64{1.5, -2.25, 3e300, 0.1, 5e-324, math.Copysign(0, -1)})
	long := mat.NewDense(1200, 9, nil)
	for i := range 1200 {
		for j := range 7 {
			long.Set(i, j, float64(7*i+j))
		}
	}
	for _, c := range []struct {
		file  string
		write func(io.Writer) error
		size  int64
	}{
		{"f8.npy", func(w io.Writer) error { return npy.WriteMatrix(w, m) }, npy.Size(npy.Float64, 2, 3)},
		{"f8_long.npy", func(w io.Writer) error { return npy.WriteMatrix(w, long.Slice(0, 1200, 0, 7).(*mat.Dense)) }, npy.Size(npy.Float64, 1200, 7)},
		{"f4.npy", func(w io.Writer) error {
			return npy.WriteMatrix32(w, mat.NewDense(2, 2, []float64{1.5, 0.1, -7, 3e38}))
		}, npy.Size(npy.Float32, 2, 2)},
		{"i8.npy", func(w io.Writer) error {
			return npy.WriteInts(w, []int64{0, -1, -100, -7, math.MaxInt64, math.MinInt64})
		}, npy.Size(npy.Int64, 6)},
		{"i8_empty.npy", func(w io.Writer) error { return npy.WriteInts(w, nil) }, npy.Size(npy.Int64, 0)},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			t.Errorf("%s: %v", c.file, err)
		}
		if want := sample(t, c.file); !bytes.Equal(b.Bytes(), want) {
			t.Errorf("%s:\n got %q\nwant %q", c.file, b.Bytes()[:min(200, b.Len())], want[:min(200, len(want))])
		}
		if c.size != int64(b.Len()) {
			t.Errorf("%s: Size says %d, %d bytes were written", c.file, c.size, b.Len())
		}
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, cols := rapid.IntRange(1, 40).Draw(t, "rows"), rapid.IntRange(1, 40).Draw(t, "cols")
		v := rapid.SliceOfN(rapid.Float64(), rows*cols, rows*cols).Draw(t, "values")
		var b bytes.Buffer
		if err := npy.WriteMatrix(&b, mat.NewDense(rows, cols, slices.Clone(v))); err != nil {
			t.Fatal(err)
		}
		m, err := npy.ReadMatrix(&b, npy.Limits{Rows: rows, Cols: cols, Bytes: int64(8 * rows * cols)})
		if err != nil || !sameBits(values(m), v) {
			t.Fatalf("%d × %d came back as %v, %v", rows, cols, m, err)
		}
		ints := rapid.SliceOf(rapid.Int64()).Draw(t, "ints")
		if err := npy.WriteInts(&b, ints); err != nil {
			t.Fatal(err)
		}
		if got, err := npy.ReadInts(&b, npy.Limits{}); err != nil || !slices.Equal(got, ints) {
			t.Fatalf("%v came back as %v, %v", ints, got, err)
		}
	})
}

func TestEmpty(t *testing.T) {
	var b bytes.Buffer
	if err := npy.WriteMatrix(&b, &mat.Dense{}); err != nil {
		t.Fatal(err)
	}
	m, err := npy.ReadMatrix(&b, npy.Limits{})
	if err != nil || !m.IsEmpty() {
		t.Errorf("an empty matrix came back as %v, %v", m, err)
	}
}

func TestFloat32Range(t *testing.T) {
	err := npy.WriteMatrix32(io.Discard, mat.NewDense(1, 2, []float64{math.Inf(1), 1e39}))
	if err == nil || err.Error() != "npy: row 1, column 2 is beyond the range of float32" {
		t.Errorf("got %v", err)
	}
}

// array makes a file of version 1 with the given dictionary and data.
func array(dict string, data int) []byte {
	b := []byte("\x93NUMPY\x01\x00")
	b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)+1))
	return append(append(b, dict+"\n"...), make([]byte, data)...)
}

func dict(descr, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
}

func TestAcceptsOtherSpellings(t *testing.T) {
	for _, d := range []string{
		`{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1)}`,
		`{"shape":(2,1,),"fortran_order":True,"descr":"<f8"}   `,
		` { 'shape' : ( 2 , ) , 'descr' : '<f8' , 'fortran_order' : False , } `,
	} {
		m, err := npy.ReadMatrix(bytes.NewReader(array(d, 16)), npy.Limits{})
		if err != nil {
			t.Errorf("%s: %v", d, err)
		} else if rows, cols := m.Dims(); rows != 2 || cols != 1 {
			t.Errorf("%s: %d × %d", d, rows, cols)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"objects", sample(t, "bad_object.npy"), "npy: the array holds Python objects (a pickle), only numbers are read"},
		{"structured", sample(t, "bad_structured.npy"), "npy: the array has a structured dtype, only plain numbers are read"},
		{"strings", sample(t, "bad_string.npy"), `npy: dtype "<U2" is not read, only f4, f8, i1, i2, i4, i8, u1, u2, u4 and b1`},
		{"complex", sample(t, "bad_complex.npy"), `npy: dtype "<c16" is not read`},
		{"half", sample(t, "bad_float16.npy"), `npy: dtype "<f2" is not read`},
		{"3-D", sample(t, "bad_3d.npy"), "npy: shape (2, 2, 2) has 3 dimensions, must have 1 or 2"},
		{"0-D", sample(t, "bad_0d.npy"), "npy: shape () has 0 dimensions, must have 1 or 2"},
		{"nothing", nil, "npy: the magic string and version needs 8 bytes, 0 are there"},
		{"text", []byte("a,b\n1,2\n"), `npy: not a NumPy array file: it does not begin with \x93NUMPY`},
		{"version", []byte("\x93NUMPY\x04\x00\x00\x00"), "npy: format version 4.0, this program reads 1.0, 2.0 and 3.0"},
		{"minor version", []byte("\x93NUMPY\x01\x01\x00\x00"), "npy: format version 1.1, this program reads 1.0, 2.0 and 3.0"},
		{"huge header", []byte("\x93NUMPY\x02\x00\xff\xff\xff\xff"), "npy: the header has 4294967295 bytes, at most 10000 are read"},
		{"cut length", []byte("\x93NUMPY\x02\x00\xff\xff"), "npy: the header's length needs 4 bytes, 2 are there"},
		{"cut header", []byte("\x93NUMPY\x01\x00\x76\x00{'descr"), "npy: the header needs 118 bytes, 7 are there"},
		{"short data", array(dict("<f8", "(1000, 50)"), 123), "npy: shape (1000, 50) needs 400000 bytes of data, 123 are there"},
		{"long data", array(dict("<f8", "(2,)"), 17), "npy: shape (2,) needs 16 bytes of data, more are there"},
		{"long data, no rows", array(dict("<f8", "(0, 3)"), 1), "npy: shape (0, 3) needs 0 bytes of data, more are there"},
		{"huge lie", array(dict("<f8", "(1000000000, 2)"), 8), "npy: shape (1000000000, 2) needs 16000000000 bytes of data, 8 are there"},
		{"beyond the default", array(dict("<f4", "(1000000000, 9)"), 8), "npy: shape (1000000000, 9): 1000000000 × 9 elements of 8 bytes, at most 17179869184 bytes are read"},
		{"overflow", array(dict("<f8", "(1000000000000, 1000000000000)"), 8), `npy: shape (1000000000000, 1000000000000) of "<f8" is too large to count its bytes`},
		{"large dimension", array(dict("<f8", "(0, 2000000000000)"), 0), "a dimension is 2000000000000, at most 1099511627776 are read"},
		{"larger dimension", array(dict("<f8", "(99999999999999999999,)"), 8), "npy: header: dimension 99999999999999999999 is too large"},
		{"negative", array(dict("<f8", "(-1, 2)"), 8), "npy: header: the shape has a negative dimension"},
		{"33 dimensions", array(dict("<f8", "("+strings.Repeat("1, ", 33)+")"), 8), "npy: header: the shape has more than 32 dimensions"},
		{"octal", array(dict("<f8", "(010,)"), 8), "must be an integer without leading zeros"},
		{"no tuple", array(dict("<f8", "(3)"), 24), "npy: header: the shape is a number, must be a tuple"},
		{"list", array(dict("<f8", "[3]"), 24), "must be ("},
		{"expression", array(dict("<f8", "(1+2,)"), 24), "must be , or )"},
		{"native order", array(dict("=f8", "(3,)"), 24), `npy: dtype "=f8" has no byte order, must begin with < or >`},
		{"order of bytes", array(dict("<u1", "(3,)"), 3), `npy: dtype "<u1" has a byte order, a one-byte type has none`},
		{"escape", array(dict(`\x3cf8`, "(3,)"), 24), "a quoted string of plain characters"},
		{"repeated key", array("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 8), `npy: header: key "descr" stands twice`},
		{"unknown key", array("{'descr': '<f8', 'evil': False}", 8), `npy: header: unknown key "evil"`},
		{"missing key", array("{'descr': '<f8', 'shape': (1,)}", 8), `npy: header: key "fortran_order" is missing`},
		{"no dictionary", array("()", 8), "npy: header: byte 1 of the dictionary must be {"},
		{"no boolean", array("{'fortran_order': 1}", 8), "must be True or False"},
		{"no colon", array("{'descr' '<f8'}", 8), "must be :"},
		{"no comma", array("{'descr': '<f8' 'shape': (1,)}", 8), "must be , or }"},
		{"key without quotes", array("{descr: '<f8'}", 8), "must be a quoted string"},
		{"after the dictionary", array(dict("<f8", "(1,)")+" #", 8), "must be spaces and one line feed up to the end of the header"},
		{"no line feed", append([]byte("\x93NUMPY\x01\x00\x3c\x00"), dict("<f8", "(1, 3)")+"    "...), "must be spaces and one line feed"},
		{"empty dictionary", array("{}", 8), `npy: header: key "descr" is missing`},
	} {
		_, err := npy.ReadMatrix(bytes.NewReader(c.file), npy.Limits{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func TestRefusesInts(t *testing.T) {
	bad := array(dict("|b1", "(3,)"), 3)
	bad[len(bad)-1] = 2
	for _, c := range []struct {
		file []byte
		want string
	}{
		{sample(t, "f8.npy"), `npy: dtype "<f8" holds floats, integers are wanted`},
		{array(dict("<i8", "(3, 2)"), 48), "npy: shape (3, 2), one column is wanted"},
		{bad, "npy: element 3 is neither 0 nor 1 in an array of type bool"},
	} {
		if _, err := npy.ReadInts(bytes.NewReader(c.file), npy.Limits{}); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	b := sample(t, "f8.npy")
	for _, c := range []struct {
		lim  npy.Limits
		want string
	}{
		{npy.Limits{Rows: 1}, "npy: shape (2, 3): 2 rows, at most 1 are read"},
		{npy.Limits{Cols: 2}, "npy: shape (2, 3): 3 columns, at most 2 are read"},
		{npy.Limits{Bytes: 47}, "npy: shape (2, 3): 2 × 3 elements of 8 bytes, at most 47 bytes are read"},
		{npy.Limits{Input: 177}, "npy: shape (2, 3) needs 48 bytes of data, 49 are there"},
		{npy.Limits{Input: 1}, "npy: shape (2, 3) needs 48 bytes of data, 0 are there"},
	} {
		if _, err := npy.ReadMatrix(bytes.NewReader(b), c.lim); err == nil || err.Error() != c.want {
			t.Errorf("%+v: got %v, want %s", c.lim, err, c.want)
		}
	}
}

// TestEveryTruncation cuts a file everywhere: no prefix of it is a file.
func TestEveryTruncation(t *testing.T) {
	b := sample(t, "f8.npy")
	for n := range b {
		if _, err := npy.ReadMatrix(bytes.NewReader(b[:n]), npy.Limits{}); err == nil {
			t.Errorf("the first %d of %d bytes were read", n, len(b))
		}
	}
}

// TestReaderErrorsPass: a disk that fails is not a short file.
func TestReaderErrorsPass(t *testing.T) {
	b := sample(t, "f8.npy")
	broken := errors.New("disk on fire")
	for n := range len(b) + 1 {
		r := io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken))
		if _, err := npy.ReadMatrix(r, npy.Limits{}); !errors.Is(err, broken) {
			t.Errorf("failing at byte %d: %v", n, err)
		}
	}
}

// TestMemoryFollowsData: a header alone must not make the reader allocate.
func TestMemoryFollowsData(t *testing.T) {
	lie := array(dict("<f8", "(1000000000, 2)"), 8)
	const runs = 10
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		if _, err := npy.ReadMatrix(bytes.NewReader(lie), npy.Limits{}); err == nil {
			t.Fatal("a lie was read")
		}
	}
	runtime.ReadMemStats(&after)
	// Two buffers of one chunk (64 KiB each) and small things.
	if got := (after.TotalAlloc - before.TotalAlloc) / runs; got > 256<<10 {
		t.Errorf("a header that claims 16 GB made the reader take %d bytes", got)
	}
}

func FuzzReadMatrix(f *testing.F) {
	files, err := filepath.Glob("testdata/*.npy")
	if err != nil || len(files) == 0 {
		f.Fatal("no samples", err)
	}
	for _, file := range files {
		if b := sample(f, filepath.Base(file)); len(b) < 1000 {
			f.Add(b)
		}
	}
	f.Add(array(dict("<f8", "(1000000000, 2)"), 8))
	f.Fuzz(func(t *testing.T, b []byte) {
		ints, errInts := npy.ReadInts(bytes.NewReader(b), npy.Limits{})
		m, err := npy.ReadMatrix(bytes.NewReader(b), npy.Limits{})
		known, errKnown := npy.ReadMatrix(bytes.NewReader(b), npy.Limits{Input: int64(len(b))})
		if (err == nil) != (errKnown == nil) {
			t.Fatalf("read as a stream: %v; with its size known: %v", err, errKnown)
		}
		if errInts == nil {
			var again bytes.Buffer
			if err := npy.WriteInts(&again, ints); err != nil {
				t.Fatal(err)
			}
			if got, err := npy.ReadInts(&again, npy.Limits{}); err != nil || !slices.Equal(got, ints) {
				t.Fatalf("%v came back as %v, %v", ints, got, err)
			}
		}
		if err != nil {
			return
		}
		if !sameBits(values(m), values(known)) {
			t.Fatal("the size being known changes the values")
		}
		var again bytes.Buffer
		if err := npy.WriteMatrix(&again, m); err != nil {
			t.Fatal(err)
		}
		back, err := npy.ReadMatrix(&again, npy.Limits{})
		if err != nil || !sameBits(values(back), values(m)) {
			t.Fatalf("came back as %v, %v", back, err)
		}
		h, err := npy.ReadHeader(bytes.NewReader(b))
		if err != nil || h.Bytes() != int64(len(b)) {
			t.Fatalf("header %+v, %v; the file has %d bytes", h, err, len(b))
		}
	})
}
