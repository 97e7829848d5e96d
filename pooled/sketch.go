package pooled

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Oversample is how many columns a sketch has beyond the dimension of the basis
// ([halko2011], section 4.2: 5 to 10).
const Oversample = 10

// testMatrix is an orthonormal basis (m × k) of the span of k columns of independent signs
// from src, the same bits on every machine: where a sketch starts. Signs do as well as
// normal numbers ([halko2011], section 4.6) and need no logarithm. Where k is
// near m columns may depend on each other: then all are drawn again.
func testMatrix(m, k int, src rand.Source) *mat.Dense {
	w := mat.NewDense(m, k, nil)
	for {
		for j := range k {
			var u uint64
			for i := range m {
				if i%64 == 0 {
					u = src.Uint64()
				}
				w.Set(i, j, float64(int(u>>(i%64)&1)*2-1))
			}
		}
		if q := orthonormal(w); q.RawMatrix().Cols == k {
			return q
		}
	}
}

// scaledDirections returns T = D Q for D = diag(2^exps[j]), so that Z Q = (Z D⁻¹) T, and
// for each column of T an exponent e that bounds |Z Q| of any row by 2^e:
//
//	|Σ_j z_j/2^exps[j] T_jk| ≤ Σ_j |T_jk| ≤ 2^e_k
//
// Sums are made in a fixed order, and doubled before the power of two above them is taken,
// so that all parties have the same e and rounding of the products has room.
func scaledDirections(q *mat.Dense, exps []int) (t *mat.Dense, bound []int) {
	m, k := q.Dims()
	t = mat.NewDense(m, k, nil)
	bound = make([]int, k)
	sums := make([]float64, k)
	for j := range m {
		row := t.RawRowView(j)
		for c, v := range q.RawRowView(j) {
			row[c] = math.Ldexp(v, exps[j])
			sums[c] += math.Abs(row[c])
		}
	}
	for c, s := range sums {
		bound[c] = above(2 * s)
	}
	return t, bound
}

// above is the least e with |v| ≤ 2^e, and 0 for v = 0.
func above(v float64) int {
	if v == 0 {
		return 0
	}
	frac, exp := math.Frexp(math.Abs(v))
	if frac == 0.5 {
		return exp - 1
	}
	return exp
}

// sketched is a party's part of a sketch.
type sketched struct {
	y     *mat.Dense // D⁻¹ Zᵀ(Z Q) (m × k), column c divided by 2^bound[c]: no element exceeds n
	trace float64    // ‖Z D⁻¹·2^…‖², see sketch
	n     int
}

// sketch makes ZᵀZ Q of a stream of prepared rows Z (n × m) for directions Q (m × k), and
// ‖Z‖_F²: O(n m k) time, O(m k) memory. Both are scaled to be at most n: column c of row j
// of the product by 2^−(exps[j] + bound[c]), the square of the norm by 2^−whole, with
// whole as traceBound gives it.
func sketch(rows Rows, exps []int, q *mat.Dense, name func(int) string) (sketched, error) {
	m, k := q.Dims()
	t, bound := scaledDirections(q, exps)
	for c, e := range bound {
		for j := range m {
			t.Set(j, c, math.Ldexp(t.At(j, c), -e))
		}
	}
	whole := traceBound(exps)
	weight := make([]float64, m)
	for j, e := range exps {
		weight[j] = math.Ldexp(1, 2*e-whole)
	}
	out := sketched{y: mat.NewDense(m, k, nil)}
	var p, y mat.Dense
	n, err := bounded(rows, exps, name, func(block *mat.Dense) {
		p.Reset()
		p.Mul(block, t)
		y.Mul(block.T(), &p)
		out.y.Add(out.y, &y)
		b, _ := block.Dims()
		for i := range b {
			for j, v := range block.RawRowView(i) {
				out.trace += v * v * weight[j]
			}
		}
	})
	p.Zero()
	y.Zero()
	out.n = n
	return out, err
}

// traceBound is the exponent e of ‖z‖² ≤ 2^e for a prepared row z.
func traceBound(exps []int) int {
	most := math.MinInt
	for _, e := range exps {
		most = max(most, 2*e)
	}
	sum := 0.0
	for _, e := range exps {
		sum += math.Ldexp(1, 2*e-most)
	}
	return most + above(2*sum)
}

// sketchWords are the words of a party's sketch by rows, and last that of its ‖Z‖².
func sketchWords(s sketched, equal bool, f int) []Word {
	by := 1.0
	if equal {
		by = float64(s.n)
	}
	raw := s.y.RawMatrix().Data
	out := make([]Word, 0, len(raw)+1)
	for _, v := range raw {
		out = append(out, wordOf(v/by, f))
	}
	return append(out, wordOf(s.trace/by, f))
}

// sketchOf undoes sketchWords: the pooled Y = S Q (m × k) and the trace of S.
func sketchOf(sum []Word, exps []int, q *mat.Dense, f int) (y *mat.Dense, trace float64, err error) {
	m, k := q.Dims()
	if len(sum) != m*k+1 {
		return nil, 0, fmt.Errorf("pooled: %d numbers of a sketch of %d × %d, want %d", len(sum), m, k, m*k+1)
	}
	_, bound := scaledDirections(q, exps)
	y = mat.NewDense(m, k, nil)
	for j := range m {
		for c := range k {
			y.Set(j, c, math.Ldexp(floatOf(sum[j*k+c], f), exps[j]+bound[c]))
		}
	}
	if err := linalg.CheckFinite(y); err != nil {
		return nil, 0, fmt.Errorf("pooled: sketch: %v", err)
	}
	return y, math.Ldexp(floatOf(sum[m*k], f), traceBound(exps)), nil
}
