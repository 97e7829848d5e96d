"""Known answers for scores of classes: rankings, probabilities, calibration, by scikit-learn.

Run in this folder: /usr/bin/python3 scores.py > scores.json
The versions used stand in the output.
"""
import json
import platform
import warnings

import numpy as np
import sklearn
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.preprocessing import label_binarize

rng = np.random.default_rng(20240502)


def lists(arrays):
    return [a.tolist() for a in arrays]


two = []
for name, n, kind in (("plain", 50, ""), ("ties", 80, "ties"), ("constant", 20, "constant"),
                      ("separated", 30, "separated"), ("reversed", 30, "reversed"), ("two rows", 2, "")):
    positive = rng.random(n) < 0.35
    positive[0], positive[1] = True, False
    p = 1 / (1 + np.exp(-(rng.normal(size=n) + positive)))
    if kind == "ties":
        p = np.round(p * 10) / 10
    elif kind == "constant":
        p[:] = 0.3
    elif kind == "separated":
        p = np.where(positive, 0.5 + p / 2, p / 2.1)
    elif kind == "reversed":
        p = np.where(positive, p / 2.1, 0.5 + p / 2)
    case = {
        "name": name, "positive": positive.tolist(), "score": p.tolist(),
        "roc_auc": metrics.roc_auc_score(positive, p),
        "roc": lists(metrics.roc_curve(positive, p)),
        "pr_auc": metrics.average_precision_score(positive, p),
        "pr": lists(metrics.precision_recall_curve(positive, p)),
        "brier": metrics.brier_score_loss(positive, p),
        "calibration": [],
    }
    for bins in (1, 3, 5, 10):
        for strategy in ("uniform", "quantile"):
            observed, predicted = calibration_curve(positive, p, n_bins=bins, strategy=strategy)
            case["calibration"].append({
                "bins": bins, "strategy": strategy,
                "observed": observed.tolist(), "predicted": predicted.tolist(),
            })
    two.append(case)

many = []
for name, n, k, ties in (("three", 90, 3, False), ("five with ties", 200, 5, True), ("as many classes as rows", 4, 4, False)):
    truth = rng.choice(k, n, p=np.arange(1, k + 1) / (k * (k + 1) / 2))
    truth[:k] = range(k)
    logits = rng.normal(size=(n, k)) + 1.5 * np.eye(k)[truth]
    p = np.exp(logits)
    p /= p.sum(axis=1, keepdims=True)
    if ties:
        p = np.round(p * 8)
        p[:, 0] += p.sum(axis=1) == 0
        p /= p.sum(axis=1, keepdims=True)
    onehot = label_binarize(truth, classes=range(k))
    many.append({
        "name": name, "truth": truth.tolist(), "probability": p.tolist(),
        "ovr_macro": metrics.roc_auc_score(truth, p, multi_class="ovr", average="macro"),
        "ovr_weighted": metrics.roc_auc_score(truth, p, multi_class="ovr", average="weighted"),
        "pr_macro": metrics.average_precision_score(onehot, p, average="macro"),
        "pr_weighted": metrics.average_precision_score(onehot, p, average="weighted"),
        "log_loss": metrics.log_loss(truth, p),
        # scikit-learn 1.2 has Brier's score of two classes only; this is its sum over the classes.
        "brier": sum(metrics.brier_score_loss(onehot[:, c], p[:, c]) for c in range(k)),
        "accuracy": metrics.accuracy_score(truth, p.argmax(axis=1)),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, p.argmax(axis=1)),
    })

confusion = []
warnings.simplefilter("ignore")  # classes without a row or a prediction are wanted here
for name, n, k, used in (("two classes", 60, 2, 2), ("four classes", 150, 4, 4),
                         ("classes absent", 40, 6, 4), ("one prediction", 30, 3, 3)):
    truth = rng.integers(0, used, n)
    guess = np.where(rng.random(n) < 0.6, truth, rng.integers(0, used, n))
    if name == "classes absent":  # class 5 in neither, 4 only predicted, 0 never predicted
        guess[guess == 0] = 4
    if name == "one prediction":
        guess[:] = 1
    precision, recall, f1, support = metrics.precision_recall_fscore_support(truth, guess, labels=range(k))
    macro = metrics.precision_recall_fscore_support(truth, guess, average="macro")
    confusion.append({
        "name": name, "classes": k, "truth": truth.tolist(), "guess": guess.tolist(),
        "counts": metrics.confusion_matrix(truth, guess, labels=range(k)).tolist(),
        "precision": precision.tolist(), "recall": recall.tolist(), "f1": f1.tolist(), "support": support.tolist(),
        "macro": list(macro[:3]),
        "accuracy": metrics.accuracy_score(truth, guess),
        "balanced_accuracy": metrics.balanced_accuracy_score(truth, guess),
        "kappa": metrics.cohen_kappa_score(truth, guess),
        "matthews": metrics.matthews_corrcoef(truth, guess),
    })

truth = rng.normal(size=(40, 3)) * [1, 10, 100] + [0, 5, -3]
predicted = truth + rng.normal(size=truth.shape) * [0.5, 9, 20]
outputs = {
    "truth": truth.tolist(), "predicted": predicted.tolist(),
    "r2": metrics.r2_score(truth, predicted, multioutput="raw_values").tolist(),
    "rmse": metrics.mean_squared_error(truth, predicted, squared=False, multioutput="raw_values").tolist(),
    "mae": metrics.mean_absolute_error(truth, predicted, multioutput="raw_values").tolist(),
    "mean_r2": metrics.r2_score(truth, predicted),
    "mean_rmse": metrics.mean_squared_error(truth, predicted, squared=False),
    "mean_mae": metrics.mean_absolute_error(truth, predicted),
}
print(json.dumps({
    "versions": {"python": platform.python_version(), "numpy": np.__version__, "scikit-learn": sklearn.__version__},
    "two": two, "many": many, "confusion": confusion, "outputs": outputs,
}))
