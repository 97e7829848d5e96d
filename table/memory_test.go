package table_test

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"concord/contract"
	"concord/table"
)

// peakHeap runs f and returns how much more memory the heap had, at most, than before.
// It looks every millisecond; collections are frequent meanwhile.
func peakHeap(t *testing.T, f func()) int64 {
	t.Helper()
	heap := func() int64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	before := heap()
	var peak atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			peak.Store(max(peak.Load(), heap()))
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak.Load() - before
}

// generator gives a header and the same row n times.
type generator struct {
	next []byte
	row  []byte
	n    int
}

func (g *generator) Read(b []byte) (int, error) {
	if len(g.next) == 0 {
		if g.n == 0 {
			return 0, io.EOF
		}
		g.n--
		g.next = g.row
	}
	n := copy(b, g.next)
	g.next = g.next[n:]
	return n, nil
}

// TestScanIsBounded reads 300,000 rows of 100 columns, 240 MB as numbers and as much as
// text, within a few megabytes.
func TestScanIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 240 MB")
	}
	const n, m = 300_000, 100
	c := &contract.Contract{Label: contract.Label{Name: "label", Type: "number"}, Standardise: "none", MaxRows: n}
	var head, row strings.Builder
	for j := range m {
		name := fmt.Sprint("f", j)
		c.Features = append(c.Features, contract.Feature{Name: name, Type: contract.Numeric})
		head.WriteString(name + ",")
		fmt.Fprintf(&row, "%d.25,", j)
	}
	g := &generator{next: []byte(head.String() + "label\n"), row: []byte(row.String() + "1\n"), n: n}
	sum := 0.0
	used := peakHeap(t, func() {
		got, err := table.ScanCSV(g, "x.csv", c, table.Options{}, func(r *table.Row) error { sum += r.X[m-1]; return nil })
		if err != nil || got.Rows != n {
			t.Fatalf("%v, %+v", err, got)
		}
	})
	if sum != n*(m-1+0.25) {
		t.Errorf("the sum of the last column is %g", sum)
	}
	if used > 16<<20 {
		t.Errorf("%d bytes of heap were taken", used)
	}
}

// TestHugeInputs: what is too long or too wide is refused in bounded memory.
func TestHugeInputs(t *testing.T) {
	wide := strings.Repeat("x,", 10_000)
	for _, test := range []struct {
		name string
		in   io.Reader
		want string
	}{
		{"a cell of a gigabyte", &generator{next: []byte(header + "1,20,\""), row: []byte(strings.Repeat("7", 1<<16)), n: 1 << 14}, "x.csv: line 2: the row that begins here has 1052672 bytes or more"},
		{"a header of a gigabyte", &generator{next: []byte("age,"), row: []byte(strings.Repeat("7", 1<<16)), n: 1 << 14}, "x.csv: line 1: the row that begins here has 1052672 bytes or more"},
		{"10,000 columns", strings.NewReader("age,bmi,kg,outcome," + wide + "\n"), "x.csv: line 1, column 5: the column \"x\" is not in the contract"},
		{"10,000 values and no header", strings.NewReader(strings.Repeat("7,", 10_000) + "\n"), "x.csv: line 1: the header is missing: the first line has 10000 values and none of the contract's names"},
		{"a row of 10,000 cells", strings.NewReader(header + wide + "\n"), "x.csv: line 2: the row has 10001 fields, the header 4"},
		{"zero bytes", &generator{next: []byte(header), row: make([]byte, 1<<16), n: 1 << 14}, "x.csv: has zero bytes: it is UTF-16 text, or no text at all; UTF-8 is read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			used := peakHeap(t, func() {
				_, err := table.ReadCSV(test.in, "x.csv", newContract(), table.Options{})
				if err == nil || strings.SplitN(err.Error(), "\n", 2)[0] != test.want {
					t.Errorf("error is %.300v, want %s", err, test.want)
				}
			})
			if used > 16<<20 {
				t.Errorf("%d bytes of heap were taken", used)
			}
		})
	}
}
