package linalg

import (
	"gonum.org/v1/gonum/mat"
)

// PolarInfo says how well determined a polar factor is. The factor of a
// matrix of full rank is unique, and moves by about ‖ΔM‖ / Smallest under a
// change ΔM of the matrix; below full rank it is one of many.
type PolarInfo struct {
	// Smallest and Largest are the extreme singular values of M.
	Smallest, Largest float64
	// Rank is the number of singular values above max(m, n)·2⁻⁵² times the
	// largest.
	Rank int
	// Cond is s₁ / s_Rank, the condition number of M on its numerical rank; 0
	// when Rank is 0.
	Cond float64
}

// Polar returns the orthogonal polar factor Q (m × n) of m (m × n), from its
// thin singular value decomposition:
//
//	M = U diag(s) Vᵀ,  Q = U Vᵀ
//
// Q has orthonormal columns when M is square or tall, and orthonormal rows
// when M is wide. Among all such matrices it is the one nearest to M and the
// one that maximises tr(QᵀM): the solution of the orthogonal Procrustes
// problem (Schönemann 1966) with M = AᵀB,
//
//	min_Q ‖A Q − B‖_F.
//
// A matrix below full rank has many such factors; one of them is returned and
// PolarInfo.Rank says so.
//
// The cost is O(m n min(m, n)).
func Polar(m *mat.Dense) (q *mat.Dense, info PolarInfo, err error) {
	u, s, v, err := SVD(m)
	if err != nil {
		return nil, PolarInfo{}, err
	}
	rows, cols := dims(m)
	if rows == 0 {
		return &mat.Dense{}, PolarInfo{}, nil
	}
	q = new(mat.Dense)
	q.Mul(u, v.T())
	info = PolarInfo{
		Smallest: s[len(s)-1],
		Largest:  s[0],
		Rank:     NumericalRank(s, rows, cols, 0),
	}
	if info.Rank > 0 {
		info.Cond = s[0] / s[info.Rank-1]
	}
	return q, info, nil
}
