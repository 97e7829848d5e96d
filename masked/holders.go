package masked

import (
	"fmt"

	"concord/wire"
)

// Holders are the parties of a round that have the same statistics: the numbers of
// everybody else in these are 0 by agreement, so that their sums are over the holders alone.
// Sums of two lots of holders can be added and subtracted like those of two sets, and each
// lot has to be large enough by itself.
type Holders struct {
	// Name is what people call them: the view of the features that they have.
	Name string
	// Parties are their fingerprints.
	Parties []wire.Hash
}

// checkSet says whether the set without some parties is large enough when some may collude,
// and of all that have the same statistics enough are in it.
func (r *Round) checkSet(without []wire.Hash) error {
	if err := CheckSet(len(r.all)-len(without), r.Colluders); err != nil {
		return err
	}
	for _, h := range r.Holders {
		left := 0
		for _, p := range h.Parties {
			if !contains(without, p) {
				left++
			}
		}
		if left-r.Colluders < LeastBeyond {
			return fmt.Errorf("masked: %d of the set have %s, of which %d may collude, and sums of what they alone have would show few: must be %d at least; amend the roster instead",
				left, h.Name, r.Colluders, r.Colluders+LeastBeyond)
		}
	}
	return nil
}
