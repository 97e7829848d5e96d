# Makes the .npz files of this folder, which open_test.go reads.
# Run as: /usr/bin/python3 make.py. Made with Python 3.11.2, NumPy 1.24.2.
import os
import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
x = np.array([[1, 7, 0.5], [2, 7, np.nan], [3, 7, -0.25], [4, 7, 8]], dtype="<f4")
np.savez_compressed("classes.npz", X=x, y=np.array([1, 0, 1, 1], dtype="u1"))
np.savez_compressed("regression.npz", X=x, y=np.array([0.5, 1.5, 2.5, 3.5]))
np.savez_compressed("bad_rows.npz", X=x, y=np.array([1, 0]))
np.savez_compressed("bad_names.npz", data=x, y=np.array([1, 0, 1, 1]))
np.savez_compressed("bad_infinite.npz", X=np.array([[1.0], [np.inf]]), y=np.array([1, 0]))
np.savez_compressed("bad_y.npz", X=np.array([[1.0], [2.0]]), y=np.array([1, np.nan]))
