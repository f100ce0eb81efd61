# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Draws charts as SVG text: groups of bars, and lines."""

from html import escape
from math import ceil, log10

COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2",
           "#97bbf5", "#9c6b4e")
WIDTH, HEIGHT = 860, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 46, 52


def ticks(largest):
    """Returns the numbers of an axis: round ones from 0 to at least `largest`, in about 5 steps."""
    if largest <= 0:
        return [0, 1]
    power = 10 ** (ceil(log10(largest / 5)) - 1)
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if largest / (power * m) <= 6)
    return [k * step for k in range(ceil(largest / step - 1e-9) + 1)]


def number(value):
    return f"{value:,.10g}"


class Chart:
    def __init__(self, title, ylabel, largest):
        self.ticks = ticks(largest)
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="12">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="22" font-size="15" font-weight="bold">{escape(title)}</text>',
            f'<text x="14" y="{TOP - 8}" fill="#555">{escape(ylabel)}</text>']
        for tick in self.ticks:
            y = self.y(tick)
            self.parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                              f'stroke="{"#333" if tick == 0 else "#ddd"}"/>')
            self.text(LEFT - 6, y + 4, number(tick), "end")

    def y(self, value):
        return HEIGHT - BOTTOM - value / self.ticks[-1] * (HEIGHT - BOTTOM - TOP)

    def text(self, x, y, text, anchor="middle", size=12):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
                          f'font-size="{size}">{escape(text)}</text>')

    def legend(self, names):
        for k, name in enumerate(names):
            y = TOP + 6 + 20 * k
            self.parts.append(f'<rect x="{WIDTH - RIGHT + 16}" y="{y - 9}" width="12" height="12" '
                              f'fill="{COLOURS[k % len(COLOURS)]}"/>')
            self.text(WIDTH - RIGHT + 34, y + 2, name, "start")

    def done(self):
        return "\n".join([*self.parts, "</svg>"])


def bars(title, ylabel, groups, series):
    """Draws groups of bars. groups: names along the axis; series: name -> a value or None for each
    group."""
    chart = Chart(title, ylabel, max((v for vs in series.values() for v in vs if v), default=1))
    each = (WIDTH - LEFT - RIGHT) / len(groups)
    width = each * 0.84 / len(series)
    for g, group in enumerate(groups):
        left = LEFT + g * each + each * 0.08
        for k, values in enumerate(series.values()):
            if values[g] is None:
                continue
            x, y = left + k * width, chart.y(values[g])
            chart.parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width * 0.92:.1f}" '
                f'height="{HEIGHT - BOTTOM - y:.1f}" fill="{COLOURS[k % len(COLOURS)]}"/>')
            chart.text(x + width * 0.46, y - 3, f"{values[g]:.3g}" if values[g] < 100
                       else f"{values[g]:,.0f}", size=9)
        chart.text(left + each * 0.42, HEIGHT - BOTTOM + 18, group)
    chart.legend(series)
    return chart.done()


def lines(title, xlabel, ylabel, series):
    """Draws lines. series: name -> [(x, y)]."""
    points = [p for ps in series.values() for p in ps]
    chart = Chart(title, ylabel, max((y for _, y in points), default=1))
    xticks = ticks(max((x for x, _ in points), default=1))

    def place(x):
        return LEFT + x / xticks[-1] * (WIDTH - LEFT - RIGHT)
    for tick in xticks:
        chart.text(place(tick), HEIGHT - BOTTOM + 18, number(tick))
    chart.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, xlabel)
    for k, values in enumerate(series.values()):
        colour = COLOURS[k % len(COLOURS)]
        path = " ".join(f"{place(x):.1f},{chart.y(y):.1f}" for x, y in values)
        chart.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                           'stroke-width="2"/>')
        chart.parts += [f'<circle cx="{place(x):.1f}" cy="{chart.y(y):.1f}" r="3" '
                        f'fill="{colour}"/>' for x, y in values]
    chart.legend(series)
    return chart.done()
