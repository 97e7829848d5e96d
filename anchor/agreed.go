package anchor

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/secret"
)

// FromPublic is the anchor A = R P (rows × m) of agreed public rows P (p × m), with R
// from the parties' seed: see [Mix]. All who have the seed and the same P make the same
// A, to 1e-12. The errors are those of Mix, an empty or erased seed, and a rank below m.
func FromPublic(seed Seed, public *mat.Dense, rows int) (secret.Matrix, error) {
	if err := seed.check(); err != nil {
		return secret.Matrix{}, err
	}
	a, err := Mix(public, rows, seed.stream(labelPublic))
	if err != nil {
		return secret.Matrix{}, err
	}
	return spanning(a, "the public rows")
}

// FromSeedAndPieces is the anchor (rows × m) of all parties' pieces in an agreed order,
// drawn and combined by the parties' seed: see [FromPieces]. The errors are those of
// FromPieces, an empty or erased seed, and a rank below m.
func FromSeedAndPieces(seed Seed, pieces []secret.Matrix, rows int) (secret.Matrix, error) {
	if err := seed.check(); err != nil {
		return secret.Matrix{}, err
	}
	a, err := FromPieces(pieces, rows, seed.stream(labelPieces))
	if err != nil {
		return secret.Matrix{}, err
	}
	return spanning(a, "the parties' pieces")
}

// PiecesID names a seed together with pieces, for the analyst to compare: parties that
// hold other pieces make another anchor. Without the seed nobody can test guesses of
// pieces with it.
//
//	id = HKDF-Expand(seed, "concord/anchor/pieces-id/v1/" ‖ hex SHA-256(u32 rows ‖ u32 columns ‖ elements, for each piece))
func PiecesID(seed Seed, pieces []secret.Matrix) [32]byte {
	h := sha256.New()
	for _, p := range pieces {
		hashMatrix(h, p)
	}
	return seed.expand(labelPiecesID + hex.EncodeToString(h.Sum(nil)))
}

// PooledID names an anchor together with what the parties pooled: the SHA-256 of their
// figures and their common directions V, empty if there are none. Parties that prepare rows
// by other figures, or have another V, have another id, and without the seed nobody can
// test guesses of either with it.
//
//	id = HKDF-Expand(seed, "concord/anchor/pooled-id/v1/" ‖ hex SHA-256(id of the anchor ‖ SHA-256 of the figures ‖ SHA-256 of V))
func PooledID(seed Seed, anchor, figures [32]byte, v secret.Matrix) [32]byte {
	directions := MatrixHash(v)
	h := sha256.New()
	h.Write(anchor[:])
	h.Write(figures[:])
	h.Write(directions[:])
	return seed.expand(labelPooledID + hex.EncodeToString(h.Sum(nil)))
}

// SumsID names pooled sums, by their SHA-256, in a log that others may read: without the seed
// nobody can test guesses with it.
//
//	id = HKDF-Expand(seed, "concord/anchor/sums-id/v1/" ‖ hex SHA-256 of the sums)
func SumsID(seed Seed, sums [32]byte) [32]byte {
	return seed.expand(labelSumsID + hex.EncodeToString(sums[:]))
}

// MatrixHash is SHA-256(u32 rows ‖ u32 columns ‖ elements by rows), in big endian.
func MatrixHash(a secret.Matrix) [32]byte {
	h := sha256.New()
	hashMatrix(h, a)
	return [32]byte(h.Sum(nil))
}

func hashMatrix(h hash.Hash, a secret.Matrix) {
	rows, cols := a.Dims()
	var b []byte
	b = binary.BigEndian.AppendUint32(b, uint32(rows))
	b = binary.BigEndian.AppendUint32(b, uint32(cols))
	if rows == 0 {
		h.Write(b)
	}
	for i := range rows {
		for _, v := range a.Reveal().RawRowView(i) {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(v))
		}
		h.Write(b)
		b = b[:0]
	}
}

// spanning wants an anchor to have full column rank, which alignment needs.
func spanning(a secret.Matrix, of string) (secret.Matrix, error) {
	_, m := a.Dims()
	rank, err := linalg.Rank(a.Reveal(), 0)
	if err == nil && rank < m {
		err = fmt.Errorf("the anchor made of %s has rank %d for %d features: some features do not vary there, or follow from others", of, rank, m)
	}
	if err != nil {
		a.Erase()
		return secret.Matrix{}, fmt.Errorf("anchor: %w", err)
	}
	return a, nil
}
