package visit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/contract"
	"concord/internal/site"
	"concord/masked"
	"concord/npy"
	"concord/pooled"
	"concord/secret"
	"concord/wire"
)

// Files of the pooled state in the folder for masked sums, and members of an admission
// that brings it to a party that came late.
const (
	directionsFile = "directions.secret"
	ledgerOfSums   = site.PoolLedger
)

func sumsFile(stage int) string { return fmt.Sprintf("sums-%d.secret", stage) }

func sumsMember(stage int) string { return fmt.Sprintf("sums-%d.bin", stage) }

// directionsMember is the matrix V of the message by which the first party gives the
// common directions to the others, and of an admission.
const directionsMember = "directions"

// sumsHead is the first line of a file of pooled sums; the words follow, 16 bytes each in
// little endian.
type sumsHead struct {
	Format int         `json:"format"`
	Stage  int         `json:"stage"`
	Set    []wire.Hash `json:"set"`
	Words  int         `json:"words"`
}

// pools reports whether this study pools figures.
func (v *Visit) pools() bool { return len(v.Whole.Stages()) > 0 }

// pooledSoFar is what this site knows of the pooled figures: made anew of the sums that
// lie here.
func (v *Visit) pooledSoFar() (*pooled.Pool, error) {
	if v.pool != nil {
		return v.pool, nil
	}
	stages := v.Whole.Stages()
	seed, ok, err := v.site.Seed()
	if err != nil {
		return nil, err
	}
	if !ok {
		seed = anchor.Seed{}
	}
	pool, err := pooled.New(v.Contract, seed)
	if err != nil {
		return nil, err
	}
	for i, stage := range stages {
		b, err := v.site.ReadPool(sumsFile(i + 1))
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
		if !ok && len(stages) > 1 {
			return nil, wire.WithHint(errors.New("pooled sums are here and the anchor's seed is not"), "run concord sync")
		}
		if err := v.takeSums(pool, i+1, b); err != nil {
			return nil, wire.WithHint(fmt.Errorf("%s, the sums of stage %q: %w", v.site.Pool(sumsFile(i+1)), stage, err),
				restoreFolder)
		}
	}
	if _, more := pool.Next(); !more && v.Whole.Basis.Kind == "common" {
		b, err := v.site.ReadPool(directionsFile)
		if err != nil {
			return nil, err
		}
		if b != nil {
			if _, err := v.takeDirections(pool, b); err != nil {
				return nil, wire.WithHint(fmt.Errorf("%s: %w", v.site.Pool(directionsFile), err),
					restoreFolder)
			}
		}
	}
	v.pool = pool
	return pool, nil
}

// takeSums hands a file of pooled sums to the pool, whose next stage it must be.
func (v *Visit) takeSums(pool *pooled.Pool, stage int, b []byte) error {
	sums, err := v.decodeSums(pool, stage, b)
	if err != nil {
		return err
	}
	return pool.Take(v.Whole.Stages()[stage-1], sums)
}

func (v *Visit) decodeSums(pool *pooled.Pool, stage int, b []byte) (masked.Sums, error) {
	var none masked.Sums
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	var head sumsHead
	if err := wire.DecodeCanonical(line, &head); err != nil {
		return none, err
	}
	statistics, err := pool.Statistics(v.Whole.Stages()[stage-1])
	if err != nil {
		return none, err
	}
	if head.Format != 1 || head.Stage != stage || head.Words != statistics.N || len(rest) != 16*statistics.N {
		return none, fmt.Errorf("it holds %d bytes of %d words of stage %d, must be %d words of stage %d", len(rest),
			head.Words, head.Stage, statistics.N, stage)
	}
	words := make([]masked.Word, head.Words)
	for i := range words {
		words[i] = masked.Word{Lo: binary.LittleEndian.Uint64(rest[16*i:]), Hi: binary.LittleEndian.Uint64(rest[16*i+8:])}
	}
	if slices.ContainsFunc(head.Set,
		func(h wire.Hash) bool { _, err := v.Chain.Root().Member(h); return err != nil }) || len(head.Set) == 0 {
		return none, errors.New("it names parties that were not in setup")
	}
	statistics.Bound *= float64(len(head.Set)) // of one party's numbers it is that of each
	vector, err := masked.FromWords(statistics, words)
	return masked.Sums{Vector: vector, Set: head.Set}, err
}

