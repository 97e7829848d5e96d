package align_test

import (
	"testing"

	"concord/linalg/linalgtest" // tests compute as programs do
)

// TestEveryEngine runs the known answers and the properties of all methods with every
// backend of linalg, those that are not this machine's choice among them.
func TestEveryEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests run by themselves with the machine's choice")
	}
	linalgtest.Each(t, func(t *testing.T) {
		t.Run("KnownAnswers", TestKnownAnswers)
		t.Run("Iterated", TestIterated)
		t.Run("Extreme", TestExtreme)
		t.Run("Solvers", TestSolvers)
		t.Run("GramRefused", TestGramRefused)
		t.Run("RandomizedExhausted", TestRandomizedExhausted)
		t.Run("RankOfAll", TestRankOfAll)
		t.Run("GEPEigen", TestGEPEigen)
		t.Run("GEPInvariance", TestGEPInvariance)
		t.Run("GEPDeficient", TestGEPDeficient)
		t.Run("GEPWeightingBorder", TestGEPWeightingBorder)
		t.Run("LSNormalEquations", TestLSNormalEquations)
		t.Run("LSInvariance", TestLSInvariance)
		t.Run("ODCOrthogonal", TestODCOrthogonal)
		t.Run("ODCInvariance", TestODCInvariance)
		t.Run("ProcrustesOrthogonal", TestProcrustesOrthogonal)
		t.Run("ProcrustesInvariance", TestProcrustesInvariance)
		t.Run("RDPScale", TestRDPScale)
		t.Run("RDPStarts", TestRDPStarts)
		t.Run("RDPRankDeficient", TestRDPRankDeficient)
		t.Run("StreamIsRun", TestStreamIsRun)
		t.Run("StreamIllConditioned", TestStreamIllConditioned)
		t.Run("StreamDoesNotDependOnWorkers", TestStreamDoesNotDependOnWorkers)
		t.Run("StreamRankDeficient", TestStreamRankDeficient)
	})
}
