"""Objectives that NumPy and SciPy reach, for package align.

Run in this folder: /usr/bin/python3 iterated.py > iterated.json
The versions used stand in the output. The anchor representations are made here
and in the test from the same word source, so only figures are stored: what the
objective is at the start and at the end. GOPP and consensus are the plain
alternation until nothing changes, RDP is SciPy's L-BFGS-B with gradient at
tolerances that it cannot reach, so that it goes on to the rounding of its line
search. Its steps may cross singular matrices.
"""
import json
import math
import sys

import numpy as np
import scipy
import scipy.optimize

from known import SplitMix, uniform


def normal(rows, cols, src):
    out = []
    while len(out) < rows * cols:
        x, y = 2 * src.uniform() - 1, 2 * src.uniform() - 1
        q = x * x + y * y
        if 0 < q < 1:
            f = math.sqrt(-2 * math.log(q) / q)
            out += [x * f, y * f]
    return np.array(out[: rows * cols]).reshape(rows, cols)


def reps(rows, m, cols, spread, kind, seed):
    """A_i = A F_i, F_i an orthonormal basis of the first l_i columns of one matrix with noise."""
    src = SplitMix(seed)
    anchor = normal(rows, m, src) if kind == "normal" else uniform(rows, m, src)
    base = normal(m, max(cols), src)
    out = []
    for l in cols:
        q, r = np.linalg.qr(base[:, :l] + spread * normal(m, l, src))
        out.append(anchor @ (q * np.where(np.diag(r) < 0, -1.0, 1.0)))
    return out


def left(a, d):
    u, s, _ = np.linalg.svd(np.hstack(a), full_matrices=False)
    u = u[:, :d].copy()
    for j in range(d):
        big = np.abs(u[:, j])
        if u[np.argmax(big >= (1 - 1e-6) * big.max()), j] < 0:
            u[:, j] *= -1
    return u, s[:d]


def polar(m):
    u, _, v = np.linalg.svd(m, full_matrices=False)
    return u @ v


def distance(a, g):
    p = [x @ y for x, y in zip(a, g)]
    mean = sum(p) / len(p)
    return float(sum(np.linalg.norm(x - mean) ** 2 for x in p))


def alternate(a, z):
    """The plain alternation, until nothing changes."""
    g = [polar(x.T @ z) for x in a]
    first = last = distance(a, g)
    for n in range(1, 100001):
        z = sum(x @ y for x, y in zip(a, g)) / len(a)
        g = [polar(x.T @ z) for x in a]
        now = distance(a, g)
        if abs(last - now) <= 1e-14 * now and n > 50:
            break
        last = now
    return {"first": first, "objective": min(now, last), "iterations": n}


def rdp(a, g, eta):
    c, l = len(a), a[0].shape[1]
    w = np.hstack(a)
    s = c * scipy.linalg.block_diag(*[x.T @ x for x in a]) - w.T @ w

    def f(x):
        g = x.reshape(c * l, l)
        b = x.reshape(c, l, l)
        ld = 2 * np.linalg.slogdet(b)[1]
        sg = s @ g
        grad = 2 * sg.reshape(c, l, l) + 4 * eta * ld[:, None, None] * np.linalg.inv(b).transpose(0, 2, 1)
        return float(np.sum(g * sg) + eta * np.sum(ld**2)), grad.ravel()

    x0 = np.concatenate(g).ravel()
    r = scipy.optimize.minimize(
        f, x0, jac=True, method="L-BFGS-B", options={"maxiter": 20000, "maxfun": 200000, "maxcor": 20, "ftol": 0, "gtol": 0}
    )
    return {"first": f(x0)[0], "objective": float(r.fun), "iterations": int(r.nit)}


def case(name, method, rows, m, cols, spread, kind, seed, dim=0, eta=0, start=""):
    a = reps(rows, m, cols, spread, kind, seed)
    d = dim or cols[0]
    u, s = left(a, d)
    if method == "rdp":
        g = [np.linalg.pinv(x) @ u if start == "ls" else polar(x.T @ u) for x in a]
        figures = rdp(a, g, eta)
    else:
        figures = alternate(a, u * s if method == "consensus" else u)
    return figures | {
        "name": name, "method": method, "rows": rows, "features": m, "cols": cols, "spread": spread,
        "kind": kind, "seed": seed, "dim": d, "eta": eta, "start": start,
    }  # fmt: skip


cases = []
for spread in (0.1, 0.5, 2):
    cases += [
        case(f"gopp, spread {spread}", "gopp", 40, 8, [4] * 6, spread, "normal", 1),
        case(f"gopp uniform, spread {spread}", "gopp", 40, 8, [4] * 6, spread, "uniform", 2),
        case(f"consensus, spread {spread}", "consensus", 40, 8, [4] * 6, spread, "normal", 3, 6),
        case(f"consensus uniform, spread {spread}", "consensus", 40, 8, [4] * 6, spread, "uniform", 4, 6),
        case(f"consensus uneven, spread {spread}", "consensus", 40, 8, [4, 2, 3, 4, 1], spread, "normal", 5, 6),
        case(f"consensus d = l, spread {spread}", "consensus", 40, 8, [4] * 6, spread, "normal", 6, 4),
    ]
    for start in ("ls", "opp"):
        cases += [
            case(f"rdp, {start}, spread {spread}", "rdp", 40, 8, [4] * 6, spread, "normal", 7, eta=1, start=start),
            case(f"rdp uniform, {start}, spread {spread}", "rdp", 40, 8, [4] * 6, spread, "uniform", 8, eta=0.1, start=start),
            case(f"rdp PID, {start}, spread {spread}", "rdp", 1000, 8, [6] * 13, spread, "normal", 9, eta=1, start=start),
        ]
        if spread == 0.5:
            cases.append(case(f"rdp HD, {start}", "rdp", 1000, 22, [17] * 18, spread, "normal", 10, eta=1, start=start))
json.dump(
    {"numpy": np.__version__, "scipy": scipy.__version__, "python": sys.version.split()[0], "cases": cases},
    sys.stdout,
    indent=1,
)
