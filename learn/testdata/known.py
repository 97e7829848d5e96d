"""Known answers for package learn, by scikit-learn and NumPy.

Run in this folder: /usr/bin/python3 known.py > known.json
The versions used stand in the output. Numbers of x are rounded so that the
file stays small; the answers belong to the rounded numbers.
"""
import json
import platform

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, Ridge

rng = np.random.default_rng(20240502)


def logistic(name, x, y, c, multi=False):
    # newton-cg and lbfgs with tolerances far below the test's
    best = None
    for solver, tol in (("newton-cg", 1e-14), ("lbfgs", 1e-14)):
        h = LogisticRegression(C=c, tol=tol, max_iter=100000, solver=solver,
                               multi_class="multinomial" if multi else "ovr").fit(x, y)
        z = h.decision_function(x)
        if multi:
            loss = np.log(np.exp(z - z.max(1, keepdims=True)).sum(1)) + z.max(1) - z[np.arange(len(y)), y]
        else:
            loss = np.logaddexp(0, np.where(y == 1, -z, z))
        objective = loss.mean() + (h.coef_ ** 2).sum() / 2 / c / len(y)
        if best is None or objective < best["objective"]:
            best = {"name": name, "x": x.tolist(), "labels": y.tolist(), "classes": int(y.max()) + 1, "C": c,
                    "w": h.coef_.T.tolist(), "b": (h.intercept_ - (h.intercept_.mean() if multi else 0)).tolist(),
                    "probability": h.predict_proba(x[:5]).tolist(), "objective": objective}
    return best


def ridge(name, x, y, alpha):
    if alpha > 0:
        h = Ridge(alpha=alpha, solver="svd").fit(x, y)
        w, b = h.coef_.T, h.intercept_
    else:
        xm, ym = x.mean(0), y.mean(0)
        w = np.linalg.lstsq(x - xm, y - ym, rcond=None)[0]
        b = ym - xm @ w
    return {"name": name, "x": x.tolist(), "y": y.tolist(), "alpha": alpha, "w": w.tolist(), "b": b.tolist()}


def blobs(n, d, k, spread):
    centre = rng.normal(size=(k, d)) * spread
    y = np.arange(n) % k
    return np.round(centre[y] + rng.normal(size=(n, d)), 3), y


logistics = []
x, y = blobs(60, 3, 2, 0.7)
logistics.append(logistic("two classes", x, y, 1.0))
logistics.append(logistic("two classes, strong penalty", x, y, 0.01))
x, y = blobs(40, 3, 2, 20.0)
logistics.append(logistic("separable", x, y, 1.0))
x, y = blobs(90, 4, 3, 0.8)
logistics.append(logistic("three classes", x, y, 1.0, multi=True))
logistics.append(logistic("three classes, weak penalty", x, y, 100.0, multi=True))
x, y = blobs(12, 20, 3, 1.0)
logistics.append(logistic("more inputs than rows", x, y, 1.0, multi=True))
x, y = blobs(50, 4, 2, 1.0)
x = np.column_stack([x, x[:, 0], np.full(50, 3.5)])
logistics.append(logistic("collinear and constant columns", x, y, 1.0))
cancer = load_breast_cancer()
x = cancer.data[:200, :10]
x = np.round((x - x.mean(0)) / x.std(0), 2)
logistics.append(logistic("breast cancer", x, cancer.target[:200], 1.0))

ridges = []
x = np.round(rng.normal(size=(40, 5)) * [1, 10, 0.1, 1, 1] + [0, 5, 100, 0, 0], 3)
y = np.round(x @ rng.normal(size=(5, 2)) + rng.normal(size=(40, 2)) + 7, 3)
ridges.append(ridge("default", x, y, 1.0))
ridges.append(ridge("small penalty", x, y, 1e-3))
ridges.append(ridge("no penalty", x, y, 0.0))
ridges.append(ridge("no penalty, collinear", np.column_stack([x, x[:, :2], np.full(40, 2.0)]), y, 0.0))
x = np.round(rng.normal(size=(8, 15)), 3)
y = np.round(rng.normal(size=(8, 1)), 3)
ridges.append(ridge("more inputs than rows", x, y, 1.0))
ridges.append(ridge("more inputs than rows, no penalty", x, y, 0.0))
x, labels = blobs(45, 3, 3, 1.0)
ridges.append(ridge("one-hot", x, np.eye(3)[labels], 1.0))
x = np.round(rng.normal(size=(30, 3)), 3)
x = np.column_stack([x * [1e6, 1, 1e-4]])
ridges.append(ridge("unlike scales", x, np.round(x @ np.array([[1e-6], [1], [1e4]]), 3), 1e-6))

print(json.dumps({
    "versions": {"python": platform.python_version(), "numpy": np.__version__, "scikit-learn": sklearn.__version__},
    "logistic": logistics, "ridge": ridges,
}))
