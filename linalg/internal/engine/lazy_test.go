package engine_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// These tests are about what a process does from its beginning, so each runs the test
// binary again as a child. No test file here may import linalgtest, which calls
// UseBest.

// childVariable tells a child what to do: when to load ("never", "first", "before"),
// and the operation, or "all".
const childVariable = "CONCORD_TEST_ENGINE_CHILD"

func TestMain(m *testing.M) {
	if order := os.Getenv(childVariable); order != "" {
		when, operation, _ := strings.Cut(order, " ")
		if err := json.NewEncoder(os.Stdout).Encode(child(when, operation)); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// said is what a child says of itself.
type said struct {
	Bits    map[string]string // of the result of each operation
	Before  []string          // libraries before anything was computed
	After   []string
	Plain   bool // gonum computes as without this package
	Backend linalg.BackendInfo
}

func child(when, operation string) (s said) {
	if when != "never" {
		linalg.UseBest()
	}
	if when == "before" {
		linalg.Backend()
	}
	s.Before = mapped()
	s.Bits = map[string]string{}
	for _, o := range operations {
		for _, n := range orders {
			if name := fmt.Sprint(o.name, "/", n); operation == "all" || operation == name {
				s.Bits[name] = bits(o.run(n))
			}
		}
	}
	s.After = mapped()
	s.Plain = strings.Contains(reflect.TypeOf(blas64.Implementation()).PkgPath(), "gonum.org/")
	s.Backend = linalg.Backend()
	return s
}

// mapped lists the shared libraries of this process, where the system tells.
func mapped() (list []string) {
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		if words := strings.Fields(line); strings.Contains(line, ".so") && !slices.Contains(list, words[len(words)-1]) {
			list = append(list, words[len(words)-1])
		}
	}
	return list
}

// start runs a child.
func start(t *testing.T, when, operation string) (s said) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+when+" "+operation)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// orders are those of the operands: one for which every engine has loops of its own,
// and one for which most bits differ between engines.
var orders = []int{2, 60}

var operations = []struct {
	name string
	run  func(n int) [][]float64
}{
	{"product", func(n int) [][]float64 {
		var c mat.Dense
		c.Mul(normal(n, n), normal(n, n))
		return [][]float64{c.RawMatrix().Data}
	}},
	{"symmetric product", func(n int) [][]float64 {
		var c mat.SymDense
		c.SymOuterK(1, normal(n, 2*n))
		return upper(&c)
	}},
	{"triangular solution", func(n int) [][]float64 {
		a, b := triangle(n), normal(n, n)
		blas64.Trsm(blas.Left, blas.NoTrans, 1, a, b.RawMatrix())
		return [][]float64{b.RawMatrix().Data}
	}},
	{"triangular product", func(n int) [][]float64 {
		a, b := triangle(n), normal(n, n)
		blas64.Trmm(blas.Left, blas.NoTrans, 1, a, b.RawMatrix())
		return [][]float64{b.RawMatrix().Data}
	}},
	{"Cholesky", func(n int) [][]float64 {
		var f mat.Cholesky
		f.Factorize(definite(n))
		var r mat.TriDense
		f.UTo(&r)
		return upper(&r)
	}},
	{"QR of gonum", func(n int) [][]float64 {
		var f mat.QR
		f.Factorize(normal(2*n, n))
		var q mat.Dense
		f.QTo(&q)
		return [][]float64{q.RawMatrix().Data}
	}},
	{"QR", func(n int) [][]float64 { return two(linalg.QR(normal(n, n))) }},
	{"SVD", func(n int) [][]float64 {
		u, s, v, err := linalg.SVD(normal(n, n))
		return [][]float64{u.RawMatrix().Data, s, v.RawMatrix().Data, failed(err)}
	}},
	{"EigSym", func(n int) [][]float64 {
		w, v, err := linalg.EigSym(definite(n))
		return [][]float64{w, v.RawMatrix().Data, failed(err)}
	}},
	{"EigSymValues", func(n int) [][]float64 {
		w, err := linalg.EigSymValues(definite(n))
		return [][]float64{w, failed(err)}
	}},
	{"PolarEach", func(n int) [][]float64 {
		q, _, err := linalg.PolarEach([]*mat.Dense{normal(n, n), normal(n, n), normal(n, n)}, linalg.PolarOptions{})
		return [][]float64{q[0].RawMatrix().Data, q[1].RawMatrix().Data, failed(err)}
	}},
	{"Cross", func(n int) [][]float64 {
		m := mat.NewDense(n, n, nil)
		square := linalg.Cross(m, normal(8*n, n), normal(8*n, n))
		return [][]float64{m.RawMatrix().Data, {square}}
	}},
	{"SumSquares", func(n int) [][]float64 { return [][]float64{{linalg.SumSquares(normal(n, n))}} }},
}

