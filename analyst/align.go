package analyst

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/contract"
	"concord/wire"
)

// Align finds the change of basis Gᵢ (lᵢ × d) of every party from the Ãᵢ alone,
// by the contract's method. The order of parts counts for ODC, whose reference
// is the first: callers give them in the roster's order. A random target is
// drawn from the epoch, so that a replay finds the same one. Solvers are the exact
// ones, whatever the size: minutes do not count in a study.
//
// Where parties have different views of the features, the result's warnings say how much
// the views see of each other: see [align.Between].
//
// Before anything is computed every contribution is checked against the
// contract and the anchor ids are compared: parties with different anchors
// would be aligned to nonsense. How many parties take part the roster says, which may
// have changed since the contract was written.
func Align(c *contract.Contract, epoch wire.Hash, parts []Contribution) (*align.Result, error) {
	if len(parts) < 2 {
		return nil, fmt.Errorf("analyst: %d contributions; a collaboration needs 2", len(parts))
	}
	for i := range parts {
		if err := parts[i].Check(c); err != nil {
			return nil, err
		}
	}
	if err := sameAnchor(parts); err != nil {
		return nil, err
	}
	a := make([]*mat.Dense, len(parts))
	rows, sum := 0, 0
	for i, p := range parts {
		a[i] = p.A
		r, l := p.A.Dims()
		rows, sum = r, sum+l
	}
	opt := align.Options{
		Target: align.Target(c.Alignment.Target),
		Solver: map[string]string{"ls": "gram", "opp": "gram", "gep": "qr"}[c.Alignment.Method],
		Source: rand.NewChaCha8(wire.HashOf(append([]byte("concord/align/target/v1\x00"), epoch[:]...))),
	}
	if c.Alignment.Dim > 0 || len(c.Views) > 0 {
		opt.Dim = min(c.D(), rows, sum)
	}
	res, err := align.Run(c.Alignment.Method, a, opt)
	if err != nil {
		return nil, err
	}
	if d := c.D(); res.Dim < d {
		widen(res, d)
	}
	if len(c.Views) > 0 {
		notes, err := related(c, parts)
		if err != nil {
			return nil, err
		}
		res.Warnings = append(named(res.Warnings, parts), notes...)
	}
	return res, nil
}

// widen adds columns of zeros to every Gᵢ, where so few parties are left that all of
// their columns together are fewer than the contract's d.
func widen(res *align.Result, d int) {
	res.Warnings = append(res.Warnings, fmt.Sprintf("the parties have %d columns in all, below the %d of the contract's alignment: the last %d are zero", res.Dim, d, d-res.Dim))
	for i, g := range res.G {
		l, have := g.Dims()
		wide := mat.NewDense(l, d, nil)
		wide.Slice(0, l, 0, have).(*mat.Dense).Copy(g)
		res.G[i] = wide
	}
	res.Dim = d
}

// sameAnchor names who used which anchor when they differ.
func sameAnchor(parts []Contribution) error {
	groups := map[wire.Hash][]string{}
	var order []wire.Hash
	for _, p := range parts {
		if groups[p.Anchor] == nil {
			order = append(order, p.Anchor)
		}
		groups[p.Anchor] = append(groups[p.Anchor], p.Party)
	}
	if len(order) == 1 {
		return nil
	}
	var text []string
	for _, id := range order {
		text = append(text, fmt.Sprintf("%s used %s", strings.Join(groups[id], ", "), id.Short()))
	}
	return fmt.Errorf("analyst: the parties used different anchors: %s; setup must be repeated", strings.Join(text, "; "))
}
