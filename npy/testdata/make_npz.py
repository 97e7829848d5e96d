# Makes the .npz files of this folder, which npz_test.go reads.
# Run as: /usr/bin/python3 make_npz.py. Made with Python 3.11.2, NumPy 1.24.2.
import os, zipfile
import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
x = np.array([[1.5, -2.25, 3e300], [0.1, np.nan, -0.0]])
y = np.array([3, -1], dtype="<i4")
bits = np.packbits(np.array([[1, 0, 0, 0, 0, 0, 0, 1, 0, 1], [0, 1, 1, 0, 0, 0, 0, 0, 1, 1]], dtype="u1"), axis=1)
np.savez("plain.npz", X=x, y=y, bits=bits)
np.savez_compressed("compressed.npz", X=x, y=y, bits=bits)
np.savez("bad_fortran.npz", bits=np.asfortranarray(bits))
with zipfile.ZipFile("bad_twice.npz", "w") as z:
    for _ in range(2):
        z.writestr("X.npy", b"")
