#!/usr/bin/python3
"""The published alignment methods in Python: what Concord is compared with.

Each is written from its formulas the way a researcher would, on NumPy, SciPy and
scikit-learn, with their default numbers of threads. Prints the same JSON as
`concord-lab bench align --json`, for the same matrices.

    peers.py --method odc --dim 50 --rows 1000 --parties 50 [--repeat 10]

A_i is a x l, W = [A_1 ... A_c], and every method returns G_1 ... G_c, the number
of iterations and the energy: the sum of the l squared singular values found.

    ls, ls-svd          Imakura: U_l of W by randomized SVD (as published) or by SVD; G_i = pinv(A_i) U_l
    gep                 Kawakami: A_i = Q_i R_i; randomized SVD of [Q_1 ... Q_c] = U S V'; G_i = R_i^-1 V_i
    gep-svd             the same with a full SVD
    gep-direct          Kawakami: scipy.linalg.eigh of S v = lambda D v, the l smallest
    opp                 G_i = polar(A_i'U_l), U_l by SVD
    odc                 G_i = polar(A_i'A_1) by SVD
    gopp                alternating G_i = polar(A_i'Z), Z = mean A_i G_i, from Z = U_l
    rdp                 SciPy's L-BFGS on 1/2 sum_ij |A_i G_i - A_j G_j|^2 + eta sum_i (log det G_i'G_i)^2
"""
import argparse
import json
import sys
import time

import numpy as np

# SciPy and scikit-learn are imported by the methods that use them, in their
# unmeasured run. Debian has them as python3-scipy and python3-sklearn.


def randomized_svd(w, l):
    from sklearn.utils.extmath import randomized_svd
    return randomized_svd(w, n_components=l, random_state=0)


def imakura(a, l, full=False):
    w = np.hstack(a)
    if full:
        z, s, _ = np.linalg.svd(w, full_matrices=False)
        z = z[:, :l]
    else:
        z, s, _ = randomized_svd(w, l)
    return [np.linalg.pinv(ai) @ z for ai in a], 0, np.sum(s[:l] ** 2)


def kawakami(a, l, full=False):
    from scipy.linalg import solve_triangular
    qr = [np.linalg.qr(ai) for ai in a]
    q = np.hstack([q for q, _ in qr])
    if full:
        _, s, vt = np.linalg.svd(q, full_matrices=False)
    else:
        _, s, vt = randomized_svd(q, l)
    vt = vt[:l]
    at = np.cumsum([0] + [ai.shape[1] for ai in a])
    g = [solve_triangular(r, vt[:, at[i]:at[i + 1]].T) for i, (_, r) in enumerate(qr)]
    return g, 0, np.sum(s[:l] ** 2)


def kawakami_direct(a, l):
    from scipy.linalg import block_diag, eigh
    c = len(a)
    w = np.hstack(a)
    d = block_diag(*[ai.T @ ai for ai in a])
    s = 2 * c * d - 2 * w.T @ w
    w, v = eigh(s, d, subset_by_index=[0, l - 1])
    at = np.cumsum([0] + [ai.shape[1] for ai in a])
    return [v[at[i]:at[i + 1]] for i in range(c)], 0, np.sum(c - w / 2)


def polar(m):
    u, _, vt = np.linalg.svd(m)
    return u @ vt


def opp(a, l):
    z = np.linalg.svd(np.hstack(a), full_matrices=False)[0][:, :l]
    return [polar(ai.T @ z) for ai in a], 0, 0


def odc(a, l):
    return [polar(ai.T @ a[0]) for ai in a], 0, 0


def gopp(a, l, eps=1e-6, most=2000):
    z = np.linalg.svd(np.hstack(a), full_matrices=False)[0][:, :l]
    for n in range(1, most + 1):
        g = [polar(ai.T @ z) for ai in a]
        new = sum(ai @ gi for ai, gi in zip(a, g)) / len(a)
        done = np.linalg.norm(new - z) <= eps * np.linalg.norm(new)
        z = new
        if done:
            break
    return g, n, 0


