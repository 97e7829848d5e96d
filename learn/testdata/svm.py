"""Known answers for the support vector machines, by scikit-learn (libsvm, liblinear).

Run in this folder: /usr/bin/python3 svm.py > svm.json
The versions used stand in the output. Numbers of x are rounded so that the
file stays small; the answers belong to the rounded numbers.
"""
import json
import platform
import warnings

import numpy as np
import sklearn
from sklearn.datasets import load_digits
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

warnings.simplefilter("error")
rng = np.random.default_rng(20261121)


def blobs(n, d, k, spread):
    centre = rng.normal(size=(k, d)) * spread
    y = np.arange(n) % k
    return np.round(centre[y] + rng.normal(size=(n, d)), 3), y


def digits():
    d = load_digits()
    keep = rng.permutation(len(d.target))[:150]
    return d.data[keep][:, 10:40:3] / 16, d.target[keep]


def two(z):
    return np.column_stack([-z, z]) if z.ndim == 1 else z


def twice(x, y):
    """Every row with its label, and every third once more with another."""
    return np.vstack([x, x, x[::3]]), np.concatenate([y, y, 1 - y[::3]])


def loose(h, x):
    """Scores at the default tolerance."""
    s = h.fit(x, y)
    return two(s.decision_function(x)).tolist() if hasattr(s, "decision_function") else s.predict(x)[:, None].tolist()


other = np.random.default_rng(1)
kernel, linear = [], []
for name, (x, y), more in [
    ("two classes", blobs(80, 3, 2, 0.8), {}),
    ("two classes, gamma 2, C 10", blobs(60, 2, 2, 1.0), {"gamma": 2.0, "C": 10.0}),
    ("far apart", blobs(30, 3, 2, 20.0), {}),
    ("three classes", blobs(90, 4, 3, 0.8), {}),
    ("digits", digits(), {}),
    ("rows several times", twice(*blobs(40, 3, 2, 0.8)), {}),
    ("constant columns", (np.zeros((10, 2)), np.array([0, 0, 0, 1, 0, 1, 0, 1, 0, 0])), {}),
    ("a constant column", (np.column_stack([blobs(40, 2, 2, 1.0)[0], np.full(40, 0.1)]), np.arange(40) % 2), {}),
]:
    new = np.round(x[other.permutation(len(x))[:20]] + 0.3 * other.normal(size=(min(20, len(x)), x.shape[1])), 3)
    h = SVC(tol=1e-9, **more).fit(x, y)
    kernel.append({"name": name, "x": x.tolist(), "labels": y.tolist(), "classes": int(y.max()) + 1, "gamma": more.get("gamma", 0), "c": more.get("C", 0),
                   "scores": two(h.decision_function(x)).tolist(), "predicted": h.predict(x).tolist(),
                   "vectors": int(h.n_support_.sum()) if len(np.unique(x, axis=0)) == len(x) else 0,  # weights of equal rows are not unique
                   "new": new.tolist(), "newScores": two(h.decision_function(new)).tolist(), "loose": loose(SVC(**more), x)})
    h = LinearSVC(random_state=0, tol=1e-10, max_iter=10000000, C=more.get("C", 1.0)).fit(x, y)
    linear.append({"name": name, "x": x.tolist(), "labels": y.tolist(), "classes": int(y.max()) + 1, "c": more.get("C", 0),
                   "scores": two(h.decision_function(x)).tolist(), "coef": h.coef_.tolist(), "intercept": np.ravel(h.intercept_).tolist()})
for name, n, more in [("numbers", 60, {}), ("numbers, epsilon 0.5, C 3", 50, {"epsilon": 0.5, "C": 3.0})]:
    x = np.round(rng.normal(size=(n, 3)), 3)
    y = np.round(np.sin(x[:, 0]) + 0.5 * x[:, 1] + 0.1 * rng.normal(size=n), 3)
    new = np.round(other.normal(size=(20, 3)), 3)
    h = SVR(tol=1e-9, **more).fit(x, y)
    kernel.append({"name": name, "x": x.tolist(), "values": y.tolist(), "gamma": 0, "c": more.get("C", 0), "epsilon": more.get("epsilon", 0),
                   "scores": h.predict(x)[:, None].tolist(), "vectors": len(h.support_),
                   "new": new.tolist(), "newScores": h.predict(new)[:, None].tolist(), "loose": loose(SVR(**more), x)})
    h = LinearSVR(random_state=0, tol=1e-8, max_iter=10000000, C=more.get("C", 1.0), epsilon=more.get("epsilon", 0.1)).fit(x, y)
    linear.append({"name": name, "x": x.tolist(), "values": y.tolist(), "c": more.get("C", 0), "epsilon": more.get("epsilon", 0.1),
                   "scores": h.predict(x)[:, None].tolist(), "coef": [h.coef_.tolist()], "intercept": np.ravel(h.intercept_).tolist()})

print(json.dumps({"versions": {"python": platform.python_version(), "numpy": np.__version__, "scikit-learn": sklearn.__version__},
                  "kernel": kernel, "linear": linear}))
