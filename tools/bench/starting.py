# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Measures for several numbers of samples: the time from the start of the daemon to the first byte
of a sample; the time from the death of the engine to the next answer, with one job and with eight;
the cost of drawing; the bytes on the disk and in memory. All tar shards are hard links to one
shard, so only the catalogue takes disk space. --made makes the catalogue without a scan."""

import contextlib
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from mounted import job_ini, proc_bytes
from restart import die
from scale import BATCH, CACHE, Kept, bytes_in, read, timed
from shards import CLASSES, IN_SHARD, make_shards

HUGE = 100_000_000
STARTS, DEATHS, JOBS, UNREAD = 3, 7, 8, 100
BATCHES = 500  # most batches whose labels are read, which draws their samples
# Most bytes per sample that a first scan needs, in memory and on the disk; and the same for
# bench/catalogue.c, which keeps its rows on the disk.
MEMORY, DISK = 190, 60
MADE_MEMORY, MADE_DISK = 30, 160


def lacks(n, directory, made):
    """Returns the reason why so many samples can't be measured here, or None."""
    memory, disk = (MADE_MEMORY, MADE_DISK) if made else (MEMORY, DISK)
    for what, has, needs in (("memory", proc_bytes("/proc/meminfo", "MemAvailable"), n * memory),
                             (directory, shutil.disk_usage(directory).free, n * disk)):
        if has < needs:
            return f"needs {needs / 2**30:.0f} GiB of {what}, has {has / 2**30:.0f}"
    return None


def end(daemon):
    """Ends the daemon, and waits until its engine has freed its memory and ended."""
    engine = daemon.engine()
    daemon.__exit__()
    while os.path.exists(f"/proc/{engine}"):
        time.sleep(0.1)


def sample(daemon, k, number=0):
    """Returns the path of a sample of job number k. Each number is another sample."""
    name = f"{number:08d}.ppm"
    if "layout = classes" in daemon.jobs[f"job{k}"]:
        name = f"{number % CLASSES:03d}/{number // CLASSES:08d}.ppm"
    return os.path.join(daemon.epoch(f"job{k}"), name)


@contextlib.contextmanager
def start(args, shards, state, layout, jobs):
    """Runs a daemon. Yields the seconds until the first byte of a sample of job0, and the
    daemon."""
    inis = {f"job{k}": job_ini(f"job{k}", 0, 8, view={"layout": layout}, epochs=3)
            for k in range(jobs)}
    daemon = Kept(state, args.program, shards, inis, CACHE)
    begin = time.monotonic()
    daemon.__enter__()
    try:
        read(sample(daemon, 0))
        yield time.monotonic() - begin, daemon
    finally:
        end(daemon)


def deaths(daemon):
    names = iter(sample(daemon, 0, i) for i in range(1, UNREAD))
    found = []
    for _ in range(DEATHS):
        read(next(names))
        found.append(die(daemon, next(names)))
    return found


