package linalg

// minimax lists the odd polynomials a σ + b σ³ + c σ⁵ that are nearest to 1 on
// [l, 1], divided by their maximum, and their minimum: after the step all σ
// are in [next, 1]. Made by testdata/polar_steps.py.
var minimax = []struct {
	l       float64
	weights [3]float64
	next    float64
}{
	{0.28, [3]float64{3.200682621169, -5.670737576694, 3.470054954636}, 0.77767918},
	{0.36, [3]float64{2.958812973883, -4.556575154323, 2.597762179506}, 0.86828876},
	{0.45, [3]float64{2.723462501490, -3.618761845018, 1.895299342563}, 0.93077204},
	{0.55, [3]float64{2.502718118447, -2.859654123184, 1.356936003753}, 0.96901247},
	{0.65, [3]float64{2.318334824356, -2.307693688026, 0.989358862676}, 0.98796163},
	{0.8, [3]float64{2.096141598141, -1.733126004351, 0.636984405211}, 0.99827979},
	{0.9, [3]float64{1.976586121289, -1.461595277125, 0.485009154836}, 0.99981760},
	{0.95, [3]float64{1.923742850904, -1.349404898818, 0.425662046914}, 0.99997885},
	{0.98, [3]float64{1.893982548848, -1.288253203801, 0.394270653953}, 0.99999872},
}

// taylor is the polynomial whose error at σ = 1 is of third order,
//
//	σ (15 − 10σ² + 3σ⁴)/8 = 1 − (5/16)(1 − σ²)³ + …
//
// (the next after Newton and Schulz).
var taylor = [3]float64{15. / 8, -10. / 8, 3. / 8}

const (
	// taylorBelow is the ‖XᵀX − I‖_F from which the Taylor step is the better.
	taylorBelow = 1e-3
	// lastStep is the one whose third power, times 5/16, is below 2⁻⁵⁵.
	lastStep = 4e-6
)

// polynomialStep chooses the weights for singular values in [bound, 1] and
// off = ‖XᵀX − I‖_F, and returns the new lower bound.
func polynomialStep(bound, off float64) (next float64, weights [3]float64) {
	if off < taylorBelow {
		return 1 - off*off*off, taylor
	}
	best := minimax[0]
	for _, s := range minimax[1:] {
		if s.l <= bound {
			best = s
		}
	}
	return best.next, best.weights
}
