"""Known answers for package linalg, by NumPy and SciPy.

Run in this folder: /usr/bin/python3 known.py > known.json
The versions used stand in the output.
"""
import json
import math
import sys

import numpy as np
import scipy
import scipy.linalg

MASK = (1 << 64) - 1


class SplitMix:
    """SplitMix64 (Steele, Lea, Flood 2014): a word source simple enough to write twice."""

    def __init__(self, state):
        self.state = state

    def word(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def uniform(self):
        return (self.word() >> 11) * 2.0**-53


def normal(rows, cols, src):
    out = []
    while len(out) < rows * cols:
        x = 2 * src.uniform() - 1
        y = 2 * src.uniform() - 1
        q = x * x + y * y
        if 0 < q < 1:
            f = math.sqrt(-2 * math.log(q) / q)
            out += [x * f, y * f]
    return np.array(out[: rows * cols]).reshape(rows, cols)


def qr(a):
    q, r = np.linalg.qr(a)
    sign = np.where(np.diag(r) < 0, -1.0, 1.0)
    return q * sign, r * sign[:, None]


def case(name, a):
    b = normal(a.shape[0], 2, SplitMix(99))
    q, r = qr(a)
    out = {
        "name": name,
        "a": a.tolist(),
        "b": b.tolist(),
        "s": np.linalg.svd(a, compute_uv=False).tolist(),
        "rank": int(np.linalg.matrix_rank(a)),
        "pinv": scipy.linalg.pinv(a).tolist(),
        "lstsq": scipy.linalg.lstsq(a, b, cond=max(a.shape) * np.finfo(float).eps)[0].tolist(),
    }
    if out["rank"] == min(a.shape):
        u, _, vt = np.linalg.svd(a, full_matrices=False)
        out["polar"] = (u @ vt).tolist()
        out["q"], out["r"] = q.tolist(), r.tolist()
    return out


src = SplitMix(1)
square = normal(5, 5, src)
tall = normal(9, 4, src)
wide = normal(3, 7, src)
column = normal(6, 1, src)
deficient = normal(8, 2, src) @ normal(2, 5, src)
graded = normal(7, 4, src) * np.array([1.0, 1e-3, 1e-6, 1e-9])
json.dump(
    {
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": sys.version.split()[0],
        "cases": [
            case("square", square),
            case("tall", tall),
            case("wide", wide),
            case("column", column),
            case("row", column.T.copy()),
            case("one", np.array([[-2.5]])),
            case("deficient", deficient),
            case("graded", graded),
        ],
        "normal": normal(3, 5, SplitMix(7)).tolist(),
        "haar": qr(normal(4, 4, SplitMix(8)))[0].tolist(),
        "stiefel": qr(normal(6, 2, SplitMix(9)))[0].tolist(),
    },
    sys.stdout,
)
