# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Measures the time in which a reader gets a prepared sample, and compares it with the same files
on a tmpfs. Nothing is decoded meanwhile."""

import os
import shutil
import statistics
import sys
import tempfile

from cases import CROP, RESIZE, SAMPLE_BYTES, photographs
from mounted import Daemon, Failed, call, dataset_paths, job_ini, started

BATCH = 64
# (title, layout, format, io, how read_epoch.c reads)
FILES = (("flat ppm", "flat", "ppm", "auto", "read"), ("flat npy", "flat", "npy", "auto", "read"),
         ("flat npy", "flat", "npy", "auto", "mmap"),
         ("flat ppm", "flat", "ppm", "direct", "read"), ("flat npy", "flat", "npy", "direct", "read"),
         ("flat npy", "flat", "npy", "cached", "read"),
         ("flat npy", "flat", "npy", "cached", "mmap"),
         ("batch npy", "batch", "npy", "direct", "read"),
         ("batch npy", "batch", "npy", "cached", "read"),
         ("batch npy", "batch", "npy", "cached", "mmap"),
         ("tar ppm", "tar", "ppm", "direct", "read"))

GOAL = ("flat npy", "auto", "read")

PYTHON = {
    "numpy.fromfile": ("npy", "import numpy\ndef read(path): return numpy.fromfile(path, numpy.uint8)"),
    "numpy.load": ("npy", "import numpy\ndef read(path): return numpy.load(path)"),
    "PIL": ("ppm", "import numpy\nfrom PIL import Image\n"
                   "def read(path): return numpy.asarray(Image.open(path).convert('RGB'))"),
    "cv2.imread": ("ppm", "import cv2\ncv2.setNumThreads(1)\ndef read(path): return cv2.imread(path)"),
    "open().read()": ("npy", "def read(path):\n with open(path, 'rb') as f: return f.read()"),
}
PYTHON_MAIN = """
import json, os, resource, sys, time
paths = sorted(os.path.join(sys.argv[1], n) for n in os.listdir(sys.argv[1])
               if not n.endswith('.cls'))
read(paths[0])
begin = time.monotonic()
for path in paths: read(path)
print(json.dumps({"seconds": time.monotonic() - begin}))
"""


class Place:
    """The files of a job whose samples are prepared, and copies of these files on a tmpfs."""

    def __init__(self, args, dataset, samples, layout, form, io):
        self.args, self.samples = args, samples
        view = {"layout": layout, "io": io, "batch": BATCH if layout == "batch" else None,
                "shard": BATCH if layout == "tar" else None}
        ini = job_ini("a", RESIZE, CROP, tensor={"format": form}, view=view)
        self.daemon = Daemon(args.program, dataset, {"a": ini}, 2 * samples * SAMPLE_BYTES)

    def __enter__(self):
        self.daemon.__enter__()
        self.memory = None
        try:
            self.mount = self.daemon.epoch("a")
            self.memory = tempfile.mkdtemp(dir="/dev/shm", prefix="joaderfs-bench-")
            for name in sorted(os.listdir(self.mount)):
                shutil.copyfile(os.path.join(self.mount, name), os.path.join(self.memory, name))
            self.decodes = self.daemon.stats()["decodes"]
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.memory:
            shutil.rmtree(self.memory)
        self.daemon.__exit__()

    def measure(self, command):
        """Returns the us per sample on the mount and on the tmpfs, their ratio, and the us of
        open, read and close on the mount if the reader prints them."""
        runs = [tuple(call([*command, place]) for place in (self.mount, self.memory))
                for _ in range(2 * self.args.rounds + 1)]
        if self.daemon.stats()["decodes"] != self.decodes:
            raise Failed("serving was to be measured, and samples were decoded")

        def us(key, k):
            return statistics.median(1e6 * r[k][key] / self.samples for r in runs if key in r[k])
        figures = [us("seconds", 0), us("seconds", 1),
                   statistics.median(m["seconds"] / t["seconds"] for m, t in runs)]
        if "open_s" in runs[0][0]:
            figures += [us(key, 0) for key in ("open_s", "read_s", "close_s")]
        return figures


SPIN = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True: pass"


def no_cpu_sleeps():
    """Runs programs of no priority on all CPUs inside a `with` block, because waking an idle CPU
    takes long."""
    return started([[sys.executable, "-c", SPIN]] * len(os.sched_getaffinity(0)))


def line(title, reader, figures):
    return [title, reader, f"{figures[0]:.1f}", f"{figures[1]:.1f}", f"{figures[2]:.2f}",
            *(f"{x:.1f}" for x in figures[3:]), *[""] * (6 - len(figures))]


def serving(args):
    dataset = photographs(min(args.count, 600))
    samples = len(dataset_paths(dataset))
    rows = [["", "reader", "mount us", "tmpfs us", "ratio", "open us", "read us", "close us"]]
    for title, layout, form, io, how in FILES:
        args.progress(f"serving {title} {io} {how}")
        with Place(args, dataset, samples, layout, form, io) as place:
            command = [args.reader, *(["-m"] if how == "mmap" else [])]
            figures = place.measure(command)
            rows.append(line(f"{title}, {io}", f"C, {how}", figures))
            if (title, io, how) == GOAL:
                with no_cpu_sleeps():
                    busy = place.measure(command)
                rows.append(line("", "beside a busy machine", busy))
                ratios = {"idle": round(figures[2], 3), "busy": round(busy[2], 3)}
    for io in ("auto", "direct", "cached"):
        for name, (form, program) in PYTHON.items():
            args.progress(f"serving {name} {io}")
            with Place(args, dataset, samples, "flat", form, io) as place:
                rows.append(line(f"flat {form}, {io}", name, place.measure(
                    [sys.executable, "-c", program + PYTHON_MAIN])))
    bars_of = [r for r in rows[1:] if r[0] and r[1].startswith("C,")]
    bars = [("bars", "serving a prepared sample", "ratio to the same file on tmpfs",
             [r[0] for r in bars_of], {"C reader": [float(r[4]) for r in bars_of]})]
    return {"what": f"Microseconds that reading a prepared sample of {SAMPLE_BYTES // 1024} KiB "
                    "takes, from the mount's cache and from a tmpfs, one reader", "table": rows,
            "ratios": ratios, "plots": bars}
