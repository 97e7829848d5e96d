"""Federated averaging of logistic regression by NumPy.

Run in this folder: /usr/bin/python3 known.py > known.json
The versions used stand in the output. Each party has fewer rows than a minibatch
(200), so that the order of rows does not matter: an epoch is one step of Adam with
all rows. McMahan et al. 2017, Algorithm 1; Kingma and Ba 2015, Algorithm 1.
"""
import json
import sys

import numpy as np

ROUNDS, EPOCHS, C = 4, 3, 2.0
RATE, B1, B2, EPS = 1e-3, 0.9, 0.999, 1e-8


def scores(z):
    if z.shape[1] == 1:
        p = 1 / (1 + np.exp(-z))
        return np.hstack([1 - p, p])
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def local(w, b, x, y, classes):
    """EPOCHS full-batch steps of Adam, afresh; the penalty 1/C is on weights only."""
    n = len(x)
    onehot = np.eye(classes)[y]
    params = [w.copy(), b.copy()]
    m = [np.zeros_like(p) for p in params]
    v = [np.zeros_like(p) for p in params]
    for t in range(1, EPOCHS + 1):
        d = scores(x @ params[0] + params[1]) - onehot
        if classes == 2:
            d = d[:, 1:]
        grads = [(x.T @ d + params[0] / C) / n, d.sum(axis=0) / n]
        for i, g in enumerate(grads):
            m[i] = B1 * m[i] + (1 - B1) * g
            v[i] = B2 * v[i] + (1 - B2) * g * g
            step = RATE * np.sqrt(1 - B2**t) / (1 - B1**t)
            params[i] = params[i] - step * m[i] / (np.sqrt(v[i]) + EPS)
    return params


def case(classes, sizes, seed):
    rng = np.random.default_rng(seed)
    d, k = 3, 1 if classes == 2 else classes
    parties = [(rng.normal(size=(n, d)), rng.integers(0, classes, n)) for n in sizes]
    parties[-1] = (parties[-1][0], np.zeros(sizes[-1], dtype=int))  # one class only
    w, b = np.zeros((d, k)), np.zeros(k)
    for _ in range(ROUNDS):
        updates = [local(w, b, x, y, classes) for x, y in parties]
        w, b = (sum(n * u[i] for n, u in zip(sizes, updates)) / sum(sizes) for i in range(2))
    return {
        "classes": classes,
        "parties": [{"x": x.tolist(), "y": y.tolist()} for x, y in parties],
        "w": w.tolist(),
        "b": b.tolist(),
    }


json.dump(
    {
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "rounds": ROUNDS,
        "epochs": EPOCHS,
        "c": C,
        "cases": [case(2, [10, 25, 7], 1), case(3, [12, 30], 2)],
    },
    sys.stdout,
)
