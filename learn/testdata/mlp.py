"""Known answers for multilayer perceptrons, by scikit-learn.

Run in this folder: /usr/bin/python3 mlp.py > mlp.json
The versions used stand in the output. The data are those of trees.py, of which
every third row is for the test, standardised by the others.
"""
import gzip
import json
import platform
import warnings

import numpy as np
import sklearn
from sklearn.neural_network import MLPClassifier, MLPRegressor

warnings.filterwarnings("ignore")
with gzip.open("trees.json.gz") as f:
    data = {c["name"]: c for c in json.load(f)["means"]}

SEEDS = 10


def means(name, **settings):
    c = data[name]
    x, y = np.array(c["x"]), np.array(c["y"])
    test = np.arange(len(x)) % 3 == 0
    mean, scale = x[~test].mean(0), x[~test].std(0)
    scale[scale == 0] = 1
    x = (x - mean) / scale
    make = MLPClassifier if c["classes"] else MLPRegressor
    if not c["classes"]:
        y = y[:, 0]
    scores, losses, epochs = [], [], []
    for seed in range(SEEDS):
        h = make(random_state=seed, **settings).fit(x[~test], y[~test])
        scores.append(h.score(x[test], y[test]))
        losses.append(h.loss_)
        epochs.append(h.n_iter_)
    out = dict(name=name, **{k: list(v) if isinstance(v, tuple) else v for k, v in settings.items()})
    return dict(out, score=np.mean(scores), score_deviation=np.std(scores, ddof=1),
                loss=np.mean(losses), loss_deviation=np.std(losses, ddof=1), epochs=np.mean(epochs), epochs_deviation=np.std(epochs, ddof=1))


print(json.dumps(dict(
    versions=dict(python=platform.python_version(), numpy=np.__version__, sklearn=sklearn.__version__),
    seeds=SEEDS,
    means=[
        means("breast cancer", hidden_layer_sizes=(30,), max_iter=60, batch_size=50),
        means("breast cancer", hidden_layer_sizes=(30, 10), learning_rate_init=0.01, batch_size=50, early_stopping=True, validation_fraction=0.2),
        means("digits", hidden_layer_sizes=(40,), max_iter=40, batch_size=100),
        means("digits", hidden_layer_sizes=(30,), learning_rate_init=0.01, tol=1e-3),
        means("numbers", hidden_layer_sizes=(50,), learning_rate_init=0.01, alpha=0.01),
        means("numbers", hidden_layer_sizes=(30, 15), learning_rate_init=0.005, early_stopping=True, validation_fraction=0.2),
    ]), indent=1))
