package contract

import (
	"concord/wire"
	"errors"
	"fmt"
	"strings"
)

// Policy is what one site demands before anything leaves it, whatever a contract
// says: the file policy.yaml in the site's folder. It never travels.
type Policy struct {
	// Name stands in approvals that were given by this policy: small letters,
	// digits and -, at most 64. Required where Approve is set.
	Name string
	// Rows, PerClass, People and Eps are floors as in [Floors]; 0 is none.
	Rows, PerClass, People int
	Eps                    float64
	// Correlation is the largest |correlation| that a feature may have with a
	// direction of what leaves, and Linkage the largest share of people whose
	// reconstructed row may be nearest to their own; 0 for no bound: both are then
	// only shown.
	Correlation, Linkage float64
	// Ledger is the file that counts what left of which rows, for sites that take part
	// in several studies; empty for one in the site's folder.
	Ledger string
	// Projections is how many contributions of the same file a program may let leave in
	// all, as the ledger counts them: a person decides about more. 0 means 1.
	Projections int
	// Approve lets a program approve what keeps all floors, without a person.
	Approve bool
	// Pool lets a program approve the stages of masked sums after the first, of the file of
	// the first and with all floors kept.
	Pool bool
}

// ParsePolicy reads policy.yaml:
//
//	name: north-2026        # stands in approvals
//	floors: {rows: 50, per_class: 5, people: 40, eps: 0.1, correlation: 0.95, linkage: 0.5}
//	ledger: /srv/concord/ledger.jsonl
//	projections: 1          # how often of the same file, for approve
//	approve: true           # a program may approve by it
//	pool: true              # and the stages of masked sums after the first, of the same file
//
// Everything may be left out. Unknown keys, repeated keys and values out of range are
// errors with line and column: a policy that cannot be read is not taken for none.
func ParsePolicy(b []byte) (*Policy, error) {
	if len(b) > 1<<20 {
		return nil, fmt.Errorf("contract: policy.yaml has %d bytes, at most %d are read", len(b), 1<<20)
	}
	p := new(Policy)
	root, err := parseTree(b)
	if err != nil {
		return nil, notStudy(err)
	}
	f, err := root.fields()
	if err != nil {
		return nil, notStudy(err)
	}
	err = errors.Join(
		f.get("name").str(&p.Name),
		section(f.get("floors"), func(s *fields) error {
			return errors.Join(
				s.get("rows").integer(&p.Rows), s.get("per_class").integer(&p.PerClass), s.get("people").integer(&p.People),
				s.get("eps").float(&p.Eps), s.get("correlation").float(&p.Correlation), s.get("linkage").float(&p.Linkage),
			)
		}),
		f.get("ledger").str(&p.Ledger),
		f.get("projections").integer(&p.Projections),
		f.get("approve").boolean(&p.Approve),
		f.get("pool").boolean(&p.Pool),
	)
	if err == nil {
		err = f.done()
	}
	if err != nil {
		return nil, notStudy(err)
	}
	return p, p.validate()
}

func (p *Policy) validate() error {
	for _, c := range []struct {
		key string
		n   int
	}{{"rows", p.Rows}, {"per_class", p.PerClass}, {"people", p.People}} {
		if c.n < 0 || c.n > MaxRows {
			return fmt.Errorf("contract: policy.yaml: floors.%s is %d, must be from 0 to %d", c.key, c.n, MaxRows)
		}
	}
	if p.Projections < 0 {
		return fmt.Errorf("contract: policy.yaml: projections is %d, must not be negative", p.Projections)
	}
	if !wire.Finite(p.Eps) || p.Eps < 0 || p.Eps >= 1 {
		return fmt.Errorf("contract: policy.yaml: floors.eps is %g, must be from 0 to below 1", p.Eps)
	}
	for _, c := range []struct {
		key string
		v   float64
	}{{"correlation", p.Correlation}, {"linkage", p.Linkage}} {
		if !wire.Finite(c.v) || c.v < 0 || c.v > 1 {
			return fmt.Errorf("contract: policy.yaml: floors.%s is %g, must be from 0 to 1", c.key, c.v)
		}
	}
	if p.Name == "" {
		if p.Approve || p.Pool {
			return errors.New("contract: policy.yaml: approve or pool is true and name is missing; the name stands in every approval")
		}
		return nil
	}
	if len(p.Name) > 64 || p.Name == "person" {
		return fmt.Errorf("contract: policy.yaml: name is %q, must have at most 64 characters and not be person", p.Name)
	}
	for _, r := range p.Name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return fmt.Errorf("contract: policy.yaml: name is %q, must be of small letters, digits and -", p.Name)
		}
	}
	return nil
}

// notStudy names the file that was read in the errors of the reader of study.yaml.
func notStudy(err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), "study.yaml", "policy.yaml"))
}
