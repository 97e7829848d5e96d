package linalg_test

import (
	"strings"
	"testing"

	"concord/linalg"
	"concord/linalg/linalgtest"
)

// TestEveryBackend runs the properties and the known answers under every
// backend.
func TestEveryBackend(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		t.Run("SVD", TestSVD)
		t.Run("OneSided", TestOneSided)
		t.Run("Pinv", TestPinv)
		t.Run("LeastSquares", TestLeastSquares)
		t.Run("Polar", TestPolar)
		t.Run("QR", TestQR)
		t.Run("NotFinite", TestNotFinite)
		t.Run("Overflow", TestOverflow)
		t.Run("Stiefel", TestStiefel)
		t.Run("KnownAnswers", TestKnownAnswers)
	})
}

func TestBackend(t *testing.T) {
	b := linalg.Backend()
	if b.Name == "" || b.Product == "" || b.Threads < 1 {
		t.Errorf("backend %+v", b)
	}
	if s := b.String(); !strings.Contains(s, b.Name) || !strings.Contains(s, b.Product) {
		t.Errorf("backend as text: %s", s)
	}
}
