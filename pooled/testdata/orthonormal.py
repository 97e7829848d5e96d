#!/usr/bin/python3
"""Makes orthonormal.json: Gram and Schmidt's method as package pooled must round it.

Python's floats are IEEE 754 doubles, its operators round each product and each sum by
itself, and math.sqrt is the correctly rounded one: the order of operations alone decides
the bits. Run: ./orthonormal.py > orthonormal.json
"""
import json
import math


def dot(u, v):
    lanes = [0.0] * 4
    whole = len(u) // 4 * 4
    for i in range(whole):
        lanes[i % 4] += u[i] * v[i]
    for i in range(whole, len(u)):
        lanes[0] += u[i] * v[i]
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


def orthonormal(columns):
    basis = []
    for v in columns:
        largest = max(abs(x) for x in v)
        exponent = math.frexp(largest)[1] if largest else 0
        v = [math.ldexp(x, -exponent) for x in v]
        before = math.sqrt(dot(v, v))
        for _ in range(2):
            for u in basis:
                r = dot(u, v)
                v = [x - r * y for x, y in zip(v, u)]
        left = math.sqrt(dot(v, v))
        if left > before * 2.0**-40:
            basis.append([x / left for x in v])
    return basis


def numbers(state, count):
    """Numbers of very different size from a linear congruential generator."""
    out = []
    for _ in range(count):
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        exponent = (state >> 8) % 40 - 20
        out.append(math.ldexp((state >> 11) * 2.0**-53 - 0.5, exponent))
    return out, state


def main():
    cases, state = [], 1
    for rows, cols, depends in [(1, 1, False), (5, 2, False), (23, 9, False), (64, 12, True), (3, 5, False)]:
        y = []
        for _ in range(cols):
            column, state = numbers(state, rows)
            y.append(column)
        if depends:
            y[4] = [2.0 * a - b for a, b in zip(y[1], y[3])]
            y[7] = [0.0] * rows
        q = orthonormal(y)
        cases.append({"y": [[x.hex() for x in c] for c in y], "q": [[x.hex() for x in c] for c in q]})
    print(json.dumps({"cases": cases}, indent=1))


main()
