package concord

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/bundle"
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

func sumsFile(stage int) string   { return fmt.Sprintf("sums-%d.secret", stage) }
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
func (v *visit) pools() bool { return len(v.whole.Stages()) > 0 }

// pooledSoFar is what this site knows of the pooled figures: made anew of the sums that
// lie here.
func (v *visit) pooledSoFar() (*pooled.Pool, error) {
	if v.pool != nil {
		return v.pool, nil
	}
	stages := v.whole.Stages()
	seed, ok, err := v.site.Seed()
	if err != nil {
		return nil, err
	}
	if !ok {
		seed = anchor.Seed{}
	}
	pool, err := pooled.New(v.contract, seed)
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
			return nil, wire.WithHint(fmt.Errorf("%s, the sums of stage %q: %w", v.site.Pool(sumsFile(i+1)), stage, err), "restore the site's folder from a copy")
		}
	}
	if _, more := pool.Next(); !more && v.whole.Basis.Kind == "common" {
		b, err := v.site.ReadPool(directionsFile)
		if err != nil {
			return nil, err
		}
		if b != nil {
			if _, err := v.takeDirections(pool, b); err != nil {
				return nil, wire.WithHint(fmt.Errorf("%s: %w", v.site.Pool(directionsFile), err), "restore the site's folder from a copy")
			}
		}
	}
	v.pool = pool
	return pool, nil
}

// takeSums hands a file of pooled sums to the pool, whose next stage it must be.
func (v *visit) takeSums(pool *pooled.Pool, stage int, b []byte) error {
	sums, err := v.decodeSums(pool, stage, b)
	if err != nil {
		return err
	}
	return pool.Take(v.whole.Stages()[stage-1], sums)
}

