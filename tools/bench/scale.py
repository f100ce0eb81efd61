# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""How it goes with millions of samples: a tree of hard links to one small image, on a tmpfs.
What is measured is the catalogue, the listing and the memory, not the decoding."""

import os
import shutil
import tempfile
import time

from PIL import Image

from mounted import Daemon, job_ini

CLASSES = 1000
JOBS = 64
CACHE = 256 << 20


def make_tree(directory, n):
    image = os.path.join(directory, "image.jpg")
    Image.new("RGB", (16, 12), (90, 120, 30)).save(image)
    tree = os.path.join(directory, "tree")
    for c in range(CLASSES):
        name = os.path.join(tree, f"class{c:04d}")
        os.makedirs(name)
        for i in range(n * c // CLASSES, n * (c + 1) // CLASSES):
            os.link(image, os.path.join(name, f"{i:08d}.jpg"))
    return tree


def rss(daemon):
    with open(f"/proc/{daemon.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:")) * 1024


def slab():
    """Bytes of kernel memory for names and inodes, roughly."""
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Slab:")) * 1024


def first_byte(daemon, job):
    begin = time.monotonic()
    with open(os.path.join(daemon.epoch(job), "00000000.ppm"), "rb", buffering=0) as file:
        file.read(1)
    return time.monotonic() - begin


def timed(function):
    begin = time.monotonic()
    result = function()
    return time.monotonic() - begin, result


class Kept(Daemon):
    """A daemon whose state directory outlives it."""

    def __init__(self, state, *args, **options):
        super().__init__(*args, **options)
        self.kept = state

    def _write(self, name, text):
        super()._write(name, text.replace(f"state = {self.top}/state", f"state = {self.kept}"))


def measure(args, n, directory):
    args.progress(f"a tree of {n:,} names")
    tree = make_tree(directory, n)
    state = os.path.join(directory, "state")
    os.mkdir(state)
    inis = {f"job{k}": job_ini(f"job{k}", 0, 8, epochs=2) for k in range(JOBS)}
    args.progress(f"{n:,} samples: first scan")
    scan_s, daemon = timed(lambda: Kept(state, args.program, tree, {}, CACHE).__enter__())
    daemon.__exit__()
    args.progress(f"{n:,} samples: start from the catalogue")
    daemon = Kept(state, args.program, tree, inis, CACHE)
    start_s, _ = timed(daemon.__enter__)
    try:
        idle = rss(daemon)
        byte_s = first_byte(daemon, "job0")
        one = rss(daemon)
        kernel = slab()
        args.progress(f"{n:,} samples: listing")
        list_s, names = timed(lambda: os.listdir(daemon.epoch("job0")))
        kernel = slab() - kernel
        args.progress(f"{n:,} samples: {JOBS} jobs begin")
        begin_s, _ = timed(lambda: [first_byte(daemon, f"job{k}") for k in range(1, JOBS)])
        all_ = rss(daemon)
    finally:
        daemon.__exit__()
    return [f"{n:,}", "", f"{n / scan_s:,.0f}", f"{start_s:.1f}", f"{idle / n:.1f}",
            f"{(one - idle) / n:.2f}", f"{(all_ - one) / n / (JOBS - 1):.2f}",
            f"{1000 * byte_s:.0f}", f"{1000 * begin_s / (JOBS - 1):.0f}",
            f"{list_s:.2f}", f"{len(names):,}", f"{kernel / 2**20:.0f}"]


def scale(args):
    sizes = [100_000] if args.quick else [1_280_000] + [14_000_000] * args.large
    rows = [["samples", "", "scanned/s", "start s", "catalogue B/sample", "first job B/sample",
             "each job B/sample", "first byte ms", f"each of {JOBS - 1} ms", "listdir s", "names",
             "kernel MiB"]]
    for n in sizes:
        directory = tempfile.mkdtemp(dir="/dev/shm", prefix="joaderfs-bench-")
        try:
            rows.append(measure(args, n, directory))
        finally:
            shutil.rmtree(directory)
    return {"what": f"A tree of hard links to one image: first scan, start from the catalogue, "
                    f"memory of the daemon, the first byte of a job's epoch, one job's listing; "
                    f"{JOBS} jobs", "table": rows, "plots": []}
