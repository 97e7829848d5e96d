package chaos

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/table"
)

// nothingToRegenerate is the regeneration attack on a party's folder under nri. With X̃
// or Ãᵢ in the clear F' = pinv(X) X̃ or pinv(A) Ãᵢ, and rows are matched through it. So
// every file is searched, at every byte, for n rows of any width that X explains; an
// array of numbers in the clear is too much already.
func (q *holder) nothingToRegenerate(f folder) error {
	x, err := q.rows()
	if err != nil {
		return err
	}
	return f.files(func(path string, data []byte) error {
		switch {
		case bytes.Contains(data, []byte("NUMPY")):
			return fmt.Errorf("%s: %s holds an array of numbers in the clear", q.name, path)
		case bytes.HasSuffix([]byte(path), []byte("basis.secret")):
			return fmt.Errorf("%s: %s is there", q.name, path)
		}
		if at, ok := explainedIn(x, data); ok {
			return fmt.Errorf("%s: at byte %d of %s are rows that this site's own explain", q.name, at, path)
		}
		return nil
	})
}

// rows are the party's, standardised.
func (q *holder) rows() (*mat.Dense, error) {
	if q.own != nil {
		return q.own, nil
	}
	c, err := contract.ParseYAML([]byte(q.play.yaml()))
	if err != nil {
		return nil, err
	}
	t, err := table.Open(q.play.input(dataFile(q.i)), c, table.Options{})
	if err != nil {
		return nil, err
	}
	q.own = t.Standardised().Reveal()
	return q.own, nil
}

// explainedIn looks for n rows of plausible numbers, of one column to all but one, that
// are rows of x through some orthonormal directions, in whatever order.
func explainedIn(x *mat.Dense, raw []byte) (at int, found bool) {
	n, m := x.Dims()
	top := spread(x)
	for shift := range 8 {
		run := 0 // plausible numbers that end here
		for end := shift + 8; end <= len(raw); end += 8 {
			v := math.Abs(math.Float64frombits(binary.LittleEndian.Uint64(raw[end-8:])))
			if !(v < 1e3 && v > 1e-12) {
				run = 0
				continue
			}
			run++
			for w := 1; w < m && n*w <= run; w++ {
				z := mat.NewDense(n, w, nil)
				start := end - 8*n*w
				for i := range n * w {
					z.RawMatrix().Data[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[start+8*i:]))
				}
				if explained(spread(z), top) {
					return start, true
				}
			}
		}
	}
	return 0, false
}

// spread are the singular values of centred rows: neither an order of rows nor an
// orthonormal basis changes them.
func spread(z *mat.Dense) []float64 {
	n, m := z.Dims()
	c := mat.NewDense(n, m, nil)
	for j := range m {
		mean := mat.Sum(z.ColView(j)) / float64(n)
		for i := range n {
			c.Set(i, j, z.At(i, j)-mean)
		}
	}
	var svd mat.SVD
	if !svd.Factorize(c, mat.SVDNone) {
		return make([]float64, m)
	}
	return svd.Values(nil)
}

func explained(s, top []float64) bool {
	for i, v := range s {
		if !(math.Abs(v-top[i]) < 0.1*top[i]) {
			return false
		}
	}
	return true
}