func normal(rows, cols int) *mat.Dense {
	return linalg.Normal(rows, cols, rand.NewPCG(uint64(rows), uint64(cols)))
}

// definite and triangle are made without BLAS: a child's first operation is the one
// that is tested.
func definite(n int) *mat.SymDense {
	x, s := normal(n, n), mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, x.At(i, j))
		}
		s.SetSym(i, i, float64(8*n))
	}
	return s
}

func triangle(n int) blas64.Triangular {
	x := normal(n, n)
	for i := range n {
		x.Set(i, i, float64(n))
	}
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Data: x.RawMatrix().Data, Stride: n}
}

func upper(m mat.Matrix) [][]float64 {
	rows := [][]float64{nil}
	n, _ := m.Dims()
	for i := range n {
		for j := i; j < n; j++ {
			rows[0] = append(rows[0], m.At(i, j))
		}
	}
	return rows
}

func two(a, b *mat.Dense, err error) [][]float64 {
	return [][]float64{a.RawMatrix().Data, b.RawMatrix().Data, failed(err)}
}

func failed(err error) []float64 {
	if err != nil {
		panic(err)
	}
	return nil
}

func bits(parts [][]float64) string {
	h := sha256.New()
	for _, part := range parts {
		for _, v := range part {
			_ = binary.Write(h, binary.LittleEndian, math.Float64bits(v))
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// TestFirstOperation holds that an operation, of whatever size, has the same bits when
// it is the first of its process as when the library was loaded before.
func TestFirstOperation(t *testing.T) {
	eager := start(t, "before", "all")
	together := start(t, "first", "all")
	if !reflect.DeepEqual(together.Backend, eager.Backend) {
		t.Errorf("backend %v, loaded before %v", together.Backend, eager.Backend)
	}
	var names []string
	for name := range eager.Bits {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) != len(operations)*len(orders) {
		t.Fatalf("%d operations were made, want %d", len(names), len(operations)*len(orders))
	}
	alone := make([]string, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		if testing.Short() && i%4 != 0 {
			continue
		}
		wg.Go(func() { alone[i] = start(t, "first", name).Bits[name] })
	}
	wg.Wait()
	for i, name := range names {
		if together.Bits[name] != eager.Bits[name] {
			t.Errorf("%s: bits differ from those of a library that was loaded before", name)
		}
		if alone[i] != "" && alone[i] != eager.Bits[name] {
			t.Errorf("%s: bits of the first operation differ from those of a library that was loaded before", name)
		}
	}
	// The comparison sees the engine: gonum's bits are others.
	if eager.Backend.Product == "gonum" {
		return
	}
	never := start(t, "never", "all")
	for _, name := range []string{"product/60", "Cholesky/60", "PolarEach/60", "SumSquares/60"} {
		if never.Bits[name] == eager.Bits[name] {
			t.Errorf("%s: gonum and %s give the same bits: this test sees nothing", name, eager.Backend.Product)
		}
	}
}

// TestImportDoesNothing holds that a process that does not call UseBest computes with
// gonum as it is.
func TestImportDoesNothing(t *testing.T) {
	s := start(t, "never", "all")
	if !s.Plain {
		t.Error("gonum's BLAS was replaced")
	}
	if s.Backend.Name != "Go" || s.Backend.Product != "gonum" || s.Backend.Path != "" {
		t.Errorf("%v computes", s.Backend)
	}
}
