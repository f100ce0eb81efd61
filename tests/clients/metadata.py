# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""metadata.py SCAN COUNT: writes COUNT sets of metadata with random values: metadata.csv and
metadata.jsonl, in the root and in a class. Each text that Python's csv or json reads in a column
must select the rows with this text, and no others."""

import csv
import json
import os
import random
import sys
import tempfile

from scanner import Scanner

FILES = 8
KINDS = (
    lambda rng: str(rng.randrange(-50, 50)),
    lambda rng: str(rng.randrange(10 ** 22, 10 ** 22 + 4)),
    lambda rng: str(rng.randrange(2 ** 63 - 2, 2 ** 63 + 2)),
    lambda rng: f"{rng.randrange(12):0{rng.randrange(1, 4)}}",
    lambda rng: repr(rng.random() * 10 ** rng.randrange(-7, 20)),
    lambda rng: f"{rng.random() * 10:.2f}",
    lambda rng: f"{rng.random() * 10:.{rng.randrange(4)}f}",
    lambda rng: f"{rng.random():.3e}",
    lambda rng: rng.choice(("0x10", "inf", "nan", "-0", "+1", "1", "1.", ".5", "1e3", "1_0", " 1", "")),
    lambda rng: "".join(rng.choice("ab\"', \t12é\\") for _ in range(rng.randrange(6))),
    lambda rng: "".join(rng.choice('x" \n\r,') for _ in range(rng.randrange(4))),
)


def field(rng, text):
    """The text as it stands in the file, quoted or not."""
    if rng.random() < 0.3 or (rng.random() < 0.9 and any(c in text for c in ",\r\n")):
        return '"' + text.replace('"', '""') + '"'
    return text


def table(rng, directory):
    kinds = rng.sample(KINDS, 3)
    lines = ["file_name,x,y,z"]
    for number in range(FILES):
        columns = [field(rng, kind(rng)) for kind in kinds]
        lines.append(",".join([f"{directory}{number}.jpg", *columns]))
    return rng.choice(("\n", "\r\n")).join(lines) + rng.choice(("\n", ""))


JSON_KINDS = (
    lambda rng: str(rng.randrange(-50, 50)),
    lambda rng: str(rng.randrange(10 ** 22, 10 ** 22 + 4)),
    lambda rng: str(rng.randrange(2 ** 63 - 2, 2 ** 63 + 2)),
    lambda rng: repr(rng.random() * 10 ** rng.randrange(-7, 20)),
    lambda rng: f"{rng.random() * 10:.{rng.randrange(4)}f}",
    lambda rng: rng.choice(("true", "false", "null", "-0", "1E3", "0.0", '"007"', '"7"', "7")),
    lambda rng: json.dumps([rng.randrange(4), {"k": "é"}], separators=(",", ":"), ensure_ascii=False),
    lambda rng: json.dumps("".join(rng.choice("ab\"'\\, \t\n1é☃") for _ in range(rng.randrange(6))),
                           ensure_ascii=rng.random() < 0.5),
)


def json_lines(rng, directory):
    kinds = rng.sample(JSON_KINDS, 3)
    lines = []
    for number in range(FILES):
        values = [(name, kind(rng)) for name, kind in zip("xyz", kinds) if rng.random() < 0.9]
        values.append(("file_name", json.dumps(f"{directory}{number}.jpg")))
        rng.shuffle(values)
        lines.append("{" + ", ".join(f'"{name}": {value}' for name, value in values) + "}")
    return rng.choice(("\n", "\r\n", "\n\n")).join(lines) + rng.choice(("\n", ""))


class Number(str):
    """A number of JSON, as its text."""


def json_rows(path, directory):
    """The values of each file, as texts."""
    found = {}
    with open(path, encoding="utf-8", newline="\n") as file:
        for line in file:
            if line.strip():
                row = json.loads(line, parse_int=Number, parse_float=Number)
                found[directory + row["file_name"]] = {k: json_text(v) for k, v in row.items()}
    return found


def json_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return json.dumps(json.loads(json.dumps(value), parse_int=int), separators=(",", ":"),
                          ensure_ascii=False).replace('["', "[", 1).replace('",', ",", 1)
    return value


def closed(path):
    """Whether the rest of the file is a separate record."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = list(csv.reader([*file.read().splitlines(keepends=True), "\n", "end\n"]))
    return lines[-1] == ["end"]


def rows(path, directory):
    found = {f"a/{number}.jpg": {} for number in range(FILES)}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if directory + row["file_name"] in found:
                found[directory + row["file_name"]] = {k: v or None for k, v in row.items()}
    return found


def check_column(scanner, found, column, sent):
    values = {name: row.get(column) for name, row in found.items()}
    for value in set(values.values()):
        text = "" if value is None else value.replace("'", "''")
        where = f"{column} is null" if value is None else f"{column} = '{text}'"
        expected = sorted(name for name in values if values[name] == value)
        selected = scanner.ask("where", where)
        assert selected == expected, f"{where}: {selected}, {expected} in {sent!r}"
    for row in map(json.loads, scanner.ask("json")):
        value, shown = values[row["path"]], row[column]
        if isinstance(shown, float):
            assert abs(float(value) - shown) <= 1e-15 * abs(shown), (value, shown)
        else:
            assert shown == value or str(shown) == value, (value, shown)


def main():
    program, count = sys.argv[1], int(sys.argv[2])
    kept = 0
    with tempfile.TemporaryDirectory() as top:
        tree = os.path.join(top, "tree")
        os.makedirs(os.path.join(tree, "a"))
        for number in range(FILES):
            with open(os.path.join(tree, f"a/{number}.jpg"), "w", encoding="utf-8"):
                pass
        scanner = Scanner(program, top)
        for seed in range(count):
            rng = random.Random(seed)
            directory = rng.choice(("", "a/"))
            below = "" if directory else "a/"
            lines = rng.random() < 0.5
            path = os.path.join(tree, directory + ("metadata.jsonl" if lines else "metadata.csv"))
            text = (json_lines if lines else table)(rng, below)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            assert scanner.open(tree), scanner.log()
            if not lines and not closed(path):
                assert "a quote that is not closed" in scanner.log(), text
            else:
                kept += 1
                found = (json_rows if lines else rows)(path, directory)
                for column in "xyz":
                    check_column(scanner, found, column, text)
            os.unlink(path)
        scanner.end()
    assert kept > count / 2, (kept, count)
    print(f"metadata: {count} tables, {kept} of them with values that are compared")


main()
