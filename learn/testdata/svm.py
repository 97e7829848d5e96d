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


kernel, linear = [], []
for name, (x, y), more in [
    ("two classes", blobs(80, 3, 2, 0.8), {}),
    ("two classes, gamma 2, C 10", blobs(60, 2, 2, 1.0), {"gamma": 2.0, "C": 10.0}),
    ("far apart", blobs(30, 3, 2, 20.0), {}),
    ("three classes", blobs(90, 4, 3, 0.8), {}),
    ("digits", digits(), {}),
]:
    h = SVC(tol=1e-9, **more).fit(x, y)
    kernel.append({"name": name, "x": x.tolist(), "labels": y.tolist(), "classes": int(y.max()) + 1, "gamma": more.get("gamma", 0), "c": more.get("C", 0),
                   "scores": two(h.decision_function(x)).tolist(), "predicted": h.predict(x).tolist(), "vectors": int(h.n_support_.sum())})
    h = LinearSVC(tol=1e-10, max_iter=10000000, C=more.get("C", 1.0)).fit(x, y)
    linear.append({"name": name, "x": x.tolist(), "labels": y.tolist(), "classes": int(y.max()) + 1, "c": more.get("C", 0),
                   "scores": two(h.decision_function(x)).tolist()})
for name, n, more in [("numbers", 60, {}), ("numbers, epsilon 0.5, C 3", 50, {"epsilon": 0.5, "C": 3.0})]:
    x = np.round(rng.normal(size=(n, 3)), 3)
    y = np.round(np.sin(x[:, 0]) + 0.5 * x[:, 1] + 0.1 * rng.normal(size=n), 3)
    h = SVR(tol=1e-9, **more).fit(x, y)
    kernel.append({"name": name, "x": x.tolist(), "values": y.tolist(), "gamma": 0, "c": more.get("C", 0), "epsilon": more.get("epsilon", 0),
                   "scores": h.predict(x)[:, None].tolist(), "vectors": len(h.support_)})
    h = LinearSVR(tol=1e-8, max_iter=10000000, C=more.get("C", 1.0), epsilon=more.get("epsilon", 0.1)).fit(x, y)
    linear.append({"name": name, "x": x.tolist(), "values": y.tolist(), "c": more.get("C", 0), "epsilon": more.get("epsilon", 0.1),
                   "scores": h.predict(x)[:, None].tolist()})

print(json.dumps({"versions": {"python": platform.python_version(), "numpy": np.__version__, "scikit-learn": sklearn.__version__},
                  "kernel": kernel, "linear": linear}))
