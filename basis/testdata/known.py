"""Known answers for package basis, by NumPy and scikit-learn.

Run in this folder: /usr/bin/python3 known.py > known.json
The versions used stand in the output. A basis is known up to an orthogonal
matrix from the right, so the projector F Fᵀ is stored.
"""
import json
import sys

import numpy as np
import sklearn
from sklearn.decomposition import PCA

rng = np.random.default_rng(1)


def case(name, x, l):
    _, s, vt = np.linalg.svd(x, full_matrices=False)
    pca = PCA(l, svd_solver="full").fit(x)
    v, p = vt[:l].T, pca.components_.T
    return {
        "name": name,
        "x": x.tolist(),
        "l": l,
        "svd": (v @ v.T).tolist(),
        "svd_energy": float((s[:l] ** 2).sum() / (s**2).sum()),
        "pca": (p @ p.T).tolist(),
        "pca_energy": float(pca.explained_variance_ratio_.sum()),
    }


scales = np.array([5.0, 3.0, 2.0, 1.0, 0.5, 0.25])
mix = np.linalg.qr(rng.normal(size=(6, 6)))[0]
tall = rng.normal(size=(20, 6)) * scales @ mix + np.arange(6)
wide = (rng.normal(size=(5, 6)) * scales)[:, ::-1] @ mix + 1.0
json.dump(
    {
        "numpy": np.__version__,
        "sklearn": sklearn.__version__,
        "python": sys.version.split()[0],
        "cases": [case("tall", tall, 3), case("wide", wide, 2), case("all directions", tall, 6), case("one", tall, 1)],
    },
    sys.stdout,
)
