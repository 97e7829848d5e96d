package party

import (
	"concord/contract"
	"concord/secret"
)

// AnchorForTest is the anchor that Prepare maps.
func (g Agreed) AnchorForTest(c *contract.Contract) (secret.Matrix, error) { return g.anchor(c) }
