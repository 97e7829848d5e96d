package pooled

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Rows visits rows one after the other: visit must not keep the slice. A pass may be made
// more than once and gives the same rows each time.
type Rows func(visit func(row []float64) error) error

// MatrixRows are the rows of x.
func MatrixRows(x *mat.Dense) Rows {
	return func(visit func([]float64) error) error {
		n, _ := x.Dims()
		if x.IsEmpty() {
			n = 0
		}
		for i := range n {
			if err := visit(x.RawRowView(i)); err != nil {
				return err
			}
		}
		return nil
	}
}

// blockBytes is what one block of rows takes in memory.
const blockBytes = 8 << 20

// bounded collects prepared rows in blocks, each column j divided by 2^exps[j], which its
// values do not exceed in size, and calls work for each block (b × m). It returns the
// number of rows. The error names a column whose bound does not hold, by name(j).
func bounded(rows Rows, exps []int, name func(int) string, work func(block *mat.Dense)) (int, error) {
	m := len(exps)
	size := max(16, min(4096, blockBytes/8/m))
	block := mat.NewDense(size, m, nil)
	defer block.Zero()
	scale := make([]float64, m)
	for j, e := range exps {
		scale[j] = math.Ldexp(1, -e)
	}
	total, filled := 0, 0
	flush := func() {
		if filled > 0 {
			work(block.Slice(0, filled, 0, m).(*mat.Dense))
		}
		total, filled = total+filled, 0
	}
	err := rows(func(row []float64) error {
		if len(row) != m {
			return fmt.Errorf("pooled: a prepared row has %d columns, the contract has %d", len(row), m)
		}
		to := block.RawRowView(filled)
		for j, v := range row {
			u := v * scale[j]
			if !(math.Abs(u) <= 1) {
				return fmt.Errorf("pooled: a prepared value of %s exceeds what the contract's range and the pooled figures allow: the rows are not those of the figures, or were not checked against the range", name(j))
			}
			to[j] = u
		}
		if filled++; filled == size {
			flush()
		}
		return nil
	})
	flush()
	return total, err
}

// gram is ZᵀZ (m × m) of the prepared rows Z (n × m) with column j divided by 2^exps[j],
// so that no element exceeds n; and n. Rows come as a stream: O(n m²) time, O(m²) memory.
func gram(rows Rows, exps []int, name func(int) string) (*mat.SymDense, int, error) {
	m := len(exps)
	s := mat.NewSymDense(m, nil)
	n, err := bounded(rows, exps, name, func(block *mat.Dense) { s.SymRankK(s, 1, block.T()) })
	return s, n, err
}

// triangle is how many elements the upper triangle of an m × m matrix has.
func triangle(m int) int { return m * (m + 1) / 2 }

// momentWords are the words of a party's moments: the upper triangle of ZᵀZ by rows, from
// the scaled s that gram made, for n rows; divided by n first where each party counts
// alike. f is the fraction for what no element exceeds, n or 1.
func momentWords(s *mat.SymDense, n int, equal bool, f int) []Word {
	m := s.SymmetricDim()
	raw := s.RawSymmetric()
	out := make([]Word, 0, triangle(m))
	for i := range m {
		for _, v := range raw.Data[i*raw.Stride+i : i*raw.Stride+m] {
			if equal {
				v /= float64(n)
			}
			out = append(out, wordOf(v, f))
		}
	}
	return out
}

// momentsOf undoes momentWords: the pooled S = Σ ZᵢᵀZᵢ (m × m) of the prepared rows.
func momentsOf(sum []Word, exps []int, f int) (*mat.SymDense, error) {
	m := len(exps)
	if len(sum) != triangle(m) {
		return nil, fmt.Errorf("pooled: %d second moments for %d columns, want %d", len(sum), m, triangle(m))
	}
	s := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			s.SetSym(i, j, math.Ldexp(floatOf(sum[0], f), exps[i]+exps[j]))
			sum = sum[1:]
		}
	}
	if err := linalg.CheckFiniteSym(s); err != nil {
		return nil, fmt.Errorf("pooled: second moments: %v", err)
	}
	return s, nil
}
