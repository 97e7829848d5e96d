# Writes ages.csv: days and years (of 365.25 days) between dates, by Python's datetime, and
# dates that are not in the calendar. Run in this folder: python3 ages.py > ages.csv
from datetime import date, timedelta
from fractions import Fraction
import random

random.seed(229)
marks = [date(y, m, d) for y in (1600, 1700, 1896, 1900, 1904, 1969, 1970, 1999, 2000, 2001, 2023, 2024, 2100, 2400)
         for m, d in ((1, 1), (2, 28), (3, 1), (12, 31))]
marks += [date(y, 2, 29) for y in (1600, 1896, 1904, 1972, 2000, 2004, 2024, 2400)]
print("born,on,days,age")
pairs = [(random.choice(marks), random.choice(marks)) for _ in range(300)]
pairs += [(date(y, 2, 29), date(y + k, m, d)) for y in (1904, 2000, 2020) for k in (0, 1, 3, 4, 96) for m, d in ((2, 28), (3, 1))]
for born, on in pairs:
    days = (born - on).days
    print(f"{born},{on},{days},{float(Fraction(-days) / Fraction(1461, 4))!r}")
for y in (1700, 1800, 1900, 2001, 2019, 2023, 2100):
    print(f"{y}-02-29,2000-01-01,no,no")
for s in ("2024-02-30", "2023-13-01", "2023-00-10", "2023-04-31", "2023-01-00"):
    print(f"{s},2000-01-01,no,no")
