#!/usr/bin/python3
"""Runs Concord's learners and scikit-learn's alternately and writes docs/results/learners.md.

    bench/learners.py accuracy           coefficients, decision values and test figures on four data sets;
                                         fails when one differs by more than is wanted
    bench/learners.py time               training time, one process each, alternately
    bench/learners.py page               only writes the page anew

--data names the folder of the data sets (breast_cancer_wdbc, digits, pima_diabetes, adult,
mnist). Every measurement is kept in OUT/learners.json, of which the page is made.
Both sides get the same .npy files: rows standardised by the training rows,
categories one-hot. Run the times on a machine that does nothing else.
"""
import argparse
import csv
import gzip
import json
import os
import pathlib
import statistics
import sys
import tempfile

import numpy as np

sys.dont_write_bytecode = True  # leave the folder as it is
import compare

HERE = pathlib.Path(__file__).resolve().parent


# Data: training rows, training labels, test rows, test labels.

def read_csv(path):
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)
    with opened as f:
        rows = list(csv.reader(f))
    return rows[0], rows[1:]


def numbers(path):
    head, rows = read_csv(path)
    a = np.array(rows, dtype=float)
    return a[:, :-1], a[:, -1].astype(int)


def split(x, y, seed=1):
    order = np.random.default_rng(seed).permutation(len(y))
    cut = len(y) * 7 // 10
    return standard(x[order[:cut]], y[order[:cut]], x[order[cut:]], y[order[cut:]])


def standard(x, y, tx, ty):
    mean, scale = x.mean(0), x.std(0)
    scale[scale == 0] = 1
    return (x - mean) / scale, y, (tx - mean) / scale, ty


def adult(data):
    head, train = read_csv(data / "adult" / "adult_train.csv.gz")
    _, test = read_csv(data / "adult" / "adult_test.csv.gz")

    def columns(rows):
        out = []
        for j in range(len(head) - 1):
            values = [r[j] for r in rows]
            levels = sorted({r[j] for r in train})
            if all(v.replace(".", "", 1).isdigit() for v in levels):
                out.append(np.array([float(v) for v in values])[:, None])
            else:
                place = {v: k for k, v in enumerate(levels)}
                hot = np.zeros((len(rows), len(levels)))
                for i, v in enumerate(values):
                    if v in place:
                        hot[i, place[v]] = 1
                out.append(hot)
        return np.hstack(out)

    def label(rows):
        return np.array([int(r[-1]) for r in rows])

    return standard(columns(train), label(train), columns(test), label(test))


def few(rows, x, y, tx, ty):
    """Of so many training rows and as many test rows at most."""
    order = np.random.default_rng(2).permutation(len(y))[:rows]
    return x[order], y[order], tx[:rows], ty[:rows]


