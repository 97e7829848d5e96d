package pooled

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
	"concord/linalg"
)

func source(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func column(j int) string { return fmt.Sprintf("c%d", j+1) }

// TestWord holds words against big integers: conversion there and back, and sums.
func TestWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.IntRange(40, 125).Draw(t, "f")
		var sum Word
		exact := new(big.Int)
		for range rapid.IntRange(1, 5).Draw(t, "n") {
			v := math.Ldexp(rapid.Float64Range(-1, 1).Draw(t, "v"), rapid.IntRange(-60, 123-f).Draw(t, "exp"))
			w := wordOf(v, f)
			// v·2^f as an integer, ties to even.
			b := new(big.Float).SetPrec(2000).SetFloat64(v)
			b.SetMantExp(b, f)
			half := big.NewFloat(0.5)
			if v < 0 {
				half.Neg(half)
			}
			near, _ := new(big.Float).SetPrec(2000).Add(b, half).Int(nil)
			if d := new(big.Float).SetPrec(2000).Sub(b, new(big.Float).SetInt(near)); d.Cmp(new(big.Float).Neg(half)) == 0 && near.Bit(0) == 1 {
				near.Sub(near, big.NewInt(int64(math.Copysign(1, v))))
			}
			if intOf(w).Cmp(near) != 0 {
				t.Fatalf("%v·2^%d is %v, want %v", v, f, intOf(w), near)
			}
			sum = sum.Add(w)
			exact.Add(exact, near)
		}
		if intOf(sum).Cmp(exact) != 0 {
			t.Fatalf("sum %v, want %v", intOf(sum), exact)
		}
		back := new(big.Float).SetPrec(200).SetInt(exact)
		back.SetMantExp(back, -f)
		if want, _ := back.Float64(); floatOf(sum, f) != want {
			t.Fatalf("%v·2^-%d is %v, want %v", exact, f, floatOf(sum, f), want)
		}
	})
}

// TestWordOverflow holds that what cannot be coded stops the program, since a bound that
// was checked before excludes it.
func TestWordOverflow(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("2^127 was coded")
		}
	}()
	wordOf(1, 127)
}

func TestWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s wide
		exact := new(big.Int)
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			q := rapid.Uint64Range(0, 1<<62).Draw(t, "q")
			s.addSquare(q)
			b := new(big.Int).SetUint64(q)
			exact.Add(exact, b.Mul(b, b))
		}
		n := rapid.IntRange(2, 63).Draw(t, "shift")
		exact.Add(exact, new(big.Int).Lsh(big.NewInt(1), uint(n-1)))
		if exact.Rsh(exact, uint(n)); intOf(s.over(n)).Cmp(exact) != 0 {
			t.Fatalf("%v / 2^%d rounds to %v, want %v", s, n, intOf(s.over(n)), exact)
		}
	})
}

// lowRank makes rows with a decaying spectrum and columns of very different size.
func lowRank(n, m int, src rand.Source) *mat.Dense {
	x := linalg.Normal(n, m, src)
	var out mat.Dense
	mix := linalg.Normal(m, m, src)
	for i := range m {
		for j := range m {
			mix.Set(i, j, mix.At(i, j)*math.Pow(0.8, float64(i)))
		}
	}
	out.Mul(x, mix)
	return &out
}

func exponents(x *mat.Dense) []int {
	n, m := x.Dims()
	out := make([]int, m)
	for j := range m {
		most := 0.0
		for i := range n {
			most = max(most, math.Abs(x.At(i, j)))
		}
		out[j] = above(most)
	}
	return out
}

func difference(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return most(&d)
}

func eye(n int) *mat.Dense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
	}
	return d
}

