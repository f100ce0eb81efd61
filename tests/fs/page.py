#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""page.py MOUNT DOM [--gone JOB] -- JOB...: compares the figures of dashboard.html, as a browser
has drawn it, with those of a mount that is not being read."""

import html.parser
import json
import re
import sys

NEEDS_NO_END = {"meta", "link", "br", "img", "hr", "input"}


class Page(html.parser.HTMLParser):
    """Collects the text of each element with an id, the rows of tables, and the plots."""

    def __init__(self):
        super().__init__()
        self.texts, self.tables, self.drawn, self.links = {}, {}, [], []
        self.open = []
        self.rows = None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.links += [attributes[key] for key in ("src", "href") if key in attributes]
        if tag in ("polygon", "polyline"):
            self.drawn.append(attributes["points"])
        if tag == "table":
            self.rows = self.tables[attributes["id"]] = []
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in NEEDS_NO_END:
            self.open.append((tag, attributes.get("id")))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for tag, name in self.open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data
            if tag in ("td", "th"):
                self.rows[-1][-1] += data


def check(what, found, expected):
    if found != expected:
        sys.exit(f"failed: {what}: found {found!r}, expected {expected!r}")


def integer(text):
    return int(text.replace(",", ""))


def size(value):
    units = ["B", "KiB", "MiB", "GiB"]
    unit = 0
    while value >= 1024 and unit < len(units) - 1:
        value, unit = value / 1024, unit + 1
    return f"{value:,.{1 if unit else 0}f} {units[unit]}"


def read_status(mount, job):
    with open(f"{mount}/jobs/{job}/status", encoding="ascii") as file:
        return dict(line.rstrip("\n").split(" ", 1) for line in file)


def rows_of(page, table, names):
    rows = {row[0]: row[1:] for row in page.tables[table]}
    for name in names:
        if name not in rows:
            sys.exit(f"failed: {table} has no row of {name}, but of {sorted(rows)}")
    return rows


def check_jobs(page, mount, names, gone):
    shown = names + ([gone + " (gone)"] if gone else [])
    statuses = {name: read_status(mount, name) for name in names}
    rates = rows_of(page, "table-rates", shown)
    waits = rows_of(page, "table-waits", shown)
    prepared = rows_of(page, "table-prepared", shown + ["all"])
    for name in names:
        status = statuses[name]
        check(f"samples of {name}", integer(rates[name][2]), int(status["served"]))
        check(f"dataset of {name}", rates[name][0], status["dataset"])
        check(f"how {name} was served", [integer(cell) for cell in prepared[name][:3]],
              [int(status[key]) for key in ("decoded", "shared", "hit")])
        causes = [float(status["waited_s_" + cause])
                  for cause in ("storage", "decoding", "queue", "filesystem")]
        for cell, waited in zip(waits[name], causes + [sum(causes)]):
            if abs(float(cell.replace(",", "")) - waited) > 0.06:
                sys.exit(f"failed: waits of {name}: found {waits[name]}, expected {causes}")
    for i, key in enumerate(("decoded", "shared", "hit")):
        check(f"all {key}", integer(prepared["all"][i]),
              sum(integer(prepared[name][i]) for name in shown))
    return shown


def check_sharing(page, shown):
    head = page.tables["table-sharing"][0][1:]
    check("jobs of the matrix", sorted(head[1:-1]), sorted(shown))
    rows = rows_of(page, "table-sharing", shown)
    for name in shown:
        cells = [integer(cell) for cell in rows[name]]
        check(f"sum of the row of {name}", sum(cells[1:]), cells[0])
    # The first job prepared all samples, and the other jobs got them.
    first = head.index(shown[0])
    for name in shown:
        check(f"given to {name}, prepared for {shown[0]}", rows[name][first], rows[name][0])


def check_cache(page, stats):
    check("cache", page.texts["cache-held"], size(stats["cache_bytes"]))
    check("its limit", page.texts["cache-limit"], size(64 << 20))


def main():
    mount, dom = sys.argv[1:3]
    gone = sys.argv[4] if sys.argv[3] == "--gone" else None
    names = sys.argv[sys.argv.index("--") + 1:]
    page = Page()
    with open(dom, encoding="utf-8") as file:
        page.feed(file.read())
    with open(mount + "/stats.json", encoding="ascii") as file:
        stats = json.load(file)
    check("samples served", integer(page.texts["served"]), stats["samples_served"])
    check("samples prepared", integer(page.texts["decodes"]), stats["decodes"])
    check("evicted though needed", integer(page.texts["evictions-needed"]),
          stats["evictions_needed"])
    check("links", sorted(page.links), ["#live", "data:,"])
    shown = check_jobs(page, mount, names, gone)
    check_sharing(page, shown)
    check_cache(page, stats)
    # For each job a line, layers of its waits, three layers and a line; for all, layers and a
    # limit.
    check("plots", len(page.drawn), 5 * len(shown) + 4 + 8)
    for points in page.drawn:
        if not re.fullmatch(r"(-?[0-9.]+,-?[0-9.]+ ?)+", points):
            sys.exit(f"failed: drawn at {points}")


main()