// encodeSums is a file of pooled sums.
func encodeSums(stage int, sums masked.Sums) ([]byte, error) {
	line, err := wire.Canonical(sumsHead{Format: 1, Stage: stage, Set: sums.Set, Words: sums.Len()})
	if err != nil {
		return nil, err
	}
	b := append(line, '\n')
	for i := range sums.Len() {
		w := sums.At(i)
		b = binary.LittleEndian.AppendUint64(b, w.Lo)
		b = binary.LittleEndian.AppendUint64(b, w.Hi)
	}
	return b, nil
}

// takeDirections reads V and hands it to the pool, which checks it.
func (v *Visit) takeDirections(pool *pooled.Pool, b []byte) (pooled.Spectrum, error) {
	rows, err := npy.ReadMatrix(bytes.NewReader(b), npy.Limits{Rows: v.Whole.M(), Cols: v.Whole.Basis.Dim})
	if err != nil {
		return pooled.Spectrum{}, err
	}
	return pool.TakeDirections(secret.NewMatrix(rows))
}

func encodeMatrix(m *mat.Dense) ([]byte, error) {
	var b bytes.Buffer
	err := npy.WriteMatrix(&b, m)
	return b.Bytes(), err
}

// poolStage is the number of the stage whose sums are not here, from 1; 0 when all are.
func (v *Visit) poolStage() (int, error) {
	pool, err := v.pooledSoFar()
	if err != nil {
		return 0, err
	}
	next, more := pool.Next()
	if !more {
		return 0, nil
	}
	return 1 + slices.Index(v.Whole.Stages(), next), nil
}

// poolDone reports whether everything is here that the contract pools.
func (v *Visit) poolDone() (bool, error) {
	pool, err := v.pooledSoFar()
	if err != nil {
		return false, err
	}
	return pool.Done(), nil
}

// keepSums makes the sums of a stage durable; from then on the stage is done here, and
// this site's own numbers of it go.
func (v *Visit) keepSums(stage int, sums masked.Sums) error {
	b, err := encodeSums(stage, sums)
	if err != nil {
		return err
	}
	if err := v.notePooled(stage, v.Whole.Stages()[stage-1].String(), sums.Set, wire.Hash(sha256.Sum256(b))); err != nil {
		return err
	}
	pool, err := v.pooledSoFar()
	if err != nil {
		return err
	}
	if err := v.takeSums(pool, stage, b); err != nil {
		v.pool = nil
		return err
	}
	if stage == 1 {
		figures, err := pool.Figures().Encode()
		if err != nil {
			return err
		}
		if err := v.site.PutPool(site.PoolFigures, figures); err != nil {
			return err
		}
	}
	if err := v.site.PutPool(sumsFile(stage), b); err != nil {
		return err
	}
	return v.sweepPool()
}

// putVector keeps this site's own numbers of a stage until it is done: a smaller set needs
// them masked anew.
func (v *Visit) putVector(stage int, vector masked.Vector) error {
	b, err := encodeSums(stage, masked.Sums{Vector: vector, Set: []wire.Hash{v.Chain.Origin(v.Own())}})
	if err != nil {
		return err
	}
	return v.site.PutPool(vectorFile(stage), b)
}

// vector loads them; ok is false if there are none.
func (v *Visit) vector(stage int) (vector masked.Vector, ok bool, err error) {
	b, err := v.site.ReadPool(vectorFile(stage))
	if b == nil || err != nil {
		return vector, false, err
	}
	pool, err := v.pooledSoFar()
	if err != nil {
		return vector, false, err
	}
	sums, err := v.decodeSums(pool, stage, b)
	if err != nil {
		return vector, false, fmt.Errorf("%s: %w", v.site.Pool(vectorFile(stage)), err)
	}
	return sums.Vector, true, nil
}

// modelFigures are the pooled figures that a model's rows are prepared by, nil where
// nothing is pooled. They are here after the study is closed too.
func (v *Visit) modelFigures() (*contract.Figures, error) {
	if !v.pools() {
		return nil, nil
	}
	b, err := v.site.ReadPool(site.PoolFigures)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, wire.WithHint(errNotPooled, "run concord sync")
	}
	f, err := contract.DecodeFigures(b, v.Whole)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.site.Pool(site.PoolFigures), err)
	}
	return f, nil
}
