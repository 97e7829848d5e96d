"""Known answers for package metric, by scikit-learn.

Run in this folder: /usr/bin/python3 known.py > known.json
The versions used stand in the output.
"""
import json
import platform

import numpy as np
import sklearn
from sklearn import metrics

rng = np.random.default_rng(20240501)
cases = []
for name, n, ties in (("few", 7, False), ("many", 200, False), ("ties", 60, True)):
    positive = rng.random(n) < 0.4
    positive[0], positive[1] = True, False
    score = rng.normal(size=n) + positive
    if ties:
        score = np.round(score)
    truth = rng.integers(0, 3, n)
    truth[:3] = [0, 1, 2]
    prob = rng.dirichlet([0.3, 1, 1], n)
    prob[3] = np.eye(3)[(truth[3] + 1) % 3]  # certain and wrong
    guess = prob.argmax(axis=1)
    y = rng.normal(size=n) * 3 + 100
    yhat = y + rng.normal(size=n)
    cases.append({
        "name": name,
        "positive": positive.tolist(), "score": score.tolist(),
        "truth": truth.tolist(), "guess": guess.tolist(), "probability": prob.tolist(),
        "y": y.tolist(), "predicted": yhat.tolist(),
        "roc_auc": metrics.roc_auc_score(positive, score),
        "accuracy": metrics.accuracy_score(truth, guess),
        "log_loss": metrics.log_loss(truth, prob),
        "rmse": metrics.mean_squared_error(y, yhat, squared=False),
        "mae": metrics.mean_absolute_error(y, yhat),
        "r2": metrics.r2_score(y, yhat),
    })
print(json.dumps({
    "versions": {"python": platform.python_version(), "numpy": np.__version__, "scikit-learn": sklearn.__version__},
    "cases": cases,
}))