// TestOrthonormal holds QᵀQ = I and that Q spans what y does, also where columns depend
// on others, vanish, or are of extreme size.
func TestOrthonormal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 40).Draw(t, "m")
		k := rapid.IntRange(1, 12).Draw(t, "k")
		rank := rapid.IntRange(0, min(m, k)).Draw(t, "rank")
		src := source(rapid.Byte().Draw(t, "seed"))
		y := mat.NewDense(m, k, nil)
		if rank > 0 {
			y.Mul(linalg.Normal(m, rank, src), linalg.Normal(rank, k, src))
		}
		y.Scale(math.Ldexp(1, rapid.IntRange(-900, 900).Draw(t, "exp")), y)
		q := orthonormal(y)
		if rank == 0 {
			if !q.IsEmpty() {
				t.Fatal("zero columns have a basis")
			}
			return
		}
		_, cols := q.Dims()
		if cols != rank {
			t.Fatalf("%d columns of rank %d", cols, rank)
		}
		var gram, p, back mat.Dense
		gram.Mul(q.T(), q)
		// A few eps for each of m products.
		if e := difference(&gram, eye(rank)); e > 8*float64(m)*linalg.Eps {
			t.Fatalf("orthonormal to %g", e)
		}
		p.Mul(q.T(), y)
		back.Mul(q, &p)
		// Rounding of y's columns over its condition, which is below 1e4 for these sizes.
		if e := difference(&back, y); e > 1e4*float64(m)*linalg.Eps*most(y) {
			t.Fatalf("y is off its span by %g", e/most(y))
		}
	})
}

// TestOrthonormalGolden compares with testdata/orthonormal.json, which another program
// made (testdata/orthonormal.py), to the last bit: a party with another processor must make
// the same Q. Do not change the golden outputs.
func TestOrthonormalGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/orthonormal.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct{ Cases []struct{ Y, Q [][]string } }
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	// matrix has the given columns.
	matrix := func(columns [][]string) *mat.Dense {
		out := mat.NewDense(len(columns[0]), len(columns), nil)
		for j, column := range columns {
			for i, text := range column {
				v, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				out.Set(i, j, v)
			}
		}
		return out
	}
	for i, c := range known.Cases {
		if got, want := orthonormal(matrix(c.Y)), matrix(c.Q); !mat.Equal(got, want) {
			t.Errorf("case %d: another Q", i+1)
		}
	}
	// The test matrix: signs of the source's words from the lowest bit on, by columns.
	src := source(1)
	w := mat.NewDense(70, 3, nil)
	for j := range 3 {
		words := []uint64{src.Uint64(), src.Uint64()}
		for i := range 70 {
			w.Set(i, j, float64(int(words[i/64]>>(i%64)&1)*2-1))
		}
	}
	if !mat.Equal(testMatrix(70, 3, source(1)), orthonormal(w)) {
		t.Error("another test matrix")
	}
	for seed := range byte(40) {
		if _, k := testMatrix(4, 4, source(seed)).Dims(); k != 4 {
			t.Errorf("seed %d: a test matrix of %d columns, want 4", seed, k)
		}
	}
}

// TestGram holds that the sum of the parties' words is the stacked rows' XᵀX.
func TestGram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(1, 9).Draw(t, "m")
		c := rapid.IntRange(1, 5).Draw(t, "parties")
		equal := rapid.Bool().Draw(t, "equal")
		src := source(rapid.Byte().Draw(t, "seed"))
		sizes, total := make([]int, c), 0
		for i := range sizes {
			sizes[i] = rapid.IntRange(1, 60).Draw(t, "rows")
			total += sizes[i]
		}
		x := lowRank(total, m, src)
		exps := exponents(x)
		f := fraction(uint64(60*c), 0)
		sum := make([]Word, triangle(m))
		want := mat.NewSymDense(m, nil)
		at := 0
		for _, n := range sizes {
			part := x.Slice(at, at+n, 0, m).(*mat.Dense)
			at += n
			s, got, err := gram(MatrixRows(part), exps, column)
			if err != nil || got != n {
				t.Fatal(got, err)
			}
			for i, w := range momentWords(s, n, equal, f) {
				sum[i] = sum[i].Add(w)
			}
			by := 1.0
			if equal {
				by /= float64(n)
			}
			want.SymRankK(want, by, part.T())
		}
		got, err := momentsOf(sum, exps, f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m {
			for j := range m {
				// Each of n products is exact to eps of the largest.
				tol := float64(total) * linalg.Eps * math.Ldexp(float64(total), exps[i]+exps[j])
				if d := math.Abs(got.At(i, j) - want.At(i, j)); d > tol {
					t.Fatalf("element %d, %d is off by %g, allowed %g", i, j, d, tol)
				}
			}
		}
	})
}

