"""Coefficients of the polynomial steps of the polar iteration (polarstep.go).

For each l: the odd polynomial p(x) = a x + b x^3 + c x^5 with the least
e = max |1 - p(x)| over l <= x <= 1, by linear programming on a fine grid,
divided by its largest value, 1 + e. Prints Go source: {l, {a, b, c}, (1 - e) / (1 + e)}.
Ran with NumPy 1.24.2 and SciPy 1.10.1.
"""
import numpy as np
from scipy.optimize import linprog

for l in (0.28, 0.36, 0.45, 0.55, 0.65, 0.8, 0.9, 0.95, 0.98):
    x = np.unique(np.concatenate([np.linspace(l, 1, 20001), l * (1 / l) ** np.linspace(0, 1, 20001)]))
    v = np.stack([x, x**3, x**5], 1)
    one = np.ones((len(x), 1))
    a = np.concatenate([np.hstack([v, -one]), np.hstack([-v, -one])])
    b = np.concatenate([one[:, 0], -one[:, 0]])
    r = linprog([0, 0, 0, 1], A_ub=a, b_ub=b, bounds=[(None, None)] * 3 + [(0, None)], method="highs-ds")
    p, e = r.x[:3], r.x[3]
    p = p / (1 + e + 1e-9)
    y = v @ p
    print("\t{%g, [3]float64{%.12f, %.12f, %.12f}, %.8f}," % (l, *p, y.min() - 1e-8))
