package visit

import (
	"errors"
	"fmt"

	"concord/anchor"
	"concord/bundle"
	"concord/internal/site"
	"concord/npy"
	"concord/pooled"
	"concord/wire"
)

// stateMembers are the pooled figures as they go to a party that came after setup.
func (v *Visit) stateMembers() ([]bundle.Source, error) {
	if !v.pools() {
		return nil, nil
	}
	done, err := v.poolDone()
	if err != nil {
		return nil, err
	}
	if !done {
		return nil, wire.WithHint(errors.New("the figures of this study are not pooled yet"),
			"run concord sync; a party that comes late gets them with the anchor")
	}
	var members []bundle.Source
	for i := range v.Whole.Stages() {
		b, err := v.site.ReadPool(sumsFile(i + 1))
		if err != nil {
			return nil, err
		}
		members = append(members, bundle.FromBytes(sumsMember(i+1), b))
	}
	if v.Whole.Basis.Kind != "common" {
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
func (v *Visit) pooledIn(r *bundle.Reader, seed anchor.Seed) (*pooled.Pool, map[string][]byte, error) {
	pool, err := pooled.New(v.Whole, seed)
	if err != nil {
		return nil, nil, err
	}
	files := map[string][]byte{}
	for i, stage := range v.Whole.Stages() {
		b, err := r.Bytes(sumsMember(i+1), 16*v.Whole.StageNumbers(stage)+1<<20)
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
	if v.Whole.Basis.Kind == "common" {
		directions, err := r.Matrix(directionsMember, npy.Limits{Rows: v.Whole.M(), Cols: v.Whole.Basis.Dim})
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
func (v *Visit) adopt(r *bundle.Reader, seed anchor.Seed) error {
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
