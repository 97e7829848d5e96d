"""Log-log line charts side by side, as SVG without any library."""
import math
from html import escape

WIDTH, HEIGHT = 330, 300          # one panel with its margins
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 34, 46


def ticks(low, high):
    """Powers of ten within [low, high], or 1, 2, 5 times them where there are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ([1], [1, 2, 5]):
        t = [s * 10.0**p for p in powers for s in steps if low <= s * 10.0**p <= high]
        if len(t) >= 3:
            return t
    return t


def number(x):
    return f"{x:g}"


def panels(charts):
    """SVG of charts: [{"title", "x", "y", "lines": [{"name", "color", "dash", "points": [(x, y)]}]}]."""
    names = []
    for c in charts:
        for line in c["lines"]:
            if line["name"] not in [n["name"] for n in names]:
                names.append(line)
    columns = 3
    legend = 18 * ((len(names) + columns - 1) // columns) + 12
    width, height = WIDTH * len(charts), HEIGHT + legend
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>']
    for k, c in enumerate(charts):
        out += panel(c, k * WIDTH)
    step = width / columns
    for k, line in enumerate(names):
        x, y = 20 + step * (k % columns), HEIGHT + 12 + 18 * (k // columns)
        out.append(f'<line x1="{x:.1f}" y1="{y}" x2="{x + 28:.1f}" y2="{y}" stroke="{line["color"]}" stroke-width="2" '
                   f'stroke-dasharray="{line["dash"]}"/>')
        out.append(f'<text x="{x + 36:.1f}" y="{y + 4}">{escape(line["name"])}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def panel(c, offset):
    points = [p for line in c["lines"] for p in line["points"]]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    bounds = []
    for values in (xs, ys):
        low, high = math.log10(min(values)), math.log10(max(values))
        room = max(0.05, 0.06 * (high - low))
        bounds.append((low - room, high + room))
    (x0, x1), (y0, y1) = bounds
    inner_w, inner_h = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(x, y):
        return (offset + LEFT + (math.log10(x) - x0) / (x1 - x0) * inner_w,
                TOP + (y1 - math.log10(y)) / (y1 - y0) * inner_h)

    out = [f'<text x="{offset + LEFT}" y="20" font-size="13">{escape(c["title"])}</text>']
    for t in ticks(10**x0, 10**x1):
        x, _ = at(t, 10**y0)
        out.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + inner_h}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{x:.1f}" y="{TOP + inner_h + 16}" text-anchor="middle">{number(t)}</text>')
    for t in ticks(10**y0, 10**y1):
        _, y = at(10**x0, t)
        out.append(f'<line x1="{offset + LEFT}" y1="{y:.1f}" x2="{offset + WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{offset + LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{number(t)}</text>')
    out.append(f'<rect x="{offset + LEFT}" y="{TOP}" width="{inner_w}" height="{inner_h}" fill="none" stroke="#888"/>')
    out.append(f'<text x="{offset + LEFT + inner_w / 2}" y="{HEIGHT - 10}" text-anchor="middle">{escape(c["x"])}</text>')
    out.append(f'<text transform="translate({offset + 14},{TOP + inner_h / 2}) rotate(-90)" text-anchor="middle">{escape(c["y"])}</text>')
    for line in c["lines"]:
        path = " ".join("{:.1f},{:.1f}".format(*at(*p)) for p in sorted(line["points"]))
        out.append(f'<polyline points="{path}" fill="none" stroke="{line["color"]}" stroke-width="2" stroke-dasharray="{line["dash"]}"/>')
        for p in line["points"]:
            x, y = at(*p)
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.4" fill="{line["color"]}"/>')
    return out
