"""The anchor in another language: HKDF, ChaCha8Rand and the three kinds.

Run in this folder: /usr/bin/python3 known.py > known.json
The versions used stand in the output. DO NOT change the golden outputs: every
study that has started relies on them. A new derivation gets new labels and
new vectors beside these.

ChaCha8Rand is written from its specification, https://c2sp.org/chacha8rand.
"""
import hashlib
import hmac
import json
import math
import struct
import sys

import numpy as np

M32 = 0xFFFFFFFF


def extract(salt, secret):
    return hmac.new(salt, secret, hashlib.sha256).digest()


def expand(key, info):  # 32 bytes: one block
    return hmac.new(key, info.encode() + b"\x01", hashlib.sha256).digest()


def item(b):
    return struct.pack(">I", len(b)) + b


def derive(epoch, shares):
    return expand(
        extract(epoch, b"".join(item(k) + item(e) for k, e in sorted(shares))),
        "concord/anchor/seed/v1",
    )


def rotl(x, n):
    return ((x << n) | (x >> (32 - n))) & M32


def quarter(s, a, b, c, d):
    for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & M32
        s[z] = rotl(s[z] ^ s[x], n)


def block(key, counter):
    s = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *key, counter, 0, 0, 0]
    for _ in range(4):
        for i in range(4):
            quarter(s, i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    for i in range(8):  # only the key is added, not constants and counter
        s[4 + i] = (s[4 + i] + key[i]) & M32
    return s


def chacha8rand(seed):
    while True:
        key = struct.unpack("<8I", seed)
        out = b""
        for first in range(0, 16, 4):
            four = [block(key, first + i) for i in range(4)]
            out += b"".join(struct.pack("<4I", *(b[w] for b in four)) for w in range(16))
        yield from struct.unpack("<124Q", out[:992])
        seed = out[992:]


def uniforms(words):
    for w in words:
        yield (w >> 11) * 2.0**-53


def uniform(rows, cols, words):
    u = uniforms(words)
    return np.array([next(u) for _ in range(rows * cols)]).reshape(rows, cols)


def normal(rows, cols, words):
    u = uniforms(words)
    out = []
    while len(out) < rows * cols:
        x = 2 * next(u) - 1
        y = 2 * next(u) - 1
        q = x * x + y * y
        if 0 < q < 1:
            f = math.sqrt(-2 * math.log(q) / q)
            out += [x * f, y * f]
    return np.array(out[: rows * cols]).reshape(rows, cols)


def orthonormal(rows, cols, words):
    q, r = np.linalg.qr(normal(rows, cols, words))
    return math.sqrt(rows) * q * np.where(np.diag(r) < 0, -1.0, 1.0)


def words(kind):
    return chacha8rand(expand(seed, "concord/anchor/" + kind + "/v1"))


epoch = bytes(range(32))
shares = [(bytes([9 - i]) * 32, bytes(range(10 * i, 10 * i + 32))) for i in range(3)]
seed = derive(epoch, shares)
large = uniform(400, 30, words("uniform"))
json.dump(
    {
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "epoch": epoch.hex(),
        "shares": [{"key": k.hex(), "entropy": e.hex()} for k, e in shares],
        "seed": seed.hex(),
        "id": expand(seed, "concord/anchor/id/v1").hex(),
        "uniform": [[x.hex() for x in row] for row in large[:1, :8].tolist()],
        "uniform_sha256": hashlib.sha256(large.astype("<f8").tobytes()).hexdigest(),
        "normal": normal(7, 3, words("normal")).tolist(),
        "orthonormal": orthonormal(6, 4, words("orthonormal")).tolist(),
    },
    sys.stdout,
    indent=1,
)
