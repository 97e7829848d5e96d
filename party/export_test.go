package party

import (
	"concord/secret"
	"concord/study"
)

// AnchorForTest is the anchor that Prepare maps.
func (g Agreed) AnchorForTest(c *study.Contract) (secret.Matrix, error) { return g.anchor(c) }
