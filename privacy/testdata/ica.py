#!/usr/bin/env python3
"""Sources of a mixture by scikit-learn's FastICA (log cosh, parallel), iterated to
rounding. Writes ica.json: mixture x (250 x 4) and sources s, of variance 1."""
import json, os, sys
import numpy as np
import sklearn
from sklearn.decomposition import FastICA

rng = np.random.default_rng(20)
n = 250
s = np.column_stack([rng.uniform(-1, 1, n), rng.laplace(size=n), rng.exponential(size=n),
                     rng.choice([-1.0, 1.0], n) + 0.3 * rng.normal(size=n)])
x = np.round(s @ rng.normal(size=(4, 4)) + rng.normal(size=4), 6)
ica = FastICA(algorithm="parallel", whiten="unit-variance", fun="logcosh", tol=1e-14, max_iter=5000, random_state=1)
out = ica.fit_transform(x)
json.dump({"sklearn": sklearn.__version__, "numpy": np.__version__, "python": sys.version.split()[0],
           "iterations": int(ica.n_iter_), "x": x.tolist(), "s": out.tolist()},
          open(os.path.join(os.path.dirname(__file__), "ica.json"), "w"))
