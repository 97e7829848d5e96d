package ahead_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"concord/internal/ahead"
)

// TestRead: the same bytes and the same error, whatever the sizes.
func TestRead(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	broken := errors.New("broken")
	for range 300 {
		want := make([]byte, rnd.IntN(2000))
		for i := range want {
			want[i] = byte(rnd.Uint32())
		}
		var r io.Reader = bytes.NewReader(want)
		end := error(nil)
		switch rnd.IntN(4) {
		case 0:
			r = iotest.HalfReader(r)
		case 1:
			r = iotest.DataErrReader(r)
		case 2:
			r, end = io.MultiReader(r, iotest.ErrReader(broken)), broken
		}
		a := ahead.Read(r, rnd.IntN(300))
		got, err := io.ReadAll(iotest.OneByteReader(a))
		if rnd.IntN(2) == 0 {
			a.Stop()
			a = ahead.Read(bytes.NewReader(want), 1+rnd.IntN(300))
			got, end, err = nil, nil, nil
			for err == nil {
				var b []byte
				b, err = a.Next(1 + rnd.IntN(500))
				got = append(got, b...)
			}
			if err == io.EOF {
				err = nil
			}
		}
		if a.Stop(); !errors.Is(err, end) || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes and %v, want %d and %v", len(got), err, len(want), end)
		}
	}
}

// TestStop: whoever stops early leaves nothing behind that reads.
func TestStop(t *testing.T) {
	for n := range 4 {
		src := &counting{}
		a := ahead.Read(src, 10)
		if _, err := io.ReadFull(a, make([]byte, 7*n)); err != nil {
			t.Fatal(err)
		}
		a.Stop()
		before := src.n
		if before > 7*n+30 {
			t.Errorf("%d bytes were read ahead of %d", before, 7*n)
		}
	}
}

type counting struct{ n int }

func (c *counting) Read(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}
