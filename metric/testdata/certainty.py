"""Known answers for intervals and tests, by SciPy and mpmath.

Run in this folder: /usr/bin/python3 certainty.py > certainty.json
The versions used stand in the output.
"""
import json
import platform

import mpmath
import numpy as np
import scipy
from scipy import stats
from scipy.stats._resampling import _bca_interval

rng = np.random.default_rng(20240503)
mpmath.mp.dps = 50

# P(T > t) to all digits of a float64.
def tail(freedom, t):
    nu, x = mpmath.mpf(freedom), mpmath.mpf(t)
    if freedom <= 999:
        if t <= 1:
            return mpmath.mpf(1) / 2 - mpmath.betainc(0.5, nu / 2, 0, x * x / (nu + x * x), regularized=True) / 2
        return mpmath.betainc(nu / 2, 0.5, 0, nu / (nu + x * x), regularized=True) / 2
    # The series above is slow here: the density, relative to that at t, is integrated.
    def log_density(u):
        return -(nu + 1) / 2 * mpmath.log1p(u * u / nu)

    factor = mpmath.exp(mpmath.loggamma((nu + 1) / 2) - mpmath.loggamma(nu / 2) + log_density(x)) / mpmath.sqrt(mpmath.pi * nu)
    width = 1 / max(x, mpmath.mpf(1))
    return factor * mpmath.quad(lambda u: mpmath.exp(log_density(u) - log_density(x)),
                                [x + k * width for k in range(50)])


tails = []
for freedom in (1, 2, 3, 4, 9, 19, 29, 99, 999, 10**5, 10**7):
    for t in (1e-300, 1e-12, 1e-4, 0.03, 0.5, 0.99, 1, 1.7, 2.5, 4, 8, 20, 35, 1e3, 1e8, 1e200):
        if freedom > 999 and t > 35:
            continue  # below all float64
        p = tail(freedom, t)
        if p > mpmath.mpf("1e-290"):
            tails.append({"freedom": freedom, "t": t, "p": float(p)})

tests = []
for name, n, shift in (("two pairs", 2, 1), ("ten", 10, 0.5), ("thirty", 30, 0.02), ("hundred", 100, 1.5), ("worse", 20, -1)):
    b = rng.normal(size=n) * 0.1 + 0.8
    a = b + (rng.normal(size=n) + shift) * 0.05
    case = {"name": name, "a": a.tolist(), "b": b.tolist(), "t": stats.ttest_rel(a, b).statistic}
    for alternative in ("greater", "less", "two-sided"):
        case[alternative] = stats.ttest_rel(a, b, alternative=alternative).pvalue
    for level in (0.5, 0.95, 0.999):
        # SciPy's quantile has errors of 1e-12 itself; it is where the root is sought.
        goal = (1 - mpmath.mpf(level)) / 2
        t = mpmath.findroot(lambda t: mpmath.log(tail(n - 1, t) / goal), stats.t.isf((1 - level) / 2, n - 1))
        half = t * mpmath.sqrt(mpmath.mpf(a.var(ddof=1)) / n)
        case[f"interval {level}"] = [float(mpmath.mpf(a.mean()) - half), float(mpmath.mpf(a.mean()) + half)]
    tests.append(case)

# What the bootstrap makes of given figures: the estimate, the resamples' and those without each row.
boots = []
for name, resamples, sizes, tied in (("one stratum", 200, [30], False), ("two strata", 500, [12, 25], False), ("ties", 100, [20], True)):
    estimate = 0.8
    figures = 0.82 + 0.05 * rng.gamma(4, size=resamples) - 0.2
    samples = [rng.gamma(2, size=n) for n in sizes]
    if tied:
        figures = np.round(figures, 2)
        estimate = 0.8
    without = [(s.sum() - s) / (len(s) - 1) for s in samples]

    # A statistic of which SciPy sees the same figures: for all rows the
    # estimate, and without a row of one stratum that stratum's mean.
    def statistic(*data, axis):
        shapes = [d.shape[-1] for d in data]
        if shapes == sizes:
            return np.asarray(estimate)
        short = [s != n for s, n in zip(shapes, sizes)].index(True)
        return data[short].mean(axis=axis)

    low, high, a = _bca_interval(samples, statistic, axis=-1, alpha=0.025, theta_hat_b=figures, batch=None)
    boots.append({
        "name": name, "estimate": estimate, "figures": figures.tolist(), "sizes": sizes,
        "without": np.concatenate(without).tolist(),
        "percentile": np.percentile(figures, [2.5, 97.5]).tolist(),
        "standard_error": np.std(figures, ddof=1),
        "bca": np.percentile(figures, [100 * float(low), 100 * float(high)]).tolist(),
    })

print(json.dumps({
    "versions": {"python": platform.python_version(), "numpy": np.__version__,
                 "scipy": scipy.__version__, "mpmath": mpmath.__version__},
    "tails": tails, "tests": tests, "bootstrap": boots,
}))
