"""Known answers for package align, by NumPy and SciPy.

Run in this folder: /usr/bin/python3 known.py > known.json
The versions used stand in the output. LS takes scipy.linalg.lstsq, ODC and OPP
scipy.linalg.orthogonal_procrustes, GEP scipy.linalg.eigh of S and D. The free
sign of each column of U_d is fixed by the rule that package linalg documents;
that of the columns of GEP is left free.
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

    def uniform(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) >> 11) * 2.0**-53


def uniform(rows, cols, src):
    return np.array([src.uniform() for _ in range(rows * cols)]).reshape(rows, cols)


def haar(n, src):
    out = []
    while len(out) < n * n:
        x, y = 2 * src.uniform() - 1, 2 * src.uniform() - 1
        q = x * x + y * y
        if 0 < q < 1:
            f = math.sqrt(-2 * math.log(q) / q)
            out += [x * f, y * f]
    q, r = np.linalg.qr(np.array(out[: n * n]).reshape(n, n))
    return q * np.where(np.diag(r) < 0, -1.0, 1.0)


def residual(a, g):
    p = [x @ y for x, y in zip(a, g)]
    mean = sum(p) / len(p)
    return float(sum(np.linalg.norm(x - mean) ** 2 for x in p))


def ls(a, d, target):
    u, s, _ = np.linalg.svd(np.hstack(a), full_matrices=False)
    u = u[:, :d].copy()
    for j in range(d):
        big = np.abs(u[:, j])
        if u[np.argmax(big >= (1 - 1e-6) * big.max()), j] < 0:
            u[:, j] *= -1
    r = {"identity": np.eye(d), "sigma": np.diag(s[:d]), "random": uniform(d, d, SplitMix(5))}[target]
    z = u @ r
    return z, [scipy.linalg.lstsq(x, z, cond=max(x.shape) * np.finfo(float).eps)[0] for x in a]


def opp(a, d, target):
    z, _ = ls(a, d, "identity")
    return z, [scipy.linalg.orthogonal_procrustes(x, z)[0] for x in a]


def gep(a, d, target):
    w, c = np.hstack(a), len(a)
    dd = scipy.linalg.block_diag(*[x.T @ x for x in a])
    val, vec = scipy.linalg.eigh(2 * c * dd - 2 * w.T @ w, dd)
    at = np.cumsum([0] + [x.shape[1] for x in a])
    return val, [vec[at[i] : at[i + 1], :d] for i in range(c)]


def odc(a, d, target):
    z = a[0] @ (haar(d, SplitMix(5)) if target == "random" else np.eye(d))
    return z, [scipy.linalg.orthogonal_procrustes(x, z)[0] for x in a]


def case(name, method, a, d, target):
    z, g = {"ls": ls, "odc": odc, "opp": opp, "gep": gep}[method](a, d, target)
    more, objective = {}, None
    if method == "gep":
        more, objective = {"eigenvalues": z.tolist()}, float(sum(z[:d]))
    else:
        objective = float(sum(np.linalg.norm(x @ y - z) ** 2 for x, y in zip(a, g)))
    return more | {
        "name": name,
        "method": method,
        "target": target,
        "dim": d,
        "a": [x.tolist() for x in a],
        "g": [x.tolist() for x in g],
        "residual": residual(a, g),
        "objective": objective,
    }


rng = np.random.default_rng(1)


def rep(rows, *dims):
    """Anchor representations with different spans."""
    m = 6
    anchor = rng.uniform(size=(rows, m))
    return [anchor @ np.linalg.qr(rng.normal(size=(m, l)))[0] for l in dims]


even = rep(20, 3, 3, 3)
uneven = rep(15, 2, 4, 3)
wide = rep(6, 4, 4, 4)
deficient = rep(12, 3, 3)
deficient[1][:, 2] = deficient[1][:, 0] - deficient[1][:, 1]
cases = [case("even " + t, "ls", even, 3, t) for t in ("identity", "sigma", "random")]
cases += [
    case("uneven", "ls", uneven, 2, "identity"),
    case("uneven, large d", "ls", uneven, 5, "sigma"),
    case("more columns than rows", "ls", wide, 4, "identity"),
    case("rank deficient", "ls", deficient, 2, "identity"),
    case("one party", "ls", even[:1], 3, "identity"),
    case("odc", "odc", even, 3, "identity"),
    case("odc random", "odc", even, 3, "random"),
    case("odc wide", "odc", wide, 4, "identity"),
    case("odc one column", "odc", rep(5, 1, 1), 1, "identity"),
    case("opp", "opp", even, 3, "identity"),
    case("opp wide", "opp", wide, 4, "identity"),
    case("gep", "gep", even, 3, "identity"),
    case("gep all columns", "gep", even, 6, "identity"),
    case("gep uneven", "gep", uneven, 4, "identity"),
    case("gep wide", "gep", wide, 4, "identity"),
    case("gep same span", "gep", [even[0] @ rng.normal(size=(3, 3)) for _ in range(4)], 3, "identity"),
]
if __name__ == "__main__":
    json.dump(
        {"numpy": np.__version__, "scipy": scipy.__version__, "python": sys.version.split()[0], "cases": cases},
        sys.stdout,
    )
