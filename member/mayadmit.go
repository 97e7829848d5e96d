package member

import (
	"slices"
	"strings"

	"concord/contract"
	"concord/identity"
	"concord/wire"
)

// confirmers are the members of a roster who may confirm a newcomer, and how many of
// them must.
func confirmers(c *contract.Contract, r *Roster) (named []*identity.Statement, need int) {
	named = r.Parties()
	switch a := c.Admission; {
	case a == nil:
	case len(a.Members) > 0:
		named = slices.DeleteFunc(named, func(s *identity.Statement) bool {
			return !slices.ContainsFunc(a.Members, func(name string) bool { return strings.EqualFold(name, s.Name) })
		})
	case a.Count > 0:
		return named, min(a.Count, len(named))
	}
	return named, len(named)
}

// MayAdmit reports whether the contract requires the confirmation of a party of a roster
// for a newcomer, or takes it as one of several.
func MayAdmit(c *contract.Contract, r *Roster, party wire.Hash) bool {
	named, _ := confirmers(c, r)
	return slices.ContainsFunc(named, func(s *identity.Statement) bool { return s.Fingerprint() == party })
}
