#!/usr/bin/env python3
"""Makes the CSV files of this example: invented patients, no real person.

Readmission within 30 days depends on age, length of stay and blood values; each
clinic sees other patients. Needs only Python's standard library.
"""
import csv
import math
import random

FEATURES = ["age", "stay_days", "systolic", "creatinine", "haemoglobin", "visits"]


def patient(rnd, older):
    age = min(100, max(18, rnd.gauss(58 + older, 15)))
    visits = min(20, int(rnd.expovariate(1 / 2)))
    stay = min(60, max(1, rnd.gammavariate(2, 2) + visits / 3))
    systolic = min(240, max(80, rnd.gauss(118 + 0.3 * age, 15)))
    creatinine = min(8, max(0.3, rnd.lognormvariate(-0.1 + age / 400, 0.35)))
    haemoglobin = min(20, max(5, rnd.gauss(15 - age / 50, 1.4)))
    z = -7.0 + 0.055 * age + 0.22 * stay + 0.01 * systolic + 0.9 * creatinine - 0.12 * haemoglobin + 0.35 * visits
    label = "yes" if rnd.random() < 1 / (1 + math.exp(-z)) else "no"
    return [f"{age:.0f}", f"{stay:.1f}", f"{systolic:.0f}", f"{creatinine:.2f}", f"{haemoglobin:.1f}", visits, label]


def write(name, rows, older, seed):
    rnd = random.Random(seed)
    with open(name, "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow(FEATURES + ["readmitted"])
        w.writerows(patient(rnd, older) for _ in range(rows))


write("north.csv", 120, 5, 1)
write("east.csv", 80, -8, 2)
write("west.csv", 30, 0, 3)
write("new.csv", 100, 0, 4)
