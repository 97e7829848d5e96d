"""The anchor of mixed public rows in another language.

Run in this folder: /usr/bin/python3 mix.py > mix.json
The versions used stand in the output. DO NOT change the golden output: see
known.py, whose derivation this uses.
"""
import contextlib
import io
import json
import math
import sys

import numpy as np

with contextlib.redirect_stdout(io.StringIO()):
    import known

public = [[0.5, -1.0, 2.0], [3.0, 0.25, -0.75], [1.5, 1.0, 0.0], [-2.0, 4.0, 1.0]]
r = known.normal(5, 4, known.words("public"))
json.dump(
    {
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "seed": known.seed.hex(),
        "public": public,
        "anchor": (r @ np.array(public) / math.sqrt(4)).tolist(),
    },
    sys.stdout,
    indent=1,
)
