#!/usr/bin/python3
"""Runs Concord and the Python peers alternately and writes docs/results/alignment.md.

    bench/compare.py headline            the four points of the requirements, with the products' floor
    bench/compare.py grid                the grid of ODC2 figure 3: slopes and the figure
    bench/compare.py backends            the four points, loaded library against pure Go
    bench/compare.py memory              10,000 parties read from files (4 GB of disk)
    bench/compare.py page                only writes the page anew

Several words run one after the other. Every measurement is added to
OUT/alignment.json, of which the page and the figure are made, so one part can be
run again alone. Run it on a machine that does nothing else.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np

sys.dont_write_bytecode = True  # leave the folder as it is
import figure
import peers

HERE = pathlib.Path(__file__).resolve().parent
POINTS = [(50, 1000, 50), (50, 20000, 50), (50, 1000, 1000), (300, 1000, 50)]
WANTED = {"odc": [5, 3, 5, 3], "ls": [3, 5, 5, 3], "gep": [3, 5, 5, 3]}
SWEEPS = {
    "l": [(l, 1000, 50) for l in range(50, 951, 50)],
    "a": [(50, a, 50) for a in range(1000, 20001, 1000)],
    "c": [(50, 1000, c) for c in range(50, 1001, 50)],
}
AXES = {"l": ("dimension l", "a = 1000, c = 50"), "a": ("anchor rows a", "l = 50, c = 50"), "c": ("parties c", "l = 50, a = 1000")}
# ODC2 section V: log-log slopes of Imakura, Kawakami and ODC.
PUBLISHED = {"l": {"ls": 1.26, "gep": 1.75, "odc": 2.05}, "a": {"ls": .79, "gep": .82, "odc": .56}, "c": {"ls": .95, "gep": .92, "odc": .84}}
NAMES = {"odc": "ODC", "ls": "LS (Imakura)", "gep": "GEP (Kawakami)"}
COLORS = {"odc": "#1b6ca8", "ls": "#c2571a", "gep": "#3b8140"}


def run(command, env=None):
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode != 0:
        sys.exit(f"compare.py: {' '.join(command)} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def concord(o, method, point, repeat, floor=False, env=None):
    l, a, c = point
    command = [o.lab, "bench", "align", "--method", method, "--dim", str(l), "--rows", str(a), "--parties", str(c),
               "--repeat", str(repeat), "--json"]
    if o.solver and method in ("ls", "gep"):
        command += ["--solver", o.solver]
    return run(command + (["--floor"] if floor else []), env)


def peer(o, method, point, repeat):
    l, a, c = point
    return run([sys.executable, str(HERE / "peers.py"), "--method", method, "--dim", str(l), "--rows", str(a),
                "--parties", str(c), "--repeat", str(repeat)])


def repeats(o, point):
    """Fewer runs of large points: all have about the same work, but three at least."""
    return max(3, min(o.repeat, round(o.repeat * 2.5e6 / math.prod(point))))


def middle(runs, key="seconds"):
    return statistics.median(r[key]["median"] for r in runs)


def compare(o, method, point, floor=False):
    """Alternates peer and Concord for the given number of rounds."""
    n, ours, theirs = repeats(o, point), [], []
    for _ in range(o.rounds):
        theirs.append(peer(o, method, point, n))
        ours.append(concord(o, method, point, n, floor))
    r = {
        "method": method, "point": point, "repeat": n, "rounds": o.rounds,
        "peer": middle(theirs), "concord": middle(ours), "ratio": middle(theirs) / middle(ours),
        "ratios": [t["seconds"]["median"] / u["seconds"]["median"] for t, u in zip(theirs, ours)],
        "residuals": [theirs[0]["residual"], ours[0]["residual"]],
        "energies": [theirs[0]["energy"], ours[0]["energy"]],
        "solver": ours[0]["solver"], "rss": [theirs[0]["peak_rss_bytes"], ours[0]["peak_rss_bytes"]],
        "backends": [theirs[0]["backend"], ours[0]["backend"]],
    }
    if floor:
        r["floor"] = middle(ours, "floor_seconds")
    print(f"{method:4} {str(point):17} peer {r['peer']:8.4f} s   concord {r['concord']:8.4f} s   {r['ratio']:6.2f} times faster"
          + (f"   {r['concord'] / r['floor']:5.2f} times the floor" if floor else ""), flush=True)
    return r


def headline(o):
    return [compare(o, m, p, floor=True) for m in o.methods for p in POINTS]


def grid(o):
    sweeps = {}
    for axis, points in SWEEPS.items():
        chosen = points[::o.stride]
        if chosen[-1] != points[-1]:
            chosen.append(points[-1])
        sweeps[axis] = [compare(o, m, p) for p in chosen for m in o.methods]
    return sweeps


def backends(o):
    """The loaded library against pure Go, alternately."""
    rows = []
    go = dict(os.environ, CONCORD_BLAS="go")
    for m in o.methods:
        for p in POINTS:
            n, fast, pure = repeats(o, p), [], []
            for _ in range(o.rounds):
                fast.append(concord(o, m, p, n))
                pure.append(concord(o, m, p, n, env=go))
            rows.append({"method": m, "point": p, "library": middle(fast), "go": middle(pure), "ratio": middle(pure) / middle(fast),
                         "backends": [fast[0]["backend"], pure[0]["backend"]]})
            print(f"{m:4} {str(p):17} library {middle(fast):8.4f} s   pure Go {middle(pure):8.4f} s   {rows[-1]['ratio']:5.2f}", flush=True)
    return rows


def memory(o):
    """Aligns many parties from files and checks a few G_i of ODC with NumPy."""
    l, a, c = 50, 1000, o.files
    rows = []
    with tempfile.TemporaryDirectory(prefix="concord-memory-", dir=o.tmp) as folder:
        names = [f"A{i}.npy" for i in range(1, c + 1)]
        for i, name in enumerate(names):
            np.save(os.path.join(folder, name), peers.split_mix(i * l * a, l * a).reshape(a, l))
        for method in ("odc", "ls"):
            out = os.path.join(folder, method)
            command = [os.path.abspath(o.lab), "align", "--method", method, "--stream", "--json", "--out", out] + names
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
            if done.returncode != 0:
                sys.exit(f"compare.py: align --stream failed:\n{done.stderr}")
            r = json.loads(done.stdout)
            error = None
            if method == "odc":
                first = np.load(os.path.join(folder, names[0]))
                error = 0.0
                for i in (1, c // 2, c - 1):
                    g = peers.polar(np.load(os.path.join(folder, names[i])).T @ first)
                    error = max(error, float(np.abs(np.load(os.path.join(out, f"G{i + 1}.npy")) - g).max()))
            rows.append({"method": method, "point": (l, a, c), "seconds": r["seconds"], "rss": r["peak_rss_bytes"], "error": error,
                         "bytes": 8 * l * a * c, "solver": r["solver"], "backend": r["backend"]})
            print(f"{method:4} {c} parties: {r['seconds']:.1f} s, {r['peak_rss_bytes'] / 2**20:.0f} MiB resident at most", flush=True)
            shutil.rmtree(out)
    return rows


def text(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=HERE, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def conditions(o):
    """What a measurement depends on."""
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    total = next(int(line.split()[1]) for line in open("/proc/meminfo") if line.startswith("MemTotal:"))
    return {
        "date": datetime.date.today().isoformat(),
        "cpu": f"{model}, {len(os.sched_getaffinity(0))} cores, {total / 2**20:.0f} GiB",
        "system": f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Python {platform.python_version()}",
        "go": (text(["go", "version", os.path.abspath(o.lab)]).split() or ["unknown"])[-1],
        "commit": text(["git", "rev-parse", "--short", "HEAD"]) + (" with changes" if text(["git", "status", "--porcelain", "-uno"]) else ""),
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def slope(rows, axis, key):
    """Least-squares slope of log seconds on log size."""
    x = np.log([r["point"]["lac".index(axis)] for r in rows])
    y = np.log([r[key] for r in rows])
    return float(np.polyfit(x, y, 1)[0]) if len(rows) > 1 else float("nan")


def of(rows, method):
    return [r for r in rows if r["method"] == method]


def draw(sweeps):
    charts = []
    for axis, rows in sweeps.items():
        lines = []
        for m in [m for m in NAMES if of(rows, m)]:
            for key, who, dash in (("peer", "Python", "5 4"), ("concord", "Concord", "none")):
                lines.append({"name": f"{NAMES[m]}, {who}", "color": COLORS[m], "dash": dash,
                              "points": [(r["point"]["lac".index(axis)], r[key]) for r in of(rows, m)]})
        charts.append({"title": AXES[axis][1], "x": AXES[axis][0], "y": "seconds", "lines": lines})
    return figure.panels(charts)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(r) + " |" for r in rows]


def seconds(x):
    return f"{x:.3g}"


def where(part):
    c = part["conditions"]
    return (f"{c['date']}, {c['cpu']}, {c['system']}, {c['go']}, commit {c['commit']}, load average at the start {c['load']}.")


def page(data):
    """The page, from everything that was measured so far."""
    out = ["# Alignment: Concord beside the Python peers", "",
           "Generated by `bench/compare.py`; the numbers are in `alignment.json`. The A_i (a × l, c parties) are uniform random, the",
           "same on both sides, in memory before the clock starts. Peer and Concord run alternately as processes of their own, both",
           "with their default threads; a time is the median of the rounds' medians, a ratio the peer's time over Concord's.",
           "The peers (`bench/peers.py`) are ODC by SVD, and Imakura and Kawakami with scikit-learn's randomized SVD, as published.", ""]
    if "headline" in data:
        part = data["headline"]
        out += ["## Four points", "", where(part), "",
                "The floor is the time of the c products A_iᵀA_1 alone, on all cores. LS and GEP compute U_l exactly unless their solver says",
                "otherwise, the peers approximately: energy is Concord's Σ_j σ_j² of the l singular values found over the peer's, above 1 where",
                "the peer missed some. LS minimises no residual (its Z maximises energy), so its residual may lie on either side of the peer's.", ""]
        rows = []
        for r in part["rows"]:
            k = [list(p) for p in POINTS].index(list(r["point"]))
            want = WANTED[r["method"]][k]
            rows.append([NAMES[r["method"]], str(tuple(r["point"])), seconds(r["peer"]), seconds(r["concord"]),
                         f"**{r['ratio']:.2f}** ({min(r['ratios']):.2f} to {max(r['ratios']):.2f})", f"{want}" + (" ✓" if r["ratio"] >= want else " ✗"),
                         seconds(r["floor"]), f"{r['concord'] / r['floor']:.2f}", f"{r['residuals'][1] / r['residuals'][0]:.6f}",
                         f"{r['energies'][1] / r['energies'][0]:.6f}" if r["energies"][0] else "-", r["solver"],
                         " / ".join(f"{b / 2**20:.0f}" for b in r["rss"])])
        out += table(["method", "(l, a, c)", "peer s", "Concord s", "times faster", "wanted", "floor s", "times the floor",
                      "residual", "energy", "solver", "MiB peer / Concord"], rows)
        out += ["", f"Peer: {part['rows'][0]['backends'][0]}. Concord: {part['rows'][0]['backends'][1]}.", ""]
    if "grid" in data:
        part = data["grid"]
        out += ["## Figure 3 of ODC2", "", where(part), "", "![Seconds against l, a and c](alignment.svg)", "",
                "Slopes of log seconds on log size:", ""]
        rows = []
        for axis, sweep in part["rows"].items():
            for m in [m for m in NAMES if of(sweep, m)]:
                s = of(sweep, m)
                rows.append([f"{axis} ({AXES[axis][1]})", NAMES[m], f"{PUBLISHED[axis][m]:.2f}", f"{slope(s, axis, 'peer'):.2f}",
                             f"{slope(s, axis, 'concord'):.2f}", f"{min(r['ratio'] for r in s):.1f} to {max(r['ratio'] for r in s):.1f}", str(len(s))])
        out += table(["against", "method", "published", "peer", "Concord", "times faster", "points"], rows) + [""]
    if "backends" in data:
        part = data["backends"]
        out += ["## Without a library", "", where(part), "", f"{part['rows'][0]['backends'][0]} against {part['rows'][0]['backends'][1]}.", ""]
        out += table(["method", "(l, a, c)", "library s", "pure Go s", "times slower"],
                     [[NAMES[r["method"]], str(tuple(r["point"])), seconds(r["library"]), seconds(r["go"]), f"{r['ratio']:.2f}"] for r in part["rows"]]) + [""]
    if "memory" in data:
        part = data["memory"]
        out += ["## Memory", "", where(part), "", "`concord-lab align --stream`, A_i read from files and G_i written, figures included.", ""]
        out += table(["method", "parties", "data GB", "seconds", "resident at most, MiB", "largest error of G_i against NumPy"],
                     [[NAMES[r["method"]], str(r["point"][2]), f"{r['bytes'] / 1e9:.2f}", f"{r['seconds']:.1f}", f"{r['rss'] / 2**20:.0f}",
                       f"{r['error']:.0e}" if r["error"] is not None else "-"] for r in part["rows"]]) + [""]
    return "\n".join(out)


def main():
    parts = {"headline": headline, "grid": grid, "backends": backends, "memory": memory}
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("parts", nargs="+", choices=[*parts, "page"])
    p.add_argument("--lab", default=str(HERE.parent / "bin" / "concord-lab"), help="the program concord-lab (make build)")
    p.add_argument("--out", default=str(HERE.parent / "docs" / "results"))
    p.add_argument("--methods", default="odc,ls,gep", type=lambda s: s.split(","))
    p.add_argument("--solver", default="", help="Concord's solver of ls and gep (default: its own choice)")
    p.add_argument("--rounds", type=int, default=5, help="alternations of peer and Concord")
    p.add_argument("--repeat", type=int, default=20, help="runs a process at the smallest point, fewer at larger ones")
    p.add_argument("--stride", type=int, default=1, help="grid: every so many points, and the last")
    p.add_argument("--files", type=int, default=10000, help="memory: parties")
    p.add_argument("--tmp", default=None, help="memory: where the files go for the time")
    o = p.parse_args()
    for m in o.methods:
        if m not in NAMES:
            p.error(f"--methods has {m!r}, must be of {', '.join(NAMES)}")
    if not os.access(o.lab, os.X_OK):
        p.error(f"{o.lab} is not there: run make build, or name it with --lab")
    if min(o.rounds, o.repeat, o.stride, o.files) < 1:
        p.error("--rounds, --repeat, --stride and --files must be 1 or more")

    out = pathlib.Path(o.out)
    out.mkdir(parents=True, exist_ok=True)
    store = out / "alignment.json"
    data = json.loads(store.read_text()) if store.exists() else {}
    for name in o.parts:
        if name == "page":
            continue
        before = conditions(o)
        data[name] = {"conditions": before, "rows": parts[name](o)}
        store.write_text(json.dumps(data, indent=1) + "\n")
    if "grid" in data:
        (out / "alignment.svg").write_text(draw(data["grid"]["rows"]))
    (out / "alignment.md").write_text(page(data))
    print(f"wrote {out / 'alignment.md'}")


if __name__ == "__main__":
    main()
