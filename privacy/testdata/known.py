#!/usr/bin/env python3
"""Known answers for the measures of privacy, by NumPy's and SciPy's routines and by
plain enumeration. Writes known.json."""
import json, os, sys
import numpy as np, scipy
from scipy.spatial.distance import cdist

rng = np.random.default_rng(6)
n, m, l = 200, 6, 3
x = np.empty((n, m))
x[:, 0] = rng.normal(1000, 100, n)
x[:, 1] = rng.integers(0, 2, n)
x[:, 2] = rng.integers(20, 60, n) + 10 * x[:, 1]
x[:, 3] = 7.5
x[:, 4] = 1e-3 * (rng.normal(size=n) + 0.01 * x[:, 0])
x[:, 5] = np.exp(rng.normal(size=n)) + 0.05 * x[:, 2]
x[17] = x[3]
x[20] = x[21] = x[5]
f = rng.normal(size=(m, l))
f[0] *= 0.01
z = x @ f
guess = x + rng.normal(size=(n, m)) * x.std(axis=0) * rng.choice([0, 0.02, 0.2, 1], n)[:, None]
guess[:, 3] = 7.5

p = f @ np.linalg.pinv(f)
dr = np.linalg.norm(x - x @ p, axis=1) / np.linalg.norm(x, axis=1)

with np.errstate(all="ignore"):
    corr = np.abs(np.nan_to_num(np.corrcoef(x.T, z.T)[:m, m:]))
corr[3] = 0

dev = x.std(axis=0)
rmse = np.sqrt(((x - guess) ** 2).mean(axis=0))
features = [dict(rmse=rmse[j], trivial=dev[j], constant=bool(np.ptp(x[:, j]) == 0),
                 ratio=rmse[j] / dev[j] if np.ptp(x[:, j]) else 1.0) for j in range(m)]
use = [j for j in range(m) if np.ptp(x[:, j]) > 0]
xs, gs = [(a[:, use] - x.mean(axis=0)[use]) / dev[use] for a in (x, guess)]
rel = np.linalg.norm(xs - gs, axis=1) / np.linalg.norm(xs, axis=1)
rows = dict(min=rel.min(), median=np.median(rel), under10=(rel < 0.1).mean(), under50=(rel < 0.5).mean())
unexplained = ((xs - gs) ** 2).sum() / (xs ** 2).sum()

d = cdist(gs, xs)
rate, place = 0.0, []
for i in range(n):
    tie = np.abs(d[i] - d[i, i]) <= 1e-12
    closer = (d[i] < d[i, i]) & ~tie
    place.append(closer.sum() + (tie.sum() + 1) / 2)
    if not closer.any():
        rate += 1 / tie.sum()
linkage = dict(rate=rate / n, median=float(np.median(place)))

def interval(v):
    return [(int((v < a).sum()), int((v <= a).sum())) for a in v]

zc = z - z.mean(axis=0)
candidates = np.hstack([z, zc @ np.linalg.svd(zc, full_matrices=False)[2].T])
near = n // 100
match = []
for j in range(m):
    if np.ptp(x[:, j]) == 0:
        best, r = -1, 0.0
        other = np.zeros(n)
    else:
        rs = [np.corrcoef(x[:, j], candidates[:, k])[0, 1] for k in range(2 * l)]
        best = int(np.argmax(np.abs(rs)))
        r = rs[best]
        other = np.sign(r) * candidates[:, best]
    exact = within = 0.0
    for (a, b), (c, e) in zip(interval(x[:, j]), interval(other)):
        gaps = np.abs(np.arange(a, b)[:, None] - np.arange(c, e)[None, :])
        exact += (gaps == 0).mean()
        within += (gaps <= near).mean()
    match.append(dict(column=best % l if best >= 0 else -1, component=best >= l,
                      correlation=abs(r), exact=exact / n, near=within / n))

columns = []
for j in range(m):
    values, counts = np.unique(x[:, j], return_counts=True)
    steps = np.diff(x[:, j])
    columns.append(dict(distinct=len(values), single=int((counts == 1).sum()), constant=len(values) == 1,
                        integer=bool((x[:, j] == np.round(x[:, j])).all()),
                        running=bool((steps > 0).all() or (steps < 0).all())))

out = dict(python=sys.version.split()[0], numpy=np.__version__, scipy=scipy.__version__,
           x=x.tolist(), f=f.tolist(), z=z.tolist(), guess=guess.tolist(), dr=dr.tolist(),
           correlations=corr.tolist(), features=features, rows=rows, unexplained=unexplained,
           linkage=linkage, match=match, columns=columns, rank=int(np.linalg.matrix_rank(x / np.abs(x).max(axis=0))))
json.dump(out, open(os.path.join(os.path.dirname(__file__), "known.json"), "w"))