def draws(args, shards, state, n, figures):
    """Measures a job whose samples are drawn by reading labels, and one whose shards are listed."""
    inis = {"order": job_ini("order", 0, 8, {"format": "npy"},
                             {"layout": "batch", "batch": BATCH}, epochs=3),
            "list": job_ini("list", 0, 8, view={"shard": IN_SHARD})}
    with Kept(state, args.program, shards, inis, CACHE) as daemon:
        def label(k):
            read(os.path.join(daemon.epoch("order"), f"batch-{k:06d}.labels.npy"))
        took, _ = timed(lambda: label(0))
        figures["an epoch begins, ms"] = f"{1e3 * took:.0f}"
        cpu = daemon.cpu_s()
        batches = range(1, min(BATCHES, n // BATCH))
        took, _ = timed(lambda: [label(k) for k in batches])
        drawn = BATCH * len(batches)
        figures["a draw by labels, us"] = f"{1e6 * took / drawn:.2f}"
        figures["CPU of that, us"] = f"{1e6 * (daemon.cpu_s() - cpu) / drawn:.2f}"
        figures["journal, bytes per draw"] = \
            f"{bytes_in(os.path.join(state, 'jobs', 'order')) / drawn:.2f}"
        took, text = timed(lambda: daemon.read("jobs", "order", "state"))
        figures["a checkpoint, bytes, ms"] = f"{len(text)}, {1e3 * took:.1f}"
        took, names = timed(lambda: os.listdir(daemon.epoch("list")))
        figures["list of shards, names, ms"] = f"{len(names):,}, {1e3 * took:.0f}"
        took, names = timed(lambda: os.listdir(os.path.join(daemon.epoch("list"), names[-1])))
        figures["list of a shard, names, ms"] = f"{len(names):,}, {1e3 * took:.0f}"


def make_catalogue(args, shards, state):
    """Makes the catalogue of a first scan, without the rows in SQLite, which no start reads."""
    program = os.path.join(os.path.dirname(args.program), "bench", "catalogue")
    subprocess.run([program, state, shards, "photos"], check=True)


def scan(args, shards, state, n, figures):
    daemon = Kept(state, args.program, shards, {}, CACHE)
    took, _ = timed(daemon.__enter__)
    end(daemon)
    figures["first scan, samples/s"] = f"{n / took:,.0f}"


def with_jobs(args, shards, state, n, layout, jobs, figures):
    shutil.rmtree(os.path.join(state, "jobs"), ignore_errors=True)
    title = f"{layout}, {jobs} job{'s' * (jobs > 1)}"
    with start(args, shards, state, layout, jobs) as (took, daemon):
        figures[f"start to the first byte, new, {title}, ms"] = f"{1e3 * took:,.0f}"
        for k in range(1, jobs):
            read(sample(daemon, k))
    took = []
    for _ in range(STARTS):
        with start(args, shards, state, layout, jobs) as (seconds, _):
            took.append(seconds)
    figures[f"the same, known, {title}, ms, least"] = f"{1e3 * min(took):,.0f}"
    with start(args, shards, state, layout, jobs) as (_, daemon):
        found = deaths(daemon)
        for k in range(jobs):
            read(sample(daemon, k, UNREAD))  # each job draws
        anonymous, memory = daemon.memory("RssAnon"), daemon.memory("VmRSS")
    answers, cpu, _ = zip(*found)
    figures[f"death to the next answer, {title}, ms, least"] = f"{min(answers):,.0f}"
    figures[f"the same, {title}, median of {DEATHS}"] = f"{statistics.median(answers):,.0f}"
    figures[f"CPU of that, {title}, ms, least"] = f"{min(cpu):,.0f}"
    figures[f"anonymous memory, {title}, B/sample"] = f"{anonymous / n:.2f}"
    figures[f"with mapped pages, {title}, B/sample"] = f"{memory / n:.2f}"
    return anonymous


def measure(args, n, directory):
    figures = {"load before": f"{os.getloadavg()[0]:.1f}"}
    args.progress(f"{n:,} samples in shards: names")
    shards = make_shards(directory, n)
    state = os.path.join(directory, "state")
    os.mkdir(state)
    args.progress(f"{n:,} samples in shards: catalogue")
    if args.made:
        make_catalogue(args, shards, state)
    else:
        scan(args, shards, state, n, figures)
    catalogue = os.path.join(state, "datasets")
    figures["on the disk, B/sample"] = f"{bytes_in(catalogue) / n:.1f}"
    figures["of it mapped, B/sample"] = f"{bytes_in(catalogue, '.map') / n:.1f}"
    for layout in "flat", "classes":
        memory = []
        for jobs in 1, JOBS:
            args.progress(f"{n:,} samples in shards: starts and deaths, {layout}, {jobs} jobs")
            memory.append(with_jobs(args, shards, state, n, layout, jobs, figures))
        figures[f"anonymous memory of each job, {layout}, B/sample"] = \
            f"{(memory[1] - memory[0]) / (JOBS - 1) / n:.2f}"
    args.progress(f"{n:,} samples in shards: draws")
    draws(args, shards, state, n, figures)
    figures["load after"] = f"{os.getloadavg()[0]:.1f}"
    return figures


def starting(args):
    sizes = [100_000] if args.quick else [1_280_000] + [14_000_000, HUGE] * args.large
    found, notes = {}, []
    for n in args.samples or sizes:
        why = lacks(n, args.disk, args.made)
        if why:
            notes.append(f"{n:,} samples are not measured: {why}.")
            continue
        with tempfile.TemporaryDirectory(dir=args.disk, prefix="joaderfs-bench-") as directory:
            found[n] = measure(args, n, directory)
    rows = [["samples", "", *(f"{n:,}" for n in found)]]
    columns = list(found.values())
    rows += [[name, "", *(column[name] for column in columns)]
             for name in (columns[0] if columns else ())]
    return {"what": " ".join([f"Shards of {IN_SHARD:,} samples, names of one file; the page cache "
                              "has the catalogue.", *notes]), "table": rows, "plots": []}
