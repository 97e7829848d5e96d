"""Known answers for nearest neighbours, by scikit-learn.

Run in this folder: /usr/bin/python3 knn.py > knn.json
The versions used stand in the output. Numbers of x are rounded so that the
file stays small; no two distances from a row are equal.
"""
import json
import platform

import numpy as np
import sklearn
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

rng = np.random.default_rng(20261122)
cases = []
for name, n, d, k, classes, offset in [
    ("one neighbour", 80, 3, 1, 3, 0), ("five", 120, 5, 5, 2, 0), ("ten, far from the origin", 100, 4, 10, 4, 1000),
    ("numbers", 90, 2, 5, 0, 0), ("numbers, three", 60, 6, 3, 0, -300),
]:
    x = np.round(rng.normal(size=(n + 40, d)), 4) + offset
    x, probe = x[:n], x[n:]
    for row in probe:
        assert np.diff(np.sort(((x - row) ** 2).sum(1))).min() > 1e-9 * d
    case = dict(name=name, x=x.tolist(), probe=probe.tolist(), k=k, classes=classes)
    if classes:
        y = rng.integers(0, classes, n)
        h = KNeighborsClassifier(k, algorithm="brute").fit(x, y)
        case.update(labels=y.tolist(), scores=h.predict_proba(probe).tolist(), predicted=h.predict(probe).tolist())
    else:
        y = np.round(rng.normal(size=n), 3)
        h = KNeighborsRegressor(k, algorithm="brute").fit(x, y)
        case.update(values=y.tolist(), scores=h.predict(probe)[:, None].tolist())
    cases.append(case)
print(json.dumps(dict(versions=dict(python=platform.python_version(), numpy=np.__version__, sklearn=sklearn.__version__), cases=cases)))
