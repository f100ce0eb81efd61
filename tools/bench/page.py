# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Prints the bench's results as text, and as one HTML page with plots."""

from html import escape

import chart


def least_to_most(shares):
    return f"{min(shares):.0%} to {max(shares):.0%}"


# (key of a figure, title of the column, format)
COLUMNS = (("rate", "samples/s", "{:.0f}".format), ("ratio", "DataLoader = 1", "{:.2f}".format),
           ("cpu_ratio", "by CPU", "{:.2f}".format),
           ("decodes", "prepared/served", "{:.2f}".format),
           ("cpu_ms", "CPU ms/sample", "{:.2f}".format),
           ("reader_cpu_ms", "of it readers", "{:.2f}".format),
           ("waits", "jobs wait", least_to_most),
           ("memory_mib", "memory MiB", "{:.0f}".format))


def head(results):
    m = results["machine"]
    return (f"{m['cpu']}, {m['cpus']} CPUs, {m['memory_gib']} GiB, Linux {m['kernel']}; "
            f"{results['photographs']} photographs, prepared as 256/224; "
            f"medians of {results['rounds']} rounds\n")


def table(part):
    """Returns rows of text: a header, then a row for each cell of a part of the bench."""
    rows = [["", "", *(title for _, title, _ in COLUMNS)]]
    for row in part["rows"]:
        title = row["title"]
        for name, cell in row["cells"].items():
            rows.append([title, name, *(form(cell[key]) if key in cell else ""
                                        for key, _, form in COLUMNS)])
            title = ""
    return rows


def rows_of(part):
    return part["table"] if "table" in part else table(part)


def text(name, part):
    rows = rows_of(part)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [f"{name}: {part['what']}"]
    for row in rows:
        left = [cell.ljust(w) for cell, w in zip(row[:2], widths)]
        right = [cell.rjust(w) for cell, w in zip(row[2:], widths[2:])]
        lines.append("  " + "  ".join([*left, *right]).rstrip())
    return "\n".join([*lines, *("  " + note for note in part.get("notes", [])), ""])


def plots(name, part):
    if "plots" in part:
        return [getattr(chart, kind)(*arguments) for kind, *arguments in part["plots"]]
    figure = part.get("figure", "rate")
    label = {"rate": "samples/s", "decodes": "prepared per sample served"}[figure]
    names = list(dict.fromkeys(name for row in part["rows"] for name in row["cells"]))

    def values(name, key):
        return [row["cells"].get(name, {}).get(key) for row in part["rows"]]
    series = {n: values(n, figure) for n in names}
    found = [chart.bars(name, label, [row["title"] for row in part["rows"]], series)]
    if figure == "rate" and len(part["rows"]) > 1:
        series = {n: values(n, "cpu_ms") for n in names}
        found.append(chart.bars(f"{name}: CPU of readers and daemon", "ms per sample",
                                [row["title"] for row in part["rows"]], series))
    return found


def html_table(rows):
    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{escape(c)}</{tag}>" for c in cells) + "</tr>"
    return ("<table>" + line(rows[0], "th") + "".join(line(r, "td") for r in rows[1:])
            + "</table>")


def html(results):
    parts = [f"<h1>joaderfs bench</h1><p>{escape(head(results))} {escape(results['date'])}</p>"]
    for name, part in results["parts"].items():
        parts.append(f"<h2>{escape(name)}</h2><p>{escape(part['what'])}</p>")
        parts += plots(name, part)
        parts.append(html_table(rows_of(part)))
        parts += [f"<p>{escape(note)}</p>" for note in part.get("notes", [])]
    return ("<!doctype html><html lang=en><meta charset=utf-8><title>joaderfs bench</title>"
            "<style>body{font:15px sans-serif;max-width:900px;margin:2em auto}"
            "table{border-collapse:collapse;margin:1em 0}td,th{padding:2px 9px;text-align:right;"
            "border-bottom:1px solid #ddd}td:first-child,td:nth-child(2),th:first-child{"
            "text-align:left}svg{max-width:100%}</style>" + "\n".join(parts) + "</html>\n")