func (v *visit) decodeSums(pool *pooled.Pool, stage int, b []byte) (masked.Sums, error) {
	var none masked.Sums
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	var head sumsHead
	if err := wire.DecodeCanonical(line, &head); err != nil {
		return none, err
	}
	statistics, err := pool.Statistics(v.whole.Stages()[stage-1])
	if err != nil {
		return none, err
	}
	if head.Format != 1 || head.Stage != stage || head.Words != statistics.N || len(rest) != 16*statistics.N {
		return none, fmt.Errorf("it holds %d bytes of %d words of stage %d, must be %d words of stage %d", len(rest), head.Words, head.Stage, statistics.N, stage)
	}
	words := make([]masked.Word, head.Words)
	for i := range words {
		words[i] = masked.Word{Lo: binary.LittleEndian.Uint64(rest[16*i:]), Hi: binary.LittleEndian.Uint64(rest[16*i+8:])}
	}
	if slices.ContainsFunc(head.Set, func(h wire.Hash) bool { _, err := v.chain.Root().Member(h); return err != nil }) || len(head.Set) == 0 {
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
func (v *visit) takeDirections(pool *pooled.Pool, b []byte) (pooled.Spectrum, error) {
	rows, err := npy.ReadMatrix(bytes.NewReader(b), npy.Limits{Rows: v.whole.M(), Cols: v.whole.Basis.Dim})
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
func (v *visit) poolStage() (int, error) {
	pool, err := v.pooledSoFar()
	if err != nil {
		return 0, err
	}
	next, more := pool.Next()
	if !more {
		return 0, nil
	}
	return 1 + slices.Index(v.whole.Stages(), next), nil
}

// poolDone reports whether everything is here that the contract pools.
func (v *visit) poolDone() (bool, error) {
	pool, err := v.pooledSoFar()
	if err != nil {
		return false, err
	}
	return pool.Done(), nil
}

// keepSums makes the sums of a stage durable; from then on the stage is done here, and
// this site's own numbers of it go.
func (v *visit) keepSums(stage int, sums masked.Sums) error {
	b, err := encodeSums(stage, sums)
	if err != nil {
		return err
	}
	if err := v.notePooled(stage, v.whole.Stages()[stage-1].String(), sums.Set, wire.Hash(sha256.Sum256(b))); err != nil {
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
func (v *visit) putVector(stage int, vector masked.Vector) error {
	b, err := encodeSums(stage, masked.Sums{Vector: vector, Set: []wire.Hash{v.chain.Origin(v.own())}})
	if err != nil {
		return err
	}
	return v.site.PutPool(vectorFile(stage), b)
}

// vector loads them; ok is false if there are none.
func (v *visit) vector(stage int) (vector masked.Vector, ok bool, err error) {
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

// sumsLedger loads what this site has answered.
func (v *visit) sumsLedger() (*masked.Ledger, error) {
	b, err := v.site.ReadPool(ledgerOfSums)
	if err != nil {
		return nil, err
	}
	if b == nil {
		return new(masked.Ledger), nil
	}
	l, err := masked.DecodeLedger(b)
	if err != nil {
		return nil, wire.WithHint(fmt.Errorf("%s: %w", v.site.Pool(ledgerOfSums), err), "restore the file from a copy: without it nobody knows what was answered")
	}
	return l, nil
}

// topicOfSums is that of all stages: second moments and sketches of the same rows have sums
// in common with the figures, so that over two sets they show who makes the difference.
const topicOfSums = "figures"

// question is what this site is asked in a stage, for the ledger.
func (v *visit) question(stage int, set []wire.Hash, source wire.Hash, statistics wire.Hash) masked.Answered {
	return masked.Answered{
		Topic: topicOfSums, Epoch: v.chain.Setup(), Stage: stage, Statistics: statistics, Set: set, Views: v.viewsOf(set), Source: source,
	}
}

// judge says what answering would reveal beside what was answered.
func (v *visit) judge(q masked.Answered) (masked.Verdict, error) {
	l, err := v.sumsLedger()
	if err != nil {
		return masked.Verdict{}, err
	}
	return l.Judge(q, v.chain.Origin(v.own()), v.whole.Pooling.Colluders, func(h wire.Hash) string { return fmt.Sprintf("%q", v.partyNames([]wire.Hash{h})) }), nil
}

// answer enters a question in the ledger, durably, before the answer leaves.
func (v *visit) answer(q masked.Answered) error {
	l, err := v.sumsLedger()
	if err != nil {
		return err
	}
	l.Add(q)
	return v.site.PutPool(ledgerOfSums, l.Encode())
}

// pooledSource is the file of rows of which this site's figures were pooled; ok is false
// before it has prepared any, and where it was given the figures.
func (v *visit) pooledSource() (from source, ok bool, err error) {
	b, err := v.site.ReadPool(sourceFile)
	if b == nil || err != nil {
		return from, false, err
	}
	if err := json.Unmarshal(b, &from); err != nil {
		return from, false, fmt.Errorf("%s: %w", v.site.Pool(sourceFile), err)
	}
	return from, true, nil
}

// modelFigures are the pooled figures that a model's rows are prepared by, nil where
// nothing is pooled. They are here after the study is closed too.
func (v *visit) modelFigures() (*contract.Figures, error) {
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
	f, err := contract.DecodeFigures(b, v.whole)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.site.Pool(site.PoolFigures), err)
	}
	return f, nil
}

// keepSource notes from which file the figures are that are about to leave.
func (v *visit) keepSource(name string) error {
	from, err := v.loadSource(name)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(from, "", "  ")
	if err != nil {
		return err
	}
	return v.site.PutPool(sourceFile, append(b, '\n'))
}

// stateMembers are the pooled figures as they go to a party that came after setup.
func (v *visit) stateMembers() ([]bundle.Source, error) {
	if !v.pools() {
		return nil, nil
	}
	done, err := v.poolDone()
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, wire.WithHint(errors.New("the figures of this study are not pooled yet"), "run concord sync; a party that comes late gets them with the anchor")
	}
	var members []bundle.Source
	for i := range v.whole.Stages() {
		b, err := v.site.ReadPool(sumsFile(i + 1))
		if err != nil {
			return nil, err
		}
		members = append(members, bundle.FromBytes(sumsMember(i+1), b))
	}
	if v.whole.Basis.Kind != "common" {
		return members, nil
	}
	pool, err := v.pooledSoFar()
	if err != nil {
		return nil, err
	}
	return append(members, bundle.FromMatrix(directionsMember, pool.V().Reveal())...), nil
}

// pooledIn are the pooled figures in a bundle by which a member gives the anchor to a
// party that came after setup, checked against each other, and the files that keep them.
func (v *visit) pooledIn(r *bundle.Reader, seed anchor.Seed) (*pooled.Pool, map[string][]byte, error) {
	pool, err := pooled.New(v.whole, seed)
	if err != nil {
		return nil, nil, err
	}
	files := map[string][]byte{}
	for i, stage := range v.whole.Stages() {
		b, err := r.Bytes(sumsMember(i+1), 16*v.whole.StageNumbers(stage)+1<<20)
		if err != nil {
			return nil, nil, fmt.Errorf("the pooled figures: %w", err)
		}
		if err := v.takeSums(pool, i+1, b); err != nil {
			return nil, nil, fmt.Errorf("the pooled figures of stage %q: %w", stage, err)
		}
		files[sumsFile(i+1)] = b
	}
	if files[site.PoolFigures], err = pool.Figures().Encode(); err != nil {
		return nil, nil, err
	}
	if v.whole.Basis.Kind == "common" {
		directions, err := r.Matrix(directionsMember, npy.Limits{Rows: v.whole.M(), Cols: v.whole.Basis.Dim})
		if err != nil {
			return nil, nil, fmt.Errorf("the common directions: %w", err)
		}
		if files[directionsFile], err = encodeMatrix(directions); err != nil {
			return nil, nil, err
		}
		if _, err := v.takeDirections(pool, files[directionsFile]); err != nil {
			return nil, nil, fmt.Errorf("the common directions: %w", err)
		}
	}
	return pool, files, nil
}

// adopt keeps the pooled figures that a member gave this site, which came after setup.
func (v *visit) adopt(r *bundle.Reader, seed anchor.Seed) error {
	if !v.pools() {
		return nil
	}
	_, files, err := v.pooledIn(r, seed)
	if err != nil {
		return err
	}
	for name, b := range files {
		if err := v.site.PutPool(name, b); err != nil {
			return err
		}
	}
	v.pool = nil
	return nil
}
