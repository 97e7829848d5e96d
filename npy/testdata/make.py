# Makes the .npy files of this folder and expected.json, which the tests read.
# Run as: /usr/bin/python3 make.py. The versions stand in expected.json.
import io, json, os, platform, sys
import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
expected = {"numpy": np.__version__, "python": platform.python_version(), "matrices": {}, "ints": {}}


def save(name, a, kind, version=None):
    with open(name + ".npy", "wb") as f:
        np.lib.format.write_array(f, a, version=version, allow_pickle=True)
    if kind:
        expected[kind][name] = {
            "shape": list(a.shape),
            "values": [int(v) if kind == "ints" else float(v) for v in a.ravel(order="C")],
        }


m = np.array([[1.5, -2.25, 3e300], [0.1, 5e-324, -0.0]])
save("f8", m, "matrices")
save("f8_fortran", np.asfortranarray(m), "matrices")
save("f8_big_endian", m.astype(">f8"), "matrices")
save("f8_big_endian_fortran", np.asfortranarray(m.astype(">f8")), "matrices")
save("f8_v2", m, "matrices", (2, 0))
save("f8_v3", m, "matrices", (3, 0))
save("f8_vector", np.array([1.5, -2.25]), "matrices")
save("f8_no_rows", np.zeros((0, 3)), "matrices")
save("f8_row", np.array([[1.0, 2.0, 3.0]]), "matrices")
save("f8_column_fortran", np.asfortranarray(np.array([[1.0], [2.0]])), "matrices")
s = np.array([[1.5, 0.1], [-7.0, 3e38]], dtype="<f4")
save("f4", s, "matrices")
save("f4_big_endian", s.astype(">f4"), "matrices")
# Longer than one chunk of the reader, in both orders.
g = np.arange(1200 * 7, dtype="<f8").reshape(1200, 7)
for name, a in (("f8_long", g), ("f8_long_fortran", np.asfortranarray(g))):
    save(name, a, None)
small = [0, 1, 100, 7]
for t in ["|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "|u1", "<u2", "<u4"]:
    name = {"<": "", "|": "", ">": "be_"}[t[0]] + t[1:]
    signed = np.array([v if t[1] == "u" else -v for v in small] + [np.iinfo(t).max, np.iinfo(t).min], dtype=t)
    save(name, signed, "ints")
save("b1", np.array([True, False, True]), "ints")
save("i8_column", np.array([[3], [4]], dtype="<i8"), "ints")
save("i8_empty", np.zeros(0, dtype="<i8"), "ints")

# What must be refused.
save("bad_object", np.array([{"a": 1}, None], dtype=object), None)
save("bad_structured", np.zeros(2, dtype=[("x", "<f8"), ("y", "<i4")]), None)
save("bad_string", np.array(["ab", "c"]), None)
save("bad_complex", np.zeros(2, dtype="<c16"), None)
save("bad_float16", np.zeros(2, dtype="<f2"), None)
save("bad_3d", np.zeros((2, 2, 2)), None)
save("bad_0d", np.array(1.0), None)

with open("expected.json", "w") as f:
    json.dump(expected, f, indent=1)
    f.write("\n")