// TestBounds holds that a value beyond its bound is refused by its column's name alone.
func TestBounds(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{1, 1, 0.5, -4.000001})
	_, _, err := gram(MatrixRows(x), []int{0, 2}, column)
	if err == nil || !strings.Contains(err.Error(), "c2") || strings.Contains(err.Error(), "4.0") {
		t.Error(err)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if _, _, err := gram(MatrixRows(mat.NewDense(1, 1, []float64{bad})), []int{3}, column); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if _, _, err := gram(MatrixRows(x), []int{2}, column); err == nil {
		t.Error("rows of 2 columns were taken for 1")
	}
}

func symmetric(x *mat.Dense) *mat.SymDense {
	_, m := x.Dims()
	s := mat.NewSymDense(m, nil)
	s.SymOuterK(1, x.T())
	return s
}

// pooledSketch runs the stages of a sketch over parts of x, through words.
func pooledSketch(t interface {
	Helper()
	Fatal(...any)
}, x *mat.Dense, parts, l, power int, src rand.Source) nystrom {
	t.Helper()
	n, m := x.Dims()
	exps := exponents(x)
	f := fraction(uint64(n), 0)
	q := testMatrix(m, min(m, l+Oversample), src)
	for step := 0; ; step++ {
		_, k := q.Dims()
		sum := make([]Word, m*k+1)
		for i := range parts {
			s, err := sketch(MatrixRows(x.Slice(i*n/parts, (i+1)*n/parts, 0, m).(*mat.Dense)), exps, q, column)
			if err != nil {
				t.Fatal(err)
			}
			for j, w := range sketchWords(s, false, f) {
				sum[j] = sum[j].Add(w)
			}
		}
		y, trace, err := sketchOf(sum, exps, q, f)
		if err != nil {
			t.Fatal(err)
		}
		if step == power {
			ny, err := newNystrom(q, y, trace)
			if err != nil {
				t.Fatal(err)
			}
			return ny
		}
		q = orthonormal(y)
	}
}

func kept(s mat.Matrix, v *mat.Dense) float64 {
	var sv mat.Dense
	sv.Mul(s, v)
	sum := 0.0
	m, l := v.Dims()
	for i := range m {
		for j := range l {
			sum += v.At(i, j) * sv.At(i, j)
		}
	}
	return sum / mat.Trace(s)
}

// TestDirections holds, for all second moments and for sketches, that V passes its own
// check, that energy and gap are those of V, that no other directions keep more, and that
// a sketch claims no more than it keeps.
func TestDirections(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.IntRange(2, 50).Draw(t, "m")
		n := rapid.IntRange(m, 90).Draw(t, "n")
		l := rapid.IntRange(1, max(1, m/3)).Draw(t, "l")
		src := source(rapid.Byte().Draw(t, "seed"))
		x := lowRank(n, m, src)
		s := symmetric(x)
		exact, about, err := principal(dense{s}, l)
		if err != nil {
			t.Fatal(err)
		}
		again, err := verify(dense{s}, l, exact)
		if err != nil {
			t.Fatal(err)
		}
		tol := 1e-12
		if math.Abs(again.Energy-about.Energy) > tol || math.Abs(about.Energy-kept(s, exact)) > tol || math.Abs(again.Gap-about.Gap) > tol {
			t.Fatalf("told %+v and %+v, kept %g", about, again, kept(s, exact))
		}
		if other := kept(s, linalg.Stiefel(m, l, src)); other > about.Energy+tol {
			t.Fatalf("random directions keep %g, V %g", other, about.Energy)
		}
		power := rapid.IntRange(0, 2).Draw(t, "power")
		ny := pooledSketch(t, x, 3, l, power, src)
		if d := math.Abs(ny.trace()-mat.Trace(s)) / mat.Trace(s); d > tol {
			t.Fatalf("the trace is off by %g", d)
		}
		v, sk, err := principal(ny, l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verify(ny, l, v); err != nil {
			t.Fatal(err)
		}
		if k := kept(s, v); sk.Energy > k+tol || k > about.Energy+tol || !sk.Sketched {
			t.Fatalf("a sketch tells %g and keeps %g of %g", sk.Energy, k, about.Energy)
		}
	})
}

