#!/usr/bin/env python3
"""Steps of Adam from known weights, for steps_test.go: written out in NumPy and
held against scikit-learn, which takes its minibatches in order (shuffle=False).

    python3 steps.py > steps.json
"""
import json
import warnings

import numpy
import sklearn
from sklearn.neural_network import MLPClassifier, MLPRegressor

warnings.filterwarnings("ignore")


def forward(x, ws, bs):
    a = [x]
    for w, b in zip(ws[:-1], bs[:-1]):
        a.append(numpy.maximum(a[-1] @ w + b, 0))
    return a, a[-1] @ ws[-1] + bs[-1]


def loss_and_delta(output, z, y):
    """Sum of the losses of the rows, and its derivative by z."""
    if output == "squares":
        return 0.5 * ((z - y) ** 2).sum(), z - y
    if output == "logistic":
        p = 1 / (1 + numpy.exp(-z[:, 0]))
        return -numpy.log(numpy.where(y == 1, p, 1 - p)).sum(), (p - y)[:, None]
    e = numpy.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    one = numpy.eye(z.shape[1])[y]
    return -numpy.log((p * one).sum(axis=1)).sum(), p - one


def train(output, x, y, ws, bs, alpha, rate, batch, epochs):
    ws, bs = [w.copy() for w in ws], [b.copy() for b in bs]
    state = [[numpy.zeros_like(p), numpy.zeros_like(p)] for p in ws + bs]
    t, losses = 0, []
    for _ in range(epochs):
        total = 0.0
        for at in range(0, len(x), batch):
            xb, yb = x[at:at + batch], y[at:at + batch]
            n = len(xb)
            a, z = forward(xb, ws, bs)
            loss, delta = loss_and_delta(output, z, yb)
            if output == "squares":
                loss /= z.shape[1]
            loss = loss / n + alpha / (2 * n) * sum((w * w).sum() for w in ws)
            total += n * loss
            gw, gb = [None] * len(ws), [None] * len(ws)
            for l in reversed(range(len(ws))):
                gw[l] = (a[l].T @ delta + alpha * ws[l]) / n
                gb[l] = delta.sum(axis=0) / n
                delta = (delta @ ws[l].T) * (a[l] > 0)
            t += 1
            for p, g, s in zip(ws + bs, gw + gb, state):
                s[0] = 0.9 * s[0] + 0.1 * g
                s[1] = 0.999 * s[1] + 0.001 * g * g
                p -= rate * (s[0] / (1 - 0.9**t)) / (numpy.sqrt(s[1] / (1 - 0.999**t)) + 1e-8 / numpy.sqrt(1 - 0.999**t))
        losses.append(total / len(x))
    return ws, bs, losses


def case(name, output, hidden, n, d, k, alpha, rate, batch, epochs):
    rng = numpy.random.default_rng(len(name) + n)
    x = rng.normal(size=(n, d))
    if output == "squares":
        y = x @ rng.normal(size=(d, k)) + rng.normal(size=(n, k))
    else:
        y = rng.permutation(numpy.arange(n) % max(k, 2))
    make = MLPRegressor if output == "squares" else MLPClassifier

    def fit(rate, epochs):
        m = make(hidden, alpha=alpha, learning_rate_init=rate, batch_size=batch, max_iter=epochs, shuffle=False, random_state=3)
        return m.fit(x, y)

    start = fit(1e-300, 1)
    ws, bs, losses = train(output, x, y, start.coefs_, start.intercepts_, alpha, rate, batch, epochs)
    peer = fit(rate, epochs)
    for ours, theirs in zip(ws + bs, peer.coefs_ + peer.intercepts_):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    numpy.testing.assert_allclose(losses, peer.loss_curve_, rtol=1e-10)
    flat = lambda ws, bs: numpy.concatenate([p for w, b in zip(ws, bs) for p in (w.ravel(), b)]).tolist()
    return {
        "name": name, "output": output, "hidden": list(hidden), "outputs": k,
        "alpha": alpha, "rate": rate, "batch": batch,
        "x": x.tolist(), "y": y.tolist() if output == "squares" else None,
        "labels": None if output == "squares" else y.tolist(),
        "start": flat(start.coefs_, start.intercepts_), "end": flat(ws, bs), "losses": losses,
    }


cases = [
    case("numbers", "squares", (5,), 23, 3, 2, 0.1, 0.01, 10, 4),
    case("deep numbers", "squares", (6, 4, 3), 30, 4, 1, 1e-4, 0.002, 7, 3),
    case("two classes", "logistic", (7,), 25, 4, 1, 0.5, 0.01, 8, 4),
    case("four classes", "softmax", (6, 5), 27, 3, 4, 1e-2, 0.005, 10, 4),
    case("one minibatch", "softmax", (4,), 12, 2, 3, 1.0, 0.1, 12, 6),
]
print(json.dumps({"numpy": numpy.__version__, "sklearn": sklearn.__version__, "cases": cases}))
