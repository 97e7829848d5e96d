package idx_test

import (
	"bytes"
	"strings"
	"testing"

	"concord/internal/idx"
)

// two pictures of 2 × 3 pixels, written by hand from the format's description.
var sample = []byte{
	0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3,
	1, 2, 3, 4, 5, 6, 255, 0, 7, 8, 9, 10,
}

func TestReadBytes(t *testing.T) {
	got, err := idx.ReadBytes(bytes.NewReader(sample), 2, 2, 3)
	if err != nil || !bytes.Equal(got, sample[16:]) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestRefused(t *testing.T) {
	changed := func(at int, b byte) []byte {
		c := bytes.Clone(sample)
		c[at] = b
		return c
	}
	for _, tt := range []struct {
		name, want string
		file       []byte
		shape      []int
	}{
		{"empty", "magic number", nil, []int{2, 2, 3}},
		{"cut header", "header", sample[:9], []int{2, 2, 3}},
		{"magic", "two zero bytes", changed(0, 1), []int{2, 2, 3}},
		{"type", "type 0xd", changed(2, 0x0d), []int{2, 2, 3}},
		{"dimensions", "3 dimensions, must be 1", sample, []int{2}},
		{"shape", "dimension 2 is 2, must be 3", sample, []int{2, 3, 2}},
		{"huge", "dimension 1 is 4278190082, must be 2", changed(4, 0xff), []int{2, 2, 3}},
		{"short", "needs 12 bytes, 11 are there", sample[:27], []int{2, 2, 3}},
		{"long", "more are there", append(bytes.Clone(sample), 0), []int{2, 2, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := idx.ReadBytes(bytes.NewReader(tt.file), tt.shape...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, error %v, want one with %q", got, err, tt.want)
			}
		})
	}
}

// FuzzReadBytes wants every file that is taken to be the header and the
// elements, nothing else.
func FuzzReadBytes(f *testing.F) {
	f.Add(sample, 2, 2, 3)
	f.Add(sample[:20], 1, 2, 2)
	f.Fuzz(func(t *testing.T, file []byte, a, b, c int) {
		a, b, c = 1+a&7, 1+b&7, 1+c&7
		got, err := idx.ReadBytes(bytes.NewReader(file), a, b, c)
		if err != nil {
			return
		}
		if len(got) != a*b*c || len(file) != 16+len(got) || !bytes.Equal(got, file[16:]) {
			t.Errorf("%d elements of a file of %d bytes, shape %d %d %d", len(got), len(file), a, b, c)
		}
	})
}
