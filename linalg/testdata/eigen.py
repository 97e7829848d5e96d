"""Known answers for the symmetric eigenproblem and the polar factor of larger
matrices, by SciPy. Writes eigen.json beside itself.

Ran with Python 3.11.2, NumPy 1.24.2 and SciPy 1.10.1.
"""

import json
import os

import numpy as np
import scipy.linalg

rng = np.random.default_rng(20240406)


def positive(columns):
    """Signs as in linalg: the first element within 1e-6 of the largest is positive."""
    out = columns.copy()
    for j in range(out.shape[1]):
        v = out[:, j]
        lead = v[np.argmax(np.abs(v) >= (1 - 1e-6) * np.abs(v).max())]
        if lead < 0:
            out[:, j] = -v
    return out


cases = []
for n in (1, 2, 6, 20):
    a = rng.normal(size=(n, n))
    a = a + a.T
    rng.normal(size=(n + 5, n))  # once another matrix: the numbers below come after it
    w, v = scipy.linalg.eigh(a)
    m = rng.uniform(size=(3 * n, n)).T @ rng.uniform(size=(3 * n, n))
    q, _ = scipy.linalg.polar(m)
    cases.append({
        "a": a.tolist(), "values": w.tolist(), "vectors": positive(v).tolist(),
        "gap": float(np.diff(w).min()) if n > 1 else 1.0,
        "m": m.tolist(), "polar": q.tolist(), "cond_m": np.linalg.cond(m),
    })

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "eigen.json"), "w") as f:
    json.dump({"cases": cases}, f)
    f.write("\n")