def rdp(a, l):
    from scipy.optimize import minimize
    c = len(a)
    at = np.cumsum([0] + [ai.shape[1] for ai in a])
    w = np.hstack(a)
    k = w.T @ w
    s = -k
    for i in range(c):
        s[at[i]:at[i + 1], at[i]:at[i + 1]] += c * (a[i].T @ a[i])
    # eta = 1e-3 of the mean |A_i|^2 / l, as Concord by default
    eta = 1e-3 * np.mean([np.sum(ai * ai) / ai.shape[1] for ai in a])

    def cost(x):
        g = x.reshape(-1, l)
        sg = s @ g
        f, grad = np.sum(g * sg), 2 * sg
        for i in range(c):
            gi = g[at[i]:at[i + 1]]
            log = 2 * np.linalg.slogdet(gi)[1]
            f += eta * log * log
            grad[at[i]:at[i + 1]] += 4 * eta * log * np.linalg.inv(gi).T
        return f, grad.ravel()

    start = np.vstack(opp(a, l)[0]).ravel()
    r = minimize(cost, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "maxcor": 20})
    g = r.x.reshape(-1, l)
    return [g[at[i]:at[i + 1]] for i in range(c)], r.nit, 0


METHODS = {
    "ls": imakura,
    "ls-svd": lambda a, l: imakura(a, l, full=True),
    "gep": kawakami,
    "gep-svd": lambda a, l: kawakami(a, l, full=True),
    "gep-direct": kawakami_direct,
    "opp": opp,
    "odc": odc,
    "gopp": gopp,
    "rdp": rdp,
}


def split_mix(first, n):
    """Numbers `first` ... of SplitMix64 from seed 0, as concord-lab makes them, uniform on [0, 1)."""
    with np.errstate(over="ignore"):
        z = np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def matrices(dim, rows, parties):
    n = dim * rows
    return [split_mix(i * n, n).reshape(rows, dim) for i in range(parties)]


def residual(a, g):
    """sum_i |A_i G_i - mean|^2, in two passes."""
    mean = sum(ai @ gi for ai, gi in zip(a, g)) / len(a)
    return float(sum(np.sum((ai @ gi - mean) ** 2) for ai, gi in zip(a, g)))


def peak_rss():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def backend():
    modules = (("NumPy", "numpy"), ("SciPy", "scipy"), ("scikit-learn", "sklearn"))
    return ", ".join([f"{name} {sys.modules[m].__version__}" for name, m in modules if m in sys.modules] + [blas()])


def blas():
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return "BLAS unknown"
    for lib in threadpool_info():
        if lib["user_api"] == "blas":
            return f"{lib['internal_api']} {lib['version']} {lib.get('architecture', '')}, threads: {lib['num_threads']}"
    return "BLAS unknown"


def main():
    p = argparse.ArgumentParser(description="Time a published alignment method in Python.")
    p.add_argument("--method", required=True, choices=sorted(METHODS))
    p.add_argument("--dim", type=int, default=50)
    p.add_argument("--rows", type=int, default=1000)
    p.add_argument("--parties", type=int, default=50)
    p.add_argument("--repeat", type=int, default=10)
    p.add_argument("--json", action="store_true", help="the only form there is")
    o = p.parse_args()
    if min(o.dim, o.rows, o.parties, o.repeat) < 1 or o.dim > o.rows:
        sys.exit("peers.py: sizes must be 1 or more, and --dim at most --rows")

    a = matrices(o.dim, o.rows, o.parties)
    align = METHODS[o.method]
    g, iterations, energy = align(a, o.dim)  # unmeasured
    apart = residual(a, g)
    times = []
    for _ in range(o.repeat):
        begun = time.perf_counter()
        align(a, o.dim)
        times.append(time.perf_counter() - begun)
    print(json.dumps({
        "method": o.method, "dim": o.dim, "rows": o.rows, "parties": o.parties,
        "seconds": {"min": min(times), "median": float(np.median(times)), "max": max(times)},
        "peak_rss_bytes": peak_rss(),
        "backend": backend(),
        "solver": "peer", "repeat": o.repeat, "residual": apart, "iterations": iterations, "energy": float(energy),
    }))


if __name__ == "__main__":
    main()