def mnist(data, rows=10000, width=100):
    def idx(name, head):
        raw = gzip.open(data / "mnist" / name, "rb").read()
        return np.frombuffer(raw, dtype=np.uint8, offset=head)
    x = idx("train-images-idx3-ubyte.gz", 16).reshape(-1, 784)[:rows] / 255.0
    y = idx("train-labels-idx1-ubyte.gz", 8)[:rows].astype(int)
    tx = idx("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784)[:rows] / 255.0
    ty = idx("t10k-labels-idx1-ubyte.gz", 8)[:rows].astype(int)
    mean = x.mean(0)
    _, _, vt = np.linalg.svd(x - mean, full_matrices=False)
    return (x - mean) @ vt[:width].T, y, (tx - mean) @ vt[:width].T, ty


def sets(data):
    return {
        "breast cancer": split(*numbers(data / "breast_cancer_wdbc" / "wdbc.csv")),
        "digits": split(*numbers(data / "digits" / "digits.csv.gz")),
        "Pima": split(*numbers(data / "pima_diabetes" / "pima.csv")),
        "Adult": adult(data),
    }


# The two sides.

class Files:
    """Arrays as .npy files in a folder, for the program."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.count = 0

    def save(self, a):
        self.count += 1
        path = self.folder / f"a{self.count}.npy"
        np.save(path, np.ascontiguousarray(a, dtype=np.float64))
        return str(path)


def concord(o, files, model, x, y, score, settings=(), seed=0, repeat=1):
    """Fits, and returns what bench learn prints and the scores of the rows of score."""
    out = str(files.folder / "scores.npy")
    command = [o.lab, "bench", "learn", "--model", model, "--x", x, "--y", y, "--score", score, "--out", out,
               "--seed", str(seed), "--repeat", str(repeat), "--json"]
    for name, value in settings:
        command += ["--set", f"{name}={value}"]
    r = compare.run(command)
    return r, np.load(out)


def peer(model, seed=0, **more):
    """scikit-learn's estimator with its defaults, two threads where it has them."""
    from sklearn import ensemble, linear_model, neighbors, neural_network, svm
    make = {
        "logistic": lambda: linear_model.LogisticRegression(**{"C": 1.0, **more}),
        "svm-linear": lambda: svm.LinearSVC(**{"C": 1.0, "random_state": seed, **more}),
        "svm": lambda: svm.SVC(**{"C": 1.0, **more}),
        "mlp": lambda: neural_network.MLPClassifier(**{"random_state": seed, **more}),
        "forest": lambda: ensemble.RandomForestClassifier(**{"n_estimators": 100, "n_jobs": 2, "random_state": seed, **more}),
        "boosting": lambda: ensemble.HistGradientBoostingClassifier(**{"random_state": seed, **more}),
        "knn": lambda: neighbors.KNeighborsClassifier(**more),
    }
    return make[model]()


def probe(d):
    """Rows from which intercept and coefficients of a linear model follow."""
    return np.vstack([np.zeros((1, d)), np.eye(d)])


def coefficients(scores):
    """(d + 1) × k: intercepts and coefficients, from scores of the probe."""
    return np.vstack([scores[:1], scores[1:] - scores[:1]])


def figure_of(scores, y):
    """ROC-AUC of two classes, else accuracy."""
    from sklearn.metrics import roc_auc_score
    if scores.shape[1] == 2:
        return roc_auc_score(y, scores[:, 1] - scores[:, 0])
    return float(np.mean(np.argmax(scores, 1) == y))


def two(scores):
    """Scores of a decision function as a column for each class."""
    return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores


def accuracy(o):
    import warnings
    from sklearn.linear_model import Ridge
    warnings.simplefilter("ignore")  # of convergence: reported as figures
    rows = []

    def row(data, model, what, ours, theirs, difference, wanted):
        rows.append({"data": data, "model": model, "what": what, "concord": ours, "peer": theirs,
                     "difference": float(difference), "wanted": wanted})
        print(f"{data:14} {model:10} {what:44} {difference:.2e}  wanted {wanted:g}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder)
        for name, (x, y, tx, ty) in sets(pathlib.Path(o.data)).items():
            fx, fy, ft, fp = files.save(x), files.save(y), files.save(tx), files.save(probe(x.shape[1]))
            k = y.max() + 1
            _, s = concord(o, files, "ridge", fx, fy, fp)
            theirs = Ridge(alpha=1.0).fit(x, np.eye(k)[y])
            theirs = np.vstack([theirs.intercept_, theirs.coef_.T])
            row(name, "ridge", "coefficients, largest difference / largest", None, None,
                np.abs(coefficients(s) - theirs).max() / np.abs(theirs).max(), 1e-4)

            _, s = concord(o, files, "logistic", fx, fy, fp)
            theirs = peer("logistic", solver="newton-cg", tol=1e-10, max_iter=10000).fit(x, y)
            theirs = np.vstack([theirs.intercept_, theirs.coef_.T])
            ours = np.log(s)
            ours = ours[:, 1:] - ours[:, :1] if k == 2 else ours - ours.mean(1, keepdims=True)
            ours = coefficients(ours)
            if k > 2:
                theirs = theirs - theirs.mean(1, keepdims=True)
            row(name, "logistic", "coefficients, largest difference / largest", None, None,
                np.abs(ours - theirs).max() / np.abs(theirs).max(), 1e-4)

            sx, sy, stx, sty = few(3000, x, y, tx, ty)
            fsx, fsy, fst = files.save(sx), files.save(sy), files.save(stx)
            _, s = concord(o, files, "svm-linear", fsx, fsy, fst, [("tol", 1e-6), ("max_iter", 100000)])
            theirs = two(peer("svm-linear", tol=1e-6, max_iter=100000).fit(sx, sy).decision_function(stx))
            row(name, "svm-linear", f"decision values, largest difference ({len(sy)} rows)", None, None, np.abs(s - theirs).max(), 1e-3)
            _, s = concord(o, files, "svm", fsx, fsy, fst, [("tol", 1e-6)])
            theirs = two(peer("svm", tol=1e-6).fit(sx, sy).decision_function(stx))
            row(name, "svm", f"decision values, largest difference ({len(sy)} rows)", None, None, np.abs(s - theirs).max(), 1e-3)
            _, s = concord(o, files, "knn", fsx, fsy, fst)
            same = np.mean(np.argmax(s, 1) == peer("knn").fit(sx, sy).predict(stx))
            row(name, "knn", "share of test rows with another class", None, None, 1 - same, 0)

            for model in ("forest", "boosting", "mlp"):
                data, paths = ((x, y, tx, ty), (fx, fy, ft)) if model != "mlp" else ((sx, sy, stx, sty), (fsx, fsy, fst))
                seeds = 1 if model == "boosting" and len(data[1]) <= 10000 else 10  # boosting draws nothing there
                ours = [figure_of(concord(o, files, model, *paths, seed=i)[1], data[3]) for i in range(seeds)]
                theirs = [figure_of(peer(model, i).fit(data[0], data[1]).predict_proba(data[2]), data[3]) for i in range(seeds)]
                what = "ROC-AUC" if k == 2 else "accuracy"
                row(name, model, f"test {what}, mean of {seeds} seeds ({len(data[1])} rows)", statistics.mean(ours), statistics.mean(theirs),
                    abs(statistics.mean(ours) - statistics.mean(theirs)), 0.01)
    return rows


# Times.

TIMED = [
    # model, data, scikit-learn's settings, Concord's, wanted, what is equal
    ("logistic", "mnist", {"max_iter": 1000}, [("tol", 1e-6)], 1,
     "float64, L-BFGS, 2 threads; scikit-learn ends by its default rule, Concord where its own gives an objective no higher"),
    ("svm", "mnist", {"cache_size": 200}, [], 1, "C 1, gamma scale, tol 1e-3, cache 200 MB; scikit-learn has 1 thread, Concord 2"),
    ("mlp", "mnist", {"hidden_layer_sizes": (256,), "max_iter": 20, "batch_size": 200, "tol": 0.0, "n_iter_no_change": 1000},
     [("hidden", "256"), ("epochs", 20), ("batch", 200), ("patience", 1000)], 2, "float64, 256 units, 20 epochs, batch 200, Adam, 2 threads"),
    ("forest", "adult", {}, [], 2, "100 trees, all defaults, 2 threads; both compare in float32"),
    ("boosting", "adult", {"early_stopping": False}, [("early_stopping", "off")], 1, "100 rounds, 255 bins, 31 leaves, 2 threads"),
]


def timed_peer(o, model, settings, x, y, repeat):
    """In a process of its own, so that nothing is warm."""
    code = ("import json,sys,time,warnings\nimport numpy as np\nwarnings.simplefilter('ignore')\n"
            f"sys.path.insert(0,{str(HERE)!r})\nimport learners\nx,y=np.load({x!r}),np.load({y!r}).astype(int)\n"
            f"t=[]\nfor i in range({repeat}):\n m=learners.peer({model!r},i,**{settings!r})\n b=time.perf_counter()\n m.fit(x,y)\n t.append(time.perf_counter()-b)\n"
            "print(json.dumps({'seconds':{'median':float(np.median(t)),'min':min(t),'max':max(t)}}))\n")
    return compare.run([sys.executable, "-c", code])


def objective(h, x, y):
    """What LogisticRegression minimises, at C = 1."""
    z = x @ h.coef_.T + h.intercept_
    top = z.max(1, keepdims=True)
    return float((np.log(np.exp(z - top).sum(1)) + top[:, 0] - z[np.arange(len(y)), y]).sum() + (h.coef_ ** 2).sum() / 2)


def timing(o):
    rows = []
    data = pathlib.Path(o.data)
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder)
        loaded = {"mnist": mnist(data), "adult": adult(data)}
        saved = {n: (files.save(d[0]), files.save(d[1]), files.save(d[2][:10])) for n, d in loaded.items()}
        for model, name, theirs, ours, wanted, equal in TIMED:
            x, y, score = saved[name]
            times = [[], []]
            for _ in range(o.rounds):
                times[0].append(timed_peer(o, model, theirs, x, y, o.repeat)["seconds"]["median"])
                record, _ = concord(o, files, model, x, y, score, ours, repeat=o.repeat)
                times[1].append(record["seconds"]["median"])
            p, c = statistics.median(times[0]), statistics.median(times[1])
            if model == "logistic":
                ours_, theirs_ = record["objective"] * len(loaded[name][1]), objective(peer(model, **theirs).fit(*loaded[name][:2]), *loaded[name][:2])
                equal += f": {ours_:.6f} and {theirs_:.6f}"
                if ours_ > theirs_:
                    sys.exit(f"learners.py: logistic ends at {ours_}, above scikit-learn's {theirs_}: lower its tol")
            rows.append({"model": model, "data": name, "rows": len(loaded[name][1]), "inputs": int(loaded[name][0].shape[1]), "peer": p, "concord": c,
                         "ratio": p / c, "ratios": [a / b for a, b in zip(*times)], "wanted": wanted, "equal": equal,
                         "status": record["status"], "iterations": record["iterations"], "backend": record["backend"]})
            print(f"{model:10} {name:6} scikit-learn {p:8.3f} s   Concord {c:8.3f} s   {p / c:5.2f} times faster, wanted {wanted}", flush=True)
    return rows


def page(data):
    out = ["# Learners: Concord beside scikit-learn", "",
           "Generated by `bench/learners.py`; the numbers are in `learners.json`. Both sides fit the same rows, standardised by the training",
           "rows, categories one-hot, with scikit-learn's defaults where nothing else is said.", ""]
    if "accuracy" in data:
        part = data["accuracy"]
        out += ["## The same numbers", "", compare.where(part), ""]
        out += compare.table(["data", "learner", "what", "Concord", "scikit-learn", "difference", "wanted at most"],
                             [[r["data"], r["model"], r["what"], f"{r['concord']:.4f}" if r["concord"] is not None else "", f"{r['peer']:.4f}" if r["peer"] is not None else "",
                               f"{r['difference']:.1e}", f"{r['wanted']:g} " + ("✓" if r["difference"] <= r["wanted"] else "✗")] for r in part["rows"]]) + [""]
    if "time" in data:
        part = data["time"]
        out += ["## Training time", "", compare.where(part), ""]
        out += compare.table(["learner", "data", "scikit-learn s", "Concord s", "times faster", "wanted", "equal on both sides"],
                             [[r["model"], f"{r['data']}, {r['rows']} × {r['inputs']}", compare.seconds(r["peer"]), compare.seconds(r["concord"]),
                               f"**{r['ratio']:.2f}** ({min(r['ratios']):.2f} to {max(r['ratios']):.2f})", f"{r['wanted']} " + ("✓" if r["ratio"] >= r["wanted"] else "✗"),
                               r["equal"]] for r in part["rows"]]) + [""]
        out += [f"Concord: {part['rows'][0]['backend']}.", ""]
    return "\n".join(out)


def main():
    parts = {"accuracy": accuracy, "time": timing}
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("parts", nargs="+", choices=[*parts, "page"])
    p.add_argument("--lab", default=str(HERE.parent / "bin" / "concord-lab"), help="the program concord-lab (make build)")
    p.add_argument("--data", default=os.environ.get("CONCORD_DATA", ""), help="the folder of the data sets (default: $CONCORD_DATA)")
    p.add_argument("--out", default=str(HERE.parent / "docs" / "results"))
    p.add_argument("--rounds", type=int, default=3, help="alternations of scikit-learn and Concord")
    p.add_argument("--repeat", type=int, default=3, help="fits a process")
    o = p.parse_args()
    if o.parts != ["page"] and not os.path.isdir(o.data):
        p.error("--data must name the folder of the data sets")
    out = pathlib.Path(o.out)
    out.mkdir(parents=True, exist_ok=True)
    store = out / "learners.json"
    data = json.loads(store.read_text()) if store.exists() else {}
    for name in o.parts:
        if name == "page":
            continue
        before = compare.conditions(o)
        data[name] = {"conditions": before, "rows": parts[name](o)}
        store.write_text(json.dumps(data, indent=1) + "\n")
    (out / "learners.md").write_text(page(data))
    print(f"wrote {out / 'learners.md'}")
    missed = [f"{r['data']}, {r['model']}" for r in data.get("accuracy", {"rows": []})["rows"] if r["difference"] > r["wanted"]]
    if "accuracy" in o.parts and missed:
        sys.exit(f"learners.py: differences above what is wanted: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
