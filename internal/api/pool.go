package api

import "concord/contract"

// MaxListBytes bounds the list of the bundles that wait for a party: with messages of
// masked sums it has several of every other party's for each stage.
const MaxListBytes = 8 << 20

// PoolOwn is the largest number of a message of masked sums that a site says for itself
// in a stage; larger ones pass on what another signed. A site says at most three things of
// each of the 16 sets that a round may have: ready, reveal, and that it goes on with fewer.
const PoolOwn = 48

// PoolMessages is the largest number of a message in a stage, of a study whose roster
// had so many members at setup: at most one passed on for each of them.
func PoolMessages(members int) int { return PoolOwn + members }

// PoolStages is how many rounds messages of masked sums have under a contract: 0 where
// nothing is pooled, otherwise one more than it has stages, for the common directions.
func PoolStages(c *contract.Contract) int {
	if n := len(c.Stages()); n > 0 {
		return n + 1
	}
	return 0
}

// PoolFlagRound is the round of notes that parties send each other about the sums, beyond
// every stage: that a unit seems to differ. PoolFlags is how many a party may send in a
// study; each takes MaxSetupBytes at most.
const (
	PoolFlagRound = 1001
	PoolFlags     = 8
)

// PoolBytes bounds a message of masked sums under a contract; 0 where nothing is pooled.
// It is the largest of a stage, of 16 bytes a number, and of the common directions, and
// what a bundle to so many recipients takes besides.
func PoolBytes(c *contract.Contract) int64 {
	most := int64(0)
	for _, s := range c.Stages() {
		most = max(most, 16*c.StageNumbers(s))
	}
	if most == 0 {
		return 0
	}
	if c.Basis.Kind == "common" {
		most = max(most, 8*int64(c.M())*int64(c.Basis.Dim))
	}
	return MaxSetupBytes + most + most/64
}
