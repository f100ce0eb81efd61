# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""names.py make DATASET IMAGE NUMBER: makes classes and files with names of all categories of
Unicode, 1 or 3 of each. names.py advice LOG: prints the setting that the log recommends for each
bad sample. names.py check DATASET LOG JOBS ORDER CLASSES BAD FILE...: checks that the job with
each setting leaves out this sample, that order and classes have each name, escaped, and that no
file has unescaped characters."""

import os
import re
import shutil
import sys
import unicodedata

CONTROLS = ("Cc", "Cf", "Zl", "Zp")
ODD = (b"\\", b"'", b'"', b";", b" ; x", b" # x", b"  ", b"\\x41", b"\n", b"\t", b"\r\n", b"%", b"\x1b[31m",
       b"\xff", b"\xc3", b"\xc0\xaf", b"\xed\xa0\x80", b"\xe2\x80", b"\xc2\x9b1m", "\u202egpj".encode(), b"<b>",
       b"x" * 120)


def parts(number):
    of = {}
    for code in range(1, 0x110000):
        of.setdefault(unicodedata.category(chr(code)), []).append(code)
    del of["Cs"]
    for codes in of.values():
        for code in (codes[len(codes) // 2], codes[0], codes[-1])[:number]:
            if chr(code) not in "/.":
                yield chr(code).encode()
    yield from ODD


def escape(name, backslash=True):
    out = ""
    for character in name.decode(errors="surrogateescape"):
        category = unicodedata.category(character)
        if character == "\\":
            out += "\\\\" if backslash else "\\"
        elif character in "\n\t":
            out += "\\n" if character == "\n" else "\\t"
        elif category in CONTROLS or category == "Cs":
            out += "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))
        else:
            out += character
    return out


def make(top, image, number):
    top = os.fsencode(top)
    for number, part in enumerate(sorted(set(parts(int(number))))):
        directory = os.path.join(top, b"c%03d" % number + part)
        os.makedirs(directory)
        shutil.copy(image, os.path.join(directory, b"good" + part + b".jpg"))
        with open(os.path.join(directory, b"bad" + part + b".jpg"), "w", encoding="ascii") as file:
            file.write("no image")


def advices(log):
    """The path in the log and the predicate for each bad sample."""
    with open(log, encoding="utf-8") as file:
        text = file.read()
    return re.findall(r": dataset images: (.*\.jpg): .*; where = (.*) in \[job\] leaves it out$", text, re.MULTILINE)


def files(top):
    top = os.fsencode(top)
    found = set()
    for directory, _, names in os.walk(top):
        found |= {os.path.relpath(os.path.join(directory, name), top) for name in names}
    return found


def check_clean(path):
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    for place, character in enumerate(text):
        if unicodedata.category(character) in CONTROLS and character not in "\n\t":
            raise SystemExit(f"{path}: found U+{ord(character):04X} in {text[max(0, place - 80):place + 20]!r}")


def check(dataset, log, jobs, order, classes, bad, *outputs):
    for output in (log, order, classes, bad, *outputs):
        check_clean(output)
    expected = files(dataset)
    with open(order, encoding="utf-8") as file:
        shown = {line.rstrip("\n").split("\t")[4] for line in file}
    assert shown == {escape(name) for name in expected}, shown ^ {escape(name) for name in expected}
    with open(classes, encoding="utf-8") as file:
        shown = file.read().split("\n")[:-1]
    assert shown == [escape(name) for name in sorted(os.listdir(os.fsencode(dataset)))], shown
    of_log = advices(log)
    assert len(of_log) == len(os.listdir(dataset)), len(of_log)
    for number, (path, where) in enumerate(of_log):
        left_out = expected - files(os.path.join(jobs, f"w{number}", "epoch-0000"))
        shown = [escape(os.path.join(os.fsencode(dataset), name), False) for name in left_out]
        assert shown == [path], (where, shown, path)
    print(f"{len(expected)} names, {len(of_log)} of them left out")


if sys.argv[1] == "make":
    make(*sys.argv[2:])
elif sys.argv[1] == "advice":
    for _, predicate in advices(sys.argv[2]):
        print(predicate)
else:
    check(*sys.argv[2:])
