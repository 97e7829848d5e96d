package manifold_test

import (
	"testing"

	"concord/linalg/linalgtest" // tests compute as programs do
)

// TestEveryEngine runs the properties with every backend of linalg.
func TestEveryEngine(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		t.Run("Random", TestRandom)
		t.Run("Project", TestProject)
		t.Run("Tangent", TestTangent)
		t.Run("Retract", TestRetract)
		t.Run("Gradient", TestGradient)
	})
}
