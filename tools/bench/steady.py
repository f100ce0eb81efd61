# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Measures the steady state: all samples are prepared and in the cache, and jobs read them as fast
as they can. For comparison, reads the same files on a tmpfs, also by readers that give up their CPU
before each open, as with any file system that is a process; and FFCV's raw format, which is mapped
from the page cache."""

import os
import shutil
import statistics
import tempfile

from beton import there_is_ffcv
from cases import PHOTOGRAPHS, Job, command, copies, photographs, run_together, view_ini
from mounted import Daemon, dataset_paths

JOBS = (1, 4)
EPOCHS = 4
FLAT = {"layout": "flat", "format": "npy", "script": (0, 0), "warm": 1}
BATCH = {**FLAT, "layout": "batch"}
# Ways of reading, with joaderfs and without it.
WAYS = {
    "npy": {**FLAT, "kind": "flat"},
    "ImageFolder": {**FLAT, "kind": "imagefolder", "layout": "classes", "format": "ppm"},
    "batch, read": {**BATCH, "kind": "batch"},
    "batch, mapped": {**BATCH, "kind": "mapped", "io": "cached"},
}
ALONE = {
    "npy on tmpfs": {"kind": "flat", "copies": "npy", "of": ["npy"]},
    "ImageFolder on tmpfs": {"kind": "imagefolder", "copies": "ppm", "of": ["ImageFolder"]},
    "npy on tmpfs, yielding": {"kind": "flat", "copies": "npy", "yields": True, "of": []},
    "ImageFolder on tmpfs, yielding": {"kind": "imagefolder", "copies": "ppm", "yields": True,
                                       "of": []},
    "FFCV, raw": {"kind": "ffcv", "copies": "raw.beton", "of": ["batch, read", "batch, mapped"]},
}


def rate(readers):
    return (sum(r["samples"] for r in readers)
            / (max(r["end"] for r in readers) - min(r["begin"] for r in readers)))


def through_mount(args, dataset, way, jobs):
    inis = {}
    for job in jobs:
        inis[job.name] = view_ini(way, job, EPOCHS + 1, PHOTOGRAPHS)
        inis[job.name] += f"io = {way.get('io', 'auto')}\n"
    size = 2 * len(dataset_paths(dataset)) * PHOTOGRAPHS["bytes"]
    with Daemon(args.program, dataset, inis, size) as daemon:
        return rate(run_together([command(way, job, daemon.view(job.name), jobs, EPOCHS, k,
                                          PHOTOGRAPHS) for k, job in enumerate(jobs)]))


def alone(way, directory, jobs):
    plain = {"script": (0, 0), "warm": 1, **way}
    return rate(run_together([command(plain, job, directory, jobs, EPOCHS, k, PHOTOGRAPHS)
                              for k, job in enumerate(jobs)]))


def in_memory(source, top):
    """Copies a job's files to a tmpfs, unless another job has copied the same files."""
    target = os.path.join(top, os.path.basename(source))
    if os.path.exists(target):
        return target
    if os.path.isdir(source):
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)
    return target


def measure(args, dataset, n):
    """Measures all ways alternately. Returns the samples/s: {title: [one for each round]}."""
    jobs = [Job(f"job{k}") for k in range(n)]
    beside = {title: way for title, way in ALONE.items()
              if way["kind"] != "ffcv" or there_is_ffcv()}
    rates = {title: [] for title in [*WAYS, *beside]}
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="joaderfs-bench-") as top:
        places = {title: in_memory(copies(dataset, way["copies"]), top)
                  for title, way in beside.items()}
        for number in range(args.rounds + 1):
            for title, way in WAYS.items():
                args.progress(f"steady: {title}, {n} jobs, round {number + 1}")
                rates[title].append(through_mount(args, dataset, way, jobs))
            for title, way in beside.items():
                args.progress(f"steady: {title}, {n} jobs, round {number + 1}")
                rates[title].append(alone(way, places[title], jobs))
    return rates


def part_of(rates, title, other):
    """Returns the median of the ratios of all rounds."""
    return statistics.median(a / b for a, b in zip(rates[title], rates[other]))


def steady(args):
    dataset = photographs(min(args.count, 600))
    table = [["jobs", "reader", "samples/s", "of the same without joaderfs"]]
    ratios = {}
    for n in JOBS:
        rates = measure(args, dataset, n)
        beside = {of: title for title in rates if title in ALONE for of in ALONE[title]["of"]}
        for title, found in rates.items():
            cell = ""
            if title in beside:
                ratio = part_of(rates, title, beside[title])
                ratios[f"{title}, {n} jobs"] = round(ratio, 3)
                cell = f"{ratio:.0%} of {beside[title]}"
            table.append([str(n), title, f"{statistics.median(found):.0f}", cell])
    return {"what": "The steady state: all is prepared and cached, each job reads as fast as it "
                    "can; FFCV's raw format and files on a tmpfs were prepared beforehand",
            "table": table, "ratios": ratios, "plots": []}
