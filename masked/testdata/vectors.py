#!/usr/bin/python3
"""Makes vectors.json: masked messages, shares and sums by docs/formats.md alone.

Standard library only (Python 3.9 or later); AES, X25519 and the polynomial arithmetic
are written out here, after FIPS 197, RFC 7748 and Shamir 1979. Run in this folder:

    ./vectors.py > vectors.json
"""
import base64, hashlib, hmac, json, struct
from fractions import Fraction

# AES-256, one block (FIPS 197).
def xtime(a):
    return ((a << 1) ^ 0x1B) & 0xFF if a & 0x80 else a << 1

def gmul(a, b):
    r = 0
    while b:
        if b & 1:
            r ^= a
        a, b = xtime(a), b >> 1
    return r

def sbox():
    box = []
    for x in range(256):
        inv = next((y for y in range(256) if gmul(x, y) == 1), 0)
        r = 0x63
        for k in range(5):
            r ^= ((inv << k) | (inv >> (8 - k))) & 0xFF
        box.append(r)
    return box

SBOX = sbox()

def expand(key):
    w = [list(key[4 * i:4 * i + 4]) for i in range(8)]
    rcon = 1
    for i in range(8, 60):
        t = list(w[i - 1])
        if i % 8 == 0:
            t = [SBOX[b] for b in t[1:] + t[:1]]
            t[0] ^= rcon
            rcon = xtime(rcon)
        elif i % 8 == 4:
            t = [SBOX[b] for b in t]
        w.append([a ^ b for a, b in zip(w[i - 8], t)])
    return [sum(w[4 * r:4 * r + 4], []) for r in range(15)]

def aes(round_keys, block):
    s = [a ^ b for a, b in zip(block, round_keys[0])]
    for r in range(1, 15):
        s = [SBOX[b] for b in s]
        s = [s[(i + 4 * (i % 4)) % 16] for i in range(16)]
        if r < 14:
            out = []
            for c in range(0, 16, 4):
                a = s[c:c + 4]
                for i in range(4):
                    out.append(gmul(a[i], 2) ^ gmul(a[(i + 1) % 4], 3) ^ a[(i + 2) % 4] ^ a[(i + 3) % 4])
            s = out
        s = [a ^ b for a, b in zip(s, round_keys[r])]
    return bytes(s)

assert aes(expand(bytes(range(32))), bytes(0x11 * i for i in range(16))).hex() == "8ea2b7ca516745bfeafc49904b496089"

def stream(key, n):
    rk = expand(key)
    return [int.from_bytes(aes(rk, w.to_bytes(16, "big")), "little") for w in range(n)]

# X25519 (RFC 7748, section 5).
P = 2**255 - 19

def x25519(k, u):
    k = int.from_bytes(bytes([k[0] & 248]) + k[1:31] + bytes([(k[31] & 127) | 64]), "little")
    x1 = int.from_bytes(u, "little") & ((1 << 255) - 1)
    x2, z2, x3, z3, swap = 1, 0, x1, 1, 0
    for t in range(254, -1, -1):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, x1 * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")

BASE = (9).to_bytes(32, "little")

def hkdf(secret, salt, info):
    prk = hmac.new(salt, secret, hashlib.sha256).digest()
    return hmac.new(prk, info + b"\x01", hashlib.sha256).digest()

def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()

u32 = lambda n: struct.pack(">I", n)

# The setting.
STUDY, EPOCH, STAGE, COLLUDERS = sha(b"vector study"), sha(b"vector epoch"), 2, 1
NAMES, BOUND = ["count", "sum of age", "sum of squares of age", "größe", "x5", "x6"], 1000.0
STATISTICS = sha(b"concord/masked/statistics/v1\0", struct.pack(">Qd", len(NAMES), BOUND),
                 *(u32(len(n.encode())) + n.encode() for n in NAMES))
FIELD = 2**256 - 189

