package party

import (
	"fmt"

	"concord/basis"
	"concord/contract"
	"concord/onnx"
)

// lift is the contract's map to random Fourier features, the same at every party; nil for
// none.
func (g Agreed) lift(c *contract.Contract) (*basis.Lift, error) {
	if c.Lift == nil {
		return nil, nil
	}
	src, err := g.Seed.Lift()
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	up, err := basis.NewLift(*c.Lift, c.M(), src)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	return up, nil
}

// ahead is the lift in front of a model.
func ahead(up *basis.Lift) *onnx.Lift {
	if up == nil {
		return nil
	}
	w, b := up.Matrices()
	return &onnx.Lift{W: w, B: b, Scale: up.Scale()}
}
