"""Writes small files of every format for the fuzz test; rows.parquet is by parquet-go
(TestFuzzSeeds). NumPy 1.24, SQLite 3.40."""
import gzip, os, sqlite3
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
at = lambda name: os.path.join(here, name)
rows = np.array([[63, 27.5, 80], [41, 22, 61.25]])
outcome = np.array(['benign', 'malignant'])
np.save(at('matrix.npy'), rows)
record = np.zeros(2, dtype=[('age', '<i2'), ('bmi', '>f4'), ('kg', '<f8'), ('outcome', '<U9')])
record['age'], record['bmi'], record['kg'], record['outcome'] = rows[:, 0], rows[:, 1], rows[:, 2], outcome
np.save(at('structured.npy'), record)
np.savez_compressed(at('columns.npz'), age=rows[:, 0], bmi=rows[:, 1], kg=rows[:, 2], outcome=outcome)
pictures = bytes([0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3]) + bytes(range(6))
open(at('pictures.idx'), 'wb').write(pictures)
open(at('pictures.idx.gz'), 'wb').write(gzip.compress(pictures, mtime=0))
if os.path.exists(at('rows.db')):
    os.remove(at('rows.db'))
db = sqlite3.connect(at('rows.db'))
db.execute('PRAGMA page_size = 512')
db.execute('CREATE TABLE rows (age INTEGER, bmi REAL, kg REAL, outcome TEXT)')
db.executemany('INSERT INTO rows VALUES (?, ?, ?, ?)', [(int(r[0]), r[1], r[2], y) for r, y in zip(rows, outcome)])
db.commit()
