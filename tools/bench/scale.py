# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Measures joaderfs with millions of samples: a tree of hard links to one small image, on a tmpfs.
The figures are about the catalogue, listings, memory, and delays that jobs cause each other, not
about decoding."""

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from PIL import Image

from mounted import Daemon, job_ini, proc_bytes

CLASSES = 1000
JOBS, FEWER_JOBS, MANY = 64, 16, 5_000_000  # FEWER_JOBS from MANY samples on, to save memory
CACHE = 256 << 20
BATCH = 1000
CACHED = 50_000  # samples that are in the cache before jobs begin
LAYOUTS = {"in shards": {"shard": 10000}, "in classes": {"layout": "classes"},
           "mirror": {"layout": "mirror"}}

# A program that opens the first files of an epoch repeatedly; all of them are in the cache. It
# prints the median, 99 %, 99.9 % and longest time of an open, read and close.
READER = """
import json, os, sys, time
directory, seconds, n = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
files = [os.path.join(directory, f"{i:08d}.ppm") for i in range(n)]
took, begin = [], time.monotonic()
while time.monotonic() < begin + seconds:
    before = time.monotonic()
    fd = os.open(files[len(took) % n], os.O_RDONLY)
    os.read(fd, 4096)
    os.close(fd)
    took.append(time.monotonic() - before)
