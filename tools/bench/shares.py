# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Measures the division of the workers among trainings that together need more than all workers,
and whose images take different times. Compares first in, first out with A-Dloader's numbers of
workers and with the daemon's shares."""

import contextlib
import math
import os
import tempfile

from PIL import Image

from cases import photographs
from mounted import Daemon, answer, dataset_paths, job_ini, started

SIDES = {"small": 240, "middle": 500, "large": 1000}  # pixels of the longer side
RESIZE = CROP = 128
SAMPLE_BYTES = CROP * CROP * 3 + 4096
WAA_WORKERS = 18  # the paper's C (all workers): nine threads on each of two CPUs


class Job:
    """A training. part: the fraction of all workers that it needs; size: of its images; start: in
    seconds."""

    def __init__(self, name, size, part, readers, start=0.0):
        self.name, self.size, self.part = name, size, part
        self.readers, self.start = readers, start


# Three jobs that together need 1.25 times all workers. First in, first out gives all waiting
# readers the same number of samples per second. So many-small, which needs many cheap samples and
# has few readers, only gets the rest.
THREE = (Job("many-small", "small", .45, 2), Job("middle", "middle", .20, 8),
         Job("few-large", "large", .60, 12))
SEVEN = (Job("many-small", "small", .44, 2), Job("large-1", "large", .22, 12),
         Job("large-2", "large", .16, 12, 2), Job("middle-1", "middle", .12, 8, 4),
         Job("middle-2", "middle", .10, 8, 6), Job("large-3", "large", .13, 12, 8),
         Job("small-2", "small", .08, 2, 10))
CASES = {"three jobs": (THREE, 30), "seven jobs, one after the other": (SEVEN, 45)}


def resized(source, side):
    """Makes the photographs in another size, unless they exist, and returns their directory."""
    target = f"{source}-{side}"
    if os.path.isdir(target):
        return target
    with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as directory:
        tree = os.path.join(directory, "tree")
        for path in dataset_paths(source):
            image = Image.open(path).convert("RGB")
            scale = side / max(image.size)
            made = os.path.join(tree, os.path.relpath(path, source))
            os.makedirs(os.path.dirname(made), exist_ok=True)
            image.resize([round(scale * n) for n in image.size]).save(made, quality=92)
        os.rename(tree, target)
    return target


def ini(job, epochs=None):
    """Returns the job's ini. Jobs of one size get different samples, so that they share nothing."""
    same = [one.name for jobs, _ in CASES.values() for one in jobs
            if one.size == job.size and job in jobs]
    where = f"id % {len(same)} = {same.index(job.name)}" if len(same) > 1 else None
    return job_ini(job.name, RESIZE, CROP, dataset=job.size, epochs=epochs, where=where,
                   view={"lookahead": 64})


def read(args, jobs, views, ms, seconds):
    """Returns the samples/s of each job, from its start until all jobs end."""
    with started([args.paced, views[job.name], str(job.readers), f"{ms[job.name]:.6f}",
                  str(job.start), str(seconds - job.start)] for job in jobs) as running:
        results = {job.name: answer(process, args.paced) for job, process in zip(jobs, running)}
    return {name: found["samples"] / found["seconds"] for name, found in results.items()}


def daemon_for(args, trees, jobs, **options):
    inis = {job.name: ini(job) for job in jobs}
    return Daemon(args.program, trees, inis, len(jobs) * 96 * SAMPLE_BYTES, **options)


def together(args, trees, jobs, ms, seconds, **options):
    with daemon_for(args, trees, jobs, **options) as daemon:
        rates = read(args, jobs, {job.name: daemon.view(job.name) for job in jobs}, ms, seconds)
        return rates, [daemon.read("jobs", job.name, "status") for job in jobs]


def waa(parts, workers=WAA_WORKERS):
    """Returns the workers of each job by A-Dloader's Algorithm 1, without its miscount by one."""
    wanted = [part * workers for part in parts]
    given = [math.ceil(n) for n in wanted]
    order = sorted(range(len(parts)), key=lambda i: wanted[i] - given[i])
    turn = 0
    while sum(given) > workers:
        i = order[turn % len(order)]
        given[i] -= given[i] > 1
        turn += 1
    return given


def allocated(args, trees, jobs, ms, seconds):
    """Measures with a separate daemon and separate workers for each job; the kernel divides the
    CPUs."""
    with contextlib.ExitStack() as stack:
        views = {}
        for job, workers in zip(jobs, waa([job.part for job in jobs])):
            daemon = stack.enter_context(daemon_for(args, trees, [job], workers=workers))
            views[job.name] = daemon.view(job.name)
        return read(args, jobs, views, ms, seconds), []


def alone(args, trees):
    """Measures for each size the samples/s of all workers together."""
    rates = {}
    for size in trees:
        job = Job(size, size, 1, 8)
        args.progress(f"shares: {size} images alone")
        rates[size] = together(args, trees, [job], {size: 0}, 6)[0][size]
    return rates


def row(title, way, jobs, ms, rates):
    slower = [1000 / ms[job.name] / max(rates[job.name], 1e-9) for job in jobs]
    total = sum(rates[job.name] * job.part * ms[job.name] / 1000 for job in jobs)
    return [title, way, f"{sum(rates.values()):.0f}", f"{total:.2f}", f"{max(slower):.2f}",
            " ".join(f"{one:.2f}" for one in slower)]


def shares(args):
    args.paced = os.path.join(os.path.dirname(args.reader), "read_paced")
    source = photographs(args.count)
    trees = {size: resized(source, side) for size, side in SIDES.items()}
    most = alone(args, trees)
    table = [["", "", "samples/s", "useful", "worst slowdown", "slowdown of each"]]
    rates = {"alone": most}
    for title, (jobs, seconds) in CASES.items():
        ms = {job.name: 1000 / (job.part * most[job.size]) for job in jobs}
        ways = {"first in, first out": lambda: together(args, trees, jobs, ms, seconds,
                                                        share="fifo"),
                "A-Dloader's workers": lambda: allocated(args, trees, jobs, ms, seconds),
                "shares (slowdown)": lambda: together(args, trees, jobs, ms, seconds)}
        for way, run in ways.items():
            args.progress(f"shares: {title}, {way}")
            rates[f"{title}, {way}"], status = run()
            table.append(row(title, way, jobs, ms, rates[f"{title}, {way}"]))
            title = ""
    return {"what": "Trainings that need 1.25 times what the workers give",
            "table": table, "rates": rates, "plots": []}
