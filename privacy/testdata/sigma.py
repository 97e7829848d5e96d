#!/usr/bin/env python3
"""Gaussian calibration by another way: the same equation (Balle and Wang 2018,
Theorem 8) with 60 digits and mpmath's root finder. Writes sigma.json."""
import json, os, sys
import mpmath
from mpmath import mp, mpf, findroot, ncdf, exp

mp.dps = 60
cases = []
for eps in [1e-3, 0.1, 0.5, 1, 2, 8, 20, 100, 500]:
    for delta in [1e-1, 1e-3, 1e-6, 1e-12, 1e-50]:
        e, d = mpf(eps), mpf(delta)
        f = lambda s: ncdf(1 / (2 * s) - e * s) - exp(e) * ncdf(-1 / (2 * s) - e * s) - d
        lo, hi = mpf(1), mpf(1)
        while f(lo) <= 0: lo /= 2
        while f(hi) > 0: hi *= 2
        for _ in range(180):
            mid = (lo + hi) / 2
            if f(mid) > 0: lo = mid
            else: hi = mid
        cases.append({"epsilon": eps, "delta": delta, "sigma": float(hi)})
json.dump({"mpmath": mpmath.__version__, "python": sys.version.split()[0], "cases": cases},
          open(os.path.join(os.path.dirname(__file__), "sigma.json"), "w"), indent=1)
