package concord

import "concord/contract"

// figuresHere are the pooled figures that this site has, or nil: they are pooled later, or
// not at all.
func (v *visit) figuresHere() (*contract.Figures, error) {
	if !v.pools() {
		return nil, nil
	}
	pool, err := v.pooledSoFar()
	if err != nil {
		return nil, err
	}
	return pool.Figures(), nil
}
