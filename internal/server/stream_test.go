package server_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/identity"
	"concord/member"
	"concord/npy"
	"concord/release"
)

// wide is a study whose rows leave as 32 numbers each.
func wide() string {
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("f%d", i))
	}
	return strings.Replace(strings.Replace(yaml, "[a, b, c]", "["+strings.Join(names, ", ")+"]", 1), "dim: 2", "dim: 32", 1)
}

// rows is a source of n rows of 32 numbers that are drawn while they are written; in
// the bad one, if there is one, stands an infinity.
func rows(name string, n, bad int) bundle.Source {
	return bundle.Source{Name: name, Write: func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<20)
		if err := npy.WriteHeader(out, n, 32); err != nil {
			return err
		}
		rnd := rand.New(rand.NewPCG(5, 6))
		row := make([]byte, 0, 8*32)
		for i := range n {
			row = row[:0]
			for range 32 {
				v := rnd.Float64() - 0.5
				if i == bad {
					v = math.Inf(1)
				}
				row = binary.LittleEndian.AppendUint64(row, math.Float64bits(v))
			}
			if _, err := out.Write(row); err != nil {
				return err
			}
		}
		return out.Flush()
	}}
}

// streamed is a contribution of two blocks of n rows.
func (w *world) streamed(from *identity.Identity, n, bad int) string {
	labels := make([]int64, 2*n)
	for i := range labels {
		labels[i] = int64(i % 2)
	}
	list := append([]bundle.Source{rows("X.0000.npy", n, -1), rows("X.0001.npy", n, bad)}, bundle.FromMatrix(release.MemberA, anchorRows(w))...)
	return w.sealed(from, bundle.KindContribution, []*identity.Statement{w.analyst.Statement}, append(list, bundle.FromInts(release.MemberY, labels)), nil)
}

func anchorRows(w *world) *mat.Dense {
	a := mat.NewDense(w.contract.Anchor.Rows, w.contract.Basis.Dim, nil)
	for i := range w.contract.Basis.Dim {
		a.Set(i, i, 1)
	}
	return a
}

// memory is what this program has taken from the system and not given back.
func memory() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// TestMemory: what sealing, sending, receiving and checking a contribution takes does
// not depend on its size. Both sides run in this process.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	const (
		n     = 480_000  // twice as many rows: 245 MB
		limit = 64 << 20 // of both sides together, sealing included
	)
	w := newWorldOf(t, wide())
	w.join()
	before := memory()
	most, stop, done := before, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			most = max(most, memory())
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	path := w.streamed(w.parties[0], n, -1)
	raw, err := w.as(w.parties[0]).Send(t.Context(), path)
	close(stop)
	<-done
	if err != nil {
		t.Fatal(err)
	}
	if _, err := member.DecodeReceipt(raw, w.analyst.Statement); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MB in %d MiB beyond %d", info.Size()/1e6, (most-before)>>20, before>>20)
	if info.Size() < 240e6 || most-before > limit {
		t.Errorf("a contribution of %d bytes took %d bytes of memory, want at most %d", info.Size(), most-before, limit)
	}
}

// TestStreamedCheck: what is wrong with one element of a block is found and named.
func TestStreamedCheck(t *testing.T) {
	w := newWorldOf(t, wide())
	w.join()
	_, err := w.as(w.parties[0]).Send(t.Context(), w.streamed(w.parties[0], 20_000, 123))
	wantRefusal(t, "an infinity", err, "refused", "X: element at row 20124, column 1 is not a finite number")
}

// BenchmarkSend sends 123 MB in parts, each time to a new server.
func BenchmarkSend(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		w := newWorldOf(b, wide())
		w.join()
		path := w.streamed(w.parties[0], 240_000, -1)
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(info.Size())
		b.StartTimer()
		if _, err := w.as(w.parties[0]).Send(b.Context(), path); err != nil {
			b.Fatal(err)
		}
	}
}
