"""Known answers for forests and boosting, by scikit-learn.

Run in this folder: /usr/bin/python3 trees.py, which writes trees.json.gz.
The versions used stand in the output. Generated numbers have few decimals so that
the file stays small. Trees whose splits would depend on the order in which columns
are tried, because two splits are equally good, are drawn anew.
"""
import gzip
import json
import platform

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.ensemble import (HistGradientBoostingClassifier, HistGradientBoostingRegressor,
                              RandomForestClassifier, RandomForestRegressor)
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

rng = np.random.default_rng(20240611)


def generated(n, classes=0, outputs=1):
    """Columns of many and of few values; classes, or numbers if there are none."""
    x = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 12, n) / 4, rng.integers(0, 2, n), rng.exponential(size=n)])
    x = np.round(x, 3)
    f = x[:, 0] + np.sin(2 * x[:, 1]) + x[:, 3] * x[:, 4] - .3 * x[:, 5] ** 2 + .5 * rng.normal(size=n)
    if classes:
        return x, np.searchsorted(np.quantile(f, np.arange(1, classes) / classes), f)
    return x, np.column_stack([np.round(f * (1 + .3 * j) + j * x[:, 2], 3) for j in range(outputs)])


def floor32(t):
    """The largest 32-bit number that is not above t."""
    s = np.float32(t)
    return float(s if float(s) <= t else np.nextafter(s, np.float32(-np.inf)))


def tree(name, n, classes, outputs, depth, leaf):
    make = DecisionTreeClassifier if classes else DecisionTreeRegressor
    for attempt in range(1000):
        x, y = generated(n, classes, outputs)
        trees = [make(max_depth=depth, min_samples_leaf=leaf, random_state=s).fit(x, y).tree_ for s in range(20)]
        t = trees[0]
        if all(np.array_equal(t.feature, u.feature) and np.array_equal(t.threshold, u.threshold) for u in trees):
            break
    else:
        raise ValueError(name + ": always ties")
    inner = t.children_left >= 0
    values = t.value[:, 0, :] / t.value[:, 0, :].sum(1, keepdims=True) if classes else t.value[:, :, 0]
    return dict(name=name, x=x.tolist(), y=y.tolist(), classes=classes, depth=depth, leaf=leaf,
                feature=np.where(inner, t.feature, -1).tolist(),
                threshold=[floor32(v) if i else 0 for v, i in zip(t.threshold, inner)],
                left=np.where(inner, t.children_left, 0).tolist(), right=np.where(inner, t.children_right, 0).tolist(),
                values=np.round(values, 14).tolist())


def boosting(name, x, y, classes, **settings):
    make = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    h = make(early_stopping=False, **settings).fit(x, y if classes else y[:, 0])
    raw = h._raw_predict(x)
    return dict(name=name, x=x.tolist(), y=y.tolist(), classes=classes, settings=settings,
                raw=np.round(raw, 10).tolist())


def split(x, y):
    test = np.arange(len(x)) % 3 == 0
    return x[~test], y[~test], x[test], y[test]


def means(name, x, y, classes, forest, boosted):
    xa, ya, xb, yb = split(x, y)
    out = dict(name=name, x=x.tolist(), y=y.tolist(), classes=classes, trees=forest, rounds=boosted)
    for kind in ("forest", "boosting"):
        scores = []
        for s in range(10):
            if kind == "forest":
                h = (RandomForestClassifier if classes else RandomForestRegressor)(n_estimators=forest, random_state=s)
            else:
                h = (HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor)(
                    max_iter=boosted, early_stopping=True, random_state=s)
            h.fit(xa, ya if classes else ya[:, 0])
            row = [h.score(xb, yb)]
            if classes == 2:
                row.append(roc_auc_score(yb, h.predict_proba(xb)[:, 1]))
            scores.append(row)
        out[kind] = np.mean(scores, 0).tolist()
    return out


bc, digits = load_breast_cancer(), load_digits()
bx = np.round(bc.data, 6)
answers = dict(
    versions=dict(python=platform.python_version(), numpy=np.__version__, sklearn=sklearn.__version__),
    trees=[
        tree("two classes", 400, 2, 1, 4, 8),
        tree("four classes", 500, 4, 1, 4, 10),
        tree("nine classes", 300, 9, 1, 3, 12),
        tree("a number", 400, 0, 1, 6, 5),
        tree("a number, deep", 200, 0, 1, 20, 3),
        tree("two numbers", 300, 0, 2, 5, 5),
    ],
    boosting=[
        boosting("two classes", *generated(500, 2), 2),
        boosting("two classes, other settings", *generated(400, 2), 2, learning_rate=.3, max_leaf_nodes=7,
                 min_samples_leaf=5, l2_regularization=1.5, max_iter=40, max_bins=17),
        boosting("three classes", *generated(400, 3), 3, max_iter=30),
        boosting("a number", *generated(600), 0),
        boosting("a number, shallow", *generated(300), 0, max_depth=2, max_iter=50),
    ],
    means=[
        means("breast cancer", bx, bc.target, 2, 100, 100),
        means("digits", digits.data.astype(int), digits.target, 10, 50, 20),
        means("numbers", *generated(900), 0, 50, 100),
    ],
)
text = json.dumps(answers, default=float)
with open("trees.json.gz", "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", mtime=0, filename="") as z:
    z.write(text.encode())
