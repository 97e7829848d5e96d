package analyst

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/study"
)

// Align finds the change of basis Gᵢ (l × l) of every party from the Ãᵢ alone,
// by the contract's method. The order of parts counts for ODC, whose reference
// is the first: callers give them in the roster's order. A random target is
// drawn from the epoch, so that a replay finds the same one. Solvers are the exact
// ones, whatever the size: minutes do not count in a study.
//
// Before anything is computed every contribution is checked against the
// contract and the anchor ids are compared: parties with different anchors
// would be aligned to nonsense. How many parties take part the roster says, which may
// have changed since the contract was written.
func Align(c *study.Contract, epoch study.Hash, parts []Contribution) (*align.Result, error) {
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
	for i, p := range parts {
		a[i] = p.A
	}
	return align.Run(c.Alignment.Method, a, align.Options{
		Target: align.Target(c.Alignment.Target),
		Solver: map[string]string{"ls": "gram", "opp": "gram", "gep": "qr"}[c.Alignment.Method],
		Source: rand.NewChaCha8(study.HashOf(append([]byte("concord/align/target/v1\x00"), epoch[:]...))),
	})
}

// sameAnchor names who used which anchor when they differ.
func sameAnchor(parts []Contribution) error {
	groups := map[study.Hash][]string{}
	var order []study.Hash
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
