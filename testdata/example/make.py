#!/usr/bin/python3
"""Makes the NumPy files of the package's examples: three parties' images of one
anchor (A1.npy ...), of their rows (X1.npy ...) and their labels (Y1.npy ...).

    cd testdata/example && ./make.py
"""
import numpy as np

rng = np.random.default_rng(1)
m, l, a, n = 6, 4, 12, 50
anchor = rng.standard_normal((a, m))
v = np.linalg.qr(rng.standard_normal((m, l)))[0]  # the directions that all parties share
w = v @ rng.standard_normal(l)
for i in (1, 2, 3):
    f = v @ np.linalg.qr(rng.standard_normal((l, l)))[0]  # a secret basis
    x = rng.standard_normal((n, m))
    y = (x @ w + 0.5 * rng.standard_normal(n) > 0).astype(np.int64)
    np.save(f"A{i}.npy", anchor @ f)
    np.save(f"X{i}.npy", x @ f)
    np.save(f"Y{i}.npy", y)
