# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Compares the goals of joaderfs with the figures of the parts of the bench that ran."""

from itertools import count

FULL, CROPPED = "JPEG, resize -, crop -", "JPEG, resize 256, crop 224"


def cell(parts, part, title, way, key):
    """Returns a figure of a part of the bench whose results are rows and cells."""
    row = next(row for row in parts[part]["rows"] if row["title"] == title)
    return row["cells"][way][key]


def six(way, limit):
    """Returns a function for the rate of six jobs, relative to files that were prepared before."""
    return lambda parts: (cell(parts, "jobs", "6", way, "rate") /
                          cell(parts, "jobs", "6", limit, "rate"))


def faster(title, other):
    """Returns a function for the speed of joaderfs, relative to another way of preparing."""
    def found(parts):
        ways = parts["prepare"]["results"][title]
        return ways[other]["us"] / ways["fast"]["us"]
    return found


def steady(way, jobs):
    return lambda parts: parts["steady"]["ratios"][f"{way}, {jobs} jobs"]


def least(parts, kind):
    return min(share for title, share in parts["scaling"]["parts"].items()
               if title.lstrip("0123456789 ") == kind)


# (title, >= or <=, bound, function that gets the figure from the results of the parts)
GOALS = (
    ("JPEG to RGB, libjpeg-turbo = 1", ">=", 1.7, faster(FULL, "libjpeg")),
    ("JPEG, resize 256, crop 224, PIL + torchvision = 1", ">=", 5, faster(CROPPED, "pil")),
    ("JPEG, full size, PIL + torchvision = 1", ">=", 4.5, faster(FULL, "pil")),
    ("JPEG, full size, cv2 = 1", ">=", 2.5, faster(FULL, "cv2")),
    ("PNG, libpng = 1", ">=", 2, faster("PNG, resize -, crop -", "libpng")),
    ("six jobs, ImageFolder, PPM on disk = 1", ">=", .9, six("ImageFolder", "PPM on disk")),
    ("six jobs, npy, NPY on disk = 1", ">=", .75, six("npy", "NPY on disk")),
    ("six jobs, batch, DataLoader = 1", ">=", 20,
     lambda parts: cell(parts, "jobs", "6", "batch", "ratio")),
    ("six jobs, Fashion-MNIST, ImageFolder, DataLoader = 1", ">=", .6,
     lambda parts: cell(parts, "small", "6", "ImageFolder", "ratio")),
    ("steady state, four jobs, npy, on a tmpfs = 1", ">=", .8, steady("npy", 4)),
    ("steady state, four jobs, ImageFolder, on a tmpfs = 1", ">=", .9,
     steady("ImageFolder", 4)),
    ("steady state, four jobs, batch, mapped, FFCV raw = 1", ">=", 1.2,
     steady("batch, mapped", 4)),
    ("steady state, four jobs, batch, read, FFCV raw = 1", ">=", 1, steady("batch, read", 4)),
    ("a storage that takes 100 ms to open a file, page cache = 1", ">=", .8,
     lambda parts: parts["storage"]["parts"]["100 ms to open a file"]),
    ("a C reader of files, idle machine, on a tmpfs = 1", "<=", 2,
     lambda parts: parts["serving"]["ratios"]["idle"]),
    ("a C reader of files, busy machine, on a tmpfs = 1", "<=", 1.5,
     lambda parts: parts["serving"]["ratios"]["busy"]),
    ("float32 CHW normalised, a copy in memory = 1", "<=", 1,
     lambda parts: parts["augment"]["ratios"]["random_crop, normalize, float32, CHW"]["copies"]),
    ("locks held for a hit, us", "<=", .5,
     lambda parts: parts["locks"]["figures"]["hit"]["hold_us"]),
    ("threads woken for a hit, without the mount's", "<=", 1,
     lambda parts: parts["locks"]["figures"]["hit"]["wakes"]),
    ("threads woken for a decode, without the mount's", "<=", 1,
     lambda parts: parts["locks"]["figures"]["decode"]["wakes"]),
    ("1 to 256 readers, the best = 1", ">=", .9, lambda parts: least(parts, "readers")),
    ("1 to 256 readers through a mount, the best = 1", ">=", .9,
     lambda parts: least(parts, "readers through a mount")),
    ("2 to 64 decoders, the best = 1", ">=", .9,
     lambda parts: least(parts, "decoders that sleep")),
)


def figure(parts, where):
    """Returns the figure. None: its part did not run, or has no such figure."""
    try:
        return where(parts)
    except (KeyError, StopIteration, ValueError):
        return None


def goals(parts):
    """Returns the part of the page with one row for each goal."""
    rows, found = [["goal", "", "bound", "found", "reached"]], []
    for number, (what, sign, bound, where) in zip(count(1), GOALS):
        value = figure(parts, where)
        reached = None if value is None else (value >= bound if sign == ">=" else value <= bound)
        found.append({"goal": what, "sign": sign, "bound": bound, "found": value,
                      "reached": reached})
        rows.append([f"{number}", what, f"{sign} {bound:g}",
                     "not measured" if value is None else f"{value:.2f}",
                     {None: "", True: "yes", False: "no"}[reached]])
    return {"what": "What is to be reached", "table": rows, "goals": found, "plots": []}
