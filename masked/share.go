package masked

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"math/big"

	"concord/secret"
	"concord/wire"
)

// shareBytes is the size of a share and of what it is a share of.
const shareBytes = 32

const (
	labelKey    = "concord/masked/key/v1"
	labelCommit = "concord/masked/commit/v1"
)

// field is the largest prime below 2²⁵⁶, 2²⁵⁶ − 189.
var field = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(189))

// draw draws the coefficients of a polynomial of degree t − 1; the first is the key.
func draw(t int) ([]*big.Int, error) {
	coefficients := make([]*big.Int, t)
	for i := range coefficients {
		var err error
		if coefficients[i], err = rand.Int(rand.Reader, field); err != nil {
			return nil, fmt.Errorf("masked: %w", err)
		}
	}
	return coefficients, nil
}

// split shares the key among n: share x, for x = 1 to n, is f(x) for the polynomial f with
// those coefficients, modulo 2²⁵⁶ − 189. Any t shares give the key f(0), fewer say nothing
// of it [shamir1979].
//
// Cost: O(n t) multiplications.
func split(coefficients []*big.Int, n int) (key secret.Bytes, shares []secret.Bytes) {
	for x := range n {
		sum := new(big.Int)
		at := big.NewInt(int64(x + 1))
		for i := len(coefficients) - 1; i >= 0; i-- {
			sum.Mod(sum.Add(sum.Mul(sum, at), coefficients[i]), field)
		}
		shares = append(shares, secret.NewBytes(sum.FillBytes(make([]byte, shareBytes))))
	}
	return secret.NewBytes(coefficients[0].FillBytes(make([]byte, shareBytes))), shares
}

// weights are the Lagrange coefficients at 0 for the points x: the key is Σ weights[i]·share(x[i]).
func weights(x []int) []*big.Int {
	w := make([]*big.Int, len(x))
	for i := range x {
		above, below := big.NewInt(1), big.NewInt(1)
		for j := range x {
			if i != j {
				above.Mod(above.Mul(above, big.NewInt(int64(x[j]))), field)
				below.Mod(below.Mul(below, big.NewInt(int64(x[j]-x[i]))), field)
			}
		}
		w[i] = above.Mod(above.Mul(above, below.ModInverse(below, field)), field)
	}
	return w
}

// join returns the key from as many shares as there are weights.
func join(w []*big.Int, shares [][]byte) secret.Bytes {
	sum := new(big.Int)
	for i, s := range shares {
		term := new(big.Int).SetBytes(s)
		sum.Mod(sum.Add(sum, term.Mul(term, w[i])), field)
	}
	return secret.NewBytes(sum.FillBytes(make([]byte, shareBytes)))
}

// commit is the SHA-256 by which a share or a key is known before it is opened. Both are
// drawn from 2²⁵⁶ values, so it says nothing of them.
func commit(label string, of []byte) wire.Hash {
	return sha256.Sum256(append(append([]byte(label), 0), of...))
}