// TestLies plays first parties that send other directions than the leading ones.
func TestLies(t *testing.T) {
	const m, l = 30, 4
	x := lowRank(80, m, source(3))
	ny := pooledSketch(t, x, 2, l, 1, source(4))
	for name, s := range map[string]moments{"dense": dense{symmetric(x)}, "sketch": ny} {
		honest, _, err := principal(s, l+1)
		if err != nil {
			t.Fatal(err)
		}
		v := func() *mat.Dense { return mat.DenseCopyOf(honest.Slice(0, m, 0, l)) }
		for _, lie := range []struct {
			what string
			make func(v *mat.Dense) *mat.Dense
			want string
		}{
			{"another shape", func(v *mat.Dense) *mat.Dense { return mat.DenseCopyOf(v.Slice(0, m, 0, l-1)) }, "they are 30 × 3, must be 30 × 4"},
			{"transposed", func(v *mat.Dense) *mat.Dense { return mat.DenseCopyOf(v.T()) }, "they are 4 × 30"},
			{"empty", func(*mat.Dense) *mat.Dense { return &mat.Dense{} }, "they are 0 × 0"},
			{"NaN", func(v *mat.Dense) *mat.Dense { v.Set(3, 1, math.NaN()); return v }, "not a finite number"},
			{"zero", func(v *mat.Dense) *mat.Dense { v.Zero(); return v }, "VᵀV differs from I"},
			{"scaled", func(v *mat.Dense) *mat.Dense { v.Scale(1+1e-6, v); return v }, "VᵀV differs from I"},
			{"a column twice", func(v *mat.Dense) *mat.Dense { v.SetCol(1, mat.Col(nil, 0, v)); return v }, "VᵀV differs from I"},
			{"its own directions", func(*mat.Dense) *mat.Dense { return linalg.Stiefel(m, l, source(5)) }, "direction 1 keeps"},
			{"single features", func(v *mat.Dense) *mat.Dense {
				v.Zero()
				for j := range l {
					v.Set(j, j, 1)
				}
				return v
			}, "direction 1 keeps"},
			{"the next direction for the last", func(v *mat.Dense) *mat.Dense { v.SetCol(l-1, mat.Col(nil, l, honest)); return v }, "direction 4 keeps"},
			{"another order", func(v *mat.Dense) *mat.Dense {
				first := mat.Col(nil, 0, v)
				v.SetCol(0, mat.Col(nil, 1, v))
				v.SetCol(1, first)
				return v
			}, "direction 1 keeps"},
			// Turned by 1e-6 towards what is left out: eigenvalues change by 1e-12 only.
			{"a little turned", func(v *mat.Dense) *mat.Dense {
				for i := range m {
					v.Set(i, 0, math.Cos(1e-6)*honest.At(i, 0)+math.Sin(1e-6)*honest.At(i, l))
				}
				return v
			}, "direction 1 is no eigenvector"},
		} {
			_, err := verify(s, l, lie.make(v()))
			var wrong *DirectionsError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), lie.want) {
				t.Errorf("%s, %s: %v, want %q", name, lie.what, err, lie.want)
			}
		}
		signs := v()
		signs.Scale(-1, signs)
		if _, err := verify(s, l, signs); err != nil {
			t.Errorf("%s: other signs: %v", name, err)
		}
	}
}

// TestRank holds that more directions than the pooled rows span are refused by number.
func TestRank(t *testing.T) {
	src := source(6)
	var x mat.Dense
	x.Mul(linalg.Normal(40, 3, src), linalg.Normal(3, 20, src))
	for name, s := range map[string]moments{"dense": dense{symmetric(&x)}, "sketch": pooledSketch(t, &x, 2, 5, 1, src)} {
		if _, _, err := principal(s, 5); err == nil || !strings.Contains(err.Error(), "basis.dim is 5, but the rows of all parties together span 3 directions") {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := principal(s, 3); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	zero := mat.NewDense(4, 20, nil)
	for name, s := range map[string]moments{"dense": dense{symmetric(zero)}, "sketch": nystrom{&mat.Dense{}, 20, 0}} {
		if _, _, err := principal(s, 2); err == nil || !strings.Contains(err.Error(), "span 0 directions") {
			t.Errorf("%s of zeros: %v", name, err)
		}
	}
}

// TestGap holds that a tie at l is told.
func TestGap(t *testing.T) {
	s := mat.NewSymDense(4, []float64{4, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1})
	for l, warned := range map[int]bool{1: false, 2: true, 3: false, 4: false} {
		_, about, err := principal(dense{s}, l)
		if err != nil {
			t.Fatal(err)
		}
		if got := about.Warnings() != nil; got != warned {
			t.Errorf("l = %d: %+v warns: %t", l, about, got)
		}
	}
}
