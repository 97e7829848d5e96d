"""Known answers for directions and dimensions, by scikit-learn.

Run in this folder: /usr/bin/python3 directions.py > directions.json
The versions used stand in the output. Directions are known up to sign, so the
projector V Vᵀ is stored. The perturbed rows are given as rows and noise.
"""
import json
import sys

import numpy as np
import sklearn
from sklearn.decomposition import PCA

rng = np.random.default_rng(2)
x = rng.normal(size=(30, 7)) * np.array([4, 3, 2, 1.5, 1, 0.5, 0.25]) + np.arange(7)
pca = PCA(svd_solver="full").fit(x)
cumulative = np.cumsum(pca.explained_variance_ratio_)
shares = [1e-9, 0.3, 0.6, 0.75, 0.9, 0.95, 0.999, 1.0]
wide = rng.normal(size=(6, 40)) + 1.0
w = PCA(4, svd_solver="full").fit(wide).components_.T
json.dump(
    {
        "numpy": np.__version__,
        "sklearn": sklearn.__version__,
        "python": sys.version.split()[0],
        "x": x.tolist(),
        # The largest l whose components explain less than the share, at least 1.
        "dims": [{"share": s, "l": max(1, int((cumulative < s - 1e-12).sum()))} for s in shares],
        "wide": wide.tolist(),
        "wide_pca": (w @ w.T).tolist(),
    },
    sys.stdout,
)