parties = []
for i in range(1, 6):
    with open("identity%d.json" % i, encoding="utf-8") as f:
        j = json.load(f)
    statement = json.dumps(j["statement"], separators=(",", ":"), ensure_ascii=False).encode()
    mask = base64.b64decode(j["mask_key"])
    assert x25519(mask, BASE) == base64.b64decode(j["statement"]["mask_key"])
    parties.append({"file": "identity%d.json" % i, "print": sha(statement), "mask": mask, "number": i})
parties.sort(key=lambda p: p["print"])

def values(number):
    return [float(100 * number), -999.96875 / number, 0.1 * number, 1e-18 * number, -(2.0**-65) * number, 1000.0 if number % 2 else -1000.0]

def word(x):
    return round(Fraction(x) * 2**64) % 2**128  # round halves to even, as Fraction does

def run(without):
    members = [p for p in parties if p not in without]
    n = len(members)
    t = (n + COLLUDERS) // 2 + 1
    group = sha(b"concord/masked/set/v1\0", EPOCH, u32(n), *(p["print"] for p in members))

    def info(label, *more):
        return b"concord/masked/" + label + b"/v1\0" + STUDY + u32(STAGE) + u32(1 + len(without)) + group + STATISTICS + b"".join(more)

    out, total, keys = [], [0] * len(NAMES), []
    for p in members:
        coefficients = [int.from_bytes(sha(b"coefficient", u32(p["number"]), u32(k), u32(len(without))), "big") % FIELD for k in range(t)]
        key = coefficients[0].to_bytes(32, "big")
        own = stream(hkdf(key, EPOCH, info(b"own", p["print"])), len(NAMES))
        y = [(word(x) + m) % 2**128 for x, m in zip(values(p["number"]), own)]
        keys.append(own)
        for o in members:
            if o is p:
                continue
            pair = x25519(p["mask"], x25519(o["mask"], BASE))
            low, high = sorted([p["print"], o["print"]])
            sign = 1 if p["print"] == low else -1
            y = [(a + sign * m) % 2**128 for a, m in zip(y, stream(hkdf(pair, EPOCH, info(b"pair", low, high)), len(NAMES)))]
        body = b"".join(a.to_bytes(16, "little") for a in y)
        shares, opened = b"", []
        for x, o in enumerate(members, 1):
            share = (sum(c * x**k for k, c in enumerate(coefficients)) % FIELD).to_bytes(32, "big")
            pad = hkdf(x25519(p["mask"], x25519(o["mask"], BASE)), EPOCH, info(b"share", sha(body), p["print"], o["print"]))
            shares += bytes(a ^ b for a, b in zip(share, pad)) + sha(b"concord/masked/commit/v1\0", share)
            opened.append(share.hex())
        head = {"format": 1, "study": STUDY.hex(), "epoch": EPOCH.hex(), "stage": STAGE, "statistics": STATISTICS.hex(),
                "words": len(NAMES), "sender": p["print"].hex(), "kind": "ready"}
        if without:
            head["without"] = [w["print"].hex() for w in without]
        head.update({"body": sha(body).hex(), "key": sha(b"concord/masked/key/v1\0", key).hex(), "shares": base64.b64encode(shares).decode()})
        total = [(a + b) % 2**128 for a, b in zip(total, y)]
        out.append({"identity": p["file"], "values": values(p["number"]), "coefficients": ["%064x" % c for c in coefficients],
                    "words": body.hex(), "head": json.dumps(head, separators=(",", ":")), "shares": opened})
    for own in keys:
        total = [(a - b) % 2**128 for a, b in zip(total, own)]
    assert total == [sum(word(values(p["number"])[i]) for p in members) % 2**128 for i in range(len(NAMES))]
    return {"without": [w["file"] for w in without], "threshold": t, "parties": out, "sums": ["%032x" % a for a in total]}

print(json.dumps({"study": STUDY.hex(), "epoch": EPOCH.hex(), "stage": STAGE, "colluders": COLLUDERS, "names": NAMES, "bound": BOUND,
                  "sets": [run([]), run([parties[1]])]}, indent=1, ensure_ascii=False))
