package visit

import (
	"fmt"
	"os"
	"slices"

	"concord/bundle"
	"concord/contract"
	"concord/internal/site"
	"concord/party"
	"concord/wire"
)

// floors are those that count here.
func (v *Visit) floors() (party.Floors, error) {
	own, err := v.site.Policy()
	if err != nil {
		return party.Floors{}, wire.WithHint(err, "correct the file, or remove it if this site has no floors of its own")
	}
	return party.EffectiveFloors(v.Contract, own), nil
}

// policyAllows says by which policy a program may approve what is prepared.
func (v *Visit) policyAllows(path string, m *bundle.Manifest) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	policy, err := contract.ParsePolicy(b)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if !policy.Approve {
		return "", wire.WithHint(fmt.Errorf("%s does not let a program approve", path),
			"a person approves, or the policy says approve: true")
	}
	r, err := v.report(bundle.KindContribution)
	if err != nil {
		return "", err
	}
	if err := r.Keeps(v.Contract, party.EffectiveFloors(v.Contract, policy)); err != nil {
		return "", fmt.Errorf("policy %q: %w", policy.Name, err)
	}
	before, err := v.before(m)
	if err != nil {
		return "", err
	}
	before = slices.DeleteFunc(before, func(e site.Spent) bool { return e.PieceFor > 0 }) // a person said yes to it
	if most := max(1, policy.Projections); len(before) >= most {
		return "", wire.WithHint(fmt.Errorf("policy %q: %d contributions of the same file left before, it lets a program "+
			"approve %d in all", policy.Name, len(before), most),
			"a person approves, or the policy says projections: "+fmt.Sprint(len(before)+1))
	}
	return policy.Name, nil
}