took.sort()
print(json.dumps([1e6 * took[int(len(took) * q)] for q in (.5, .99, .999)] + [1e6 * took[-1]]))
"""
READ_AGAIN = 200


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
    return daemon.memory("VmRSS")


def slab():
    """Returns the bytes of kernel memory for names and inodes, roughly."""
    return proc_bytes("/proc/meminfo", "Slab")


def bytes_in(directory, ending=""):
    """Returns the bytes of the files whose names have the ending."""
    return sum(entry.stat().st_size for entry in os.scandir(directory)
               if entry.name.endswith(ending))


def first_byte(daemon, job, epoch=0):
    begin = time.monotonic()
    path = os.path.join(daemon.view(job, f"epoch-{epoch:04d}"), "00000000.ppm")
    with open(path, "rb", buffering=0) as file:
        file.read(1)
    return time.monotonic() - begin


def timed(function):
    begin = time.monotonic()
    result = function()
    return time.monotonic() - begin, result


def read(path):
    with open(path, "rb") as file:
        return file.read()


def with_find(directory, command):
    """Returns the seconds in which `find` lists the files and `command` reads them, on all
    CPUs."""
    took, _ = timed(lambda: subprocess.run(
        f"find {directory} -type f -size +0 -print0 | xargs -0 -n 1000 -P {os.cpu_count()} {command} "
        ">/dev/null", shell=True, check=True))
    return took


def list_tree(directory):
    return sum(len(files) for _, _, files in os.walk(directory))


class Kept(Daemon):
    """A daemon with the state directory `state`, which is not removed at its end."""

    def __init__(self, state, *args, **options):
        super().__init__(*args, **options)
        self.kept = state

    def _write(self, name, text):
        super()._write(name, text.replace(f"state = {self.top}/state", f"state = {self.kept}"))


@contextlib.contextmanager
def kept(state, args, tree, inis):
    """Runs a daemon with its state in `state`. Yields the seconds of its start, and the daemon."""
    begin = time.monotonic()
    with Kept(state, args.program, tree, inis, CACHE) as daemon:
        yield time.monotonic() - begin, daemon


@contextlib.contextmanager
def hits(daemon, seconds, figures, title):
    """Measures, while the `with` block runs, how long opens of a job take."""
    with subprocess.Popen([sys.executable, "-c", READER, daemon.epoch("job0"), str(seconds),
                           str(READ_AGAIN)], stdout=subprocess.PIPE) as reader:
        time.sleep(0.2)
        yield
        took = json.loads(reader.communicate()[0])
    for name, us in zip(("median", "99 %", "99.9 %", "longest"), took):
        figures[f"a hit {title}, {name}, us"] = f"{us:,.0f}"


def begin_jobs(daemon, jobs, figures):
    """Measures the first byte of all jobs except job0. job0 is read meanwhile."""
    took = []
    with hits(daemon, 0.1 * jobs, figures, "while the others begin"):
        for k in range(1, jobs):
            took.append(first_byte(daemon, f"job{k}"))
            time.sleep(0.02)
    figures["first byte of an epoch, ms"] = f"{1e3 * statistics.median(took):.0f}"


def later_epoch(daemon, figures):
    """Measures the first byte of the next epoch. job1 must be parked (idle), because only a parked
    job may begin an epoch before the last one was read."""
    while "parked" not in daemon.status("job1")["state"]:
        time.sleep(0.2)
    figures["first byte of the next epoch, ms"] = f"{1e3 * first_byte(daemon, 'job1', 1):.0f}"


def look_at_order(daemon, n, figures):
    """Reads all labels of an epoch, which binds all positions, and then asks for the size of its
    order."""
    epoch, order = daemon.epoch("order"), daemon.view("order", "epoch-0000.order")
    bind_s, _ = timed(lambda: [read(os.path.join(epoch, f"batch-{k:06d}.labels.npy"))
                               for k in range(-(-n // BATCH))])
    figures["bound by asking for labels, samples/s"] = f"{n / bind_s:,.0f}"
    stat_s, _ = timed(lambda: os.stat(order))
    again_s, _ = timed(lambda: os.stat(order))
    figures["stat of its order, first, again, ms"] = f"{1e3 * stat_s:.0f}, {1e3 * again_s:.1f}"
    cat_s, text = timed(lambda: read(order))
    figures["cat of its order, lines/s"] = f"{text.count(10) / cat_s:,.0f}"


def look(args, daemon, n, jobs, figures):
    args.progress(f"{n:,} samples: listing")
    idle, kernel = rss(daemon), slab()
    list_s, names = timed(lambda: len(os.listdir(daemon.epoch("job0"))))
    figures["os.listdir of an epoch, s"] = f"{list_s:.2f}"
    figures["names in it"] = f"{names:,}"
    figures["kernel memory of that, MiB"] = f"{(slab() - kernel) / 2**20:.0f}"
    for title in LAYOUTS:
        list_s, _ = timed(lambda job=title: list_tree(daemon.epoch(job.replace(" ", "-"))))
        figures[f"os.walk, {title}, s"] = f"{list_s:.2f}"
    args.progress(f"{n:,} samples: {jobs} jobs begin")
    first_byte(daemon, "job0")
    for k in range(min(n, CACHED) // BATCH):
        read(os.path.join(daemon.epoch("order"), f"batch-{k:06d}.npy"))
    for i in range(READ_AGAIN):
        read(os.path.join(daemon.epoch("job0"), f"{i:08d}.ppm"))
    with hits(daemon, 3, figures, "alone"):
        pass
    one = rss(daemon)
    begin_jobs(daemon, jobs, figures)
    figures["memory of each job that runs, B/sample"] = f"{(rss(daemon) - one) / n / jobs:.2f}"
    status = sorted(timed(lambda k=k: daemon.status(f"job{k}"))[0] for k in range(jobs))
    figures["status of a job, median, longest, ms"] = \
        f"{1e3 * status[jobs // 2]:.2f}, {1e3 * status[-1]:.2f}"
    later_epoch(daemon, figures)
    args.progress(f"{n:,} samples: an order")
    look_at_order(daemon, n, figures)
    ctl = os.path.join(os.path.dirname(args.program), "joaderctl")
    with hits(daemon, 2, figures, "while 8 of them are removed"):
        took = [timed(lambda k=k: subprocess.run(
            [ctl, "-s", os.path.join(daemon.top, "socket"), "rm", f"job{k}"], check=True,
            stdout=subprocess.DEVNULL))[0] for k in range(jobs - 8, jobs)]
    figures["joaderctl rm, ms"] = f"{1e3 * statistics.median(took):.0f}"
    figures["daemon in the end, MiB"] = f"{rss(daemon) / 2**20:.0f}"
    return idle


def measure(args, n, directory):
    jobs = JOBS if n < MANY else FEWER_JOBS
    figures = {"jobs": str(jobs)}
    args.progress(f"a tree of {n:,} names")
    tree = make_tree(directory, n)
    state = os.path.join(directory, "state")
    os.mkdir(state)
    inis = {f"job{k}": job_ini(f"job{k}", 0, 8, epochs=3, idle=2 if k == 1 else None)
            for k in range(jobs)}
    for title, view in LAYOUTS.items():
        name = title.replace(" ", "-")
        inis[name] = job_ini(name, 0, 8, view=view)
    inis["order"] = job_ini("order", 0, 8, {"format": "npy"}, {"layout": "batch", "batch": BATCH})
    args.progress(f"{n:,} samples: first scan")
    with kept(state, args, tree, {}) as (scan_s, _):
        figures["first scan, files/s"] = f"{n / scan_s:,.0f}"
    figures["find and head -c 4096, files/s"] = \
        f"{n / with_find(tree, 'head -qc 4096'):,.0f}"
    args.progress(f"{n:,} samples: start from the catalogue")
    with kept(state, args, tree, {}) as (bare_s, daemon):
        bare = rss(daemon)
    figures["start from the catalogue, s"] = f"{bare_s:.1f}"
    figures["catalogue on the disk, B/sample"] = \
        f"{bytes_in(os.path.join(state, 'datasets')) / n:.0f}"
    figures["memory of the catalogue, B/sample"] = f"{bare / n:.1f}"
    with kept(state, args, tree, inis) as (start_s, daemon):
        figures["and for each job, ms"] = f"{1e3 * (start_s - bare_s) / len(inis):.0f}"
        idle = look(args, daemon, n, jobs, figures)
    figures["memory of each job that waits, B/sample"] = f"{(idle - bare) / n / len(inis):.2f}"
    args.progress(f"{n:,} samples: start with what has begun")
    with kept(state, args, tree, inis) as (again_s, _):
        figures["start with all of them begun, s"] = f"{again_s:.1f}"
    return figures


def table(args, measure_size, what):
    """Measures each number of samples. Each number is a column of the table."""
    sizes = [100_000] if args.quick else [1_280_000] + [14_000_000] * args.large
    found = []
    for n in sizes:
        with tempfile.TemporaryDirectory(dir=args.memory, prefix="joaderfs-bench-") as directory:
            found.append(measure_size(args, n, directory))
    rows = [["samples", "", *(f"{n:,}" for n in sizes)]]
    rows += [[name, "", *(figures[name] for figures in found)] for name in found[0]]
    return {"what": what, "table": rows, "plots": []}


def scale(args):
    return table(args, measure, "A tree of hard links to one image, jobs that have all of it, "
                 f"{CACHED:,} samples in the cache before they begin")
